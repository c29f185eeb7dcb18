// Maps: a thread does some elements in a row, one by one where they do not lie in a row, or each of its own. Elements in a row are read
// and written as one.
#include <algorithm>

#include "codegen/llvm/emit/elements_memory.h"
#include "codegen/llvm/gpu/kernel.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr int kWideBytes = 16;  // that a thread reads or writes at once
constexpr int kWidest = 4;

}  // namespace

bool GpuKernel::has_vector_stride(const Access& a) const { return space_.stride(a, space_.vector) != 0; }

// Whether `width` elements of an access lie in a row, and begin where such a row may be read at once.
bool GpuKernel::is_wide(const Access& a, int width) const {
  if (space_.stride(a, space_.vector) != 1 || !a.indexed.empty() || a.mask != kNone) return false;
  auto fits = [&](Size s) {
    std::optional<int64_t> known = known_size(plan_, s);
    return known && *known % width == 0;
  };
  if (!fits(a.offset)) return false;
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    if (g != space_.vector && !fits(space_.stride(a, g))) return false;
  }
  return plan_.values[a.value].home != Home::scalar;
}

int GpuKernel::vector_width() const {
  if (!kernel_.loops.empty()) return 1;
  size_t bytes = 1;
  bool any = false;
  auto look = [&](const Access& a) {
    if (!has_vector_stride(a)) return;
    any = true;
    bytes = std::max(bytes, dtype_size(plan_.values[a.value].dtype));
  };
  for (const Expr& e : kernel_.exprs) {
    if (e.kind == ExprKind::load) look(e.access);
  }
  for (const Stage& s : kernel_.stages) look(s.target);
  int width = std::min(kWidest, kWideBytes / static_cast<int>(bytes));
  if (space_.groups.size() > 1) {
    int64_t known = space_.groups[space_.vector].known();
    if (known <= 0 || known % width != 0) return 1;
  }
  for (const Stage& s : kernel_.stages) any = any && is_wide(s.target, width);
  return any ? width : 1;
}

// `width` elements from `first` on: what is read at once is read before anything is written.
void GpuKernel::store_wide(const std::vector<bool>& needed, llvm::Value* first, int width, llvm::Value* outer) {
  std::vector<Point> points(static_cast<size_t>(width), point());
  for (int i = 0; i < width; ++i) {
    Point& p = points[static_cast<size_t>(i)];
    if (outer) set_outer(outer, p);
    p.index[space_.vector] = b_.CreateAdd(first, grid_.word(i));
  }
  auto wide_type = [&](DType dtype) { return vector_of(memory_type(b_, dtype), width); };
  auto wide_align = [&](DType dtype) { return llvm::Align(dtype_size(dtype) * static_cast<uint64_t>(width)); };
  for (ExprId e = 0; e < needed.size(); ++e) {
    if (!needed[e]) continue;
    const Expr& expr = kernel_.exprs[e];
    bool wide = expr.kind == ExprKind::load && is_wide(expr.access, width);
    if (wide) {
      DType dtype = plan_.values[expr.access.value].dtype;
      llvm::Value* all = b_.CreateAlignedLoad(wide_type(dtype), address(expr.access, points[0]), wide_align(dtype));
      for (size_t i = 0; i < points.size(); ++i) points[i].values[e] = from_memory(b_, dtype, 1, b_.CreateExtractElement(all, i));
      continue;
    }
    for (size_t i = 0; i < points.size(); ++i) {
      bool same = space_.levels[e] < Level::vector;  // for all elements of the row
      points[i].values[e] = same && i > 0 ? points[0].values[e] : value(e, points[i]);
    }
  }
  for (const Stage& s : kernel_.stages) {
    DType dtype = plan_.values[s.target.value].dtype;
    llvm::Value* all = llvm::PoisonValue::get(wide_type(dtype));
    for (size_t i = 0; i < points.size(); ++i)
      all = b_.CreateInsertElement(all, to_memory(b_, dtype, 1, points[i].values[s.expr]), i);
    b_.CreateAlignedStore(all, address(s.target, points[0]), wide_align(dtype));
  }
}

void GpuKernel::emit_map() {
  auto every = [](const Stage&) { return true; };
  std::vector<bool> needed = needed_by(every);
  int width = vector_width();
  bool flat = space_.groups.size() == 1;
  units_.per = kGpuThreads * width;
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    for (Size s : space_.groups[g].sizes) units_.factors.push_back({s, 1});
  }
  llvm::Value* row = group_size(space_.vector);
  llvm::Value* all = b_.CreateMul(outer_count(), row);
  int64_t known = space_.groups[space_.vector].known();
  grid_.units(grid_.up(all, units_.per), [&](llvm::Value* unit) {
    grid_.section(
        [&](llvm::Value* thread) {
          llvm::Value* element =
              b_.CreateMul(b_.CreateAdd(b_.CreateMul(unit, grid_.word(kGpuThreads)), thread), grid_.word(width));
          // The place in the row, and which row.
          auto place = [&](llvm::Value* e, llvm::Value*& outer) -> llvm::Value* {
            if (flat) return e;
            llvm::Value* length = row;
            outer = b_.CreateUDiv(e, length);
            return b_.CreateSub(e, b_.CreateMul(outer, length));
          };
          auto one = [&](llvm::Value* e) {
            Point p = point();
            llvm::Value* outer = nullptr;
            p.index[space_.vector] = place(e, outer);
            if (outer) set_outer(outer, p);
            compute(needed, Level::vector, p);
            store_all(every, p);
          };
          if (width == 1) {
            grid_.when(b_.CreateICmpSLT(element, all), [&] { one(element); });
            return;
          }
          auto wide = [&] {
            llvm::Value* outer = nullptr;
            llvm::Value* first = place(element, outer);
            store_wide(needed, first, width, outer);
          };
          llvm::Value* whole = b_.CreateICmpSLE(b_.CreateAdd(element, grid_.word(width)), all);
          grid_.when(whole, wide);
          if (flat && !(known >= 0 && known % width == 0)) {
            grid_.when(b_.CreateAnd(b_.CreateNot(whole), b_.CreateICmpSLT(element, all)),
                       [&] { grid_.loop(element, all, grid_.word(1), one); });
          }
        },
        false);
  });
}

}  // namespace tfl::codegen
