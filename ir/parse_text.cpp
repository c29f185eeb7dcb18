// Text to graph. Nothing in the text is trusted: what parses is verified before it is given out.
#include <fmt/core.h>

#include <unordered_map>

#include "ir/infer.h"
#include "ir/text.h"
#include "ir/text_tokens.h"
#include "ir/text_values.h"
#include "runtime/tensor/element.h"

namespace tfl::ir {

namespace {

constexpr int kMostNesting = 200;

using Scope = std::unordered_map<std::string_view, Ref>;
using FunctionTable = std::unordered_map<std::string, std::shared_ptr<Function>>;

class Parser {
 public:
  Parser(Context& context, std::string_view text, std::string_view file, std::span<const Tensor> apart)
      : context_(context), reader_(text, file), apart_(apart) {}

  Result<std::vector<std::shared_ptr<Function>>> program() {
    TFL_TRY(advance());
    std::vector<std::shared_ptr<Function>> functions;
    while (token_.kind != TokenKind::End) functions.push_back(TFL_TRY(function()));
    if (functions.empty()) return reader_.error(token_, "no function");
    Result<void> linked = link();
    if (!linked) {
      for (Pending& p : calls_) p.node->callee.reset();  // functions that own each other would stay
      return linked.failure();
    }
    for (const auto& f : functions) {
      std::vector<std::string> broken = verify(context_, *f);
      if (!broken.empty()) return fail(ErrorKind::SyntaxError, "@{}: {}", f->name, broken[0]);
    }
    return functions;
  }

 private:
  Failure error(std::string_view what) const { return reader_.error(token_, what); }
  Result<void> advance() {
    token_ = TFL_TRY(reader_.next());
    return {};
  }
  bool at(std::string_view punctuation) const { return token_.kind == TokenKind::Punctuation && token_.spelling == punctuation; }
  bool at_word(std::string_view word) const { return token_.kind == TokenKind::Word && token_.spelling == word; }
  Result<bool> accept(std::string_view punctuation) {
    if (!at(punctuation)) return false;
    TFL_TRY(advance());
    return true;
  }
  Result<void> expect(std::string_view punctuation) {
    if (!at(punctuation)) return error(fmt::format("expected {}", punctuation));
    return advance();
  }
  Result<void> expect_word(std::string_view word) {
    if (!at_word(word)) return error(fmt::format("expected {}", word));
    return advance();
  }
  Result<std::string> text() {
    if (token_.kind != TokenKind::Text) return error("expected a string");
    std::string out = std::move(token_.text);
    TFL_TRY(advance());
    return out;
  }
  Result<uint32_t> small_number() {
    uint32_t v = 0;
    if (token_.kind != TokenKind::Number || !number(token_.spelling, v)) return error("expected a number");
    TFL_TRY(advance());
    return v;
  }

  Result<std::shared_ptr<Function>> function() {
    TFL_TRY(expect_word("func"));
    if (token_.kind != TokenKind::Function) return error("expected the name of a function");
    auto f = std::make_shared<Function>();
    f->name = token_.text;
    if (!functions_.try_emplace(f->name, f).second) return error("two functions of one name");
    f_ = f.get();
    TFL_TRY(advance());
    Scope scope;
    TFL_TRY(params(f->body, scope));
    TFL_TRY(expect("->"));
    TFL_TRY(expect("("));
    std::vector<Type> results;
    while (!at(")")) {
      if (!results.empty()) TFL_TRY(expect(","));
      if (token_.kind == TokenKind::Text) {
        f->result_names.push_back(TFL_TRY(text()));
        TFL_TRY(expect(":"));
      }
      results.push_back(TFL_TRY(type()));
    }
    TFL_TRY(expect(")"));
    TFL_TRY(block(f->body, scope, "return", 0));
    if (results.size() != f->body.results.size()) return error("another number of results than announced");
    for (size_t i = 0; i < results.size(); ++i) {
      if (!(f->body.results[i].type() == results[i])) return error("a result of another type than announced");
    }
    return f;
  }

  Result<void> params(Block& b, Scope& scope) {
    b.function = f_;
    TFL_TRY(expect("("));
    while (!at(")")) {
      if (!b.params.empty()) TFL_TRY(expect(","));
      if (token_.kind != TokenKind::Value) return error("expected a parameter");
      std::string_view name = token_.spelling;
      TFL_TRY(advance());
      TFL_TRY(expect(":"));
      Type t = TFL_TRY(type());
      bool numbered = name[0] >= '0' && name[0] <= '9';
      if (!scope.try_emplace(name, b.add_param(std::move(t), numbered ? std::string() : std::string(name))).second)
        return error("two values of one name");
    }
    return expect(")");
  }

  Result<void> block(Block& b, Scope& scope, std::string_view end, int depth) {
    if (depth > kMostNesting) return error("regions nested too deeply");
    TFL_TRY(expect("{"));
    while (!at_word(end)) TFL_TRY(node(b, scope, depth));
    TFL_TRY(advance());
    while (!at("}")) {
      if (!b.results.empty()) TFL_TRY(expect(","));
      b.results.push_back(TFL_TRY(value(scope)));
    }
    return advance();
  }

  Result<Ref> value(const Scope& scope) {
    if (token_.kind != TokenKind::Value) return error("expected a value");
    auto found = scope.find(token_.spelling);
    if (found == scope.end()) return error(fmt::format("%{} is not defined before in its block", token_.spelling));
    TFL_TRY(advance());
    return found->second;
  }

  Result<void> node(Block& b, Scope& scope, int depth) {
    std::vector<std::string_view> names;
    while (token_.kind == TokenKind::Value) {
      if (!names.empty() && names.size() > 100000) return error("too many results");
      names.push_back(token_.spelling);
      TFL_TRY(advance());
      if (!TFL_TRY(accept(","))) break;
    }
    if (!names.empty()) TFL_TRY(expect("="));
    if (token_.kind != TokenKind::Word) return error("expected an operation");
    std::optional<Op> op = op_named(token_.spelling);
    if (!op || *op == Op::parameter) return error(fmt::format("unknown operation {}", token_.spelling));
    TFL_TRY(advance());
    Node* n = b.add(*op, {}, {}, {});
    if (*op == Op::constant) {
      TFL_TRY(constant(*n));
    } else {
      if (*op == Op::call) TFL_TRY(call_target(*n));
      TFL_TRY(expect("("));
      while (!at(")")) {
        if (!n->operands.empty()) TFL_TRY(expect(","));
        n->operands.push_back(TFL_TRY(value(scope)));
      }
      TFL_TRY(advance());
      if (at("{")) TFL_TRY(attrs(*n));
      if (at(":")) TFL_TRY(types(*n));
    }
    if (n->types.size() != names.size()) return error("as many types as results");
    TFL_TRY(notes(*n));
    while (at_word("then") || at_word("else") || at_word("case") || at_word("while") || at_word("do")) TFL_TRY(region(*n, depth));
    for (size_t i = 0; i < names.size(); ++i) {
      if (!scope.try_emplace(names[i], Ref{n, static_cast<uint32_t>(i)}).second) return error("two values of one name");
    }
    return {};
  }

  Result<void> types(Node& n) {
    do {
      TFL_TRY(advance());
      n.types.push_back(TFL_TRY(type()));
    } while (at(","));
    return {};
  }

  Result<void> region(Node& n, int depth) {
    std::string_view word = token_.spelling;
    std::string_view wanted = n.op == Op::cond          ? (n.regions.empty() ? "then" : "else")
                              : n.op == Op::while_loop  ? (n.regions.empty() ? "while" : "do")
                              : n.op == Op::switch_case ? "case"
                                                        : "";
    if (word != wanted) return error("a region that does not belong here");
    TFL_TRY(advance());
    n.regions.push_back(std::make_unique<Block>());
    Block& b = *n.regions.back();
    b.owner = &n;
    Scope scope;
    TFL_TRY(params(b, scope));
    return block(b, scope, "yield", depth + 1);
  }

  // Names, the place in the source.
  Result<void> notes(Node& n) {
    if (at_word("name")) {
      TFL_TRY(advance());
      n.name = TFL_TRY(text());
    }
    if (at_word("var")) {
      TFL_TRY(advance());
      n.variable = TFL_TRY(text());
    }
    Location l;
    if (token_.kind == TokenKind::Function) {  // @"file" without a space
      l.file = token_.text;
      TFL_TRY(advance());
    } else if (at("@")) {
      TFL_TRY(advance());
      l.file = TFL_TRY(text());
    } else {
      return {};
    }
    TFL_TRY(expect(":"));
    l.line = TFL_TRY(small_number());
    TFL_TRY(expect(":"));
    l.column = TFL_TRY(small_number());
    if (at_word("to")) {
      TFL_TRY(advance());
      l.end_line = TFL_TRY(small_number());
      TFL_TRY(expect(":"));
      l.end_column = TFL_TRY(small_number());
    }
    if (at_word("in")) {
      TFL_TRY(advance());
      l.function = TFL_TRY(text());
    }
    n.location = f_->locations->add(std::move(l));
    return {};
  }

  Result<void> call_target(Node& n) {
    Pending p{&n, f_, at_word("recursive"), token_};
    if (p.recursive) TFL_TRY(advance());
    if (token_.kind != TokenKind::Function) return error("expected the name of a function");
    p.name = token_;
    calls_.push_back(std::move(p));
    return advance();
  }

  struct Pending {
    Node* node;
    Function* caller;
    bool recursive;
    Token name;
  };
  Result<void> link() {
    for (Pending& p : calls_) TFL_TRY(resolve(p));
    return check_calls();
  }

  Result<void> resolve(Pending& p) {
    auto found = functions_.find(p.name.text);
    if (found == functions_.end()) return reader_.error(p.name, fmt::format("no function @{}", p.name.text));
    if (p.recursive)
      p.node->recursive = found->second.get();
    else
      p.node->callee = found->second;
    if (!p.recursive && found->second.get() == p.caller)
      return reader_.error(p.name, "a function that calls itself does so with `recursive`");
    return {};
  }

  // Calls that own what they call form no circle.
  Result<void> check_calls() {
    std::unordered_map<const Function*, std::vector<const Function*>> callees;
    std::unordered_map<const Function*, int> waiting;
    for (const auto& [name, f] : functions_) waiting[f.get()] = 0;
    for (const Pending& p : calls_) {
      if (p.recursive) continue;
      callees[p.caller].push_back(p.node->callee.get());
      ++waiting[p.node->callee.get()];
    }
    std::vector<const Function*> ready;
    size_t done = 0;
    for (const auto& [f, n] : waiting) {
      if (!n) ready.push_back(f);
    }
    while (!ready.empty()) {
      const Function* f = ready.back();
      ready.pop_back();
      ++done;
      for (const Function* g : callees[f]) {
        if (!--waiting[g]) ready.push_back(g);
      }
    }
    if (done == waiting.size()) return {};
    return fail(ErrorKind::SyntaxError, "functions that call each other do so with `recursive` one way");
  }

  Result<Type> type() {
    if (token_.kind != TokenKind::Word) return error("expected a type");
    Type t;
    if (token_.spelling == "resource") {
      TFL_TRY(advance());
      return Type::resource();
    }
    if (token_.spelling == "array" || token_.spelling == "variable") {
      t.kind = token_.spelling == "array" ? TypeKind::Array : TypeKind::Resource;
      TFL_TRY(advance());
    }
    std::optional<DType> dtype = dtype_from_short_name(token_.spelling);
    if (token_.kind != TokenKind::Word || !dtype) return error("expected an element type");
    t.tensor.dtype = *dtype;
    TFL_TRY(advance());
    if (!TFL_TRY(accept("["))) return t;
    if (TFL_TRY(accept("."))) {
      TFL_TRY(expect("."));
      TFL_TRY(expect("."));
      t.tensor.ranked = false;
      TFL_TRY(expect("]"));
      return t;
    }
    while (!at("]")) {
      if (!t.tensor.dims.empty()) TFL_TRY(expect(","));
      t.tensor.dims.push_back(TFL_TRY(dimension()));
      if (t.tensor.dims.size() > static_cast<size_t>(kMaxRank)) return error("too many dimensions");
    }
    TFL_TRY(advance());
    return t;
  }

  Result<int64_t> dimension() {
    int64_t d = -1;
    if (token_.kind == TokenKind::Number) {
      if (!number(token_.spelling, d) || d < 0) return error("expected a size");
    } else if (token_.kind == TokenKind::Word) {
      size_t i = 0;
      while (i < f_->symbols.size() && f_->symbols[i] != token_.spelling) ++i;
      if (i == f_->symbols.size()) f_->symbols.emplace_back(token_.spelling);
      d = -2 - static_cast<int64_t>(i);
    } else if (!at("?")) {
      return error("expected a size");
    }
    TFL_TRY(advance());
    return d;
  }

  Result<void> attrs(Node& n) {
    TFL_TRY(expect("{"));
    bool more = false;
    while (!at("}")) {
      if (more) TFL_TRY(expect(","));
      more = true;
      std::optional<Attr> name = token_.kind == TokenKind::Word ? attr_named(token_.spelling) : std::nullopt;
      if (!name || n.attrs.find(*name)) return error("expected the name of another attribute");
      TFL_TRY(advance());
      TFL_TRY(expect("="));
      TFL_TRY(attr_value(n.attrs, *name));
    }
    return advance();
  }

  Result<void> attr_value(Attrs& out, Attr name) {
    if (token_.kind == TokenKind::Text) {
      out.set_text(name, TFL_TRY(text()));
      return {};
    }
    if (TFL_TRY(accept("["))) {
      Dims list;
      while (!at("]")) {
        if (!list.empty()) TFL_TRY(expect(","));
        int64_t v = 0;
        if (token_.kind != TokenKind::Number || !number(token_.spelling, v)) return error("expected an integer");
        list.push_back(v);
        TFL_TRY(advance());
      }
      out.set_ints(name, std::move(list));
      return advance();
    }
    int64_t i = 0;
    double d = 0;
    std::string_view s = token_.spelling;
    if (token_.kind != TokenKind::Word && token_.kind != TokenKind::Number) return error("expected the value of an attribute");
    if (s == "true" || s == "false")
      out.set_bool(name, s == "true");
    else if (number(s, i))
      out.set_int(name, i);
    else if (float_number(s, d))
      out.set_float(name, d);
    else if (std::optional<DType> dtype = dtype_from_short_name(s))
      out.set_dtype(name, *dtype);
    else
      return error("expected the value of an attribute");
    return advance();
  }

  // The elements come before the type: they are kept as tokens until it is known.
  Result<void> constant(Node& n) {
    if (at_word("apart")) return constant_apart(n);
    std::vector<Token> elements;
    bool splat = at_word("splat"), list = false;
    if (splat)
      TFL_TRY(advance());
    else
      list = TFL_TRY(accept("["));
    while (!list || !at("]")) {
      if (list && !elements.empty()) TFL_TRY(expect(","));
      if (token_.kind != TokenKind::Word && token_.kind != TokenKind::Number && token_.kind != TokenKind::Text)
        return error("expected an element");
      elements.push_back(std::move(token_));
      TFL_TRY(advance());
      if (!list) break;
    }
    if (list) TFL_TRY(advance());
    if (!at(":")) return error("expected the type of the constant");
    TFL_TRY(advance());
    Type t = TFL_TRY(type());
    if (!t.is_tensor() || !t.tensor.ranked) return error("a constant is a tensor of known sizes");
    for (int64_t d : t.tensor.dims) {
      if (d < 0) return error("a constant is a tensor of known sizes");
    }
    if (!list && !splat && !t.tensor.dims.empty()) return error("a list of elements, or splat");
    Result<int64_t> count = element_count(t.tensor.dims);
    if (!count || (!splat && *count != static_cast<int64_t>(elements.size()))) return error("another number of elements");
    Result<Tensor> made = Tensor::empty(context_, t.tensor.dtype, t.tensor.dims);
    if (!made) return error(made.error().message);
    Tensor value = made.take();
    size_t size = dtype_size(t.tensor.dtype);
    for (int64_t i = 0; i < value.size(); ++i)
      TFL_TRY(element(elements[splat ? 0 : static_cast<size_t>(i)], t.tensor.dtype, value.raw() + static_cast<size_t>(i) * size));
    n.constant = std::move(value);
    n.types.push_back(std::move(t));
    return {};
  }

  Result<void> constant_apart(Node& n) {
    TFL_TRY(advance());
    int64_t number_of = 0;
    if (!number(token_.spelling, number_of) || number_of < 0 || static_cast<size_t>(number_of) >= apart_.size())
      return error("expected the number of a tensor that comes with the text");
    TFL_TRY(advance());
    TFL_TRY(expect(":"));
    Type t = TFL_TRY(type());
    const Tensor& value = apart_[static_cast<size_t>(number_of)];
    if (!t.is_tensor() || !t.tensor.ranked || t.tensor.dtype != value.dtype() || !(t.tensor.dims == Dims(value.dims())))
      return error("the tensor that comes with the text has another type");
    n.constant = value;
    n.types.push_back(std::move(t));
    return {};
  }

  Result<void> element(const Token& token, DType dtype, std::byte* to) {
    bool quoted = dtype == DType::String || is_complex(dtype);
    bool good = quoted == (token.kind == TokenKind::Text);
    if (good && dtype != DType::String) good = element_of_text(quoted ? std::string_view(token.text) : token.spelling, dtype, to);
    if (good && dtype == DType::String) *reinterpret_cast<std::string*>(to) = token.text;
    if (!good) return reader_.error(token, fmt::format("no element of {}", dtype_short_name(dtype)));
    return {};
  }

  Context& context_;
  TokenReader reader_;
  std::span<const Tensor> apart_;
  Token token_;
  Function* f_ = nullptr;
  FunctionTable functions_;
  std::vector<Pending> calls_;
};

}  // namespace

Result<std::vector<std::shared_ptr<Function>>> parse_text(Context& context, std::string_view text, std::string_view file,
                                                          std::span<const Tensor> apart) {
  return Parser(context, text, file, apart).program();
}

}  // namespace tfl::ir
