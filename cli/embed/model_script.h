// The scripts that files of models stand for: where a script is asked for, a model in a file is one that loads it.
#pragma once

#include <string>
#include <vector>

namespace tfl::embed {

/// Is it a file of a Keras model, by its name?
bool is_model_file(const std::string& path);
/// A script whose function `predict` is the model's.
std::string keras_script(const std::string& path);

/// Is it the file of an ONNX model, by its name?
bool is_onnx(const std::string& path);
/// A script whose function `run` is the model; run as a program, it calls it once. `fixed`: NAME=VALUE of sizes and inputs that are known.
std::string onnx_script(const std::string& path, const std::vector<std::string>& fixed);

/// A script whose function `model` is what tf.saved_model.load gives.
std::string saved_model_script(const std::string& folder);

}  // namespace tfl::embed
