// Files as a whole and the folders above them, for every layer. Which files a script may touch is not decided here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfl {

/// Appends the bytes of a file to `data`. 0, or the errno that says why not; EFBIG when there are more than `limit`.
int read_whole_file(const std::string& path, size_t limit, std::string& data);
int read_whole_file(int fd, size_t limit, std::string& data);

/// Writes a file whole or not at all (runtime/files/whole_file.h). `mode` is of a new file, less the user's mask; `durable`: it is on
/// the disk before its name is. 0, or the errno that says why not.
int write_whole_file(const std::string& path, std::string_view bytes, unsigned mode = 0666, bool durable = true);

bool is_folder(const std::string& path);

/// Makes the folder `path` and those above it, for the user alone; true when it is there.
bool make_folders(const std::string& path);

}  // namespace tfl
