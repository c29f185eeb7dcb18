// Linking with the tools that are there: the C compiler, or a linker alone. Everything happens in a folder of its own; the
// finished file is copied to its place at the end.
#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "codegen/library/embedded.h"
#include "codegen/library/library.h"
#include "runtime/support/file.h"
#include "runtime/support/tools.h"

namespace tfl::codegen {

namespace {

// Maybe to another file system.
Result<void> copy_file(const std::string& from, const std::string& to) {
  std::string bytes;
  if (int error = read_whole_file(from, SIZE_MAX / 2, bytes))
    return fail(ErrorKind::OSError, "cannot read {}: {}", from, std::strerror(error));
  if (int error = write_whole_file(to, bytes, 0777))
    return fail(ErrorKind::OSError, "cannot write {}: {}", to, std::strerror(error));
  return {};
}

}  // namespace

Result<std::string> link_library(const LinkRequest& request) {
  ScratchFolder space;
  if (!space) return fail(ErrorKind::OSError, "cannot make a temporary folder: {}", std::strerror(errno));
  std::vector<std::string> inputs;
  for (size_t i = 0; i < request.objects.size(); ++i)
    inputs.push_back(TFL_TRY(space.write(fmt::format("{}.o", i), request.objects[i])));
  inputs.push_back(TFL_TRY(space.write("libtfl_standalone.a", standalone_archive())));
  std::string compiler = find_program({std::getenv("CC"), "cc", "gcc", "clang"});
  std::string linker = find_program({"ld.lld", "ld", "ld.bfd", "lld-19", "ld.lld-19"});

  if (request.shared) {
    std::string soname = "lib" + request.name + ".so", out = space.file(soname);
    std::string script = TFL_TRY(space.write("exports", fmt::format("{{ global: {}_*; local: *; }};\n", request.name)));
    if (compiler.empty() && linker.empty())
      return fail(ErrorKind::OSError,
                  "a shared library needs a C compiler or a linker, and neither cc, gcc, clang, ld nor ld.lld is in "
                  "the PATH; --emit object needs none");
    bool driver = !compiler.empty();
    std::string prefix = driver ? "-Wl," : "";
    std::vector<std::string> command = {driver ? compiler : linker, "-shared", "-o", out};
    auto option = [&](std::initializer_list<std::string> words) {
      std::string all;
      for (const std::string& w : words) {
        if (driver)
          all += "," + w;
        else
          command.push_back(w);
      }
      if (driver) command.push_back("-Wl" + all);
    };
    option({"-soname=" + soname});
    option({"--version-script=" + script});
    option({"--gc-sections"});
    option({"--build-id=none"});
    option({"--as-needed"});
    option({"-z", "noexecstack"});
    option({"-z", "relro"});
    option({"--no-undefined"});
    option({"--strip-all"});
    option({"--hash-style=gnu"});
    for (const std::string& i : inputs) command.push_back(i);
    command.insert(command.end(), {"-lm", "-lc"});
    if (!driver)
      command.insert(command.end(),
                     {"-L/lib/x86_64-linux-gnu", "-L/usr/lib/x86_64-linux-gnu", "-L/lib64", "-L/usr/lib64"});
    TFL_TRY(run_program(space, command));
    std::string place = request.folder + "/" + soname;
    TFL_TRY(copy_file(out, place));
    return place;
  }

  // One object whose symbols are its own, but for those of the interface: two such archives go into one program.
  std::string objcopy = find_program({"objcopy", "llvm-objcopy", "llvm-objcopy-19"}),
              ar = find_program({"ar", "llvm-ar", "llvm-ar-19"});
  if (linker.empty() || objcopy.empty() || ar.empty())
    return fail(
        ErrorKind::OSError,
        "a static library needs ld, objcopy and ar (Debian's package binutils), and not all of them are in the PATH");
  std::string whole = space.file("whole.o"), own = space.file(request.name + ".o"),
              archive = space.file("lib" + request.name + ".a");
  std::vector<std::string> command = {linker, "-r", "-o", whole};
  command.insert(command.end(), inputs.begin(), inputs.end());
  TFL_TRY(run_program(space, command));
  TFL_TRY(run_program(space, {objcopy, "--wildcard", "--keep-global-symbol=" + request.name + "_*", whole, own}));
  TFL_TRY(run_program(space, {ar, "rcsD", archive, own}));
  std::string place = request.folder + "/lib" + request.name + ".a";
  TFL_TRY(copy_file(archive, place));
  return place;
}

}  // namespace tfl::codegen
