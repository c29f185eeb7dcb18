#include "cli/shared_options.h"

#include "optimizer/pass.h"

namespace tfl::cli {

namespace {

/// What is wrong with the names of passes; empty: nothing.
std::string check_passes(std::string& names) {
  if (names == "usual" || names == "none") return {};
  auto passes = optimizer::parse_pipeline(names);
  return passes ? std::string() : passes.error().message + " (" + passes.error().hint + ")";
}

}  // namespace

void add_cpu(CLI::App& app, Arguments& out) {
  app.add_option("--cpu", out.cpu, "Processor to make machine code for: x86-64-v3 or x86-64-v4 (default: this one)")
      ->envname("TFL_CPU")
      ->check(CLI::IsMember({"x86-64-v3", "x86-64-v4"}))
      ->type_name("CPU");
}

void add_run_options(CLI::App& app, Arguments& out, Limit& limit) {
  app.add_option("--max-memory", limit.memory, "Memory for tensors and host values, e.g. 2G (default: 80 % of the machine)")
      ->envname("TFL_MAX_MEMORY")
      ->type_name("SIZE");
  app.add_option("--timeout", limit.timeout, "End the run after this time, e.g. 10s (default: never)")
      ->envname("TFL_TIMEOUT")
      ->type_name("TIME");
  app.add_option("--max-depth", out.limits.depth, "Calls within calls before RecursionError (default: 1000)")
      ->envname("TFL_MAX_DEPTH")
      ->check(CLI::Range(10, 1000000))
      ->type_name("N");
  app.add_option("--threads", out.limits.threads, "Threads to compute with (default: all processors)")
      ->envname("TFL_THREADS")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_option("--allow-read", out.allow_read, "A folder that scripts may read, beside their own and the working directory")
      ->type_name("DIR")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--allow-write", out.allow_write, "A folder that scripts may read and write")
      ->type_name("DIR")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--allow-all", out.allow_all, "Scripts may use every file that you may");
  app.add_flag("--allow-run", out.allow_run, "Scripts may run other programs (subprocess)");
  app.add_flag("--strict", out.strict, "Traced functions keep operations whose results nobody needs when they may fail");
  app.add_option("--passes", out.passes,
                 "Traced functions go through these passes and no others (tfl-opt --list names them), each one "
                 "verified; or none")
      ->check(CLI::Validator(check_passes, ""))
      ->type_name("A,B");
  app.add_flag("!--no-cache", out.use_cache, "Neither read nor write the caches of bytecode and machine code");
  app.add_option("--jit", out.jit, "When traced functions become machine code: auto, wait (before their first run) or off")
      ->envname("TFL_JIT")
      ->check(CLI::IsMember({"auto", "wait", "off"}))
      ->type_name("WHEN");
  app.add_flag_callback(
      "--no-jit", [&out] { out.jit = "off"; }, "Run traced functions without machine code; the same as --jit=off");
  app.add_option("--device", out.device, "Where traced functions run unless a tf.device scope says it: cpu (default) or gpu")
      ->envname("TFL_DEVICE")
      ->check(CLI::IsMember({"cpu", "gpu"}))
      ->type_name("DEVICE");
  add_cpu(app, out);
}

void add_fixed(CLI::App& command, Arguments& out) {
  command
      .add_option("--fix", out.fixed,
                  "Of an ONNX model: a size or an input that is known, batch=1 or axes=[1,2]; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
}

void add_color(CLI::App& app, Arguments& out) {
  app.add_option("--color", out.color, "Colour in messages: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

void add_export(CLI::App& command, Arguments& out) {
  ExportOptions& e = out.exported;
  command.add_option("model", out.files, "A function of a script, or a model: .keras, .h5, a saved model's folder")
      ->required()
      ->expected(1)
      ->type_name("FILE::FUNCTION|MODEL");
  command.add_option("-o,--output", e.path, "The file to write")->required()->type_name("FILE.onnx");
  command.add_option("--signature", out.graph.signature, "Types of the function's arguments, e.g. \"f32[batch,784], i32\"")
      ->type_name("TYPES");
  command.add_option("--opset", e.opset, "Version of ONNX's operations, 18 to 23 (default: 20)")
      ->check(CLI::Range(18, 23))
      ->type_name("N");
  command.add_option("--name", e.name, "Name of the graph")->type_name("NAME");
  command.add_flag("--external-data", e.external_data,
                   "Elements of constants go to FILE.onnx.data (default: where they are more than 2 GB)");
  auto several = [&](const char* name, std::vector<std::string>& into, const char* about, const char* type) {
    command.add_option(name, into, about)->type_name(type)->expected(1)->take_all();
  };
  several("--inputs", e.inputs, "Names of the inputs, with commas between them", "A,B");
  several("--outputs", e.outputs, "Names of the outputs", "A,B");
  several("--dynamic", e.dynamic, "The name of a size that is open: x:0=batch; may be repeated", "NAME:AXIS=SIZE");
  several("--metadata", e.metadata, "What the model tells of itself; may be repeated", "KEY=VALUE");
  add_fixed(command, out);
  add_color(command, out);
}

}  // namespace tfl::cli
