#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "cli/embed/version.h"
#include "cli/quantities.h"
#include "cli/shared_options.h"
#include "cli/tool_commands.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl::cli {

namespace {

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

int usage_error(const std::string& message, std::string_view near = {}) {
  std::string text = "tfl: error: " + message;
  if (!near.empty()) text += "; did you mean " + in_quotes(near) + "?";
  std::fprintf(stderr, "%s\nTry 'tfl --help'.\n", text.c_str());
  return 2;
}

int finish_limits(const Limit& limit, Arguments& out) {
  if (!limit.memory.empty() && !parse_size(limit.memory, out.limits.memory))
    return usage_error("--max-memory: " + in_quotes(limit.memory) + " is no size; write 512M or 2G");
  if (!limit.timeout.empty() && !parse_duration(limit.timeout, out.limits.timeout)) {
    return usage_error("--timeout: " + in_quotes(limit.timeout) + " is no time; write 10s or 250ms");
  }
  return -1;
}

std::string_view nearest_option(const CLI::App& app, const std::string& given, std::vector<std::string>& storage) {
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& name : o->get_lnames()) storage.push_back("--" + name);
  }
  std::vector<std::string_view> names(storage.begin(), storage.end());
  return suggest(given.substr(0, given.find('=')), names);
}

/// NAME, with dots.
bool names_something(std::string_view text) {
  auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

int parse_arguments(int argc, char** argv, Arguments& out) {
  std::vector<std::string> words(argv + 1, argv + argc);
  static constexpr std::string_view kCommands[] = {"run",   "check",   "fmt",     "lsp",  "repl",   "test",
                                                   "dump",  "explain", "profile", "info", "cache",  "completion",
                                                   "build", "inspect", "convert", "diff", "export", "help"};
  std::vector<std::string_view> known(std::begin(kCommands), std::end(kCommands));
  for (const ToolCommand& tool : tool_commands()) known.push_back(tool.name);
  if (words.empty()) words.push_back("repl");
  bool of_command = words.size() == 2 && std::find(known.begin(), known.end(), words[1]) != known.end();
  if (words.size() == 2 && words[0] == "help" && names_something(words[1]) && !of_command) {
    words = {"run", "-e", "help('" + words[1] + "')"};  // the page of a name of the library
  }
  if (words[0] == "help") words[0] = "--help";
  const std::string first = words[0];
  bool is_command = std::find(known.begin(), known.end(), first) != known.end();
  bool is_global = first == "--help" || first == "-h" || first == "--version" || first == "-V";
  if (!is_command && !is_global) {
    bool file = first == "-" || first[0] == '-' || first.find('.') != std::string::npos || first.find('/') != std::string::npos;
    if (!file) {
      if (std::FILE* f = std::fopen(first.c_str(), "rb")) {
        std::fclose(f);
      } else {
        return usage_error("there is no command or file " + in_quotes(first), suggest(first, known));
      }
    }
    words.insert(words.begin(), "run");
  }

  for (const ToolCommand& tool : tool_commands()) {
    if (words[0] != tool.name) continue;
    out.command = Command::Tool;
    out.tool = tool.module;
    out.script.assign(words.begin() + 1, words.end());
    out.allow_all = true;
    return -1;
  }

  CLI::App app("TFL: a tensor scripting language. `tfl FILE` runs a script.", "tfl");
  app.set_version_flag("-V,--version", std::string("tfl ") + kBuild);
  app.require_subcommand(0, 1);
  app.footer(
      "Everything after FILE belongs to the script. Exit codes: 0 done, 1 uncaught exception or failed test, 2 usage, "
      "3 error found before\nrunning, 4 time limit, 130 Ctrl-C.");
  Limit limit;
  // Only the command that is meant has its options: making those of all would take longer than a small script.
  CLI::App* chosen = nullptr;
  out.command = Command::Info;
  auto command = [&](const char* name, Command kind, const char* about) {
    CLI::App* s = app.add_subcommand(name, about);
    if (words[0] == name) chosen = s, out.command = kind;
    return s;
  };

  CLI::App* run = command("run", Command::Run, "Run a script: FILE, - for standard input, or -e CODE");
  if (chosen == run) {
    run->prefix_command();
    run->add_option("-e,-c", out.code, "Run CODE instead of a file")->type_name("CODE");
    run->add_option("-m", out.module, "Run a module, or a package's __main__, below the working directory")->type_name("MODULE");
    run->add_option("--workers", out.workers, "Start so many processes on this machine, through mpirun")->type_name("N");
    run->add_option("--replicas", out.replicas, "Parts of each batch, computed apart, on any number of workers")->type_name("N");
    run->add_option("--rank-output", out.rank_output, "What workers print: first (rank 0's, the default), all, or a folder")
        ->type_name("WHERE");
    add_run_options(*run, out, limit);
    add_color(*run, out);
    run->footer("Arguments: [FILE] [ARGS...]");
  }

  CLI::App* check = command("check", Command::Check, "Find errors without running");
  if (chosen == check) {
    check->add_option("files", out.files, "Scripts to look at, and folders with them")->required()->type_name("FILE");
    check->add_flag("--shapes", out.shapes, "Trace functions with declared types, and tell where shapes do not fit");
    add_color(*check, out);
  }

  CLI::App* fmt = command("fmt", Command::Format, "Write sources in one style");
  std::vector<std::string> ranges;
  if (chosen == fmt) {
    fmt->add_option("files", out.files, "Scripts, folders with them, or - for standard input")->required()->type_name("FILE");
    fmt->add_flag("--check", out.format.check, "Write nothing; exit code 1 when a file would be changed");
    fmt->add_flag("--diff", out.format.diff, "Write nothing; show what would be changed");
    fmt->add_option("-l,--line-length", out.format.line_length, "Characters a line may have (default: 88)")
        ->check(CLI::Range(1, 10000))
        ->type_name("N");
    fmt->add_option("--range", ranges, "Only statements on these lines, first and last from 1; may be repeated")
        ->type_name("A-B")
        ->expected(1)
        ->take_all();
    fmt->add_flag("-S,--skip-string-normalization", out.format.skip_quotes, "Leave quotes and prefixes of strings alone");
    fmt->add_flag("-C,--skip-magic-trailing-comma", out.format.skip_magic_trailing_comma,
                  "A comma before a closing bracket does not keep one item a line");
    fmt->add_flag("-q,--quiet", out.format.quiet, "Say nothing but errors");
    add_color(*fmt, out);
  }

  CLI::App* lsp =
      command("lsp", Command::LanguageServer, "Serve editors: the language server protocol over standard input and output");
  bool stdio = false;
  if (chosen == lsp) lsp->add_flag("--stdio", stdio, "Standard input and output, which is what it does");

  CLI::App* repl = command("repl", Command::Repl, "Type statements and see their values");
  if (chosen == repl) {
    add_run_options(*repl, out, limit);
    add_color(*repl, out);
  }

  CLI::App* test = command("test", Command::Test, "Run the tests of test_*.tfl and *_test.tfl files");
  bool stop_at_first = false;
  if (chosen == test) {
    test->add_option("files", out.files, "Files, folders or FILE::TEST (default: the working directory)")->type_name("FILE");
    test->add_option("-k", out.test.keyword, "Only tests whose name matches an expression of words, and, or, not")
        ->type_name("EXPR");
    test->add_flag("-v,--verbose", out.test.verbose, "A line for each test");
    test->add_flag("-q,--quiet", out.test.quiet, "Only the summary");
    test->add_flag("-s", out.test.show_output, "Show what tests print at once");
    test->add_flag("-x,--exitfirst", stop_at_first, "Stop at the first failure");
    test->add_option("--maxfail", out.test.max_failures, "Stop after this many failures")
        ->check(CLI::Range(1, 1000000))
        ->type_name("N");
    test->add_flag("--lf,--last-failed", out.test.last_failed, "Only the tests that failed the last time; all, if none did");
    test->add_option("--durations", out.test.durations, "List the N slowest tests (0: all)")
        ->check(CLI::Range(0, 1000000))
        ->type_name("N");
    test->add_option("--junitxml,--junit-xml", out.test.junit, "Write the results as JUnit XML")->type_name("FILE");
    test->add_option("--mode", out.test.mode, "How traced functions run: staged, eager, or both, which must agree (default)")
        ->check(CLI::IsMember({"both", "staged", "eager"}))
        ->type_name("MODE");
    test->add_flag("--coverage", out.test.coverage, "Tell which lines of the scripts ran");
    test->add_option("--coverage-html", out.test.coverage_html, "The same as pages in a folder")->type_name("FOLDER");
    test->add_option("--coverage-lcov", out.test.coverage_lcov, "The same for other tools, as lcov writes it")->type_name("FILE");
    test->add_option("-n,--numprocesses", out.test.processes, "Run in so many processes at a time (auto: one a processor)")
        ->check(CLI::PositiveNumber | CLI::IsMember({"auto"}))
        ->type_name("N");
    test->add_option("--dist", out.test.dist, "With -n: load (tests of a file may be apart, default) or loadfile")
        ->check(CLI::IsMember({"load", "loadfile"}));
    test->add_option("--part", out.test.part)->group("");
    test->add_flag("--snapshot-update", out.test.update_snapshots,
                   "Write what `snapshot` is compared with, and drop what is no longer asked for");
    test->add_flag("--doctest", out.test.doctest, "Run the examples in the docstrings of these files or modules");
    test->add_flag("--collect-only,--co", out.test.collect_only, "List the tests, run none");
    add_run_options(*test, out, limit);
    add_color(*test, out);
  }

  CLI::App* dump = command("dump", Command::Dump, "Show what a script is turned into");
  bool tokens = false, ast = false, bytecode = false, autograph = false;
  if (chosen == dump) {
    CLI::Option* kind_tokens = dump->add_flag("--tokens", tokens, "Tokens");
    CLI::Option* kind_ast = dump->add_flag("--ast", ast, "Syntax tree (default)");
    CLI::Option* kind_bytecode = dump->add_flag("--bytecode", bytecode, "Bytecode");
    kind_ast->excludes(kind_tokens);
    kind_bytecode->excludes(kind_tokens)->excludes(kind_ast);
    dump->add_flag("--autograph", autograph, "What AutoGraph makes of a function, or of all")
        ->excludes(kind_tokens)
        ->excludes(kind_ast)
        ->excludes(kind_bytecode);
    std::vector<CLI::Option*> of_graph = {
        dump->add_flag("--ir", out.graph.ir, "The graph of a function as it was traced"),
        dump->add_flag("--optimized", out.graph.optimized, "The graph of a function as it runs"),
        dump->add_option("--passes", out.graph.passes, "The graph after these passes, e.g. cse,dce (tfl-opt --list names them)")
            ->type_name("A,B"),
        dump->add_flag("--dot", out.graph.dot, "The graph as Graphviz text"),
        dump->add_flag("--svg", out.graph.svg, "The graph as a picture"),
        dump->add_flag("--plan", out.graph.plan, "The loops and the memory of what is compiled of a function"),
        dump->add_flag("--llvm", out.graph.llvm, "The same as LLVM's intermediate code"),
        dump->add_flag("--asm", out.graph.assembly, "The same as assembly, for --cpu"),
        dump->add_flag("--ptx", out.graph.ptx, "The same as PTX, for NVIDIA's GPUs, and what is launched")};
    for (CLI::Option* o : of_graph) o->excludes(kind_tokens)->excludes(kind_ast)->excludes(kind_bytecode);
    dump->add_option("--signature", out.graph.signature, "Types of the function's arguments, e.g. \"f32[?,784], i32\"")
        ->type_name("TYPES");
    add_fixed(*dump, out);
    dump->add_option("file", out.files, "Script, or a function of it")->required()->expected(1)->type_name("FILE[::FUNCTION]");
    add_cpu(*dump, out);
    add_color(*dump, out);
  }

  CLI::App* explain = command("explain", Command::Explain,
                              "Tell what was traced of a script, why, and what became of it; or what a diagnostic means");
  if (chosen == explain) {
    explain->add_option("file", out.files, "Script, or the name of a diagnostic")
        ->required()
        ->expected(1)
        ->type_name("FILE|CODE");
    add_fixed(*explain, out);
    add_run_options(*explain, out, limit);
    add_color(*explain, out);
  }

  CLI::App* profile = command("profile", Command::Profile, "Run a script and tell where its time went");
  if (chosen == profile) {
    profile->prefix_command();
    add_fixed(*profile, out);
    profile->add_option("--html", out.profile.html, "Write the sources with the time of each line")->type_name("FILE");
    profile->add_option("--trace", out.profile.trace, "Write the calls in time, for chrome://tracing and Perfetto")
        ->type_name("FILE");
    add_run_options(*profile, out, limit);
    add_color(*profile, out);
    profile->footer("Arguments: FILE [ARGS...]");
  }

  CLI::App* inspect =
      command("inspect", Command::Inspect, "Show what a saved model or a native library holds: functions, signatures, variables");
  if (chosen == inspect) {
    inspect
        ->add_option("folder", out.files,
                     "Folder that tf.saved_model.save wrote, an ONNX model, or a library that tfl build made")
        ->required()
        ->expected(1)
        ->type_name("DIR|MODEL.onnx|LIB");
    inspect->add_option("--function", out.function, "The graph of this signature or function")->type_name("NAME");
    inspect->add_flag("--svg", out.graph.svg, "A picture of the graph");
    inspect->add_flag("--json", out.json, "What a library tells of itself, as JSON");
    add_color(*inspect, out);
  }

  CLI::App* convert =
      command("convert", Command::Convert,
              "Write a model in another form, which the name says: .keras, .h5, .weights.h5, .safetensors, or a folder");
  CLI::App* diff = command("diff", Command::Diff, "What differs between two models: layers, shapes, values");
  for (CLI::App* two : {convert, diff}) {
    if (chosen != two) continue;
    two->add_option("models", out.files, "Two of them")->required()->expected(2)->type_name("A B");
    add_color(*two, out);
  }

  CLI::App* exported = command("export", Command::Export, "Write a function or a model as an ONNX file");
  if (chosen == exported) add_export(*exported, out);

  for (const ToolCommand& tool : tool_commands()) command(tool.name, Command::Tool, tool.about);
  command("info", Command::Info, "Version, processor, memory, folders");
  CLI::App* cache = command("cache", Command::Cache, "What the caches of bytecode and machine code hold");
  if (chosen == cache) {
    cache->add_flag("--clear", out.clear_cache, "Empty them");
  }
  CLI::App* completion = command("completion", Command::Completion, "Completion script for a shell");
  if (chosen == completion) {
    completion->add_option("shell", out.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
  }

  CLI::App* build = command("build", Command::Build, "Make a native library of a script's traced functions");
  if (chosen == build) {
    build->add_option("file", out.files, "Script, saved model or ONNX model")->required()->expected(1)->type_name("FILE");
    add_fixed(*build, out);
    build->add_option("-o,--output", out.build.folder, "Folder for the files (default: the working directory)")
        ->type_name("FOLDER");
    build->add_option("--name", out.build.name, "Name of the library and prefix of its symbols (default: the script's)")
        ->type_name("NAME");
    build
        ->add_option("--export", out.build.exports,
                     "A function to export, with the types of its arguments: f(f32[n,784]); may be repeated (default: "
                     "all that\nhave a signature)")
        ->type_name("FUNCTION")
        ->expected(1)
        ->take_all();
    build
        ->add_option("--emit", out.build.emit,
                     "shared-lib (default), static-lib, object, llvm, asm, ptx, several with commas; or executable: "
                     "the whole script as\na program")
        ->type_name("KINDS");
    build
        ->add_option("--target", out.build.target,
                     "native (default), x86-64-v3, x86-64-v4, x86-64-v3,x86-64-v4 (the better one where it runs), "
                     "aarch64 (objects and\ntexts); sm_90 and the like for PTX")
        ->type_name("CPU");
    build
        ->add_option("--weights", out.build.weights,
                     "Values of variables: embed (default), or file: beside the library, to be loaded")
        ->check(CLI::IsMember({"embed", "file"}))
        ->type_name("WHERE");
    build
        ->add_option("--linker", out.build.linker,
                     "What links: system (default: the C compiler, or else a linker), or own: the one that comes with tfl")
        ->check(CLI::IsMember({"system", "own"}))
        ->type_name("WHICH");
    add_run_options(*build, out, limit);
    add_color(*build, out);
  }

  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> storage;
    std::vector<std::string> extras = app.remaining(true);
    std::string extra = extras.empty() ? words.back() : extras.front();
    if (extra[0] == '-' && chosen)
      return usage_error("unknown flag " + in_quotes(extra) + " of 'tfl " + chosen->get_name() + "'",
                         nearest_option(*chosen, extra, storage));
    return usage_error("unexpected argument " + in_quotes(extra));
  } catch (const CLI::ParseError& e) {
    return usage_error(e.what());
  }
  if (int code = finish_limits(limit, out); code >= 0) return code;
  if (stop_at_first) out.test.max_failures = 1;
  if (chosen == test) out.test.words.assign(argv + 1, argv + argc);

  if (chosen == run) {
    out.script = run->remaining();
    out.from_code = run->count("-e") > 0;
    if (out.from_code) {
      out.script.insert(out.script.begin(), "-c");
    } else if (run->count("-m") > 0) {
      out.script.insert(out.script.begin(), "-m");
    } else if (out.script.empty()) {
      return usage_error("'tfl run' needs a FILE, - for standard input, -e CODE, or -m MODULE");
    }
  } else if (chosen == profile) {
    out.script = profile->remaining();
    if (out.script.empty()) return usage_error("'tfl profile' needs a FILE, or - for standard input");
  } else if (chosen == fmt) {
    for (const std::string& text : ranges) {
      std::pair<uint32_t, uint32_t> lines;
      if (!parse_lines(text, lines)) return usage_error("--range: " + in_quotes(text) + " is no range; write 10-20");
      out.format.ranges.push_back(lines);
    }
  } else if (chosen == lsp) {
    out.allow_all = true;
  } else if (chosen == dump) {
    const GraphOptions& g = out.graph;
    bool graph = g.ir || g.optimized || !g.passes.empty() || g.dot || g.svg || g.plan || g.llvm || g.assembly || g.ptx ||
                 !g.signature.empty();
    out.dump = graph       ? DumpKind::Graph
               : tokens    ? DumpKind::Tokens
               : bytecode  ? DumpKind::Bytecode
               : autograph ? DumpKind::Autograph
                           : DumpKind::Ast;
  }
  if ((chosen == run || chosen == profile) && !out.from_code && out.module.empty() && out.script[0].size() > 1 &&
      out.script[0][0] == '-') {
    std::vector<std::string> storage;
    return usage_error("unknown flag " + in_quotes(out.script[0]) + " of 'tfl " + chosen->get_name() + "'",
                       nearest_option(*chosen, out.script[0], storage));
  }
  return -1;
}

}  // namespace tfl::cli
