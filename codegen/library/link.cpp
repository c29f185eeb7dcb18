// Linking with the tools that are there: the C compiler, a linker, or the one that comes with this program. Everything happens in a
// folder of its own; the finished file is copied to its place at the end.
#include <fcntl.h>
#include <fmt/core.h>
#include <link.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "codegen/library/embedded.h"
#include "codegen/library/library.h"
#include "codegen/lld/linker.h"
#include "runtime/files/file.h"
#include "runtime/files/mapped_file.h"
#include "runtime/files/sandbox.h"
#include "runtime/support/shared_library.h"
#include "runtime/support/tools.h"

namespace tfl::codegen {

namespace {

constexpr std::initializer_list<const char*> kLinkers = {"ld", "ld.bfd", "ld.lld", "ld.lld-19"};

// Maybe to another file system.
Result<void> copy_file(const std::string& from, const std::string& to) {
  Descriptor fd(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  std::shared_ptr<const MappedFile> file;
  if (int error = fd ? MappedFile::open(fd.get(), file) : errno)
    return fail(ErrorKind::OSError, "cannot read {}: {}", from, std::strerror(error));
  if (int error = write_whole_file(to, file->bytes(), 0777))
    return fail(ErrorKind::OSError, "cannot write {}: {}", to, std::strerror(error));
  return {};
}

// The C library and its mathematics as this program has them: they are there without the files for developers.
std::vector<std::string> system_libraries() {
  std::vector<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        std::string path = info->dlpi_name ? info->dlpi_name : "";
        std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
        if (name.starts_with("libc.so") || name.starts_with("libm.so"))
          static_cast<std::vector<std::string>*>(to)->push_back(path);
        return 0;
      },
      &found);
  return found;
}

Result<void> run_own_linker(const LinkJob& job) {
  std::string error;
  auto entry = reinterpret_cast<LinkerEntry>(entry_beside_program("libtfl_lld.so", kLinkerEntry, error));
  if (entry) entry(job, error);
  if (error.empty()) return {};
  return fail(ErrorKind::OSError, "{}{}",
              entry ? "the linker failed:\n" : "neither a C compiler nor a linker is in the PATH, and ", error);
}

// A library under its own name that shows nothing but its interface.
Result<void> link_shared(const LinkRequest& request, const ScratchFolder& space, const std::vector<std::string>& inputs,
                         const std::string& out) {
  std::string script = TFL_TRY(space.write("exports", fmt::format("{{ global: {}_*; local: *; }};\n", request.name)));
  std::string compiler, linker;
  if (!request.own_linker) compiler = find_program({std::getenv("CC"), "cc", "gcc", "clang"});
  if (!request.own_linker) linker = find_program(kLinkers);
  std::vector<std::string> options = {"-soname=lib" + request.name + ".so",
                                      "--version-script=" + script,
                                      "--gc-sections",
                                      "--build-id=none",
                                      "--as-needed",
                                      "--no-undefined",
                                      "--strip-all",
                                      "--hash-style=gnu"};
  std::vector<std::string> command = {"-shared", "-o", out};
  if (compiler.empty()) {
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"-z", "noexecstack", "-z", "relro", "-z", "now"});
    command.insert(command.end(), inputs.begin(), inputs.end());
    for (std::string& library : system_libraries()) command.push_back(std::move(library));
    if (linker.empty()) return run_own_linker({std::move(command), {}, {}, {}});
    command.insert(command.begin(), linker);
    return run_program(space, command);
  }
  command.insert(command.begin(), compiler);
  for (const std::string& o : options) command.push_back("-Wl," + o);
  command.insert(command.end(), {"-Wl,-z,noexecstack", "-Wl,-z,relro", "-Wl,-z,now"});
  command.insert(command.end(), inputs.begin(), inputs.end());
  command.insert(command.end(), {"-lm", "-lc"});
  return run_program(space, command);
}

// One object whose symbols are its own, but for those of the interface: two such archives go into one program.
Result<void> link_static(const LinkRequest& request, const ScratchFolder& space, const std::vector<std::string>& inputs,
                         const std::string& out) {
  std::string linker = find_program(kLinkers), objcopy = find_program({"objcopy", "llvm-objcopy", "llvm-objcopy-19"}),
              ar = find_program({"ar", "llvm-ar", "llvm-ar-19"});
  std::string whole = space.file("whole.o"), own = space.file(request.name + ".o");
  if (request.own_linker || linker.empty() || objcopy.empty() || ar.empty()) {
    std::vector<std::string> command = {"-r", "-o", own};
    command.insert(command.end(), inputs.begin(), inputs.end());
    return run_own_linker({std::move(command), own, out, request.name + "_"});
  }
  std::vector<std::string> command = {linker, "-r", "-o", whole};
  command.insert(command.end(), inputs.begin(), inputs.end());
  TFL_TRY(run_program(space, command));
  TFL_TRY(run_program(space, {objcopy, "--wildcard", "--keep-global-symbol=" + request.name + "_*", whole, own}));
  return run_program(space, {ar, "rcsD", out, own});
}

}  // namespace

Result<std::string> link_library(const LinkRequest& request) {
  ScratchFolder space;
  if (!space) return fail(ErrorKind::OSError, "cannot make a temporary folder: {}", std::strerror(errno));
  std::vector<std::string> inputs;
  for (size_t i = 0; i < request.objects.size(); ++i)
    inputs.push_back(TFL_TRY(space.write(fmt::format("{}.o", i), request.objects[i])));
  inputs.push_back(space.file("data.o"));
  TFL_TRY(write_object(request.data, request.cpu, inputs.back()));
  inputs.push_back(TFL_TRY(space.write("libtfl_standalone.a", standalone_archive())));
  std::string name = fmt::format("lib{}.{}", request.name, request.shared ? "so" : "a"), out = space.file(name),
              place = request.folder + "/" + name;
  TFL_TRY(request.shared ? link_shared(request, space, inputs, out) : link_static(request, space, inputs, out));
  TFL_TRY(copy_file(out, place));
  return place;
}

}  // namespace tfl::codegen
