// tfl export: a function of a script, or a model in a file, as an ONNX file. What is meant and how it is written is decided in the
// library (tfl._onnx_export._command).
#include "cli/aside.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "runtime/files/file.h"

namespace tfl::cli {

int export_model(const Arguments& given) {
  Arguments a = given;
  std::string file = a.files[0], function;
  if (size_t at = file.rfind("::"); at != std::string::npos) {
    function = file.substr(at + 2);
    file.resize(at);
  }
  while (file.size() > 1 && file.back() == '/') file.pop_back();
  const bool folder = is_folder(file);
  a.allow_write.push_back(folder_of(a.exported.path));
  Session session(a, folder ? file + "/saved_model.json" : file);
  Interp& interp = session.interp;
  Ran ran;
  if (!folder) {
    ran = run_aside(session, file, "__export__", a.fixed);
    if (ran.names.is_empty() || ran.code != 0) return ran.code;
  }
  Value options = interp.dict();
  auto set = [&](const char* name, Value value) { dict_set_str(options.as<Dict>(), interp.intern(name), std::move(value)); };
  auto text = [&](const std::string& s) { return s.empty() ? Value::none() : interp.str(s); };
  auto list = [&](const std::vector<std::string>& texts) {
    std::vector<Value> items;
    for (const std::string& s : texts) items.push_back(interp.str(s));
    return interp.list(std::move(items));
  };
  const ExportOptions& e = a.exported;
  set("names", folder ? Value::none() : ran.names);
  set("folder", folder ? interp.str(file) : Value::none());
  set("function", text(function));
  set("path", interp.str(e.path));
  set("signature", text(a.graph.signature));
  set("opset", e.opset ? Value::integer(e.opset) : Value::none());
  set("name", text(e.name));
  set("external_data", e.external_data ? Value::boolean(true) : Value::none());
  set("inputs", list(e.inputs));
  set("outputs", list(e.outputs));
  set("dynamic", list(e.dynamic));
  set("metadata", list(e.metadata));
  Result<Value> wrong = [&] {
    OutputAside aside(interp);
    return ask_library(interp, "tfl._onnx_export._command", "main", {options});
  }();
  if (!wrong) return session.report(wrong.error());
  if (wrong->is_none()) return 0;
  const Value* parts = wrong->as<Tuple>()->items;
  say_error(std::string(text_of(parts[1])));
  return static_cast<int>(parts[0].as_int());
}

}  // namespace tfl::cli
