#include "ir/dot.h"

#include <fmt/core.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/text.h"

namespace tfl::ir {

namespace {

std::string escaped(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

// Colours by kind of operation, pale enough for black letters.
std::string_view colour(const Node& n) {
  if (n.op == Op::parameter) return "#d7e8fb";
  if (n.op == Op::constant) return "#eeeeee";
  switch (op_info(n.op).kind) {
    case OpKind::Effect:
    case OpKind::Check: return "#fbd9d3";
    case OpKind::Control: return "#fdf0c4";
    case OpKind::Contract: return "#d9f2d9";
    case OpKind::Reduce:
    case OpKind::Scan: return "#e8dcf5";
    case OpKind::View:
    case OpKind::Move:
    case OpKind::Gather: return "#f5f5f5";
    default: return "#ffffff";
  }
}

class Drawer {
 public:
  explicit Drawer(const DotOptions& options) : options_(options) {}

  std::string draw(const Function& f) {
    out_ = fmt::format(
        "digraph \"{}\" {{\n  compound = true;\n  node [shape = box, style = \"rounded,filled\", fontname = \"sans-serif\", "
        "fontsize = 11, margin = \"0.08,0.04\"];\n  edge [fontname = \"sans-serif\", fontsize = 9, color = \"#606060\", "
        "arrowsize = 0.6];\n",
        escaped(f.name));
    wanted_.push_back(&f);
    for (size_t i = 0; i < wanted_.size() && i < 50; ++i) function(*wanted_[i], i > 0);
    return out_ + "}\n";
  }

 private:
  void line(size_t depth, std::string_view text) {
    out_.append(depth * 2, ' ');
    out_ += text;
    out_ += '\n';
  }

  void function(const Function& f, bool cluster) {
    f_ = &f;
    size_t depth = 1;
    if (cluster) {
      line(depth++, fmt::format("subgraph cluster_f{} {{ label = \"{}\"; style = dashed;", clusters_++, escaped(f.name)));
    }
    block(f.body, depth, "result", f.result_names);
    if (cluster) line(1, "}");
  }

  static bool small_constant(const Node& n) {
    return n.op == Op::constant && n.constant && n.constant.size() <= 4 && n.constant.dtype() != DType::String;
  }

  // The value of a constant, cut short.
  static std::string constant_text(const Node& n) {
    Function holder;
    Node* copy = holder.body.add(Op::constant, {}, {}, n.types);
    copy->constant = n.constant;
    holder.body.results.push_back({copy, 0});
    TextOptions options;
    options.most_elements = 6;
    std::string text = to_text(holder, options);
    size_t from = text.find("constant ") + 9;
    return text.substr(from, text.find(" : ", from) - from);
  }

  void box(const Node& n, size_t depth) {
    std::string label(n.op == Op::parameter ? "" : op_info(n.op).name);
    if (n.op == Op::parameter) label = n.name.empty() ? "input" : n.name;
    if (n.op == Op::constant) label = constant_text(n);
    if (n.op == Op::call && n.target()) label += " " + n.target()->name;
    if (!n.variable.empty()) label += "  →  " + n.variable;
    std::string below;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const Node& o = *n.operands[i].node;
      if (options_.constants && small_constant(o))
        below += fmt::format("{}{}: {}", below.empty() ? "" : ", ", i, constant_text(o));
    }
    for (const AttrValue& v : n.attrs.items()) {
      if (v.name == Attr::name) continue;
      Function holder;
      holder.body.add(Op::identity, {}, Attrs(), {})->attrs = one(v);
      std::string text = to_text(holder);
      size_t from = text.find('{', text.find("identity")) + 1;
      below += (below.empty() ? "" : ", ") + text.substr(from, text.find_last_of('}', text.find("return")) - from);
    }
    if (!below.empty()) label += "\n" + below;
    if (n.op == Op::parameter || n.op == Op::constant) label += "\n" + type_text(n.types[0], &f_->symbols);
    std::string tooltip = n.name;
    if (n.location && n.location < f_->locations->size()) {
      const Location& l = (*f_->locations)[n.location];
      tooltip += fmt::format(" {}:{}", l.file, l.line);
    }
    line(depth, fmt::format("{} [label = \"{}\", fillcolor = \"{}\", tooltip = \"{}\"];", id(&n), escaped(label), colour(n),
                            escaped(tooltip)));
  }

  static Attrs one(const AttrValue& v) {
    Attrs a;
    switch (v.kind) {
      case AttrValue::Kind::Int: a.set_int(v.name, v.integer); break;
      case AttrValue::Kind::Bool: a.set_bool(v.name, v.integer != 0); break;
      case AttrValue::Kind::Float: a.set_float(v.name, v.real); break;
      case AttrValue::Kind::Type: a.set_dtype(v.name, v.dtype); break;
      case AttrValue::Kind::Text: a.set_text(v.name, v.text); break;
      case AttrValue::Kind::Ints: a.set_ints(v.name, v.ints); break;
    }
    return a;
  }

  std::string id(const void* p) {
    auto [at, fresh] = ids_.try_emplace(p, ids_.size());
    return fmt::format("n{}", at->second);
  }

  void edge(Ref from, const std::string& to, size_t depth) {
    std::string label = options_.types ? type_text(from.type(), &f_->symbols) : std::string();
    if (from.node->types.size() > 1) label = fmt::format("{}: {}", from.index, label);
    line(depth, fmt::format("{} -> {} [label = \"{}\"];", id(from.node), to, escaped(label)));
  }

  void block(const Block& b, size_t depth, std::string_view result, const std::vector<std::string>& names) {
    for (const auto& p : b.params) box(*p, depth);
    for (const auto& n : b.nodes) {
      if (options_.constants && small_constant(*n) && !is_result(b, *n)) continue;
      box(*n, depth);
      for (Ref r : n->operands) {
        if (!options_.constants || !small_constant(*r.node)) edge(r, id(n.get()), depth);
      }
      for (size_t i = 0; i < n->regions.size(); ++i) {
        std::string_view word = n->op == Op::cond         ? (i ? "else" : "then")
                                : n->op == Op::while_loop ? (i ? "body" : "condition")
                                                          : "case";
        line(depth, fmt::format(
                        "subgraph cluster_{} {{ label = \"{}{} of {}\"; style = \"rounded\"; color = \"#909090\"; fontsize = 10;",
                        clusters_++, word, n->op == Op::switch_case ? fmt::format(" {}", i) : std::string(),
                        escaped(n->name.empty() ? op_info(n->op).name : n->name)));
        block(*n->regions[i], depth + 1, "gives", {});
        line(depth, "}");
      }
      if (const Function* f = n->target(); f && seen_.insert(f).second) wanted_.push_back(f);
    }
    for (size_t i = 0; i < b.results.size(); ++i) {
      std::string at = fmt::format("r{}", results_++);
      std::string label = i < names.size()       ? names[i]
                          : b.results.size() > 1 ? fmt::format("{} {}", result, i)
                                                 : std::string(result);
      line(depth, fmt::format("{} [label = \"{}\", shape = oval, fillcolor = \"#d7e8fb\"];", at, escaped(label)));
      edge(b.results[i], at, depth);
    }
  }

  static bool is_result(const Block& b, const Node& n) {
    for (Ref r : b.results) {
      if (r.node == &n) return true;
    }
    return false;
  }

  const DotOptions& options_;
  const Function* f_ = nullptr;
  std::string out_;
  std::vector<const Function*> wanted_;
  std::unordered_set<const Function*> seen_;
  std::unordered_map<const void*, size_t> ids_;
  size_t clusters_ = 0, results_ = 0;
};

}  // namespace

std::string to_dot(const Function& f, const DotOptions& options) { return Drawer(options).draw(f); }

}  // namespace tfl::ir
