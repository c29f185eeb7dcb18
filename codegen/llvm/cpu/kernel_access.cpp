// Elements of memory: addresses as far as they stay the same for a row, and what a vector adds to them.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

namespace {

llvm::Value* widened(Builder& b, llvm::Value* index, DType dtype, int lanes) {
  llvm::Type* wide = b.getInt64Ty();
  if (lanes > 1) wide = llvm::FixedVectorType::get(wide, static_cast<unsigned>(lanes));
  return is_unsigned(dtype) || dtype == DType::Bool ? b.CreateZExt(index, wide) : b.CreateSExt(index, wide);
}

llvm::Constant* iota(Builder& b, int lanes) {
  llvm::SmallVector<llvm::Constant*, 64> numbers;
  for (int i = 0; i < lanes; ++i) numbers.push_back(b.getInt64(static_cast<uint64_t>(i)));
  return llvm::ConstantVector::get(numbers);
}

llvm::Value* reversed(Builder& b, llvm::Value* v, int lanes) {
  llvm::SmallVector<int, 64> order;
  for (int i = lanes; i-- > 0;) order.push_back(i);
  return b.CreateShuffleVector(v, order);
}

}  // namespace

llvm::Value* KernelEmitter::memory_of(ValueId value) {
  llvm::Value*& v = memory_[value];
  if (v) return v;
  const Value& of = plan_.values[value];
  if (of.home == Home::scalar) {
    v = emit_word_address(entry_, frame_, of.word);
  } else {
    v = entry_.CreateIntToPtr(emit_word(entry_, frame_, of.word), entry_.getPtrTy());
  }
  return v;
}

// Whether the address without the vector index is known before the tiles.
bool KernelEmitter::has_base(const Access& a) const {
  for (const Access::Indexed& i : a.indexed) {
    if (is_uniform(i.index) && (space_.in_loop[i.index] || space_.after_loop[i.index])) return false;
  }
  return true;
}

llvm::Value* KernelEmitter::base_of(const Access& a) {
  llvm::Value* offset = size(a.offset);
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    Size stride = space_.stride(a, g);
    if (g == space_.vector || stride == 0 || !context_->index[g]) continue;
    offset = b_.CreateAdd(offset, b_.CreateMul(context_->index[g], size(stride)));
  }
  for (const Access::Indexed& i : a.indexed) {
    if (!is_uniform(i.index)) continue;
    llvm::Value* index = widened(b_, uniform(i.index), kernel_.exprs[i.index].dtype, 1);
    offset = b_.CreateAdd(offset, b_.CreateMul(index, size(i.factor)));
  }
  return b_.CreateGEP(memory_type(b_, plan_.values[a.value].dtype), memory_of(a.value), offset);
}

KernelEmitter::Place KernelEmitter::place(const Access& a, size_t key, Tile& tile, size_t v) {
  Place p;
  llvm::Type* element = memory_type(b_, plan_.values[a.value].dtype);
  p.address = context_->bases[key] ? context_->bases[key] : base_of(a);
  if (!tile.row.empty() && space_.stride(a, space_.turned) != 0) {
    llvm::Value* along = b_.CreateMul(tile.row[v], size(space_.stride(a, space_.turned)));
    p.address = b_.CreateGEP(element, p.address, along);
  }
  p.mask = tile.mask;
  if (a.mask != kNone) {
    llvm::Value* mask = vector(a.mask, tile, v);
    p.mask = p.mask ? b_.CreateAnd(p.mask, mask) : mask;
  }
  Size vector_stride = space_.stride(a, space_.vector);
  std::optional<int64_t> stride = known_size(plan_, vector_stride);
  bool gathers = false;
  for (const Access::Indexed& i : a.indexed) gathers = gathers || !is_uniform(i.index);
  if (space_.by_digits) {
    p.offsets = is_flat(a) ? nullptr : digit_offsets(a, tile, v);
    // Elements that lie in a row stay one, all others are a gather.
    vector_stride = is_flat(a) ? 1 : 0;
    stride = vector_stride;
  }
  if (tile.lanes == 1) {
    llvm::Value* offset = b_.CreateMul(tile.start[v], size(vector_stride));
    if (p.offsets) offset = b_.CreateAdd(offset, p.offsets);
    for (const Access::Indexed& i : a.indexed) {
      if (is_uniform(i.index)) continue;
      llvm::Value* index = widened(b_, vector(i.index, tile, v), kernel_.exprs[i.index].dtype, 1);
      offset = b_.CreateAdd(offset, b_.CreateMul(index, size(i.factor)));
    }
    p.address = b_.CreateGEP(element, p.address, offset);
    return p;
  }
  if (!gathers && stride == 1) {
    p.address = b_.CreateGEP(element, p.address, tile.start[v]);
    return p;
  }
  if (!gathers && stride == -1) {
    p.kind = Place::Kind::reversed;
    p.address = b_.CreateGEP(element, p.address, b_.CreateSub(word(1 - tile.lanes), tile.start[v]));
    if (p.mask) p.mask = reversed(b_, p.mask, tile.lanes);
    return p;
  }
  if (!gathers && stride == 0 && a.mask == kNone && key < kernel_.exprs.size() && !p.offsets) {
    p.kind = Place::Kind::same;
    return p;
  }
  p.kind = Place::Kind::scattered;
  auto lanes = static_cast<unsigned>(tile.lanes);
  if (stride != 0) {
    p.address = b_.CreateGEP(element, p.address, b_.CreateMul(tile.start[v], size(vector_stride)));
    p.offsets = b_.CreateMul(iota(b_, tile.lanes), b_.CreateVectorSplat(lanes, size(vector_stride)));
  }
  for (const Access::Indexed& i : a.indexed) {
    if (is_uniform(i.index)) continue;
    llvm::Value* index = widened(b_, vector(i.index, tile, v), kernel_.exprs[i.index].dtype, tile.lanes);
    if (i.factor != 1) index = b_.CreateMul(index, b_.CreateVectorSplat(lanes, size(i.factor)));
    p.offsets = p.offsets ? b_.CreateAdd(p.offsets, index) : index;
  }
  if (!p.offsets) p.offsets = b_.CreateVectorSplat(lanes, word(0));  // a store of every element to one place
  return p;
}

llvm::Value* KernelEmitter::uniform_load(ExprId e) {
  const Access& a = kernel_.exprs[e].access;
  llvm::Value* mask = a.mask == kNone ? nullptr : uniform(a.mask);
  return emit_load(b_, plan_.values[a.value].dtype, 1, base_of(a), mask);
}

llvm::Value* KernelEmitter::load(ExprId e, Tile& tile, size_t v) {
  const Access& a = kernel_.exprs[e].access;
  DType dtype = plan_.values[a.value].dtype;
  Place p = place(a, e, tile, v);
  if (p.kind == Place::Kind::same) {
    return b_.CreateVectorSplat(static_cast<unsigned>(tile.lanes), emit_load(b_, dtype, 1, p.address));
  }
  if (p.kind == Place::Kind::scattered) return emit_gather(b_, dtype, tile.lanes, p.address, p.offsets, p.mask);
  llvm::Value* x = emit_load(b_, dtype, tile.lanes, p.address, p.mask);
  if (ahead_) fetch_next_row(a, p, false);
  return p.kind == Place::Kind::reversed ? reversed(b_, x, tile.lanes) : x;
}

// The processor sees a pattern of addresses only within a page, which a row may fill: what the next row needs is asked for while this one
// is computed with.
void KernelEmitter::fetch_next_row(const Access& a, const Place& p, bool stores) {
  if (space_.outer.empty()) return;
  Size stride = space_.stride(a, space_.outer.back());
  if (stride == 0) return;
  constexpr int kSecondLevel = 2;  // of 3: the first level keeps this row
  llvm::Value* next = b_.CreateGEP(memory_type(b_, plan_.values[a.value].dtype), p.address, size(stride));
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                     {next, b_.getInt32(stores), b_.getInt32(kSecondLevel), b_.getInt32(1)});
}

void KernelEmitter::store(uint32_t stage, llvm::Value* value, Tile& tile, size_t v) {
  const Access& a = kernel_.stages[stage].target;
  DType dtype = plan_.values[a.value].dtype;
  Place p = place(a, kernel_.exprs.size() + stage, tile, v);
  if (p.kind == Place::Kind::scattered) {
    emit_scatter(b_, dtype, tile.lanes, value, p.address, p.offsets, p.mask);
  } else {
    if (p.kind == Place::Kind::reversed) value = reversed(b_, value, tile.lanes);
    emit_store(b_, dtype, tile.lanes, value, p.address, p.mask);
    auto* stored = llvm::dyn_cast<llvm::StoreInst>(&b_.GetInsertBlock()->back());
    if (streaming_ && stored && !p.mask) {
      llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
      stored->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b_.getContext(), one));
      stored->setAlignment(llvm::Align(std::min<uint64_t>(64, static_cast<uint64_t>(tile.lanes) * dtype_size(dtype))));
    }
    if (ahead_) fetch_next_row(a, p, true);
  }
}

void KernelEmitter::store_uniform(uint32_t stage) {
  const Stage& s = kernel_.stages[stage];
  llvm::Value* mask = s.target.mask == kNone ? nullptr : uniform(s.target.mask);
  emit_store(b_, plan_.values[s.target.value].dtype, 1, uniform(s.expr), base_of(s.target), mask);
}

}  // namespace tfl::codegen
