// The C header and the C++ header of a library.
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/embedded.h"
#include "codegen/library/library.h"
#include "codegen/library/listed.h"

namespace tfl::codegen {

namespace {

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

// "x: float32[n, 784]"
std::string described(const Interface::Value& v) {
  return fmt::format("{}: {}[{}]", v.name, dtype_name(v.dtype), joined(v.sizes));
}

std::string signature(const std::string& name, const Interface& face) {
  std::vector<std::string> in, out;
  for (const auto& v : face.arguments) in.push_back(described(v));
  for (const auto& v : face.outputs) out.push_back(described(v));
  return fmt::format("{}({}) -> {}", name, joined(in), out.empty() ? "nothing" : joined(out));
}

// Text for a comment, each line after the first begun with `indent`.
std::string comment_text(std::string_view text, std::string_view indent) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      out += "\n" + std::string(indent);
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    } else if (text[i] == '*' && i + 1 < text.size() && text[i + 1] == '/') {
      out += "* ";
    } else {
      out.push_back(text[i]);
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '\n')) out.pop_back();
  return out;
}

// Parameters of a function's three forms, after `first`; and what they are called with.
std::string tensors(std::string first, const Interface& face, char by) {
  auto argument = [&](const auto& v) { return fmt::format("const tfl_tensor {}{}", by, v.name); };
  return listed(std::move(first), face, argument, kLeftOut,
                [&](const auto& v) { return fmt::format("tfl_tensor {}{}", by, v.name); });
}
std::string tensor_names(std::string first, const Interface& face) {
  auto address = [](const auto& v) { return "&" + v.name; };
  return listed(std::move(first), face, address, kLeftOut, address);
}
std::string shapes(std::string first, const Interface& face) {
  auto argument = [](const auto& v) { return "const tfl_tensor *" + v.name; };
  return listed(std::move(first), face, argument, kLeftOut,
                [](const auto& v) { return fmt::format("int64_t {}_shape[{}]", v.name, std::max<size_t>(v.dims.size(), 1)); });
}
std::string flat(std::string first, const Interface& face) {
  auto argument = [](const auto& v) { return fmt::format("const {} *{}", c_type(v.dtype), v.name); };
  auto result = [](const auto& v) { return fmt::format("{} *{}", c_type(v.dtype), v.name); };
  return listed(std::move(first), face, argument, [](const auto& o) { return "int64_t " + o.name; }, result);
}
std::string flat_names(std::string first, const Interface& face) {
  auto name = [](const auto& v) { return v.name; };
  return listed(std::move(first), face, name, name, name);
}

}  // namespace

std::string library_header(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  const std::string& n = request.name;
  std::string guard = upper(n) + "_H";
  std::string out =
      fmt::format("/* {}.h: made by tfl build from {}. C99. */\n#ifndef {}\n#define {}\n\n", n, request.source, guard, guard);
  out += library_types();
  out += fmt::format("\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n#define {}_ABI_VERSION 1u\n\n", upper(n));
  out += fmt::format(
      "/* A context holds the library's variables, its memory and its threads. It is used by one thread at a time; "
      "contexts do not know of\n"
      " * each other. `options` may be NULL. */\n"
      "tfl_status {0}_context_new(const tfl_options *options, tfl_context **context);\n"
      "void {0}_context_free(tfl_context *context);\n"
      "/* What the last call on this context that did not give TFL_OK had to say. */\n"
      "const char *{0}_last_error(const tfl_context *context);\n"
      "/* From any thread: the call in progress, or else the next one, gives TFL_ERR_CANCELLED. */\n"
      "tfl_status {0}_context_cancel(tfl_context *context);\n"
      "uint32_t {0}_abi_version(void);\n"
      "const char *{0}_metadata_json(void);\n",
      n);
  if (!request.states.empty())
    out += fmt::format(
        "/* The variables, as a safetensors file. Loading changes all of them or none. */\n"
        "tfl_status {0}_state_save(tfl_context *context, const char *path);\n"
        "tfl_status {0}_state_load(tfl_context *context, const char *path);\n",
        n);
  if (allocates(functions))
    out += fmt::format(
        "/* Frees a result of a function whose name ends with _alloc, on the context that gave it and before that "
        "goes. */\n"
        "void {0}_tensor_free(tfl_context *context, tfl_tensor *tensor);\n",
        n);
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    const std::string& name = f.from->name;
    out += fmt::format("\n/* {}", signature(name, face));
    if (!f.from->doc.empty()) out += "\n *\n * " + comment_text(f.from->doc, " * ");
    const char* context = "tfl_context *context";
    if (f.allocates()) {
      out += fmt::format(
          "\n *\n * Arguments may be strided. Sizes of results follow from values: they are allocated, row-major, and "
          "{}_tensor_free\n"
          " * takes them back. */\n",
          n);
      out += fmt::format("tfl_status {}_{}_alloc({});\n", n, name, tensors(context, face, '*'));
      continue;
    }
    out +=
        "\n *\n * Arguments may be strided; results are the caller's, row-major, and apart from the arguments. "
        "`_shape` tells their sizes; ";
    out += fmt::format("`_{}`\n * takes row-major elements. */\n", face.flat_suffix);
    out += fmt::format("tfl_status {}_{}_shape({});\n", n, name, shapes(context, face));
    out += fmt::format("tfl_status {}_{}({});\n", n, name, tensors(context, face, '*'));
    out += fmt::format("tfl_status {}_{}_{}({});\n", n, name, face.flat_suffix, flat(context, face));
  }
  out += fmt::format("\n#ifdef __cplusplus\n}}\n#endif\n#endif /* {} */\n", guard);
  return out;
}

std::string library_header_cpp(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  const std::string& n = request.name;
  std::string guard = upper(n) + "_HPP";
  std::string out = fmt::format(
      "// {0}.hpp: made by tfl build from {1}. C++17. Errors are exceptions.\n#ifndef {2}\n#define {2}\n\n#include "
      "<stdexcept>\n#include <string>\n"
      "#include <utility>\n#include <vector>\n\n#include \"{0}.h\"\n\nnamespace {0} {{\n\n",
      n, request.source, guard);
  out +=
      "class error : public std::runtime_error {\n"
      " public:\n"
      "  error(tfl_status status, const char *text) : std::runtime_error(text), status_(status) {}\n"
      "  tfl_status status() const noexcept { return status_; }\n\n"
      " private:\n"
      "  tfl_status status_;\n"
      "};\n\n";
  out += fmt::format(
      "/// Variables, memory and threads of the library; one thread at a time.\n"
      "class context {{\n"
      " public:\n"
      "  explicit context(int num_threads = 0, uint64_t memory_limit = 0, int device = 0) {{\n"
      "    tfl_options options = {{}};\n"
      "    options.struct_size = sizeof options;\n"
      "    options.num_threads = num_threads;\n"
      "    options.device = device;\n"
      "    options.memory_limit = memory_limit;\n"
      "    tfl_status status = {0}_context_new(&options, &context_);\n"
      "    if (status != TFL_OK) throw {0}::error(status, \"{0}: no context can be made\");\n"
      "  }}\n"
      "  ~context() {{ {0}_context_free(context_); }}\n"
      "  context(context &&o) noexcept : context_(std::exchange(o.context_, nullptr)) {{}}\n"
      "  context &operator=(context &&o) noexcept {{\n"
      "    std::swap(context_, o.context_);\n"
      "    return *this;\n"
      "  }}\n"
      "  tfl_context *get() const noexcept {{ return context_; }}\n"
      "  void cancel() {{ {0}_context_cancel(context_); }}\n",
      n);
  if (!request.states.empty())
    out += fmt::format(
        "  void save(const std::string &path) {{ check({0}_state_save(context_, path.c_str())); }}\n"
        "  void load(const std::string &path) {{ check({0}_state_load(context_, path.c_str())); }}\n",
        n);
  if (allocates(functions))
    out += fmt::format(
        "  /// A result whose sizes follow from values, and which a function of this context has allocated.\n"
        "  void free(tfl_tensor &tensor) {{ {0}_tensor_free(context_, &tensor); }}\n",
        n);
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    const std::string& name = f.from->name;
    std::string by_tensor = tensors("", face, '&'), by_pointer = flat("", face);
    std::string method = name == "context" ? "call_context" : name;  // a constructor otherwise
    out += fmt::format("\n  /// {}\n", signature(name, face));
    out += fmt::format("  void {}({}) {{ check({}_{}{}({})); }}\n", method, by_tensor, n, name, f.allocates() ? "_alloc" : "",
                       tensor_names("context_", face));
    if (by_pointer != by_tensor && !f.allocates())
      out += fmt::format("  void {}({}) {{ check({}_{}_{}({})); }}\n", method, by_pointer, n, name, face.flat_suffix,
                         flat_names("context_", face));
  }
  out += fmt::format(
      "\n private:\n"
      "  void check(tfl_status status) {{\n"
      "    if (status != TFL_OK) throw {0}::error(status, {0}_last_error(context_));\n"
      "  }}\n"
      "  tfl_context *context_ = nullptr;\n"
      "}};\n\n}}  // namespace {0}\n#endif  // {1}\n",
      n, guard);
  return out;
}

}  // namespace tfl::codegen
