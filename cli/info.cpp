// tfl info, cache, completion: about the program itself.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/embed/version.h"
#include "cli/session.h"
#include "runtime/files/cache_files.h"
#include "runtime/gpu/devices.h"

namespace tfl::cli {

namespace {

std::string processor_name() {
  std::string name = "unknown";
  if (std::FILE* f = std::fopen("/proc/cpuinfo", "r")) {
    char line[512];
    while (std::fgets(line, sizeof line, f)) {
      std::string_view s(line);
      if (s.starts_with("model name")) {
        size_t colon = s.find(':');
        name = std::string(s.substr(colon + 2));
        while (!name.empty() && name.back() == '\n') name.pop_back();
        break;
      }
    }
    std::fclose(f);
  }
  return name;
}

std::string size_text(size_t bytes) {
  double n = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (n < 1024) break;
    n /= 1024;
    unit = next;
  }
  return fmt::format("{:.{}f} {}", n, *unit == 'B' ? 0 : 1, unit);
}

/// Calls visit(path, bytes) for each file of a folder.
template <class F>
void for_each_file(const std::string& folder, F&& visit) {
  DIR* d = opendir(folder.c_str());
  if (!d) return;
  while (dirent* entry = readdir(d)) {
    std::string path = folder + "/" + entry->d_name;
    struct stat s{};
    if (stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode)) visit(path, static_cast<size_t>(s.st_size));
  }
  closedir(d);
}

constexpr std::string_view kBash = R"(_tfl() {
  local cur=${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "run check fmt lsp repl test bench debug kernel shapes trace dump explain profile new watch doc build inspect convert diff export info cache completion --help --version" -- "$cur") $(compgen -f -X '!*.tfl' -- "$cur") $(compgen -d -- "$cur"))
    return
  fi
  case $cur in
    --*) COMPREPLY=($(compgen -W "--doctest --max-memory --timeout --max-depth --threads --workers --replicas --rank-output --allow-read --allow-write --allow-all --allow-run --strict --no-cache --no-jit --jit --device --cpu --color --tokens --ast --bytecode --autograph --ir --optimized --plan --llvm --asm --passes --dot --svg --signature --html --trace --junitxml --numprocesses --dist --snapshot-update --coverage --coverage-html --coverage-lcov --dap --install --shapes --maxfail --durations --collect-only --check --diff --range --line-length --clear --help" -- "$cur")) ;;
    *) [ "${COMP_WORDS[1]}" = completion ] && COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")) || COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}
complete -o filenames -F _tfl tfl
)";

constexpr std::string_view kZsh = R"(#compdef tfl
_tfl() {
  local -a commands
  commands=('run:run a script' 'check:find errors without running' 'fmt:write sources in one style' 'lsp:serve editors' 'repl:type statements' 'test:run tests' 'bench:time functions' 'debug:run a script line by line' 'kernel:run the cells of notebooks' 'shapes:dtypes and shapes without running' 'trace:draw a graph with times' 'new:make a project' 'watch:run again what a change touches' 'doc:write pages of modules' 'dump:show tokens, tree or bytecode' 'explain:what was traced and why, or what an error means' 'profile:where the time goes' 'build:make a native library' 'inspect:show a saved model' 'convert:write a model in another form' 'diff:compare two models' 'export:write an ONNX file' 'info:about this program' 'cache:the caches of bytecode and machine code' 'completion:completion script')
  if (( CURRENT == 2 )); then
    _describe command commands
    _files -g '*.tfl'
  else
    _arguments '--max-memory=[memory limit]:size' '--timeout=[time limit]:time' '--max-depth=[call depth]:n' '--threads=[threads]:n' '--workers=[processes to start]:n' '--replicas=[parts of a batch]:n' '--rank-output=[what workers print]:where' '--allow-read=[folder to read]:folder:_directories' '--allow-write=[folder to write]:folder:_directories' '--allow-all[all files]' '--allow-run[other programs]' '--strict[keep operations that may fail]' '--no-cache[no caches]' '--no-jit[no machine code]' '--jit=[when to compile]:when:(auto wait off)' '--device=[where traced functions run]:device:(cpu gpu)' '--cpu=[processor to compile for]:cpu:(x86-64-v3 x86-64-v4)' '--color=[colour]:when:(auto always never)' '*:file:_files'
  fi
}
_tfl "$@"
)";

constexpr std::string_view kFish = R"(complete -c tfl -n __fish_use_subcommand -a 'run' -d 'Run a script'
complete -c tfl -n __fish_use_subcommand -a 'check' -d 'Find errors without running'
complete -c tfl -n __fish_use_subcommand -a 'fmt' -d 'Write sources in one style'
complete -c tfl -n __fish_use_subcommand -a 'lsp' -d 'Serve editors'
complete -c tfl -n __fish_use_subcommand -a 'repl' -d 'Type statements and see their values'
complete -c tfl -n __fish_use_subcommand -a 'test' -d 'Run tests'
complete -c tfl -n __fish_use_subcommand -a 'dump' -d 'Show tokens, tree or bytecode'
complete -c tfl -n __fish_use_subcommand -a 'explain' -d 'What was traced and why'
complete -c tfl -n __fish_use_subcommand -a 'new' -d 'Make a project'
complete -c tfl -n __fish_use_subcommand -a 'watch' -d 'Run again what a change touches'
complete -c tfl -n __fish_use_subcommand -a 'doc' -d 'Write pages of modules'
complete -c tfl -n __fish_use_subcommand -a 'bench' -d 'Time functions'
complete -c tfl -n __fish_use_subcommand -a 'debug' -d 'Run a script line by line'
complete -c tfl -n __fish_use_subcommand -a 'kernel' -d 'Run the cells of notebooks'
complete -c tfl -n __fish_use_subcommand -a 'shapes' -d 'Dtypes and shapes without running'
complete -c tfl -n __fish_use_subcommand -a 'trace' -d 'Draw a graph with times'
complete -c tfl -n __fish_use_subcommand -a 'profile' -d 'Where the time goes'
complete -c tfl -n __fish_use_subcommand -a 'build' -d 'Make a native library'
complete -c tfl -n __fish_use_subcommand -a 'inspect' -d 'Show a saved model'
complete -c tfl -n __fish_use_subcommand -a 'export' -d 'Write an ONNX file'
complete -c tfl -n __fish_use_subcommand -a 'convert' -d 'Write a model in another form'
complete -c tfl -n __fish_use_subcommand -a 'diff' -d 'Compare two models'
complete -c tfl -n __fish_use_subcommand -a 'info cache completion'
complete -c tfl -l max-memory -l timeout -l max-depth -l threads -l workers -l replicas -l rank-output -x
complete -c tfl -l allow-read -l allow-write -x -a '(__fish_complete_directories)'
complete -c tfl -l allow-all -l allow-run -l strict -l no-cache -l no-jit
complete -c tfl -l jit -x -a 'auto wait off'
complete -c tfl -l device -x -a 'cpu gpu'
complete -c tfl -l cpu -x -a 'x86-64-v3 x86-64-v4'
complete -c tfl -l color -x -a 'auto always never'
)";

/// What machine code is made for.
std::string machine_code(const Arguments& a) {
  IsaLevel best = best_isa_level();
  if (best == IsaLevel::base) return "none (the processor is older than x86-64-v3)";
  return std::string(
      codegen::cpu_name(best < IsaLevel::v4 || a.cpu == "x86-64-v3" ? codegen::Cpu::x86_64_v3 : codegen::Cpu::x86_64_v4));
}

std::string version_text(uint32_t cuda) { return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10); }

/// The lines about GPUs: what they are and what their driver takes, or why there is none.
std::string gpus(gpu::Devices& devices) {
  std::string names = "CPU:0", lines;
  for (size_t i = 0; i < devices.count(); ++i) {
    const gpu::DeviceInfo& g = devices.at(i).info();
    names += fmt::format(", GPU:{}", i);
    if (g.emulated) {
      lines += fmt::format("GPU:{}         {}, emulated by the CPU\n", i, g.name);
      continue;
    }
    lines += fmt::format("GPU:{}         {}, compute capability {}.{}, {} multiprocessors, {}; driver for CUDA {}, PTX {}.{}\n",
                         i, g.name, g.major, g.minor, g.processors, size_text(g.memory_bytes), version_text(g.driver_version),
                         g.ptx_version / 10, g.ptx_version % 10);
  }
  if (lines.empty()) lines = "GPU           none. " + devices.missing() + '\n';
  return "devices       " + names + '\n' + lines;
}

}  // namespace

int show_info(const Arguments& a) {
  Session session(a, "");
  std::string cache = cache_folder("");
  if (cache.ends_with('/')) cache.pop_back();
  std::string text = fmt::format(
      "tfl {}\n"
      "processor     {}\n"
      "threads       {}\n"
      "memory limit  {}\n"
      "machine code  {}\n"
      "cache         {}\n"
      "{}",
      kVersion, processor_name(), session.context.thread_count(), size_text(session.context.memory.limit()), machine_code(a),
      cache.empty() ? "none (no home folder)" : cache, gpus(session.context.devices()));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

int manage_cache(const Arguments& a) {
  struct Kind {
    std::string_view folder, files;
  };
  static constexpr Kind kKinds[] = {{"bytecode", "scripts"}, {"native", "compiled functions"}};
  size_t failed = 0;
  for (const Kind& kind : kKinds) {
    std::string folder = cache_folder(kind.folder);
    if (folder.empty()) {
      std::fputs("tfl: there is no cache: HOME and XDG_CACHE_HOME are not set\n", stderr);
      return kExitUncaught;
    }
    size_t files = 0, bytes = 0;
    for_each_file(folder, [&](const std::string& path, size_t size) {
      ++files;
      bytes += size;
      if (a.clear_cache && unlink(path.c_str()) != 0) ++failed;
    });
    std::string text =
        fmt::format("{}: {} {}, {}{}\n", folder, files, kind.files, size_text(bytes), a.clear_cache ? ", removed" : "");
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (failed) std::fprintf(stderr, "tfl: %zu files could not be removed\n", failed);
  return failed ? kExitUncaught : 0;
}

int print_completion(const Arguments& a) {
  std::string_view text = a.shell == "bash" ? kBash : a.shell == "zsh" ? kZsh : kFish;
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace tfl::cli
