// What the user asked for: one struct for all commands, filled from the command line and the environment.
// Only arguments.cpp knows the library that parses it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tfl::cli {

enum class Command : uint8_t {
  Run,
  Check,
  Format,
  LanguageServer,
  Repl,
  Test,
  Dump,
  Explain,
  Info,
  Cache,
  Completion,
  Build,
  Inspect,
  Profile,
  Convert,
  Diff,
  Export,
  Tool
};

enum class DumpKind : uint8_t { Tokens, Ast, Bytecode, Autograph, Graph };

struct Limits {
  size_t memory = 0;   // bytes; 0: 80 % of the machine
  double timeout = 0;  // seconds; 0: none
  int depth = 1000;    // calls
  int threads = 0;     // 0: all processors
};

struct TestOptions {
  std::string keyword;  // -k
  bool verbose = false, quiet = false, show_output = false, collect_only = false;
  int max_failures = 0;      // 0: no limit
  bool last_failed = false;  // --lf
  bool doctest = false;      // the examples in docstrings instead
  int durations = -1;        // slowest tests to list; -1: none
  std::string junit;         // file
  bool coverage = false;
  std::string coverage_html, coverage_lcov;  // folder, file
  std::string mode = "both";                 // how functions run: staged, eager, both
  std::string processes, dist = "load";      // -n: a number or auto; how tests are given to them
  std::string part;                          // of a process that another one started: FIRST-LAST of the file's tests
  bool update_snapshots = false;
  std::vector<std::string> words;  // the command line, for such processes
};

/// How tfl fmt writes.
struct FormatArguments {
  bool check = false, diff = false, quiet = false;
  bool skip_magic_trailing_comma = false, skip_quotes = false;
  int line_length = 88;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // lines, first and last
};

/// What to show of a traced function's graph.
struct GraphOptions {
  bool ir = false, optimized = false;                              // as traced, or as it runs
  std::string passes;                                              // after these
  bool dot = false, svg = false;                                   // as Graphviz text, or a picture
  bool plan = false, llvm = false, assembly = false, ptx = false;  // what is compiled of it
  std::string signature;                                           // "f32[?,784], i32"
};

/// What tfl build makes.
struct BuildOptions {
  std::string folder, name, emit, target, weights, linker;
  std::vector<std::string> exports;
};

/// How tfl export writes a model for others.
struct ExportOptions {
  std::string path, name;
  int opset = 0;                                                // 0: the usual one
  std::vector<std::string> inputs, outputs, dynamic, metadata;  // names; NAME:AXIS=SIZE; KEY=VALUE
  bool external_data = false;
};

/// Files that tfl profile writes beside its tables; empty: none.
struct ProfileOptions {
  std::string html, trace;
};

struct Arguments {
  Command command = Command::Run;
  std::vector<std::string> files;  // what to check, dump, test
  bool from_code = false;          // -e
  std::string code;
  std::string tool;                 // the module of a command that is TFL source; its words are in `script`
  std::string module;               // -m: run what a name of modules means
  std::vector<std::string> script;  // sys.argv of the script
  Limits limits;
  int workers = -1;                   // to start on this machine; -1: not said
  int replicas = -1;                  // that strategies divide batches among; -1: as the script says
  std::string rank_output = "first";  // what other workers than the first print: first (nothing), all, or a folder
  std::vector<std::string> allow_read, allow_write;
  std::vector<std::string> fixed;  // NAME=VALUE: sizes and inputs of an ONNX model that are known
  bool allow_all = false;
  bool allow_run = false;
  bool shapes = false;           // tfl check: what tensors' shapes tell, too
  bool strict = false;           // graphs keep every operation that may fail
  std::string passes = "usual";  // that graphs go through before they run: usual, none, or names with commas
  bool use_cache = true;
  std::string jit = "auto";  // when functions become machine code: auto, wait (before they run), off
  std::string device;        // where traced functions run unless they say it: cpu (also empty) or gpu
  std::string cpu;           // to make machine code for; empty: this one
  std::string color = "auto";
  DumpKind dump = DumpKind::Ast;
  GraphOptions graph;
  TestOptions test;
  FormatArguments format;
  BuildOptions build;
  ExportOptions exported;
  bool json = false;  // tfl inspect: as it stands in the library
  ProfileOptions profile;
  std::string function;  // of a saved model
  bool clear_cache = false;
  std::string shell;  // of completion
};

/// Fills `out`; when the program has nothing left to do (help, version, wrong usage) gives the exit code, else -1.
int parse_arguments(int argc, char** argv, Arguments& out);

}  // namespace tfl::cli
