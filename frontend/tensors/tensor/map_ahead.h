// Dataset.map: a traced function called with one element after the other, some of them ahead of time on other threads. This header
// must not know what elements are.
#pragma once

#include "frontend/core/object.h"

namespace tfl {

/// Adds to the module `_data`:
///   run(graph, operands, captures)             runs a traced function now, with these values for what it captured; a tuple of results.
///                                              Elements of datasets are no business of a gradient tape
///   mapper(graph, captures, upstream, ahead)   an object; `upstream` gives a tuple of operands or None, `ahead` is how many elements may be
///                                              taken before they are wanted
///   mapped(mapper)                             the results for the next element, None after the last
///   is_pure(graph)                             whether calls of the function can be told from their results only
void init_map_ahead(Interp& interp, Module& module);

}  // namespace tfl
