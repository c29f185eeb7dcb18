// Plans as text: one line a thing, in the order in which they stand. Everything that decides machine code is in it; where the
// operations stand in a script is not, nor are the elements of large constants, which code is given when it runs.
#include <fmt/core.h>

#include <bit>
#include <iterator>

#include "codegen/plan/plan.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

namespace {

constexpr int64_t kShownElements = 8;  // of a constant that are shown

constexpr std::string_view kSymbols[] = {"dim", "add", "subtract", "multiply", "divide", "maximum", "minimum", "element"};
constexpr std::string_view kHomes[] = {"input", "constant", "result", "temporary", "pointer", "scalar"};
constexpr std::string_view kForms[] = {"map", "rows", "columns", "blocks", "tree"};
constexpr std::string_view kStages[] = {"store", "keep", "reduce", "store_once"};
constexpr std::string_view kReductions[] = {"sum", "prod", "max", "min", "wide_sum"};
constexpr std::string_view kWindowKinds[] = {"convolution",     "convolution_input", "convolution_filter", "depthwise",
                                             "depthwise_input", "depthwise_filter",  "max_pool",           "max_pool_grad",
                                             "avg_pool",        "avg_pool_grad"};
constexpr std::string_view kPlaces[] = {"memory", "scalar", "input", "constant"};

// A table that lags behind its enumeration would name things that lie behind it.
static_assert(std::size(kSymbols) == static_cast<size_t>(Symbol::Kind::element) + 1);
static_assert(std::size(kHomes) == static_cast<size_t>(Home::scalar) + 1);
static_assert(std::size(kForms) == static_cast<size_t>(Form::tree) + 1);
static_assert(std::size(kStages) == static_cast<size_t>(Stage::Kind::store_once) + 1);
static_assert(std::size(kReductions) == kReduceKinds);
static_assert(std::size(kWindowKinds) == static_cast<size_t>(WindowKind::avg_pool_grad) + 1);
static_assert(std::size(kPlaces) == static_cast<size_t>(ResultPlace::Kind::constant) + 1);

class Writer {
 public:
  explicit Writer(const Plan& p) : p_(p) {}

  std::string plan() {
    line("plan {}", p_.name);
    for (size_t i = 0; i < p_.inputs.size(); ++i)
      line("  input {}: {}{}", i, type(p_.inputs[i].dtype, p_.inputs[i].dims), i == p_.room ? " room" : "");
    for (size_t i = 0; i < p_.symbols.size(); ++i) symbol(i);
    for (const Guard& g : p_.guards) line("  guard {} {} {}", size(g.a), g.kind == Guard::Kind::equal ? "==" : ">=", size(g.b));
    for (size_t i = 0; i < p_.constants.size(); ++i) constant(i);
    for (size_t i = 0; i < p_.slots.size(); ++i) line("  slot {}: {} bytes", i, size(p_.slots[i]));
    for (size_t i = 0; i < p_.values.size(); ++i) value(i);
    for (size_t i = 0; i < p_.results.size(); ++i) {
      const ResultPlace& r = p_.results[i];
      std::string place(kPlaces[static_cast<size_t>(r.kind)]);
      if (r.kind == ResultPlace::Kind::scalar)
        place += fmt::format(" %{}", r.index);
      else if (r.kind != ResultPlace::Kind::memory)
        place += fmt::format(" {}", r.index);
      line("  result {}: {} {}", i, type(r.dtype, r.dims), place);
    }
    for (const Donation& d : p_.donations) line("  donation input {} to result {}", d.input, d.result);
    for (size_t i = 0; i < p_.kernels.size(); ++i) kernel(i);
    for (size_t i = 0; i < p_.products.size(); ++i) product(i);
    for (size_t i = 0; i < p_.routines.size(); ++i) routine(i);
    line("  body of {} words", p_.words);
    block(p_.body, 4);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::vformat_to(std::back_inserter(out_), format, fmt::make_format_args(args...));
    out_ += '\n';
  }
  template <class... Args>
  void indented(size_t by, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(by, ' ');
    fmt::vformat_to(std::back_inserter(out_), format, fmt::make_format_args(args...));
    out_ += '\n';
  }

  static std::string size(Size s) { return is_known(s) ? std::to_string(s) : fmt::format("s{}", symbol_of(s)); }
  template <class Items, class Text>
  static std::string list(const Items& items, Text text) {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ", ") + text(item);
    return out;
  }
  template <class Items>
  static std::string sizes(const Items& s) {
    return "[" + list(s, size) + "]";
  }
  static std::string type(DType dtype, const Sizes& dims) {
    return std::string(dtype_short_name(dtype)) + (dims.empty() ? std::string() : sizes(dims));
  }

  void symbol(size_t i) {
    const Symbol& s = p_.symbols[i];
    std::string_view kind = kSymbols[static_cast<size_t>(s.kind)];
    if (s.kind == Symbol::Kind::dim || s.kind == Symbol::Kind::element)
      line("  s{} = {} {} of input {}", i, kind, s.axis, s.input);
    else
      line("  s{} = {} {}, {}", i, kind, size(s.a), size(s.b));
  }

  void constant(size_t i) {
    const Tensor& t = p_.constants[i];
    if (!t) return line("  constant {}", i);
    Sizes dims(t.dims().begin(), t.dims().end());
    std::string elements;
    for (int64_t k = 0; t.contiguous() && t.dtype() != DType::String && t.size() <= kShownElements && k < t.size(); ++k)
      elements +=
          (k ? ", " : " = ") + number(t.dtype(), bits_at(t.dtype(), t.raw() + static_cast<size_t>(k) * dtype_size(t.dtype())));
    line("  constant {}: {}{}", i, type(t.dtype(), dims), elements);
  }

  static uint64_t bits_at(DType dtype, const std::byte* at) {
    uint64_t bits = 0;
    for (size_t i = dtype_size(dtype); i-- > 0;) bits = bits << 8 | static_cast<uint64_t>(at[i]);
    return bits;
  }
  // What it is for people, and its bits where that does not say all.
  static std::string number(DType dtype, uint64_t bits) {
    std::byte bytes[8];
    for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(bits >> (8 * i));
    if (dtype == DType::Bool) return bits <= 1 ? (bits ? "true" : "false") : fmt::format("{:#x}", bits);
    if (is_floating(dtype)) return fmt::format("{} ({:#x})", load_double(dtype, bytes), bits);
    if (dtype == DType::U64) return std::to_string(bits);
    return std::to_string(load_int(dtype, bytes));
  }

  void value(size_t i) {
    const Value& v = p_.values[i];
    std::string text = fmt::format("  %{} = {} {}", i, type(v.dtype, v.dims), kHomes[static_cast<size_t>(v.home)]);
    if (v.home != Home::pointer && v.home != Home::scalar) text += fmt::format(" {}", v.index);
    if (v.word != kNone) text += fmt::format(" word {}", v.word);
    if (!v.name.empty()) text += "  // " + v.name;
    line("{}", text);
  }

  // "%3[s0*i + j + 4*e5] if e7"
  static std::string access(const Access& a, std::string_view expr) {
    std::string at;
    auto add = [&](const std::string& term) { at += (at.empty() ? "" : " + ") + term; };
    if (a.offset != 0) add(size(a.offset));
    for (size_t k = 0; k < a.strides.size(); ++k) {
      if (a.strides[k] != 0) add(a.strides[k] == 1 ? fmt::format("i{}", k) : fmt::format("{}*i{}", size(a.strides[k]), k));
    }
    for (const Access::Indexed& x : a.indexed)
      add(x.factor == 1 ? fmt::format("{}{}", expr, x.index) : fmt::format("{}*{}{}", size(x.factor), expr, x.index));
    std::string out = fmt::format("%{}[{}]", a.value, at.empty() ? "0" : at);
    if (a.mask != kNone) out += fmt::format(" where {}{}", expr, a.mask);
    return out;
  }

  // `expr` is what stands before the numbers of operands: e in kernels, % in the driver.
  static std::string expression(const Expr& e, std::string_view expr) {
    std::string operands = list(e.operands, [&](ExprId o) { return fmt::format("{}{}", expr, o); });
    std::string text;
    switch (e.kind) {
      case ExprKind::constant: text = number(e.dtype, e.bits); break;
      case ExprKind::value: text = fmt::format("%{}", e.access.value); break;
      case ExprKind::load: text = access(e.access, expr); break;
      case ExprKind::index: text = fmt::format("i{}", e.axis); break;
      case ExprKind::size: text = "size " + size(e.size); break;
      case ExprKind::apply: text = fmt::format("{} {}", op_info(e.op).name, operands); break;
      case ExprKind::cast: text = "cast " + operands; break;
      case ExprKind::bitcast: text = "bitcast " + operands; break;
      case ExprKind::reduced: text = fmt::format("reduced {}", e.stage); break;
      case ExprKind::kept: text = fmt::format("kept {}", e.stage); break;
      case ExprKind::variable: text = fmt::format("variable {}", e.axis); break;
      case ExprKind::looped: text = fmt::format("looped {}", e.axis); break;
    }
    return fmt::format("{} : {}", text, dtype_short_name(e.dtype));
  }

  void kernel(size_t number) {
    const Kernel& k = p_.kernels[number];
    line("  kernel {}: {} {} cost {} {}", number, kForms[static_cast<size_t>(k.form)], sizes(k.axes), k.cost, k.name);
    for (size_t i = 0; i < k.exprs.size(); ++i) line("    e{} = {}", i, expression(k.exprs[i], "e"));
    for (const KernelLoop& l : k.loops) {
      line("    loop while e{}{}", l.condition, l.limit >= 0 ? fmt::format(" at most {}", l.limit) : "");
      for (const KernelLoop::Variable& v : l.variables)
        line("      {} from e{} next e{}", dtype_short_name(v.dtype), v.init, v.next);
    }
    for (size_t i = 0; i < k.stages.size(); ++i) {
      const Stage& s = k.stages[i];
      std::string text = fmt::format("    stage {} in pass {}: {} e{}", i, s.pass, kStages[static_cast<size_t>(s.kind)], s.expr);
      if (s.kind == Stage::Kind::reduce) {
        text += fmt::format(" by {} to {}", kReductions[static_cast<size_t>(s.reduce)], dtype_short_name(s.dtype));
        if (s.divisor != 0) text += " divided by " + size(s.divisor);
      }
      if (s.target.value != kNone) text += " to " + access(s.target, "e");
      line("{}", text);
    }
  }

  void product(size_t number) {
    const Product& x = p_.products[number];
    if (x.window != kNone) {
      const Window& w = p_.windows[x.window];
      std::string second = x.b == x.a ? std::string() : fmt::format(" %{}", x.b);
      line("  product {}: %{} = {} %{}{} over {}{}", number, x.result, kWindowKinds[static_cast<size_t>(w.kind)], x.a, second,
           sizes(w.words()), x.epilogue == kNone ? std::string() : fmt::format(" then kernel {}", x.epilogue));
      return;
    }
    std::string text =
        fmt::format("  product {}: %{} = %{}{} * %{}{} batch {} m {} n {} k {}", number, x.result, x.a, x.transpose_a ? "^T" : "",
                    x.b, x.transpose_b ? "^T" : "", size(x.batch), size(x.m), size(x.n), size(x.k));
    if (x.a_batch != 0 || x.b_batch != 0) text += fmt::format(" steps {} {}", size(x.a_batch), size(x.b_batch));
    if (x.epilogue != kNone) text += fmt::format(" then kernel {}", x.epilogue);
    line("{}", text);
  }

  void routine(size_t number) {
    const RoutineStep& r = p_.routines[number];
    std::string at = list(r.at, [](ValueId v) { return v == kNone ? std::string("none") : fmt::format("%{}", v); });
    line("  routine {}: {} of {} {} flags {} over {} at {}", number, kRoutineNames[static_cast<size_t>(r.routine)],
         dtype_short_name(r.dtype), dtype_short_name(r.index_dtype), r.flags, sizes(r.sizes), at);
  }

  static std::string values(std::span<const ValueId> items) {
    return list(items, [](ValueId v) { return fmt::format("%{}", v); });
  }

  void block(const Block& b, size_t by) {
    if (!b.params.empty()) indented(by, "params {}", values(b.params));
    for (const Step& s : b.steps) step(s, by);
    if (!b.results.empty()) indented(by, "yield {}", values(b.results));
  }

  void step(const Step& s, size_t by) {
    switch (s.kind) {
      case Step::Kind::scalar: return indented(by, "%{} = {}", s.result, expression(s.expr, "%"));
      case Step::Kind::kernel: return indented(by, "kernel {}", s.index);
      case Step::Kind::product: return indented(by, "product {}", s.index);
      case Step::Kind::routine: return indented(by, "routine {}", s.index);
      case Step::Kind::check: return indented(by, "{} %{}", s.room ? "room if" : "check", s.condition);
      case Step::Kind::point: return indented(by, "%{} points to %{}", s.result, s.from);
      case Step::Kind::branch:
        indented(by, "{}branch %{}", s.results.empty() ? "" : values(s.results) + " = ", s.condition);
        break;
      case Step::Kind::loop:
        indented(by, "{}{}loop {}{}", s.beside ? "beside " : "", s.results.empty() ? "" : values(s.results) + " = ",
                 values(s.initial), s.limit >= 0 ? fmt::format(" at most {}", s.limit) : "");
        break;
    }
    for (size_t i = 0; i < s.blocks.size(); ++i) {
      if (s.kind == Step::Kind::loop)
        indented(by, "{}", i ? "do" : "while");
      else
        indented(by, "case {}", i);
      block(s.blocks[i], by + 2);
    }
  }

  const Plan& p_;
  std::string out_;
};

}  // namespace

std::string plan_text(const Plan& p) { return Writer(p).plan(); }

}  // namespace tfl::plan
