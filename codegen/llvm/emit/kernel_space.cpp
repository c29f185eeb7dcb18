#include "codegen/llvm/emit/kernel_space.h"

#include <algorithm>

#include "codegen/abi.h"

namespace tfl::codegen {

using namespace plan;

namespace {

// A size as a known factor and symbols that are no products.
struct Factors {
  int64_t known = 1;
  std::vector<Size> symbols;
  bool operator==(const Factors&) const = default;
};

void add_factors(const Plan& plan, Size s, Factors& out) {
  if (std::optional<int64_t> known = known_size(plan, s)) {
    out.known *= *known;
  } else if (const Symbol& symbol = plan.symbols[symbol_of(s)]; symbol.kind == Symbol::Kind::multiply) {
    add_factors(plan, symbol.a, out);
    add_factors(plan, symbol.b, out);
  } else {
    out.symbols.push_back(s);
  }
}

bool is_product(const Plan& plan, Size whole, Size a, Size b) {
  Factors x, y;
  add_factors(plan, whole, x);
  add_factors(plan, a, y);
  add_factors(plan, b, y);
  if (x.known == 0 || y.known == 0) return x.known == y.known;
  std::sort(x.symbols.begin(), x.symbols.end());
  std::sort(y.symbols.begin(), y.symbols.end());
  return x == y;
}

template <class F>
void for_each_access(const Kernel& kernel, F&& f) {
  for (const Expr& e : kernel.exprs) {
    if (e.kind == ExprKind::load) f(e.access, false);
  }
  for (const Stage& s : kernel.stages) {
    if (s.kind == Stage::Kind::store || s.kind == Stage::Kind::store_once) f(s.target, true);
  }
}

Size axis_stride(const Access& a, uint32_t axis) { return axis < a.strides.size() ? a.strides[axis] : 0; }

bool is_indexed(const Kernel& kernel, uint32_t axis) {
  return std::any_of(kernel.exprs.begin(), kernel.exprs.end(),
                     [&](const Expr& e) { return e.kind == ExprKind::index && e.axis == axis; });
}

bool can_merge(const Plan& plan, const Kernel& kernel, uint32_t outer, uint32_t inner) {
  if (is_indexed(kernel, outer) || is_indexed(kernel, inner)) return false;
  bool all = true;
  for_each_access(kernel, [&](const Access& a, bool) {
    all = all && is_product(plan, axis_stride(a, outer), axis_stride(a, inner), kernel.axes[inner]);
  });
  return all;
}

// Groups of the axes [0, count), of which axes of one element drop out.
void add_groups(const Plan& plan, const Kernel& kernel, uint32_t count, std::vector<AxisGroup>& groups) {
  size_t begin = groups.size();
  for (uint32_t axis = 0; axis < count; ++axis) {
    if (kernel.axes[axis] == 1 && !is_indexed(kernel, axis)) continue;
    if (groups.size() > begin && can_merge(plan, kernel, groups.back().axis, axis)) {
      groups.back().sizes.push_back(kernel.axes[axis]);
      groups.back().axis = axis;
    } else {
      groups.push_back({Sizes{kernel.axes[axis]}, axis, axis});
    }
  }
}

void add_group(const Kernel& kernel, uint32_t axis, std::vector<AxisGroup>& groups) {
  groups.push_back({Sizes{kernel.axes[axis]}, axis, axis});
}

// The axis that lets most accesses be whole vectors.
uint32_t best_vector(const Kernel& kernel, const KernelSpace& space) {
  uint32_t best = static_cast<uint32_t>(space.groups.size()) - 1;
  int best_score = INT32_MIN;
  for (uint32_t g = static_cast<uint32_t>(space.groups.size()); g-- > 0;) {
    int score = 0;
    int64_t known = space.groups[g].known();
    if (known >= 0 && known < 16) score -= 3;
    for_each_access(kernel, [&](const Access& a, bool store) {
      Size s = space.stride(a, g);
      if (s == 1) score += store ? 6 : 4;
      if (s == 0) score += store ? 0 : 4;
    });
    if (score > best_score) {
      best_score = score;
      best = g;
    }
  }
  return best;
}

// Whether the inner axes are too short for vectors: their elements are numbered through, if their sizes are known.
bool walks_digits(const KernelSpace& space) {
  constexpr int64_t kShort = 16, kMost = 1 << 15;
  size_t n = space.groups.size();
  if (space.by_first_axis || n < 2 || space.vector != n - 1 || space.groups[n - 1].known() >= kShort) return false;
  int64_t elements = 1;
  for (size_t g = 1; g < n; ++g) {
    int64_t known = space.groups[g].known();
    if (known <= 0 || elements * known > kMost) return false;
    elements *= known;
  }
  return true;
}

// The group that squares are turned along, if there are any and what is done with them is little.
uint32_t find_turned(const Kernel& kernel, const KernelSpace& space) {
  constexpr int64_t kCheap = 16, kShort = 16;
  uint32_t turned = kNone;
  bool fits = kernel.form == Form::map && !space.by_first_axis && !space.by_digits && !space.by_elements;
  if (!fits || !kernel.loops.empty() || kernel.cost > kCheap) return kNone;
  for (const Expr& e : kernel.exprs) {
    if (e.kind != ExprKind::load) continue;
    for (uint32_t g = 0; g < space.groups.size() && turned == kNone; ++g) {
      if (g != space.vector && turns(space, e.access, g)) turned = g;
    }
  }
  auto is_short = [&](uint32_t g) { return space.groups[g].known() >= 0 && space.groups[g].known() < kShort; };
  return turned == kNone || is_short(turned) || is_short(space.vector) ? kNone : turned;
}

int register_bytes(DType dtype) {
  if (dtype == DType::Bool) return 0;
  return dtype == DType::F16 || dtype == DType::BF16 ? 4 : static_cast<int>(dtype_size(dtype));
}

int bytes_of_vector(Cpu cpu) { return cpu == Cpu::x86_64_v4 ? 64 : cpu == Cpu::x86_64_v3 ? 32 : 16; }

void find_levels(const Plan& plan, const Kernel& kernel, KernelSpace& space) {
  (void)plan;
  size_t n = kernel.exprs.size();
  space.levels.assign(n, Level::function);
  space.in_loop.assign(n, false);
  space.after_loop.assign(n, false);
  std::vector<Level> by_axis(kernel.axes.size(), Level::unit);
  for (uint32_t g = 0; g < space.groups.size(); ++g) {
    Level level = g == space.vector || g == space.turned || space.by_digits ? Level::vector
                  : g == space.middle                                       ? Level::middle
                                                                            : Level::unit;
    for (uint32_t axis = space.groups[g].first; axis <= space.groups[g].axis; ++axis) by_axis[axis] = level;
  }
  std::vector<Level> variables(kernel.loops.empty() ? 0 : kernel.loops[0].variables.size(), Level::function);
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < n; ++i) {
      const Expr& e = kernel.exprs[i];
      Level level = Level::function;
      bool in_loop = e.kind == ExprKind::variable, after_loop = e.kind == ExprKind::looped;
      if (e.kind == ExprKind::index) level = by_axis[e.axis];
      if (e.kind == ExprKind::kept) level = Level::vector;
      if (e.kind == ExprKind::reduced) level = kernel.form == Form::columns ? Level::vector : Level::unit;
      if (e.kind == ExprKind::variable || e.kind == ExprKind::looped) level = variables[e.axis];
      if (e.kind == ExprKind::load) {
        for (uint32_t g = 0; g < space.groups.size(); ++g) {
          Level of_group = g == space.vector || g == space.turned || space.by_digits ? Level::vector
                           : g == space.middle                                       ? Level::middle
                                                                                     : Level::unit;
          if (space.stride(e.access, g) != 0) level = std::max(level, of_group);
        }
      }
      if (e.kind != ExprKind::looped) {
        for_each_operand(kernel, e, [&](ExprId o) {
          level = std::max(level, space.levels[o]);
          in_loop = in_loop || space.in_loop[o];
          after_loop = after_loop || space.after_loop[o];
        });
      }
      space.levels[i] = level;
      space.in_loop[i] = in_loop;
      space.after_loop[i] = after_loop;
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      const KernelLoop::Variable& v = kernel.loops[0].variables[i];
      Level level = std::max(space.levels[v.init], space.levels[v.next]);
      if (level > variables[i]) {
        variables[i] = level;
        again = true;
      }
    }
  }
}

void choose_width(const Plan& plan, const Kernel& kernel, Cpu cpu, KernelSpace& space) {
  int widest = 1, work = 0;
  auto consider = [&](DType dtype) { widest = std::max(widest, register_bytes(dtype)); };
  for (size_t i = 0; i < kernel.exprs.size(); ++i) {
    if (space.levels[i] != Level::vector) continue;
    consider(kernel.exprs[i].dtype);
    work += kernel.exprs[i].kind == ExprKind::apply || kernel.exprs[i].kind == ExprKind::cast;
  }
  for (const Stage& s : kernel.stages) {
    if (s.kind == Stage::Kind::reduce && s.reduce == ReduceKind::wide_sum) widest = 8;
    if (s.kind == Stage::Kind::store) consider(plan.values[s.target.value].dtype);
  }
  space.lanes = std::max(bytes_of_vector(cpu) / widest, 4);
  if (kernel.form == Form::rows || kernel.form == Form::blocks) space.lanes = kReduceLanes;
  if (kernel.form == Form::tree) space.lanes = 1;
  if (space.turned != kNone) space.lanes = std::min(space.lanes, 16);
  int64_t cost = std::max<int64_t>(kernel.cost, 1);
  space.unroll = work > 32 ? 1 : cost <= 6 ? 4 : cost <= 14 ? 2 : 1;
  if (!kernel.loops.empty()) {
    // What lives through the loop, in registers: variables, and what is read in it.
    size_t live = kernel.loops[0].variables.size() + 2;
    size_t registers = cpu == Cpu::x86_64_v3 ? 16 : 32;
    space.unroll = live * 4 <= registers ? 4 : live * 2 <= registers ? 2 : 1;
  }
}

}  // namespace

std::optional<int64_t> known_size(const Plan& plan, Size s) {
  if (is_known(s)) return s;
  const Symbol& symbol = plan.symbols[symbol_of(s)];
  if (symbol.kind == Symbol::Kind::dim) return std::nullopt;
  std::optional<int64_t> a = known_size(plan, symbol.a), b = known_size(plan, symbol.b);
  int64_t result = 0;
  if (!a || !b) return std::nullopt;
  if (symbol.kind == Symbol::Kind::add && !__builtin_add_overflow(*a, *b, &result)) return result;
  if (symbol.kind == Symbol::Kind::subtract && !__builtin_sub_overflow(*a, *b, &result)) return result;
  if (symbol.kind == Symbol::Kind::multiply && !__builtin_mul_overflow(*a, *b, &result)) return result;
  return std::nullopt;
}

int64_t AxisGroup::known() const {
  int64_t product = 1;
  for (Size s : sizes) {
    if (!is_known(s) || __builtin_mul_overflow(product, s, &product)) return -1;
  }
  return product;
}

Size KernelSpace::stride(const Access& a, uint32_t group) const { return axis_stride(a, groups[group].axis); }

void add_roots(const Stage& stage, std::vector<ExprId>& roots) {
  roots.push_back(stage.expr);
  if (stage.kind != Stage::Kind::store && stage.kind != Stage::Kind::store_once) return;
  for (const auto& i : stage.target.indexed) roots.push_back(i.index);
  if (stage.target.mask != kNone) roots.push_back(stage.target.mask);
}

std::vector<bool> needed_expressions(const Kernel& kernel, std::vector<ExprId> roots) {
  std::vector<bool> needed(kernel.exprs.size(), false);
  while (!roots.empty()) {
    ExprId e = roots.back();
    roots.pop_back();
    if (needed[e]) continue;
    needed[e] = true;
    for_each_operand(kernel, kernel.exprs[e], [&](ExprId o) { roots.push_back(o); });
  }
  return needed;
}

int64_t strip_columns(const KernelSpace& space) {
  constexpr int64_t kWidest = 256;  // 16 partial results of each stay in the first-level cache
  int64_t columns = space.groups[space.vector].known();
  int64_t vectors = columns < 0 ? kWidest : (std::clamp<int64_t>(columns, 1, kWidest) + space.lanes - 1) / space.lanes;
  return columns < 0 ? kWidest : vectors * space.lanes;
}

bool turns(const KernelSpace& space, const Access& a, uint32_t turned) {
  Size across = space.stride(a, space.vector);
  return a.indexed.empty() && a.mask == kNone && space.stride(a, turned) == 1 && across != 0 && across != 1;
}

bool map_has_chunks(const KernelSpace& space) {
  int64_t known = space.groups[space.vector].known();
  return !space.by_first_axis && !space.outer.empty() && space.turned == kNone && !(known >= 0 && known <= kMapChunk);
}

int64_t element_cost(const Kernel& kernel) {
  constexpr int64_t kManyIterations = 1000, kSomeIterations = 64;  // as far as estimates go; where nothing is known
  int64_t cost = std::max<int64_t>(kernel.cost, 1);
  for (const KernelLoop& loop : kernel.loops) {
    cost *= loop.limit >= 0 ? std::min(std::max<int64_t>(loop.limit, 1), kManyIterations) : kSomeIterations;
  }
  return cost;
}

std::optional<int64_t> whole_units(const Kernel& kernel, const KernelSpace& space) {
  if (space.by_first_axis) return std::nullopt;
  int64_t work = element_cost(kernel), units = 1;
  for (Size s : kernel.axes) {
    if (!is_known(s) || __builtin_mul_overflow(work, s, &work)) return std::nullopt;
  }
  if (work > kParallelWork) return std::nullopt;
  for (uint32_t g : space.outer) units *= (space.groups[g].known() + outer_step(space, g) - 1) / outer_step(space, g);
  int64_t inner = space.groups[space.vector].known();
  if (kernel.form == Form::map && space.by_elements) return inner;
  if (kernel.form == Form::map && map_has_chunks(space)) return units * ((inner + kMapChunk - 1) / kMapChunk);
  if (kernel.form == Form::columns) return units * ((inner + strip_columns(space) - 1) / strip_columns(space));
  if (kernel.form == Form::blocks) return units * ((inner + kReduceBlock - 1) / kReduceBlock);
  return units;
}

KernelSpace kernel_space(const Plan& plan, uint32_t index, Cpu cpu) {
  const Kernel& kernel = plan.kernels[index];
  KernelSpace space;
  auto rank = static_cast<uint32_t>(kernel.axes.size());
  uint32_t inner = kernel.form == Form::map ? 0 : kernel.form == Form::columns ? 2 : 1;
  add_groups(plan, kernel, rank - inner, space.groups);
  for (uint32_t axis = rank - inner; axis < rank; ++axis) add_group(kernel, axis, space.groups);
  if (space.groups.empty()) space.groups.push_back({});
  space.vector = static_cast<uint32_t>(space.groups.size()) - 1;
  if (kernel.form == Form::columns) space.middle = space.vector - 1;
  if (kernel.form == Form::map) {
    for (const tfl::plan::Product& p : plan.products) space.by_first_axis = space.by_first_axis || p.epilogue == index;
    if (!space.by_first_axis) space.vector = best_vector(kernel, space);
    space.by_digits = walks_digits(space);
    space.by_elements = !space.by_first_axis && space.groups.size() == 1;
  }
  for (uint32_t g = 0; g < space.groups.size(); ++g) {
    bool outer = space.by_digits ? g == 0 : g != space.vector && g != space.middle;
    if (outer) space.outer.push_back(g);
  }
  space.turned = find_turned(kernel, space);
  find_levels(plan, kernel, space);
  choose_width(plan, kernel, cpu, space);
  return space;
}

}  // namespace tfl::codegen
