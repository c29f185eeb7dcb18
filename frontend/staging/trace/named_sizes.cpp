// Names of sizes: `f32[n, 784]`. Equal names in the parameters of a function are equal sizes.
#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/tensors/tensor/shape.h"
#include "ir/inlined.h"

namespace tfl {

namespace {

const TensorType* tensor_type(const Value& v, TensorType& room) {
  if (v.is(Kind::Symbolic)) return symbolic(v)->ir_type().is_tensor() ? &symbolic_type(v) : nullptr;
  if (!v.is_tensor()) return nullptr;
  room = {v.tensor_rep()->dtype, true, Dims(v.tensor().dims())};
  return &room;
}

Result<Value> size_of(Interp& interp, const Value& v, size_t axis) {
  Value sizes = TFL_TRY(apply_op(interp, Op::shape, {v}, Attrs().set_dtype(Attr::dtype, DType::I32)));
  Value at = symbolic_constant(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, static_cast<int32_t>(axis))), "axis");
  return apply_op(interp, Op::gather, {sizes, at}, Attrs().set_int(Attr::axis, 0));
}

Result<void> check_equal(Interp& interp, const ir::Function& callee, size_t symbol, const Value& a, size_t axis_a, const Value& b,
                         size_t axis_b) {
  Value equal =
      TFL_TRY(apply_op(interp, Op::equal, {TFL_TRY(size_of(interp, a, axis_a)), TFL_TRY(size_of(interp, b, axis_b))}, {}));
  Attrs attrs;
  attrs.set_text(Attr::text, "the size '" + callee.symbols[symbol] + "' of " + callee.name + " is not the same in all arguments");
  TFL_TRY(append_node(interp, Op::check, std::span<const Value>(&equal, 1), attrs));
  return {};
}

}  // namespace

Result<void> name_sizes(Interp&, ir::Function& function, const Value& names, ir::Type& type) {
  Dims& dims = type.tensor.dims;
  for (int64_t& d : dims) d = d < 0 ? -1 : d;
  if (!names.is(Kind::List)) return {};
  const std::vector<Value>& items = names.as<List>()->items;
  for (size_t i = 0; i < dims.size() && i < items.size(); ++i) {
    if (dims[i] >= 0 || !items[i].is_str()) continue;
    const std::string name = text_of(items[i]);
    size_t at = 0;
    while (at < function.symbols.size() && function.symbols[at] != name) ++at;
    if (at == function.symbols.size()) function.symbols.push_back(name);
    dims[i] = -2 - static_cast<int64_t>(at);
  }
  return {};
}

Result<Value> size_names(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Symbolic)) return Value::none();
  const std::vector<std::string>& symbols = symbolic(args[0])->scope->function->symbols;
  bool any = false;
  std::vector<Value> names;
  for (int64_t d : symbolic_type(args[0]).dims) {
    size_t symbol = static_cast<size_t>(-2 - d);
    bool named = d < -1 && symbol < symbols.size();
    any |= named;
    names.push_back(named ? interp.str(symbols[symbol]) : Value::none());
  }
  return any ? interp.list(std::move(names)) : Value::none();
}

Result<void> check_named_sizes(Interp& interp, const ir::Function& callee, std::span<const Value> operands) {
  struct First {
    size_t operand = SIZE_MAX, axis = 0;
  };
  std::vector<First> first(callee.symbols.size());
  for (size_t i = 0; i < operands.size() && i < callee.body.params.size() && !first.empty(); ++i) {
    const ir::Type& taken = callee.body.params[i]->types[0];
    TensorType room, other_room;
    const TensorType* given = taken.is_tensor() ? tensor_type(operands[i], room) : nullptr;
    if (!given) continue;
    for (size_t axis = 0; axis < taken.tensor.dims.size(); ++axis) {
      size_t symbol = static_cast<size_t>(-2 - taken.tensor.dims[axis]);
      if (taken.tensor.dims[axis] >= -1 || symbol >= first.size()) continue;
      First& f = first[symbol];
      if (f.operand == SIZE_MAX) {
        f = {i, axis};
        continue;
      }
      const TensorType* other = tensor_type(operands[f.operand], other_room);
      int64_t here = given->ranked && axis < given->dims.size() ? given->dims[axis] : -1;
      int64_t there = other && other->ranked && f.axis < other->dims.size() ? other->dims[f.axis] : -1;
      if (here == there && here != -1) continue;
      if (here >= 0 && there >= 0) {
        return fail(ErrorKind::InvalidArgumentError, "the size '{}' is {} in one argument and {} in another: {}, '{}' of {}",
                    callee.symbols[symbol], there, here, ir::type_text(taken, &callee.symbols), callee.body.params[i]->name,
                    callee.name);
      }
      TFL_TRY(check_equal(interp, callee, symbol, operands[f.operand], f.axis, operands[i], axis));
    }
  }
  return {};
}

}  // namespace tfl
