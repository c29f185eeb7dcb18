// "Did you mean" for the name of a file: what lies in the folder where it was looked for.
// This header must not know who may read what; whoever asks has asked before.
#pragma once

#include <string>

namespace tfl {

/// A path whose last part is in its folder and like the last part of `path`; empty: there is none.
std::string nearest_file(const std::string& path);
/// The same in the open folder `fd` (>= 0), which this closes.
std::string nearest_file(const std::string& path, int fd);

}  // namespace tfl
