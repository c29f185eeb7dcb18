// What a library's functions look like from outside: names that C, C++ and Python take, types, sizes.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "codegen/library/library.h"

namespace tfl::codegen {

namespace {

constexpr std::array kKeywords = {
    "alignas", "alignof", "and",      "as",        "asm",      "assert",    "auto",     "bool",     "break",    "case",
    "catch",   "char",    "class",    "const",     "continue", "ctx",       "def",      "default",  "del",      "delete",
    "do",      "double",  "elif",     "else",      "enum",     "except",    "explicit", "export",   "extern",   "false",
    "float",   "for",     "friend",   "from",      "global",   "goto",      "if",       "import",   "in",       "inline",
    "int",     "is",      "lambda",   "long",      "mutable",  "namespace", "new",      "nonlocal", "not",      "operator",
    "or",      "pass",    "private",  "protected", "public",   "raise",     "register", "restrict", "return",   "self",
    "short",   "signed",  "sizeof",   "static",    "struct",   "switch",    "template", "this",     "throw",    "true",
    "try",     "typedef", "typename", "union",     "unsigned", "using",     "virtual",  "void",     "volatile", "while",
    "with",    "xor",     "yield",    "None"};

// What else the headers use where arguments and sizes stand.
constexpr std::array kTaken = {"NULL",       "check",   "context",  "context_", "errno",       "int8_t",
                               "int16_t",    "int32_t", "int64_t",  "linux",    "tfl_context", "tfl_status",
                               "tfl_tensor", "uint8_t", "uint16_t", "uint32_t", "uint64_t",    "unix"};

class Names {
 public:
  std::string unique(std::string_view wanted) {
    std::string base = c_identifier(wanted);
    while (std::find(kTaken.begin(), kTaken.end(), base) != kTaken.end()) base += "_";
    std::string name = base;
    for (int i = 2; std::find(used_.begin(), used_.end(), name) != used_.end(); ++i) name = fmt::format("{}_{}", base, i);
    used_.push_back(name);
    return name;
  }

 private:
  std::vector<std::string> used_;
};

}  // namespace

std::string c_identifier(std::string_view text) {
  std::string out;
  for (char c : text) out.push_back((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_');
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(0, "_");
  if (std::find(kKeywords.begin(), kKeywords.end(), out) != kKeywords.end()) out += "_";
  return out;
}

bool allocates(const std::vector<LoweredFunction>& functions) {
  return std::any_of(functions.begin(), functions.end(), [](const LoweredFunction& f) { return f.allocates(); });
}

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::F32: return "float";
    case DType::F64: return "double";
    case DType::I8: return "int8_t";
    case DType::I16: return "int16_t";
    case DType::I32: return "int32_t";
    case DType::I64: return "int64_t";
    case DType::U32: return "uint32_t";
    case DType::U64: return "uint64_t";
    case DType::F16:
    case DType::BF16:
    case DType::U16: return "uint16_t";
    default: return "uint8_t";
  }
}

Result<void> distinct_symbols(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  std::vector<std::pair<std::string, std::string>> seen;  // a symbol, the function that has it; empty: every library has it
  for (const char* own : {"context_new", "context_free", "context_cancel", "last_error", "abi_version", "metadata_json"})
    seen.emplace_back(own, "");
  for (const char* own : {"state_save", "state_load"}) {
    if (!request.states.empty()) seen.emplace_back(own, "");
  }
  if (allocates(functions)) seen.emplace_back("tensor_free", "");
  for (const LoweredFunction& f : functions) {
    const std::string& name = f.from->name;
    std::vector<std::string> symbols = {name, name + "_shape", name + "_" + f.face.flat_suffix};
    if (f.allocates()) symbols = {name + "_alloc"};
    for (std::string& s : symbols) {
      auto other = std::find_if(seen.begin(), seen.end(), [&](const auto& e) { return e.first == s; });
      if (other == seen.end()) {
        seen.emplace_back(std::move(s), name);
        continue;
      }
      return other->second.empty()
                 ? fail(ErrorKind::ValueError,
                        "{} cannot be part of a library: {}_{} is a function that the library has in any case; give it another "
                        "name",
                        name, request.name, s)
                 : fail(ErrorKind::ValueError,
                        "{} and {} cannot be in one library: both have a function {}_{}; export one of them, or rename it",
                        other->second, name, request.name, s);
    }
  }
  return {};
}

Interface interface_of(const LoweredFunction& f) {
  Interface out;
  Names names;
  size_t arguments = f.from->arguments.size();
  // Symbols of its own.
  if (!f.allocates()) {
    const plan::Plan& p = f.parts[0].plan;
    // What is equal in every form of the function is one size.
    std::vector<uint32_t> forms = whole_parts(f);
    std::vector<plan::Sizes> seen;
    auto sizes = [&](size_t rank, auto&& dims_of) {
      plan::Sizes dims;
      for (size_t k = 0; k < rank; ++k) {
        plan::Sizes in_forms;
        for (uint32_t form : forms) in_forms.push_back(dims_of(f.parts[form].plan)[k]);
        bool fixed = plan::is_known(in_forms[0]) &&
                     std::all_of(in_forms.begin(), in_forms.end(), [&](plan::Size s) { return s == in_forms[0]; });
        size_t at = static_cast<size_t>(std::find(seen.begin(), seen.end(), in_forms) - seen.begin());
        if (!fixed && at == seen.size()) seen.push_back(in_forms);
        dims.push_back(fixed ? in_forms[0] : ~static_cast<int64_t>(at));
      }
      return dims;
    };
    for (size_t i = 0; i < arguments; ++i)
      out.arguments.push_back({names.unique(f.from->arguments[i]),
                               p.inputs[i].dtype,
                               sizes(p.inputs[i].dims.size(), [&](const plan::Plan& q) -> auto& { return q.inputs[i].dims; }),
                               {}});
    for (size_t i = 0; i + f.state_results.size() < p.results.size(); ++i)
      out.outputs.push_back({names.unique(i < f.from->outputs.size() ? f.from->outputs[i] : "y"),
                             p.results[i].dtype,
                             sizes(p.results[i].dims.size(), [&](const plan::Plan& q) -> auto& { return q.results[i].dims; }),
                             {}});
  } else {
    // Equal names are one size, what has none is any.
    std::vector<std::string> seen;
    auto sizes = [&](const ir::Type& t, const std::vector<std::string>* own) {
      plan::Sizes dims;
      for (size_t k = 0; k < t.tensor.dims.size(); ++k) {
        std::string name = own && k < own->size() ? (*own)[k] : std::string();
        size_t at = name.empty() ? seen.size() : static_cast<size_t>(std::find(seen.begin(), seen.end(), name) - seen.begin());
        if (t.tensor.dims[k] < 0 && at == seen.size()) seen.push_back(name);
        dims.push_back(t.tensor.dims[k] >= 0 ? t.tensor.dims[k] : ~static_cast<int64_t>(at));
      }
      return dims;
    };
    for (size_t i = 0; i < arguments; ++i)
      out.arguments.push_back({names.unique(f.from->arguments[i]),
                               f.types[i].tensor.dtype,
                               sizes(f.types[i], i < f.from->sizes.size() ? &f.from->sizes[i] : nullptr),
                               {}});
    for (size_t i = 0; i < f.result_types.size(); ++i)
      out.outputs.push_back({names.unique(i < f.from->outputs.size() ? f.from->outputs[i] : "y"),
                             f.result_types[i].tensor.dtype,
                             sizes(f.result_types[i], nullptr),
                             {}});
  }
  for (size_t i = 0; i < arguments; ++i) {
    Interface::Value& v = out.arguments[i];
    for (size_t k = 0; k < v.dims.size(); ++k) {
      if (plan::is_known(v.dims[k])) continue;
      uint32_t number = plan::symbol_of(v.dims[k]);
      auto seen = std::find_if(out.open.begin(), out.open.end(), [&](const auto& o) { return o.number == number; });
      if (seen != out.open.end()) continue;
      std::string own = i < f.from->sizes.size() && k < f.from->sizes[i].size() ? f.from->sizes[i][k] : std::string();
      if (own.empty()) own = v.dims.size() == 1 || k == 0 ? "n" : fmt::format("{}_size_{}", v.name, k);
      out.open.push_back({names.unique(own), number, f.allocates() ? plan::Size{0} : f.parts[0].plan.inputs[i].dims[k]});
    }
  }
  auto text = [&](Interface::Value& v) {
    for (plan::Size d : v.dims) {
      if (plan::is_known(d)) {
        v.sizes.push_back(std::to_string(d));
        continue;
      }
      auto seen = std::find_if(out.open.begin(), out.open.end(), [&](const auto& o) { return o.number == plan::symbol_of(d); });
      v.sizes.push_back(seen == out.open.end() ? "?" : seen->name);
    }
  };
  for (auto& v : out.arguments) text(v);
  for (auto& v : out.outputs) text(v);
  DType first = !out.arguments.empty() ? out.arguments[0].dtype : !out.outputs.empty() ? out.outputs[0].dtype : DType::F32;
  if (!f.allocates()) out.flat_suffix = dtype_short_name(first);
  return out;
}

}  // namespace tfl::codegen
