// Folders of files that can be made again at any time, below $XDG_CACHE_HOME/tfl or ~/.cache/tfl. Files are written whole or
// not at all, and files that others may have written are not read. This header must not know what the files hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tfl {

/// The folder for one kind of files; empty when there is no place for one (no home folder). It need not exist.
std::string cache_folder(std::string_view kind);

/// Another build of the program does not read this one's files: a number that differs from build to build. Of `file` beside the
/// program, or of the program itself; 0 when there is no such file.
uint64_t program_identity(std::string_view file = {});

/// Appends the bytes of a regular file of this user that nobody else may write; false when there is none, or it is larger than
/// `limit`.
bool read_cache_file(const std::string& path, size_t limit, std::string& data);

/// Makes the folder when it is not there, and the file `folder`/`name`.
bool write_cache_file(const std::string& folder, const std::string& name, std::string_view data);

/// When there are more files or more bytes than that, removes the oldest until half of each is left.
void trim_cache(const std::string& folder, size_t most_files, size_t most_bytes);

}  // namespace tfl
