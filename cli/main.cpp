// The program `tfl`: arguments to commands, and nothing else.
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "cli/commands.h"
#include "cli/session.h"
#include "codegen/jit/jit.h"
#include "runtime/files/bundle.h"

namespace {

int dispatch(int argc, char** argv) {
  using namespace tfl::cli;
  Arguments arguments;
  if (int code = parse_arguments(argc, argv, arguments); code >= 0) return code;
  switch (arguments.command) {
    case Command::Run: return run_script(arguments);
    case Command::Check: return check_files(arguments);
    case Command::Format: return format_files(arguments);
    case Command::LanguageServer: return run_language_server(arguments);
    case Command::Repl: return run_repl(arguments);
    case Command::Test: return run_tests(arguments);
    case Command::Inspect: return inspect_model(arguments);
    case Command::Convert:
    case Command::Diff: return convert_model(arguments);
    case Command::Export: return export_model(arguments);
    case Command::Dump: return dump_file(arguments);
    case Command::Tool: return run_tool(arguments);
    case Command::Explain: return explain_script(arguments);
    case Command::Profile: return profile_script(arguments);
    case Command::Info: return show_info(arguments);
    case Command::Cache: return manage_cache(arguments);
    case Command::Build: return build_files(arguments);
    case Command::Completion: return print_completion(arguments);
  }
  return 70;
}

/// Lists and texts of some hundred kilobytes come and go: their pages stay here instead of being fetched from the system each time.
void keep_pages() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_pages();
  // Nothing of TFL throws; what a library throws all the same is an internal error and not an abort.
  try {
    int code = tfl::is_bundle() ? tfl::cli::run_bundle(argc, argv) : dispatch(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
      if (errno != EPIPE) tfl::cli::say_error(std::string("standard output: ") + std::strerror(errno));
      if (code == 0) code = 1;
    }
    if (tfl::codegen::compiler_left_alone()) {
      std::fflush(nullptr);
      _exit(code);
    }
    return code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tfl: internal error: %s\n", e.what());
  } catch (...) {
    std::fprintf(stderr, "tfl: internal error\n");
  }
  return 70;
}
