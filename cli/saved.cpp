// tfl inspect DIR and tfl run DIR: hands saved models to the library (stdlib/tools/_saved_model_cli.tfl), ONNX models likewise
// (stdlib/tools/_onnx_cli.tfl), and gives its exit code; tfl inspect of a native library shows what it tells of itself.
#include <cstdio>
#include <cstring>

#include "cli/aside.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "frontend/core/protocol.h"
#include "runtime/files/file.h"

namespace tfl::cli {

namespace {

int request_error(const std::string& message) {
  std::fprintf(stderr,
               "tfl: error: %s\nusage: tfl run DIR|MODEL.onnx [--function NAME] [--inputs "
               "FILE.npy|FILE.npz|NAME=FILE.npy|JSON]... [--outputs DIR]\n",
               message.c_str());
  return kExitUsage;
}

struct Request {
  std::string command, folder, other, function, outputs, metadata;
  int64_t bytes = 0;
  std::vector<std::string> inputs, fixed;
  bool picture = false;
};

int hand_over(const Arguments& a, const Request& r) {
  const bool onnx = is_onnx(r.folder);
  Session session(a, onnx || is_model_file(r.folder) ? r.folder : r.folder + "/saved_model.json");
  Interp& interp = session.interp;
  Value options = interp.dict();
  auto set = [&](const char* name, Value value) { dict_set_str(options.as<Dict>(), interp.intern(name), std::move(value)); };
  auto text = [&](const std::string& s) { return s.empty() ? Value::none() : interp.str(s); };
  std::vector<Value> inputs;
  for (const std::string& s : r.inputs) inputs.push_back(interp.str(s));
  set("command", interp.str(r.command));
  set("folder", interp.str(r.folder));
  set("other", text(r.other));
  set("function", text(r.function));
  set("outputs", text(r.outputs));
  set("inputs", interp.list(std::move(inputs)));
  std::vector<Value> fixed;
  for (const std::string& s : r.fixed) fixed.push_back(interp.str(s));
  set("fixed", interp.list(std::move(fixed)));
  set("picture", Value::boolean(r.picture));
  set("metadata", text(r.metadata));
  set("bytes", Value::integer(r.bytes));
  auto code = ask_library(interp, onnx ? "_onnx_cli" : "_saved_model_cli", "main", {options});
  if (!code) return session.finish(session.report(code.error()));
  return session.finish(code->is_int() ? static_cast<int>(code->as_int()) : 70);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// What a library of tfl build tells of itself: JSON that lies in it, whatever processor it is for. Empty: it is none.
std::string metadata_in(const std::string& bytes) {
  constexpr std::string_view kBegin = "{\n  \"name\": \"", kNext = "\",\n  \"abi\": ";
  for (size_t at = bytes.find(kBegin); at != std::string::npos; at = bytes.find(kBegin, at + 1)) {
    size_t name_end = bytes.find('"', at + kBegin.size()), end = bytes.find('\0', at);
    if (end != std::string::npos && name_end < end && bytes.compare(name_end, kNext.size(), kNext) == 0)
      return bytes.substr(at, end - at);
  }
  return {};
}

bool is_library(const std::string& path) { return path.ends_with(".so") || path.ends_with(".a") || path.ends_with(".o"); }

int inspect_library(const Arguments& a, Request r) {
  std::string bytes;
  int error = read_whole_file(r.folder, SIZE_MAX / 2, bytes);
  if (!error) r.metadata = metadata_in(bytes);
  if (r.metadata.empty()) {
    std::fprintf(stderr, "tfl: error: cannot inspect %s: %s\n", r.folder.c_str(),
                 error ? std::strerror(error) : "it is no library of tfl build");
    return kExitUncaught;
  }
  if (a.json) {
    std::fputs(r.metadata.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : kExitUncaught;
  }
  r.bytes = static_cast<int64_t>(bytes.size());
  r.command = "inspect_library";
  return hand_over(a, r);
}

}  // namespace

int inspect_model(const Arguments& given) {
  Arguments a = given;
  Request r;
  r.command = "inspect";
  r.folder = without_slash(a.files[0]);
  a.allow_read.push_back(folder_of(r.folder));
  r.function = a.function;
  r.picture = a.graph.svg;
  if (is_library(r.folder)) return inspect_library(a, std::move(r));
  if (a.json) {
    std::fputs("tfl: error: --json: only libraries that tfl build made tell of themselves as JSON\n", stderr);
    return kExitUsage;
  }
  return hand_over(a, r);
}

int convert_model(const Arguments& given) {
  Arguments a = given;
  Request r;
  r.command = given.command == Command::Diff ? "diff" : "convert";
  r.folder = without_slash(a.files[0]);
  r.other = without_slash(a.files[1]);
  for (const std::string& path : {r.folder, r.other}) a.allow_read.push_back(folder_of(path));
  if (given.command == Command::Convert) a.allow_write.push_back(folder_of(r.other));
  return hand_over(a, r);
}

int run_model(const Arguments& given) {
  Request r;
  Arguments a = given;
  r.command = "run";
  r.folder = without_slash(a.script[0]);
  std::string* single = nullptr;
  bool inputs = false;
  for (size_t i = 1; i < a.script.size(); ++i) {
    const std::string& word = a.script[i];
    if (word == "--fix" && is_onnx(r.folder)) {
      inputs = false;
      if (i + 1 == a.script.size()) return request_error(word + " needs a value");
      r.fixed.push_back(a.script[++i]);
    } else if (word == "--inputs" || word == "--function" || word == "--outputs") {
      inputs = word == "--inputs";
      single = word == "--function" ? &r.function : word == "--outputs" ? &r.outputs : nullptr;
      if (i + 1 == a.script.size()) return request_error(word + " needs a value");
    } else if (single) {
      *single = word;
      single = nullptr;
      inputs = false;
    } else if (inputs) {
      r.inputs.push_back(word);
      // Files that are named on the command line may be read.
      size_t equals = word.find('=');
      a.allow_read.push_back(folder_of(equals == std::string::npos ? word : word.substr(equals + 1)));
    } else {
      return request_error("unexpected argument '" + word + "'");
    }
  }
  if (!r.outputs.empty()) a.allow_write.push_back(folder_of(without_slash(r.outputs)));
  return hand_over(a, r);
}

}  // namespace tfl::cli
