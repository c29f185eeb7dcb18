// tfl build: a script's traced functions as a native library.
#include <algorithm>
#include <cstdio>

#include "cli/aside.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codegen/library/library.h"
#include "frontend/core/attributes.h"
#include "frontend/core/concrete.h"
#include "frontend/core/native.h"
#include "frontend/core/tensor_api.h"
#include "runtime/files/file.h"

namespace tfl::cli {

namespace {

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> out;
  for (const Value& v : list.as<List>()->items) out.emplace_back(text_of(v));
  return out;
}

// The number of the variable `v` among the library's states, which it joins.
int64_t state_of(codegen::LibraryRequest& request, std::vector<const VariableObject*>& known, VariableObject* v) {
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] == v) return static_cast<int64_t>(i);
  }
  known.push_back(v);
  std::string name = v->name;
  for (int k = 1; std::any_of(request.states.begin(), request.states.end(), [&](const auto& s) { return s.name == name; }); ++k)
    name = v->name + "_" + std::to_string(k);
  request.states.push_back({name, v->value});
  return static_cast<int64_t>(known.size()) - 1;
}

Result<void> add_function(codegen::LibraryRequest& request, std::vector<const VariableObject*>& known, const Value& row) {
  const Value* parts = row.as<Tuple>()->items;
  const FunctionCall& call = static_cast<TracedGraph*>(parts[1].object())->call;
  codegen::ExportedFunction f;
  f.name = codegen::c_identifier(text_of(parts[0]));
  f.graph = call.function;
  f.arguments = strings_of(parts[2]);
  f.outputs = strings_of(parts[3]);
  for (const Value& sizes : parts[4].as<List>()->items) f.sizes.push_back(strings_of(sizes));
  f.doc = std::string(text_of(parts[5]));
  f.arguments.resize(call.arguments, "x");
  for (const Value& v : call.captures) {
    codegen::Capture c;
    if (v.is_tensor()) {
      c.constant = v.tensor();
    } else if (v.kind() == Kind::Variable) {
      VariableObject* storage = variable_storage(v.as<VariableObject>());
      if (!storage->value)
        return fail(ErrorKind::ValueError, "{} reads the variable {}, which has no value yet", f.name, storage->name);
      c.state = state_of(request, known, storage);
    } else {
      return fail(ErrorKind::ValueError, "{} calls back into the script (tf.py_function, a dataset), which a library has not",
                  f.name);
    }
    f.captures.push_back(std::move(c));
  }
  request.functions.push_back(std::move(f));
  return {};
}

// Processors and a GPU, with commas between them.
bool parse_target(const std::string& text, codegen::LibraryRequest& request) {
  std::vector<std::string> processors;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, end - at);
    at = end + 1;
    bool gpu = word.starts_with("sm_") && word.size() >= 5 && word.find_first_not_of("0123456789", 3) == std::string::npos &&
               (word.size() > 5 || word[3] >= '8');
    if (gpu)
      request.gpu = word, request.with_gpu = true;
    else
      processors.push_back(word == "native" ? "" : word);
  }
  if (processors == std::vector<std::string>{"x86-64-v3", "x86-64-v4"}) {
    request.cpu = codegen::Cpu::x86_64_v3;
    return request.better = true;
  }
  std::optional<codegen::Cpu> named = codegen::cpu_from_name(processors.empty() ? "" : processors[0]);
  if (named) request.cpu = *named;
  return named && processors.size() <= 1;
}

bool parse_kinds(const std::string& text, codegen::LibraryRequest& request) {
  request.shared = text.empty();
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string kind = text.substr(at, end - at);
    at = end + 1;
    if (kind == "shared-lib")
      request.shared = true;
    else if (kind == "static-lib")
      request.archive = true;
    else if (kind == "object")
      request.object = true;
    else if (kind == "llvm")
      request.llvm = true;
    else if (kind == "asm")
      request.assembly = true;
    else if (kind == "ptx")
      request.ptx = true;
    else {
      say_error("--emit '" + kind + "': there are shared-lib, static-lib, object, llvm, asm, ptx and, alone, executable");
      return false;
    }
  }
  return true;
}

}  // namespace

int build_files(const Arguments& a) {
  if (a.build.emit == "executable") return build_executable(a);
  std::string file = a.files[0];
  while (file.size() > 1 && file.back() == '/') file.pop_back();
  bool saved = is_folder(file);
  if (saved && !a.build.exports.empty()) {
    say_error("--export: of a saved model the signatures are exported");
    return kExitUsage;
  }
  Session session(a, saved ? file + "/saved_model.json" : file);  // before the request, which holds tensors of it
  codegen::LibraryRequest request;
  std::string base = file.substr(file.rfind('/') + 1);
  request.source = base;
  request.name = codegen::c_identifier(a.build.name.empty() ? base.substr(0, base.rfind('.')) : a.build.name);
  request.folder = a.build.folder.empty() ? "." : a.build.folder;
  if (!parse_kinds(a.build.emit, request)) return kExitUsage;
  if (!parse_target(a.build.target, request)) {
    say_error("--target '" + a.build.target +
              "': there are native, x86-64-v3, x86-64-v4, both as x86-64-v3,x86-64-v4, aarch64, and for PTX sm_80 and later");
    return kExitUsage;
  }
  request.weights_in_file = a.build.weights == "file";
  request.own_linker = a.build.linker == "own";
  if (request.cpu == codegen::Cpu::aarch64 && (request.shared || request.archive)) {
    say_error("for aarch64 there are objects and texts: --emit object,llvm,asm");
    return kExitUsage;
  }

  Interp& interp = session.interp;
  Ran ran;
  if (!saved) {
    ran = run_aside(session, file, "__build__", a.fixed);
    if (ran.names.is_empty() || ran.code != 0) return ran.code;
  }
  std::vector<Value> wanted;
  for (const std::string& e : a.build.exports) wanted.push_back(interp.str(e));
  Result<Value> found = [&] {
    OutputAside aside(interp);
    if (saved) return ask_library(interp, "tensorflow._function.exports", "of_saved_model", {interp.str(file)});
    return ask_library(interp, "tensorflow._function.exports", "exports", {ran.names, interp.list(std::move(wanted))});
  }();
  if (!found) return session.report(found.error());
  if (found->is_str()) {
    say_error(text_of(*found));
    return kExitUsage;
  }
  std::vector<const VariableObject*> known;
  for (const Value& row : found->as<List>()->items) {
    if (auto done = add_function(request, known, row); !done) {
      say_error(done.error().message);
      return kExitUncaught;
    }
  }
  auto files = codegen::build_library(session.context, request);
  if (!files) {
    say_error(files.error().message);
    return kExitUncaught;
  }
  for (const std::string& f : *files) std::printf("%s\n", f.c_str());
  return 0;
}

}  // namespace tfl::cli
