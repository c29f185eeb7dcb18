// The functions of the builtins module, by the files that hold them. Rows and signatures are in builtins.cpp.
#pragma once

#include "frontend/core/native.h"

namespace tfl::builtin {

#define TFL_BUILTIN(name) Result<Value> name(Interp& interp, Value* a)
// numbers.cpp
TFL_BUILTIN(abs_);
TFL_BUILTIN(round_);
TFL_BUILTIN(divmod_);
TFL_BUILTIN(pow_);
TFL_BUILTIN(bin_);
TFL_BUILTIN(oct_);
TFL_BUILTIN(hex_);
TFL_BUILTIN(chr_);
TFL_BUILTIN(ord_);
// iteration.cpp
TFL_BUILTIN(all_);
TFL_BUILTIN(any_);
TFL_BUILTIN(sum_);
TFL_BUILTIN(len_);
TFL_BUILTIN(iter_);
TFL_BUILTIN(next_);
Result<Value> sorted_(Interp& interp, CallArgs& args);
Result<Value> min_(Interp& interp, CallArgs& args);
Result<Value> max_(Interp& interp, CallArgs& args);
// objects.cpp
TFL_BUILTIN(repr_);
TFL_BUILTIN(ascii_);
TFL_BUILTIN(format_);
TFL_BUILTIN(hash_);
TFL_BUILTIN(id_);
TFL_BUILTIN(callable_);
TFL_BUILTIN(getattr_);
TFL_BUILTIN(hasattr_);
TFL_BUILTIN(setattr_);
TFL_BUILTIN(delattr_);
TFL_BUILTIN(isinstance_);
TFL_BUILTIN(issubclass_);
TFL_BUILTIN(vars_);
TFL_BUILTIN(globals_);
TFL_BUILTIN(locals_);
TFL_BUILTIN(dir_);
TFL_BUILTIN(import_);
TFL_BUILTIN(help_);
Result<Value> breakpoint_(Interp& interp, CallArgs& args);
// patterns.cpp
TFL_BUILTIN(match_sequence);
TFL_BUILTIN(match_mapping);
TFL_BUILTIN(match_class);
// input_output.cpp
TFL_BUILTIN(input_);
Result<Value> print_(Interp& interp, CallArgs& args);
#undef TFL_BUILTIN

}  // namespace tfl::builtin
