// Natives that reduce and scan.
#include "frontend/core/native.h"
#include "frontend/tensors/tensor/natives.h"
#include "runtime/kernels/reduce/softmax.h"

namespace tfl {

namespace {

template <Op op>
Result<Value> reduce(Interp& interp, Value* args) {
  ToTensor wanted;
  if (op == Op::reduce_any || op == Op::reduce_all) {
    if (!is_tensor_like(args[0])) wanted.dtype = DType::Bool;
  }
  Value x = TFL_TRY(to_tensor(interp, args[0], wanted));
  Attrs attrs;
  if (!args[1].is_none()) attrs.set_ints(Attr::axes, TFL_TRY(to_axes(interp, args[1])));
  bool keepdims = args[2].is_bool() ? args[2].as_bool() : !args[2].is_none() && TFL_TRY(truth(interp, args[2]));
  if (keepdims) attrs.set_bool(Attr::keepdims, true);
  return apply_op(interp, op, {x}, attrs);
}

template <Op op>
Result<Value> arg_reduce(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  int64_t axis = TFL_TRY(optional_int(interp, args[1], 0));
  DType dtype = TFL_TRY(optional_dtype(interp, args[2], DType::I64));
  return apply_op(interp, op, {x}, Attrs().set_int(Attr::axis, axis).set_dtype(Attr::dtype, dtype));
}

template <Op op>
Result<Value> scan(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  int64_t axis = TFL_TRY(static_int(interp, args[1]));
  bool exclusive = TFL_TRY(truth(interp, args[2])), reverse = TFL_TRY(truth(interp, args[3]));
  return apply_op(interp, op, {x},
                  Attrs().set_int(Attr::axis, axis).set_bool(Attr::exclusive, exclusive).set_bool(Attr::reverse, reverse));
}

/// _add_n(inputs, name): the sum of tensors of one type and shape, from left to right.
Result<Value> add_n(Interp& interp, Value* args) {
  std::vector<Value> items = TFL_TRY(convert_list(interp, args[0]));
  if (items.empty())
    return fail(ErrorKind::ValueError,
                "inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape");
  Value sum = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    auto first = dtype_of(interp, sum), other = dtype_of(interp, items[i]);
    if (first != other) {
      return fail(
          ErrorKind::InvalidArgumentError,
          "cannot compute AddN as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor [Op:AddN] name: ", i,
          dtype_tf_name(*first), dtype_tf_name(*other));
    }
    if (sum.is_tensor() && items[i].is_tensor()) {
      Tensor a = sum.tensor(), b = items[i].tensor();
      if (!std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end())) {
        return fail(ErrorKind::InvalidArgumentError,
                    "Inputs to operation AddN of type AddN must have the same size and shape.  Input 0: {} != input {}: {} "
                    "[Op:AddN] name: ",
                    shape_text(a.dims()), i, shape_text(b.dims()));
      }
    }
    sum = TFL_TRY(apply_op(interp, Op::add, {sum, items[i]}));
  }
  return sum;
}

/// _softmax_rows(x, axis, logs): softmax over the last axis in one go, or None where it is to be put together from operations: when somebody
/// wants to see them, or the tensor is not one that the rows' loops take.
Result<Value> softmax_of_rows(Interp& interp, Value* args) {
  if (interp.sink || !args[0].is_tensor()) return Value::none();
  Tensor x = args[0].tensor();
  int64_t axis = TFL_TRY(static_int(interp, args[1]));
  if ((axis != -1 && axis != x.rank() - 1) || !has_softmax_rows(x)) return Value::none();
  bool logs = TFL_TRY(truth(interp, args[2]));
  Tensor out = TFL_TRY(softmax_rows(interp.context, x, logs));
  return Value::of(std::move(out));
}

constexpr const char* kReduce = "input_tensor, axis=None, keepdims=False, name=None";
constexpr const char* kArg = "input, axis=None, output_type=None, name=None";
constexpr const char* kScan = "x, axis=0, exclusive=False, reverse=False, name=None";

constexpr NativeDef kReduceNatives[] = {
    function("reduce_sum", kReduce, reduce<Op::reduce_sum>),
    function("reduce_prod", kReduce, reduce<Op::reduce_prod>),
    function("reduce_mean", kReduce, reduce<Op::reduce_mean>),
    function("reduce_max", kReduce, reduce<Op::reduce_max>),
    function("reduce_min", kReduce, reduce<Op::reduce_min>),
    function("reduce_any", kReduce, reduce<Op::reduce_any>),
    function("reduce_all", kReduce, reduce<Op::reduce_all>),
    function("_softmax_rows", "x, axis, logs", softmax_of_rows),
    function("_add_n", "inputs, name", add_n),
    function("argmax", kArg, arg_reduce<Op::argmax>),
    function("argmin", kArg, arg_reduce<Op::argmin>),
    function("cumsum", kScan, scan<Op::cumsum>),
    function("cumprod", kScan, scan<Op::cumprod>),
};

}  // namespace

std::span<const NativeDef> reduce_natives() { return kReduceNatives; }

}  // namespace tfl
