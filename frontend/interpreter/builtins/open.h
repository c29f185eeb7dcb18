// open(), a row of the builtins table.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

Result<Value> builtin_open(Interp& interp, Value* args);
/// open_whole(path, "b" or "", encoding): a file for writing that is there, as a whole, when it has been closed (runtime/files/whole_file.h). An
/// error in its `with` statement leaves what was there.
Result<Value> open_whole(Interp& interp, Value* args);
/// open(path, mode) for files of records: what a call of write could write in part only, because there is no room, goes again.
Result<Value> open_records(Interp& interp, Value* args);

}  // namespace tfl
