// Elements of arrays out of files, a piece at a time: what .npy and .npz files hold goes straight to an array's memory.
// This header must not know the formats' headers and directories, which stdlib/numpy/_io.tfl reads.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

/// stored_size(source): bytes of a file that has been opened for reading in binary, or of a bytes object.
Result<Value> np_stored_size(Interp& interp, Value* args);
/// stored_bytes(source, at, n): n of them, or fewer at the end.
Result<Value> np_stored_bytes(Interp& interp, Value* args);
/// stored_head(source, at, packed, method, n): the first n bytes of what is stored there, method 8 being compressed, or fewer.
Result<Value> np_stored_head(Interp& interp, Value* args);
/// stored_elements(source, at, packed, method, full, crc, skip, dtype, shape): an array of what follows the first `skip` bytes of what
/// is stored there; ValueError unless there are `full` bytes with the checksum `crc` (None: nobody knows).
Result<Value> np_stored_elements(Interp& interp, Value* args);

}  // namespace tfl
