// NumPy's functions while a graph is built or a tape records: the VM runs them outside of it, since the library of arrays is written with the
// operations of tensors, which would become nodes. This header must not know what they compute.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

struct Code;

/// Is it one of NumPy's functions? It computes arrays, at once, as natives of the host do. Asked while `interp.sink` is set.
bool computes_arrays(Function* f);
/// NumPy cannot take tensors of the graph; the error in its words.
Result<void> refuse_symbolic(Interp& interp, const Code& code, const CallArgs& args);

}  // namespace tfl
