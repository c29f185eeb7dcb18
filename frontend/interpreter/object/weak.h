// Objects that somebody watches without keeping them alive: what stdlib/python/weakref.tfl is made from. A watched object has a bit; when it
// goes, the function `_dead` of the module `weakref` is told its number. Must not know what references are made of it.
#pragma once

#include "frontend/core/object.h"

namespace tfl {

inline constexpr uint8_t kWatched = 4;  // a bit of Counted::flags

/// Tells the watchers that `o` is going, and forgets it.
void watched_object_dies(Interp& interp, Object* o);

/// The natives of the module `_frames` that watch objects.
std::span<const NativeDef> watching_natives();

}  // namespace tfl
