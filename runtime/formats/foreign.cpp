#include "runtime/formats/foreign.h"

#include <cstdint>

namespace tfl {

namespace {

struct Beginning {
  std::string_view bytes, what;
};

constexpr Beginning kBeginnings[] = {
    {"\x89HDF\r\n\x1a\n", "an HDF5 file (.h5), which Keras writes models and weights to"},
    {"\x93NUMPY", "a NumPy array (.npy)"},
    {"\x1f\x8b", "a file compressed with gzip"},
    {"%PDF", "a PDF document"},
    {"\x7f"
     "ELF",
     "a program or library of machine code"},
    {"\x89PNG", "a PNG image"},
    {"\xff\xd8\xff", "a JPEG image"},
    {"TFL3", "a TensorFlow Lite model"},
    {"<!DOCTYPE", "a web page"},
    {"<!doctype", "a web page"},
    {"<html", "a web page"},
    {"version https://git-lfs", "a pointer of Git LFS, in place of the file itself"},
};

/// Name of the first member of a zip archive.
std::string_view first_member(std::string_view head) {
  if (head.size() < 30) return {};
  const size_t length = static_cast<uint8_t>(head[26]) | static_cast<size_t>(static_cast<uint8_t>(head[27])) << 8;
  return head.substr(30, length);
}

}  // namespace

std::string_view foreign_format(std::string_view head) {
  for (const Beginning& b : kBeginnings) {
    if (head.starts_with(b.bytes)) return b.what;
  }
  if (head.size() > 8 && head.substr(4, 4) == "TFL3") return "a TensorFlow Lite model";
  if (head.starts_with("PK\x03\x04")) {
    std::string_view name = first_member(head);
    if (name == "metadata.json" || name == "config.json" || name == "model.weights.h5") return "a Keras archive (.keras)";
    if (name.ends_with("data.pkl") || name.find("/data/") != name.npos) return "a PyTorch checkpoint (.pt)";
    if (name.ends_with(".npy")) return "an archive of NumPy arrays (.npz)";
    return "a zip archive";
  }
  // The version of ONNX's message, then the name of who wrote it.
  if (head.size() > 4 && head[0] == '\x08' && static_cast<uint8_t>(head[1]) < 32 && head[2] == '\x12') return "an ONNX model";
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) return "a file of Python's pickle";
  return {};
}

}  // namespace tfl
