#include "codegen/jit/code_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/load/plan_facts.h"
#include "codegen/plan/builder.h"

namespace tfl::codegen {

namespace {

using plan::Expr;
using plan::ExprKind;
using plan::Kernel;
using plan::kNone;
using plan::Plan;
using plan::Product;
using plan::Size;
using plan::Step;

int64_t operations_of(const Expr& e) {
  return e.kind == ExprKind::apply ? plan::cost_of(e.op) : e.kind == ExprKind::cast ? 1 : 0;
}

std::string shown(Size s) { return plan::is_known(s) ? std::to_string(s) : "?"; }

std::string name_of(const Plan& p, const Product& x) {
  if (x.window == kNone) {
    std::string one = fmt::format("matmul {}x{}x{}", shown(x.m), shown(x.k), shown(x.n));
    return x.batch == 1 ? one : fmt::format("{} of {}", shown(x.batch), one);
  }
  constexpr const char* kNames[] = {"convolution",        "convolution gradient",      "filter gradient", "depthwise convolution",
                                    "depthwise gradient", "depthwise filter gradient", "max pool",        "max pool gradient",
                                    "average pool",       "average pool gradient"};
  const plan::Window& w = p.windows[x.window];
  return fmt::format("{} {}x{} to {}", kNames[static_cast<size_t>(w.kind)], shown(w.batch), w.shape.channels_in,
                     w.shape.channels_out);
}

std::string name_of(const Plan& p, const Step& s) {
  switch (s.kind) {
    case Step::Kind::kernel: return p.kernels[s.index].name;
    case Step::Kind::product: return name_of(p, p.products[s.index]);
    case Step::Kind::routine: return kRoutineNames[static_cast<size_t>(p.routines[s.index].routine)];
    default: return "loop";
  }
}

double count_of(const plan::Sizes& sizes, const int64_t* words) {
  double n = 1;
  for (Size s : sizes) n *= static_cast<double>(size_of(s, words));
  return n;
}

struct Work {
  double operations = 0, bytes = 0;
};

Work work_of(const Plan& p, const Kernel& k, const int64_t* words) {
  Work w;
  const double elements = count_of(k.axes, words);
  double each = 0;
  for (const Expr& e : k.exprs) each += static_cast<double>(operations_of(e));
  for (const plan::Stage& s : k.stages) each += s.kind == plan::Stage::Kind::reduce;
  for (const plan::KernelLoop& l : k.loops) each *= l.limit > 0 ? static_cast<double>(l.limit) : 1;
  w.operations = elements * each;
  // Of each value what is touched, once.
  std::map<plan::ValueId, double> touched;
  auto touch = [&](const plan::Access& a) {
    if (a.value == kNone) return;
    double n = 1;
    for (size_t i = 0; i < k.axes.size(); ++i) {
      if (!a.indexed.empty() || (i < a.strides.size() && a.strides[i] != 0)) n *= static_cast<double>(size_of(k.axes[i], words));
    }
    const plan::Value& v = p.values[a.value];
    double& most = touched[a.value];
    most = std::max(most, std::min(n, count_of(v.dims, words)) * static_cast<double>(dtype_size(v.dtype)));
  };
  for (const Expr& e : k.exprs) {
    if (e.kind == ExprKind::load) touch(e.access);
  }
  for (const plan::Stage& s : k.stages) touch(s.target);
  for (const auto& [value, bytes] : touched) w.bytes += bytes;
  return w;
}

double bytes_of(const Plan& p, plan::ValueId v, const int64_t* words) {
  if (v == kNone) return 0;
  return count_of(p.values[v].dims, words) * static_cast<double>(dtype_size(p.values[v].dtype));
}

Work work_of(const Plan& p, const Product& x, const int64_t* words) {
  Work w;
  if (x.epilogue != kNone) w.operations = work_of(p, p.kernels[x.epilogue], words).operations;
  for (plan::ValueId v : {x.a, x.b, x.result}) w.bytes += bytes_of(p, v, words);
  if (x.window == kNone) {
    w.operations += 2 * count_of({x.batch, x.m, x.n, x.k}, words);
  } else {
    const plan::Window& window = p.windows[x.window];
    const Convolution& c = window.shape;
    double places = static_cast<double>(size_of(window.batch, words)) * static_cast<double>(c.windows.outputs()) *
                    static_cast<double>(c.windows.taps());
    double out =
        is_pool(window.kind) ? 0.5 : static_cast<double>(c.channels_out) / static_cast<double>(std::max<int64_t>(c.groups, 1));
    w.operations += 2 * places * static_cast<double>(c.channels_in) * out;
  }
  return w;
}

Work work_of(const Plan& p, const Step& s, const int64_t* words) {
  Work w;
  switch (s.kind) {
    case Step::Kind::kernel: return work_of(p, p.kernels[s.index], words);
    case Step::Kind::product: return work_of(p, p.products[s.index], words);
    case Step::Kind::routine:
      for (plan::ValueId v : p.routines[s.index].at) w.bytes += bytes_of(p, v, words);
      return w;
    default: return w;
  }
}

CodeStep::Line line_at(const LineTable& lines, uint32_t location) {
  if (location >= lines.lines.size() || lines.lines[location].file.empty()) return {};
  const LineTable::Line& l = lines.lines[location];
  return {l.file, l.function, l.line, 1};
}

// The lines of a kernel's expressions, by what they cost.
std::vector<CodeStep::Line> lines_of(const Kernel& k, const LineTable& lines) {
  std::vector<CodeStep::Line> out;
  double all = 0;
  for (const Expr& e : k.exprs) {
    CodeStep::Line line = line_at(lines, e.location);
    auto cost = static_cast<double>(operations_of(e) + (e.kind == ExprKind::load));
    if (line.file.empty() || cost == 0) continue;
    all += cost;
    auto same =
        std::find_if(out.begin(), out.end(), [&](const CodeStep::Line& l) { return l.line == line.line && l.file == line.file; });
    if (same == out.end()) {
      out.push_back(line);
      out.back().share = cost;
    } else {
      same->share += cost;
    }
  }
  for (CodeStep::Line& l : out) l.share /= all;
  std::stable_sort(out.begin(), out.end(), [](const CodeStep::Line& x, const CodeStep::Line& y) { return x.share > y.share; });
  return out;
}

void count_uses(const plan::Block& block, std::vector<uint32_t>& uses) {
  for (const Step& s : block.steps) {
    if (s.kind == Step::Kind::kernel) ++uses[s.index];
    for (const plan::Block& inner : s.blocks) count_uses(inner, uses);
  }
}

}  // namespace

CodeProfile::CodeProfile(const Plan& plan, const LineTable& lines) : name(plan.name) {
  std::vector<uint32_t> uses(plan.kernels.size());
  count_uses(plan.body, uses);
  walk(plan, plan.body, lines, uses);
}

// In the order in which code with probes numbers them (codegen/llvm/cpu/driver.cpp).
void CodeProfile::walk(const Plan& plan, const plan::Block& block, const LineTable& lines, const std::vector<uint32_t>& uses) {
  for (const Step& s : block.steps) {
    if (is_probed(s)) {
      CodeStep& made = steps.emplace_back();
      made.name = name_of(plan, s);
      // A kernel that stands for several is located by who runs it.
      if (s.kind == Step::Kind::kernel && uses[s.index] == 1) made.lines = lines_of(plan.kernels[s.index], lines);
      if (made.lines.empty()) made.lines.push_back(line_at(lines, s.location));
      if (made.lines[0].file.empty()) made.lines.clear();
      Step& kept = plan_steps_.emplace_back();
      kept.kind = s.kind;
      kept.index = s.index;
    }
    for (const plan::Block& inner : s.blocks) walk(plan, inner, lines, uses);
  }
}

void CodeProfile::add(const Plan& plan, const int64_t* words, size_t taken) {
  ++runs;
  most_bytes = std::max(most_bytes, taken);
  const int64_t* counts = words + plan.words + 1;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (counts[i] == 0) continue;
    Work w = work_of(plan, plan_steps_[i], words);
    steps[i].runs += static_cast<uint64_t>(counts[i]);
    steps[i].operations += w.operations * static_cast<double>(counts[i]);
    steps[i].bytes += w.bytes * static_cast<double>(counts[i]);
  }
}

}  // namespace tfl::codegen
