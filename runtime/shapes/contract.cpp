// Shape rule of the matrix product.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

Result<void> infer_matmul(InferCall& call) {
  const TensorType& a = call.operands[0].type;
  const TensorType& b = call.operands[1].type;
  bool batched = (a.ranked && a.dims.size() > 2) || (b.ranked && b.dims.size() > 2);
  std::string_view name = batched ? "BatchMatMulV2" : "MatMul";
  constexpr DType kPlain[] = {DType::BF16, DType::F16, DType::F32, DType::F64, DType::I32, DType::I64,
                              DType::U8,   DType::U16, DType::U32, DType::U64, DType::C64, DType::C128};
  constexpr DType kBatched[] = {DType::BF16, DType::F16, DType::F32, DType::F64, DType::I16, DType::I32, DType::I64,
                                DType::U8,   DType::U16, DType::U32, DType::U64, DType::C64, DType::C128};
  TFL_TRY(check_dtype(name, "T", a.dtype, batched ? std::span<const DType>(kBatched) : std::span<const DType>(kPlain)));
  TFL_TRY(check_same_dtype(name, 1, a.dtype, b.dtype));
  if (a.ranked && a.dims.size() < 2) return invalid_in(name, "In[0] ndims must be >= 2");
  if (b.ranked && b.dims.size() < 2)
    return invalid_in(name, batched ? fmt::format("In[1] ndims must be >= 2: {}", b.dims.size()) : "In[1] ndims must be >= 2");
  if (!a.ranked || !b.ranked) return give(call, unranked(a.dtype));
  size_t ra = a.dims.size(), rb = b.dims.size();
  bool ta = call.attrs.get_bool(Attr::transpose_a), tb = call.attrs.get_bool(Attr::transpose_b);
  int64_t m = a.dims[ra - (ta ? 1 : 2)], ka = a.dims[ra - (ta ? 2 : 1)];
  int64_t n = b.dims[rb - (tb ? 2 : 1)], kb = b.dims[rb - (tb ? 1 : 2)];
  if (!may_equal(ka, kb)) {
    std::string flags = batched ? fmt::format(" {} {}", int{ta}, int{tb}) : std::string();
    return fail(ErrorKind::InvalidArgumentError, "Matrix size-incompatible: In[0]: {}, In[1]: {}{} [Op:{}]", shape_words(a.dims),
                shape_words(b.dims), flags, name)
        .with_hint(fmt::format("the inner sizes differ: {} columns on the left, {} rows on the right", ka, kb));
  }
  Dims dims;
  size_t batch = std::max(ra, rb) - 2;
  for (size_t i = 0; i < batch; ++i) {
    int64_t x = i + ra < batch + 2 ? 1 : a.dims[i + ra - batch - 2];
    int64_t y = i + rb < batch + 2 ? 1 : b.dims[i + rb - batch - 2];
    if (known(x) && known(y) && x != y && x != 1 && y != 1) {
      return invalid_in(name, fmt::format("In[0] and In[1] must have compatible batch dimensions: {} vs. {}", shape_words(a.dims),
                                          shape_words(b.dims)));
    }
    dims.push_back(x == 1 ? y : y == 1 || x == y ? x : known(x) ? x : known(y) ? y : -1);
  }
  dims.push_back(m);
  dims.push_back(n);
  TFL_TRY(product(call.op, dims));
  return give(call, ranked(a.dtype, std::move(dims)));
}

}  // namespace tfl
