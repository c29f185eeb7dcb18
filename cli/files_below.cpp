#include "cli/files_below.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>

#include "runtime/files/file.h"

namespace tfl::cli {

namespace {

void files_below(const std::string& folder, std::vector<std::string>& out) {
  std::vector<std::string> names;
  if (DIR* open = opendir(folder.c_str())) {
    while (const dirent* entry = readdir(open)) {
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    }
    closedir(open);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::string path = folder == "." ? name : folder.ends_with('/') ? folder + name : folder + "/" + name;
    struct stat info;
    if (lstat(path.c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode))
      files_below(path, out);
    else if (path.ends_with(".tfl") || path.ends_with(".py"))
      out.push_back(path);
  }
}

}  // namespace

std::vector<std::string> scripts_of(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (name != "-" && is_folder(name))
      files_below(name, files);
    else
      files.push_back(name);
  }
  return files;
}

}  // namespace tfl::cli
