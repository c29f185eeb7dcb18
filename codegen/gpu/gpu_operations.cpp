#include "codegen/gpu/gpu_operations.h"

#include <cstring>

#include "codegen/plan/native_ops.h"
#include "ir/infer.h"

namespace tfl::codegen {

namespace {

constexpr size_t kMostKnown = 4096;
constexpr int64_t kMostConstant = 16;

/// Axes, sizes and the like decide what the code does: they are not looked at when it runs.
bool is_constant(Op op, size_t operand, const Tensor& t) {
  OpKind kind = op_info(op).kind;
  if (operand == 0 || kind == OpKind::Elementwise || kind == OpKind::Contract) return false;
  return (t.dtype() == DType::I32 || t.dtype() == DType::I64) && t.rank() <= 1 && t.size() <= kMostConstant;
}

template <class T>
void put(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string key_of(Op op, std::span<const Tensor> operands, const Attrs& attrs) {
  std::string key;
  put(key, op);
  for (const AttrValue& v : attrs.items()) {
    put(key, v.name);
    put(key, v.dtype);
    put(key, v.integer);
    put(key, v.real);
    put(key, v.text.size());
    key += v.text;
    put(key, v.ints.size());
    for (int64_t n : v.ints) put(key, n);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor& t = operands[i];
    put(key, t.dtype());
    put(key, t.rank());
    for (int64_t d : t.dims()) put(key, d);
    bool constant = is_constant(op, i, t) && t.contiguous();
    put(key, constant);
    if (constant) key.append(reinterpret_cast<const char*>(t.raw()), t.bytes());
  }
  return key;
}

}  // namespace

void GpuOperations::make(Context& context, Op op, std::span<const Tensor> operands, const Attrs& attrs, Operation& made) const {
  auto f = std::make_shared<ir::Function>();
  f->name = std::string(op_info(op).name);
  std::vector<ir::Ref> refs(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor& t = operands[i];
    if (t.dtype() == DType::String) return;
    if (is_constant(op, i, t) && t.contiguous()) {
      refs[i] = ir::append_constant(f->body, t);
    } else {
      refs[i] = f->body.add_param(ir::Type::of({t.dtype(), true, Dims(t.dims())}), "x" + std::to_string(i));
      made.parameters.push_back(static_cast<uint32_t>(i));
    }
  }
  auto node = ir::append(context, f->body, op, std::move(refs), attrs);
  if (!node || !plan::is_native(context, **node)) return;
  made.results = (*node)->types.size();
  for (uint32_t i = 0; i < made.results; ++i) f->body.results.push_back({*node, i});
  made.function = std::move(f);
}

bool GpuOperations::run(Context& context, gpu::Device& device, Op op, std::span<const Tensor> operands, const Attrs& attrs,
                        Tensors& results) {
  OpKind kind = op_info(op).kind;
  if (op == Op::identity || kind == OpKind::Check || kind == OpKind::Effect || kind == OpKind::Control || kind == OpKind::Text)
    return false;
  auto decline = [&] {
    context.devices().count_declined(fmt::format("{} alone is not made for GPUs", op_info(op).name));
    return false;
  };
  if (kind == OpKind::Create || kind == OpKind::Random) return decline();
  std::string key = key_of(op, operands, attrs);
  auto found = known_.find(key);
  if (found == known_.end()) {
    if (known_.size() >= kMostKnown) known_.clear();
    found = known_.try_emplace(std::move(key)).first;
    make(context, op, operands, attrs, found->second);
  }
  Operation& o = found->second;
  if (!o.function) return decline();
  SmallVec<Tensor, 4> inputs;
  for (uint32_t i : o.parameters) inputs.push_back(operands[i]);
  std::vector<Tensor> given(o.results);
  if (!o.code.run(context, device, *o.function, options_, {inputs.data(), inputs.size()}, given)) return false;
  for (Tensor& t : given) {
    // A view of an operand that is elsewhere, or a scalar that the host was told: not the device's.
    if (t.size() > 0 && gpu::Devices::home_of(t) != &device) {
      Result<Tensor> rows = contiguous(context, t);
      Result<Tensor> there = rows ? context.devices().copy_to(device, *rows) : std::move(rows);
      if (!there) return false;
      t = there.take();
    }
  }
  for (Tensor& t : given) results.push_back(std::move(t));
  return true;
}

}  // namespace tfl::codegen
