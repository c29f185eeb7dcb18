// tfl inspect DIR and tfl run DIR: hands saved models to the library (stdlib/_saved_model_cli.tfl), and gives its exit code; tfl
// inspect of a native library prints what it tells of itself.
#include <dlfcn.h>

#include <cstdio>

#include "cli/aside.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "frontend/object/protocol.h"

namespace tfl::cli {

namespace {

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

int usage_error(const std::string& message) {
  std::fprintf(stderr,
               "tfl: error: %s\nusage: tfl run DIR [--function NAME] [--inputs "
               "FILE.npy|FILE.npz|NAME=FILE.npy|JSON]... [--outputs DIR]\n",
               message.c_str());
  return kExitUsage;
}

struct Request {
  std::string command, folder, function, outputs;
  std::vector<std::string> inputs;
  bool picture = false;
};

int hand_over(const Arguments& a, const Request& r) {
  Session session(a, r.folder + "/saved_model.json");
  Interp& interp = session.interp;
  Value options = interp.dict();
  auto set = [&](const char* name, Value value) {
    dict_set_str(options.as<Dict>(), interp.intern(name), std::move(value));
  };
  auto text = [&](const std::string& s) { return s.empty() ? Value::none() : interp.str(s); };
  std::vector<Value> inputs;
  for (const std::string& s : r.inputs) inputs.push_back(interp.str(s));
  set("command", interp.str(r.command));
  set("folder", interp.str(r.folder));
  set("function", text(r.function));
  set("outputs", text(r.outputs));
  set("inputs", interp.list(std::move(inputs)));
  set("picture", Value::boolean(r.picture));
  auto code = ask_library(interp, "_saved_model_cli", "main", {options});
  interp.streams.flush();
  if (!code) return session.report(code.error());
  return code->is_int() ? static_cast<int>(code->as_int()) : 70;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// A library that tfl build made tells of itself by a function.
int inspect_library(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  name = name.substr(name.starts_with("lib") ? 3 : 0);
  name.resize(name.size() - 3);
  void* library =
      dlopen(path.find('/') == std::string::npos ? ("./" + path).c_str() : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* metadata =
      library ? reinterpret_cast<const char* (*)()>(dlsym(library, (name + "_metadata_json").c_str())) : nullptr;
  if (!metadata) {
    const char* reason = library ? "it is no library of tfl build, or was given another name" : dlerror();
    std::fprintf(stderr, "tfl: cannot inspect %s: %s\n", path.c_str(), reason ? reason : "it cannot be loaded");
    return kExitUncaught;
  }
  std::fputs(metadata(), stdout);
  std::fflush(stdout);
  dlclose(library);
  return 0;
}

}  // namespace

int inspect_model(const Arguments& a) {
  if (a.files[0].ends_with(".so")) return inspect_library(a.files[0]);
  Request r;
  r.command = "inspect";
  r.folder = without_slash(a.files[0]);
  r.function = a.function;
  r.picture = a.graph.svg;
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
    if (word == "--inputs" || word == "--function" || word == "--outputs") {
      inputs = word == "--inputs";
      single = word == "--function" ? &r.function : word == "--outputs" ? &r.outputs : nullptr;
      if (i + 1 == a.script.size()) return usage_error(word + " needs a value");
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
      return usage_error("unexpected argument '" + word + "'");
    }
  }
  if (!r.outputs.empty()) a.allow_write.push_back(folder_of(without_slash(r.outputs)));
  return hand_over(a, r);
}

}  // namespace tfl::cli
