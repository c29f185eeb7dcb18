#include "runtime/gpu/cuda_driver.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace tfl::gpu::cuda {

namespace {

struct Symbol {
  const char* name;
  void** place;
};

bool find_all(void* library, std::initializer_list<Symbol> symbols, const char*& missing) {
  bool all = true;
  for (const Symbol& s : symbols) {
    *s.place = dlsym(library, s.name);
    if (!*s.place && all) {
      missing = s.name;
      all = false;
    }
  }
  return all;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// A device file of a GPU that this process may not open, or an empty string.
std::string forbidden_file(const char* folder) {
  std::string found;
  DIR* d = opendir(folder);
  if (!d) return found;
  while (dirent* entry = readdir(d)) {
    if (!std::string_view(entry->d_name).starts_with("nvidia")) continue;
    std::string path = std::string(folder) + '/' + entry->d_name;
    if (entry->d_type == DT_DIR || access(path.c_str(), R_OK | W_OK) == 0) continue;
    if (found.empty() || path < found) found = path;
  }
  closedir(d);
  return found;
}

/// Whether CUDA_VISIBLE_DEVICES hides every GPU: an empty value, or one that begins with what is no device.
bool all_hidden() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible && (!*visible || std::strcmp(visible, "-1") == 0 || std::strncmp(visible, "-1,", 3) == 0 ||
                     std::strcmp(visible, "NoDevFiles") == 0);
}

}  // namespace

std::string Driver::text(Status status) const {
  const char* name = nullptr;
  const char* words = nullptr;
  if (error_name(status, &name) != kSuccess) name = nullptr;
  if (error_string(status, &words) != kSuccess) words = nullptr;
  if (!name) return fmt::format("error {}", status);
  return words ? fmt::format("{} ({})", words, name) : std::string(name);
}

Failure Driver::failure(Status status, std::string_view what) const {
  return fail(status == kOutOfMemory ? ErrorKind::MemoryError : ErrorKind::RuntimeError, "{} failed: {}", what, text(status));
}

std::string explain_start(const Driver& driver, Status status, const char* devices) {
  if (all_hidden()) return fmt::format("CUDA_VISIBLE_DEVICES='{}' hides all GPUs.", std::getenv("CUDA_VISIBLE_DEVICES"));
  if (status == kStubLibrary) return "The libcuda.so.1 that was found is the CUDA Toolkit's stub and no driver.";
  if (status == kDriverMismatch)
    return "The NVIDIA driver's kernel module and its libcuda.so.1 are of different versions; restarting the machine "
           "mends that.";
  if (status == kNoDevice || status == kOperatingSystem || status == kNotPermitted || status == kUnknown || status == kSuccess) {
    std::string file = forbidden_file(devices);
    if (!file.empty()) return fmt::format("This user may not open {}, the device file of an NVIDIA GPU.", file);
  }
  if (status == kNoDevice || status == kSuccess) return "The NVIDIA driver finds no GPU.";
  return fmt::format("The NVIDIA driver does not start: {}.", driver.text(status));
}

Result<Driver> load_driver() {
  const char* chosen = std::getenv("TFL_CUDA_LIBRARY");
  const char* path = chosen && *chosen ? chosen : "libcuda.so.1";
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    if (!why || (!chosen && std::strstr(why, "No such file")))
      return fail(ErrorKind::RuntimeError, "No NVIDIA driver is installed (there is no libcuda.so.1).");
    return fail(ErrorKind::RuntimeError, "The NVIDIA driver's library cannot be loaded: {}.", why);
  }
  Driver d;
  const char* missing = nullptr;
#define TFL_CUDA_FUNCTION(member, symbol, parameters) {symbol, reinterpret_cast<void**>(&d.member)},
  bool complete = find_all(library, {TFL_CUDA_FUNCTIONS(TFL_CUDA_FUNCTION)}, missing);
  const char* newer = nullptr;
  find_all(library, {TFL_CUDA_NEWER_FUNCTIONS(TFL_CUDA_FUNCTION)}, newer);
#undef TFL_CUDA_FUNCTION
  if (d.driver_version && d.driver_version(&d.version) == kSuccess && d.version < kOldestVersion) {
    return fail(ErrorKind::RuntimeError, "The NVIDIA driver is too old: it is for CUDA {}, and TFL needs {}.",
                version_text(d.version), version_text(kOldestVersion));
  }
  if (!complete) return fail(ErrorKind::RuntimeError, "The NVIDIA driver is too old: it has no {}.", missing);
  if (Status status = d.init(0); status != kSuccess) return fail(ErrorKind::RuntimeError, explain_start(d, status, "/dev"));
  return d;
}

int newest_ptx(int version) {
  struct Row {
    int cuda, ptx;
  };
  // From the release history of the PTX ISA.
  static constexpr Row kRows[] = {{13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84},
                                  {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}, {11070, 77},
                                  {11060, 76}, {11050, 75}, {11040, 74}, {11030, 73}, {11020, 72}};
  for (const Row& row : kRows) {
    if (version >= row.cuda) return row.ptx;
  }
  return 70;
}

}  // namespace tfl::gpu::cuda
