#include "codegen/llvm/emit/formula_emit.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "codegen/formula/parts.h"

namespace tfl::codegen {

namespace {

using formula::Elem;
using formula::Formula;
using formula::Id;
using formula::Inst;
using formula::Prim;
using formula::Region;
using llvm::BasicBlock;
using llvm::Value;
using llvm::Intrinsic::ID;

using Builder = llvm::IRBuilder<>;
using Values = llvm::SmallVector<Value*, 4>;

// Parts of this many instructions are functions, which all that need them share: what is rarely run, and what takes so long that
// a call does not count.
constexpr int kLargeRare = 24, kLargeCommon = 150;

class Emitter {
 public:
  Emitter(Builder& b, const Formula& f, int lanes, bool truth)
      : b_(b), f_(f), lanes_(lanes), truth_(truth), values_(f.insts.size()) {}

  Value* run(std::span<Value* const> arguments) {
    for (Id id : f_.regions[0].body) {
      if (f_.at(id).prim == Prim::argument) values_[id] = arguments[f_.at(id).extra];
    }
    if (formula::weight(f_, 0, kLargeRare) >= kLargeCommon) return call(0)[0];
    region(f_.regions[0]);
    return values_[f_.value()];
  }

 private:
  llvm::Type* type(Elem e) { return elem_type(b_, e, lanes_, truth_); }
  Elem elem(Id id) const { return f_.at(id).type; }

  void region(const Region& r) {
    for (Id id : r.body) step(id);
  }

  void step(Id id) {
    const Inst& i = f_.at(id);
    switch (i.prim) {
      case Prim::argument:
      case Prim::parameter: return;  // the caller or the loop has set it
      case Prim::rarely: rarely(i); return;
      case Prim::iterate: iterate(i); return;
      case Prim::result: values_[id] = results_[i.a][i.extra]; return;
      default: values_[id] = value(i); return;
    }
  }

  Value* at(Id id) const { return values_[id]; }

  Value* value(const Inst& i) {
    switch (i.prim) {
      case Prim::constant: return constant(i.type, i.extra);
      case Prim::table: return table(i);
      case Prim::select: return b_.CreateSelect(at(i.a), at(i.b), at(i.c));
      case Prim::convert: return convert(i);
      case Prim::bitcast: return b_.CreateBitCast(at(i.a), type(i.type));
      default: break;
    }
    if (is_float(elem(i.a))) return float_value(i);
    return integer_value(i);
  }

  Value* constant(Elem e, uint64_t bits) {
    if (!is_float(e)) return llvm::ConstantInt::get(type(e), bits);
    const llvm::fltSemantics& s = e == Elem::f32 ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble();
    return llvm::ConstantFP::get(type(e), llvm::APFloat(s, llvm::APInt(static_cast<unsigned>(bits_of(e)), bits)));
  }

  Value* float_value(const Inst& i) {
    Value* x = at(i.a);
    Value* y = i.b == formula::kNoId ? nullptr : at(i.b);
    switch (i.prim) {
      case Prim::add: return b_.CreateFAdd(x, y);
      case Prim::subtract: return b_.CreateFSub(x, y);
      case Prim::multiply: return b_.CreateFMul(x, y);
      case Prim::divide: return b_.CreateFDiv(x, y);
      case Prim::minimum: return b_.CreateSelect(b_.CreateFCmpOLT(x, y), x, y);
      case Prim::maximum: return b_.CreateSelect(b_.CreateFCmpOGT(x, y), x, y);
      case Prim::copysign: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, y);
      case Prim::neg: return b_.CreateFNeg(x);
      case Prim::abs: return unary(llvm::Intrinsic::fabs, x);
      case Prim::sqrt: return unary(llvm::Intrinsic::sqrt, x);
      case Prim::floor: return unary(llvm::Intrinsic::floor, x);
      case Prim::ceil: return unary(llvm::Intrinsic::ceil, x);
      case Prim::trunc: return unary(llvm::Intrinsic::trunc, x);
      case Prim::rint: return unary(llvm::Intrinsic::roundeven, x);
      case Prim::fma: return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, at(i.c)});
      case Prim::round_f16: return emit_from_half(b_, emit_to_half(b_, x, lanes_), lanes_);
      case Prim::equal: return b_.CreateFCmpOEQ(x, y);
      case Prim::not_equal: return b_.CreateFCmpUNE(x, y);
      case Prim::less: return b_.CreateFCmpOLT(x, y);
      case Prim::less_equal: return b_.CreateFCmpOLE(x, y);
      case Prim::greater: return b_.CreateFCmpOGT(x, y);
      case Prim::greater_equal: return b_.CreateFCmpOGE(x, y);
      default: break;
    }
    llvm_unreachable("no primitive of floats");
  }

  Value* unary(ID id, Value* x) { return b_.CreateUnaryIntrinsic(id, x); }

  Value* integer_value(const Inst& i) {
    Value* x = at(i.a);
    Value* y = at(i.b);
    bool is_signed = formula::is_signed(elem(i.a));
    switch (i.prim) {
      case Prim::add: return b_.CreateAdd(x, y);
      case Prim::subtract: return b_.CreateSub(x, y);
      case Prim::multiply: return b_.CreateMul(x, y);
      case Prim::divide: return integer_quotient(x, y, i.type);
      case Prim::bit_and: return b_.CreateAnd(x, y);
      case Prim::bit_or: return b_.CreateOr(x, y);
      case Prim::bit_xor: return b_.CreateXor(x, y);
      case Prim::shift_left: return b_.CreateShl(x, y);
      case Prim::shift_right: return is_signed ? b_.CreateAShr(x, y) : b_.CreateLShr(x, y);
      case Prim::equal: return b_.CreateICmpEQ(x, y);
      case Prim::not_equal: return b_.CreateICmpNE(x, y);
      case Prim::less: return is_signed ? b_.CreateICmpSLT(x, y) : b_.CreateICmpULT(x, y);
      case Prim::less_equal: return is_signed ? b_.CreateICmpSLE(x, y) : b_.CreateICmpULE(x, y);
      case Prim::greater: return is_signed ? b_.CreateICmpSGT(x, y) : b_.CreateICmpUGT(x, y);
      case Prim::greater_equal: return is_signed ? b_.CreateICmpSGE(x, y) : b_.CreateICmpUGE(x, y);
      default: break;
    }
    llvm_unreachable("no primitive of integers");
  }

  // Vectors have no integer division, but a quotient of floats truncates to the right integer where the integers have fewer bits
  // than the significand: a / b is an integer or at least 1 / |b| away from one, which is more than rounding can add.
  Value* integer_quotient(Value* x, Value* y, Elem e) {
    bool is_signed = formula::is_signed(e);
    if (lanes_ == 1 || bits_of(e) == 64 || llvm::isa<llvm::Constant>(y)) {
      return is_signed ? b_.CreateSDiv(x, y) : b_.CreateUDiv(x, y);
    }
    llvm::Type* f = type(bits_of(e) == 32 ? Elem::f64 : Elem::f32);
    if (is_signed) return b_.CreateFPToSI(b_.CreateFDiv(b_.CreateSIToFP(x, f), b_.CreateSIToFP(y, f)), x->getType());
    return b_.CreateFPToUI(b_.CreateFDiv(b_.CreateUIToFP(x, f), b_.CreateUIToFP(y, f)), x->getType());
  }

  Value* convert(const Inst& i) {
    Value* x = at(i.a);
    Elem from = elem(i.a);
    llvm::Type* to = type(i.type);
    if (is_float(from)) {
      if (is_float(i.type)) return opaque(b_, b_.CreateFPCast(x, to));
      return formula::is_signed(i.type) ? b_.CreateFPToSI(x, to) : b_.CreateFPToUI(x, to);
    }
    bool is_signed = formula::is_signed(from);
    if (is_float(i.type)) return is_signed ? b_.CreateSIToFP(x, to) : b_.CreateUIToFP(x, to);
    return b_.CreateIntCast(x, to, is_signed);
  }

  Value* table(const Inst& i) {
    const formula::Table& t = f_.tables[i.extra];
    auto* scalar = elem_type(b_, t.type, 1);
    llvm::SmallVector<llvm::Constant*, 64> elements;
    for (uint64_t v : t.values) {
      auto* bits = llvm::ConstantInt::get(b_.getIntNTy(static_cast<unsigned>(bits_of(t.type))), v);
      elements.push_back(llvm::ConstantExpr::getBitCast(bits, scalar));
    }
    auto* initial = llvm::ConstantArray::get(llvm::ArrayType::get(scalar, elements.size()), elements);
    Value* address = b_.CreateGEP(scalar, global(initial), at(i.a));
    llvm::Align align(static_cast<uint64_t>(bits_of(t.type) / 8));
    if (lanes_ == 1) return b_.CreateAlignedLoad(scalar, address, align);
    return b_.CreateMaskedGather(type(t.type), address, align);
  }

  llvm::GlobalVariable* global(llvm::Constant* initial) {
    llvm::Module* m = b_.GetInsertBlock()->getModule();
    for (llvm::GlobalVariable& g : m->globals()) {
      if (g.isConstant() && g.hasInitializer() && g.getInitializer() == initial) return &g;
    }
    auto* g = new llvm::GlobalVariable(*m, initial->getType(), true, llvm::GlobalValue::PrivateLinkage, initial, "table");
    g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return g;
  }

  // ---- regions -------------------------------------------------------------------------------------------------------------

  Value* any(Value* mask) {
    if (lanes_ == 1) return mask;
    auto* bits = b_.getIntNTy(static_cast<unsigned>(lanes_));
    return b_.CreateICmpNE(b_.CreateBitCast(mask, bits), llvm::ConstantInt::get(bits, 0));
  }

  BasicBlock* block(const char* name) { return BasicBlock::Create(b_.getContext(), name, b_.GetInsertBlock()->getParent()); }

  void rarely(const Inst& i) {
    const Region& r = f_.regions[i.extra];
    Value* mask = at(i.a);
    BasicBlock* before = b_.GetInsertBlock();
    BasicBlock* slow = block("slow");
    BasicBlock* after = block("after");
    b_.CreateCondBr(any(mask), slow, after, llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 2000));
    b_.SetInsertPoint(slow);
    Values results;
    if (!in_function_ && formula::weight(f_, static_cast<uint32_t>(i.extra)) >= kLargeRare) {
      results = call(static_cast<uint32_t>(i.extra));
    } else {
      region(r);
      for (Id id : r.results) results.push_back(at(id));
    }
    for (size_t k = 0; k < r.results.size(); ++k) {
      if (lanes_ > 1) results[k] = b_.CreateSelect(mask, results[k], at(r.inputs[k]));
    }
    slow = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    for (size_t k = 0; k < r.results.size(); ++k) {
      llvm::PHINode* phi = b_.CreatePHI(results[k]->getType(), 2);
      phi->addIncoming(at(r.inputs[k]), before);
      phi->addIncoming(results[k], slow);
      results[k] = phi;
    }
    results_[id_of(i)] = results;
  }

  void iterate(const Inst& i) {
    const Region& r = f_.regions[i.extra];
    BasicBlock* before = b_.GetInsertBlock();
    BasicBlock* head = block("rounds");
    BasicBlock* body = block("round");
    BasicBlock* after = block("after");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* round = b_.CreatePHI(b_.getInt32Ty(), 2);
    llvm::PHINode* active = b_.CreatePHI(type(Elem::mask), 2);
    round->addIncoming(b_.getInt32(0), before);
    active->addIncoming(at(i.a), before);
    llvm::SmallVector<llvm::PHINode*, 4> state;
    for (size_t k = 0; k < r.params.size(); ++k) {
      state.push_back(b_.CreatePHI(type(elem(r.params[k])), 2));
      state[k]->addIncoming(at(r.inputs[k]), before);
      values_[r.params[k]] = state[k];
    }
    Value* more = b_.CreateICmpULT(round, b_.getInt32(static_cast<uint32_t>(r.limit)));
    b_.CreateCondBr(b_.CreateAnd(more, any(active)), body, after);
    b_.SetInsertPoint(body);
    region(r);
    Values next;
    for (size_t k = 0; k < r.params.size(); ++k) {
      next.push_back(lanes_ == 1 ? at(r.results[k]) : b_.CreateSelect(active, at(r.results[k]), state[k]));
    }
    Value* still = b_.CreateAnd(active, at(r.go_on));
    Value* following = b_.CreateAdd(round, b_.getInt32(1));
    BasicBlock* last = b_.GetInsertBlock();
    b_.CreateBr(head);
    round->addIncoming(following, last);
    active->addIncoming(still, last);
    for (size_t k = 0; k < r.params.size(); ++k) state[k]->addIncoming(next[k], last);
    b_.SetInsertPoint(after);
    results_[id_of(i)] = Values(state.begin(), state.end());
  }

  Id id_of(const Inst& i) const { return static_cast<Id>(&i - f_.insts.data()); }

  // ---- parts with a function of their own ----------------------------------------------------------------------------------

  // The results of a region, as many lanes at a time as go well into registers.
  Values call(uint32_t number) {
    std::vector<Id> captured = formula::captures(f_, number);
    int width = std::min(lanes_, formula::has_wide(f_, number) ? 8 : 16);
    llvm::Function* function = function_of(number, captured, width);
    size_t count = f_.regions[number].results.size();
    std::vector<Values> parts(count);
    for (int first = 0; first < lanes_; first += width) {
      Values arguments;
      for (Id id : captured) arguments.push_back(slice(at(id), first, width));
      Value* all = b_.CreateCall(function, arguments);
      for (size_t k = 0; k < count; ++k) {
        parts[k].push_back(count == 1 ? all : b_.CreateExtractValue(all, static_cast<unsigned>(k)));
      }
    }
    Values results;
    for (Values& p : parts) results.push_back(joined(p));
    return results;
  }

  Value* slice(Value* x, int first, int width) {
    if (width == lanes_) return x;
    llvm::SmallVector<int, 64> lanes;
    for (int k = 0; k < width; ++k) lanes.push_back(first + k);
    return b_.CreateShuffleVector(x, lanes);
  }

  Value* joined(Values parts) {
    while (parts.size() > 1) {
      Values wider;
      llvm::SmallVector<int, 64> lanes;
      for (int k = 0; k < 2 * lanes_ / static_cast<int>(parts.size()); ++k) lanes.push_back(k);
      for (size_t k = 0; k < parts.size(); k += 2) wider.push_back(b_.CreateShuffleVector(parts[k], parts[k + 1], lanes));
      parts = wider;
    }
    return parts[0];
  }

  llvm::Function* function_of(uint32_t number, const std::vector<Id>& captured, int width) {
    llvm::Function* caller = b_.GetInsertBlock()->getParent();
    llvm::Module* m = caller->getParent();
    formula::Digest d = formula::digest(f_, number, captured);
    std::string name = "formula." + llvm::utohexstr(d.high, true, 16) + llvm::utohexstr(d.low, true, 16);
    name += "." + std::to_string(width);
    if (llvm::Function* made = m->getFunction(name)) return made;
    const Region& r = f_.regions[number];
    llvm::SmallVector<llvm::Type*, 4> takes, gives;
    for (Id id : captured) takes.push_back(elem_type(b_, elem(id), width, truth_));
    for (Id id : r.results) gives.push_back(elem_type(b_, elem(id), width, truth_));
    llvm::Type* result = gives.size() == 1 ? gives[0] : llvm::StructType::get(b_.getContext(), gives);
    auto* type = llvm::FunctionType::get(result, takes, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, m);
    // Both sides must agree on how wide vectors are passed.
    for (const char* attribute : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"}) {
      if (caller->hasFnAttribute(attribute)) function->addFnAttr(caller->getFnAttribute(attribute));
    }
    function->addFnAttr(llvm::Attribute::NoInline);
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setDoesNotAccessMemory();
    Builder inner(BasicBlock::Create(b_.getContext(), "entry", function));
    Emitter e(inner, f_, width, truth_);
    e.in_function_ = true;
    for (size_t k = 0; k < captured.size(); ++k) e.values_[captured[k]] = function->getArg(static_cast<unsigned>(k));
    e.region(r);
    llvm::SmallVector<Value*, 4> results;
    for (Id id : r.results) results.push_back(e.at(id));
    if (results.size() == 1) {
      inner.CreateRet(results[0]);
    } else {
      inner.CreateAggregateRet(results.data(), static_cast<unsigned>(results.size()));
    }
    return function;
  }

  Builder& b_;
  const Formula& f_;
  int lanes_;
  bool truth_;
  bool in_function_ = false;
  std::vector<Value*> values_;
  llvm::DenseMap<Id, Values> results_;
};

}  // namespace

llvm::Type* elem_type(Builder& b, Elem elem, int lanes, bool truth) {
  llvm::Type* t = nullptr;
  switch (elem) {
    case Elem::f32: t = b.getFloatTy(); break;
    case Elem::f64: t = b.getDoubleTy(); break;
    case Elem::u8: t = truth ? b.getInt1Ty() : b.getInt8Ty(); break;
    default: t = b.getIntNTy(static_cast<unsigned>(formula::bits_of(elem))); break;
  }
  return lanes == 1 ? t : llvm::FixedVectorType::get(t, static_cast<unsigned>(lanes));
}

Value* opaque(Builder& b, Value* x) {
  if (llvm::isa<llvm::Constant>(x)) return x;
  return b.CreateUnaryIntrinsic(llvm::Intrinsic::arithmetic_fence, x);
}

Value* emit_from_half(Builder& b, Value* x, int lanes) { return opaque(b, b.CreateFPExt(x, elem_type(b, Elem::f32, lanes))); }

Value* emit_to_half(Builder& b, Value* x, int lanes) {
  // What has just been converted from a half type is one still.
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(x);
  if (call && call->getIntrinsicID() == llvm::Intrinsic::arithmetic_fence) {
    auto* wide = llvm::dyn_cast<llvm::FPExtInst>(call->getArgOperand(0));
    if (wide && wide->getSrcTy()->getScalarType()->isHalfTy()) return wide->getOperand(0);
  }
  llvm::Type* half = b.getHalfTy();
  if (lanes > 1) half = llvm::FixedVectorType::get(half, static_cast<unsigned>(lanes));
  return b.CreateFPTrunc(opaque(b, x), half);
}

Value* emit_formula(Builder& b, const Formula& f, int lanes, bool truth, std::span<Value* const> arguments) {
  return Emitter(b, f, lanes, truth).run(arguments);
}

}  // namespace tfl::codegen
