#include "cli/embed/model_script.h"

namespace tfl::embed {

namespace {

/// As a literal of the language.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
  return out + "\"";
}

}  // namespace

bool is_model_file(const std::string& path) {
  return path.ends_with(".keras") || path.ends_with(".h5") || path.ends_with(".hdf5");
}

std::string keras_script(const std::string& path) {
  return "from tensorflow.keras.models._program import of\npredict = of(" + quoted(path) +
         ")\nif __name__ == \"__main__\":\n    predict.get_concrete_function()\n";
}

bool is_onnx(const std::string& path) { return path.ends_with(".onnx"); }

std::string onnx_script(const std::string& path, const std::vector<std::string>& fixed) {
  std::string list;
  for (const std::string& f : fixed) list += quoted(f) + ", ";
  return "import tfl\n\nrun = tfl.import_onnx(" + quoted(path) + ", fix=[" + list +
         "]).function\nif __name__ == \"__main__\":\n    run.rehearse()\n";
}

std::string saved_model_script(const std::string& folder) {
  return "import tensorflow as tf\n\nmodel = tf.saved_model.load(" + quoted(folder) + ")\n";
}

}  // namespace tfl::embed
