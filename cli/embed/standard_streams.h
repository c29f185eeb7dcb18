// The C library's streams in libtfl.
#pragma once

namespace tfl::embed {

/// To be called before anything else of TFL runs; more than once is the same.
void find_standard_streams();

}  // namespace tfl::embed
