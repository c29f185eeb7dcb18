// Graph to text.
#include <fmt/core.h>

#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/text.h"
#include "runtime/tensor/element.h"
#include "runtime/text/decimal.h"

namespace tfl::ir {

namespace {

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (unsigned char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + '"';
}

bool word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// What may stand behind % or @ without quotes and is no number.
bool is_word(std::string_view s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  for (char c : s) {
    if (!word_character(c)) return false;
  }
  return true;
}

std::string float_text(double v) {
  if (v != v) return "nan";
  if (v == __builtin_inf()) return "inf";
  if (v == -__builtin_inf()) return "-inf";
  return double_repr(v);
}

uint64_t bits_of(const std::byte* at, size_t size) {
  uint64_t bits = 0;
  for (size_t i = size; i-- > 0;) bits = bits << 8 | static_cast<uint64_t>(at[i]);
  return bits;
}

std::string element_text(DType dtype, const std::byte* at) {
  switch (dtype_group(dtype)) {
    case DTypeGroup::Bool: return std::to_integer<int>(*at) ? "true" : "false";
    case DTypeGroup::String: return quoted(*reinterpret_cast<const std::string*>(at));
    case DTypeGroup::Unsigned: return std::to_string(static_cast<uint64_t>(load_int(dtype, at)));
    case DTypeGroup::Signed: return std::to_string(load_int(dtype, at));
    case DTypeGroup::Complex: {
      DType part = part_dtype(dtype);
      return quoted(element_text(part, at) + " " + element_text(part, at + dtype_size(part)));
    }
    case DTypeGroup::Float: break;
  }
  double v = load_double(dtype, at);
  if (v != v) {
    std::byte usual[8];
    store_double(dtype, __builtin_nan(""), usual);
    size_t size = dtype_size(dtype);
    uint64_t bits = bits_of(at, size);
    return bits == bits_of(usual, size) ? "nan" : fmt::format("0x{:x}", bits);
  }
  if (v - v != 0 || dtype == DType::F64 || dtype == DType::BF16) return float_text(v);
  return scalar_text(dtype, v);
}

constexpr int64_t kMostBeside = 256;  // elements that stand in a text whose constants may go apart

// The same bytes for each element; of a tensor with gaps or an order of its own, never.
bool all_alike(const Tensor& t) {
  size_t size = dtype_size(t.dtype()), bytes = static_cast<size_t>(t.size()) * size;
  return t.contiguous() && std::memcmp(t.raw(), t.raw() + size, bytes - size) == 0;
}

class Printer {
 public:
  Printer(const TextOptions& options) : options_(options) {}

  std::string program(std::span<const Function* const> functions, std::vector<std::string>* names = nullptr) {
    for (const Function* f : functions) want(*f);
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (i) out_ += '\n';
      function(*wanted_[i]);
    }
    if (names) {
      for (const Function* f : functions) names->push_back(plain_names_[f]);
    }
    return std::move(out_);
  }

 private:
  // The name by which a function is called in this text.
  const std::string& want(const Function& f) {
    auto [at, fresh] = function_names_.try_emplace(&f);
    if (fresh) {
      wanted_.push_back(&f);
      std::string name = f.name.empty() ? "f" : f.name;
      std::string tried = name;
      for (int i = 1; !taken_.insert(tried).second; ++i) tried = fmt::format("{}_{}", name, i);
      plain_names_[&f] = tried;
      at->second = is_word(tried) ? "@" + tried : "@" + quoted(tried);
    }
    return at->second;
  }

  std::string type(const Type& t) const { return type_text(t, &f_->symbols); }

  void function(const Function& f) {
    f_ = &f;
    names_.clear();
    value_names_.clear();
    next_ = 0;
    out_ += "func " + want(f);
    params(f.body);
    out_ += " -> (";
    for (size_t i = 0; i < f.body.results.size(); ++i) {
      if (i) out_ += ", ";
      if (i < f.result_names.size()) out_ += quoted(f.result_names[i]) + ": ";
      out_ += type(f.body.results[i].type());
    }
    out_ += ") {\n";
    nodes(f.body, 1);
    line(1, "return");
    refs(f.body.results, true);
    out_ += "\n}\n";
  }

  void line(size_t depth, std::string_view text) {
    out_.append(depth * 2, ' ');
    out_ += text;
  }

  void name(const Node& n, uint32_t index, std::string_view wish) {
    std::string chosen =
        is_word(wish) && value_names_.insert(std::string(wish)).second ? std::string(wish) : std::to_string(next_++);
    names_[&n].resize(n.types.size());
    names_[&n][index] = chosen;
    out_ += '%';
    out_ += chosen;
  }

  void ref(Ref r) {
    auto at = names_.find(r.node);
    if (at == names_.end() || r.index >= at->second.size())
      out_ += "%?";
    else
      out_ += "%" + at->second[r.index];
  }
  void refs(std::span<const Ref> list, bool space) {
    for (size_t i = 0; i < list.size(); ++i) {
      out_ += i ? ", " : space ? " " : "";
      ref(list[i]);
    }
  }

  void params(const Block& b) {
    out_ += '(';
    for (size_t i = 0; i < b.params.size(); ++i) {
      if (i) out_ += ", ";
      name(*b.params[i], 0, b.params[i]->name);
      out_ += ": " + type(b.params[i]->types[0]);
    }
    out_ += ')';
  }

  void nodes(const Block& b, size_t depth) {
    for (const auto& n : b.nodes) {
      line(depth, "");
      for (uint32_t i = 0; i < n->types.size(); ++i) {
        if (i) out_ += ", ";
        name(*n, i, "");
      }
      if (!n->types.empty()) out_ += " = ";
      node(*n, depth);
      out_ += '\n';
    }
  }

  void node(const Node& n, size_t depth) {
    out_ += op_info(n.op).name;
    if (n.op == Op::constant) {
      constant(n.constant);
    } else {
      if (n.op == Op::call && n.target()) out_ += (n.recursive ? " recursive " : " ") + want(*n.target());
      out_ += '(';
      refs(n.operands, false);
      out_ += ')';
    }
    attrs(n);
    for (size_t i = 0; i < n.types.size(); ++i) out_ += (i ? ", " : " : ") + type(n.types[i]);
    if (options_.names) {
      if (!n.name.empty()) out_ += " name " + quoted(n.name);
      if (!n.variable.empty()) out_ += " var " + quoted(n.variable);
    }
    location(n);
    for (size_t i = 0; i < n.regions.size(); ++i) {
      std::string_view word = n.op == Op::cond ? (i ? "else" : "then") : n.op == Op::while_loop ? (i ? "do" : "while") : "case";
      out_ += fmt::format(" {} ", word);
      std::unordered_set<std::string> around = std::exchange(value_names_, {});
      params(*n.regions[i]);
      out_ += " {\n";
      nodes(*n.regions[i], depth + 1);
      line(depth + 1, "yield");
      refs(n.regions[i]->results, true);
      value_names_ = std::move(around);
      out_ += '\n';
      line(depth, "}");
    }
  }

  void constant(const Tensor& t) {
    if (!t) {
      out_ += " nothing";
      return;
    }
    size_t size = dtype_size(t.dtype());
    if (options_.apart && t.size() > kMostBeside && t.dtype() != DType::String && !all_alike(t)) {
      out_ += fmt::format(" apart {}", options_.apart->size());
      options_.apart->push_back(t);
      return;
    }
    if (t.rank() == 0) {
      out_ += " " + element_text(t.dtype(), t.raw());
      return;
    }
    Dims at(static_cast<size_t>(t.rank()));
    auto element = [&] {
      int64_t offset = 0;
      for (size_t i = 0; i < at.size(); ++i) offset += at[i] * t.strides()[i];
      for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < t.dims()[i]) break;
        at[i] = 0;
      }
      return element_text(t.dtype(), t.raw() + offset * static_cast<int64_t>(size));
    };
    std::string list, first;
    bool splat = t.size() > 1;
    for (int64_t i = 0; i < t.size(); ++i) {
      std::string text = element();
      if (i == 0)
        first = text;
      else
        splat &= text == first;
      if (static_cast<size_t>(i) < options_.most_elements)
        list += (i ? ", " : "") + text;
      else if (static_cast<size_t>(i) == options_.most_elements)
        list += ", ...";
    }
    out_ += splat ? " splat " + first : " [" + list + "]";
  }

  void attrs(const Node& n) {
    if (n.attrs.items().empty()) return;
    out_ += " {";
    bool more = false;
    for (const AttrValue& v : n.attrs.items()) {
      out_ += fmt::format("{}{} = ", more ? ", " : "", attr_name(v.name));
      more = true;
      switch (v.kind) {
        case AttrValue::Kind::Int: out_ += std::to_string(v.integer); break;
        case AttrValue::Kind::Bool: out_ += v.integer ? "true" : "false"; break;
        case AttrValue::Kind::Float: out_ += float_text(v.real); break;
        case AttrValue::Kind::Type: out_ += dtype_short_name(v.dtype); break;
        case AttrValue::Kind::Text: out_ += quoted(v.text); break;
        case AttrValue::Kind::Ints:
          out_ += '[';
          for (size_t i = 0; i < v.ints.size(); ++i) out_ += (i ? ", " : "") + std::to_string(v.ints[i]);
          out_ += ']';
          break;
      }
    }
    out_ += '}';
  }

  void location(const Node& n) {
    if (!options_.locations || !n.location || n.location >= f_->locations->size()) return;
    const Location& l = (*f_->locations)[n.location];
    out_ += fmt::format(" @ {}:{}:{}", quoted(l.file), l.line, l.column);
    if (l.end_line) out_ += fmt::format(" to {}:{}", l.end_line, l.end_column);
    if (!l.function.empty()) out_ += " in " + quoted(l.function);
  }

  const TextOptions& options_;
  const Function* f_ = nullptr;
  std::string out_;
  std::vector<const Function*> wanted_;
  std::unordered_map<const Function*, std::string> function_names_, plain_names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<const Node*, std::vector<std::string>> names_;
  std::unordered_set<std::string> value_names_;
  size_t next_ = 0;
};

}  // namespace

std::string to_text(const Function& f, const TextOptions& options) {
  const Function* one[] = {&f};
  return Printer(options).program(one);
}

std::string to_text(std::span<const Function* const> functions, const TextOptions& options, std::vector<std::string>& names) {
  return Printer(options).program(functions, &names);
}

}  // namespace tfl::ir
