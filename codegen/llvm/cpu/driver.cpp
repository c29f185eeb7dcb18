#include "codegen/llvm/cpu/driver.h"

#include "codegen/abi.h"
#include "codegen/llvm/cpu/driver_steps.h"
#include "codegen/llvm/emit/lines.h"
#include "codegen/plan/parallel_loops.h"

namespace tfl::codegen {

using plan::Step;

namespace {

constexpr int64_t kInlineElements = 256;  // a kernel of no more, all sizes known, becomes part of the driver
constexpr size_t kInlineExprs = 64;

uint32_t first_location(const plan::Block& block) {
  for (const Step& s : block.steps) {
    uint32_t here = s.location != 0 ? s.location : s.expr.location;
    for (size_t i = 0; here == 0 && i < s.blocks.size(); ++i) here = first_location(s.blocks[i]);
    if (here != 0) return here;
  }
  return 0;
}

bool is_tiny(const plan::Kernel& kernel) {
  int64_t elements = 1;
  for (plan::Size s : kernel.axes) {
    if (!plan::is_known(s) || s > kInlineElements) return false;
    elements *= s;
    if (elements > kInlineElements) return false;
  }
  return kernel.exprs.size() <= kInlineExprs;
}

// A function that is called in one place, and whose address nobody takes.
bool is_called_once(const llvm::Function& function) {
  if (!function.hasOneUse()) return false;
  auto* call = llvm::dyn_cast<llvm::CallInst>(function.user_back());
  return call && call->getCalledFunction() == &function;
}

}  // namespace

Driver::Driver(llvm::Module& module, const CompileRequest& request, Locate locate)
    : module_(module), request_(request), plan_(*request.plan), body_(plan_.body), locate_(locate), b_(module.getContext()) {
  scalars_.resize(plan_.values.size());
  addresses_.resize(plan_.values.size());
  symbols_.resize(plan_.symbols.size());
  kernels_.resize(plan_.kernels.size());
}

Driver::Driver(llvm::Module& module, const CompileRequest& request, const plan::Block& body, BlockSteps& block)
    : module_(module),
      request_(request),
      plan_(*request.plan),
      body_(body),
      block_(&block),
      part_(true),
      b_(module.getContext()) {
  scalars_.resize(plan_.values.size());
  addresses_.resize(plan_.values.size());
  symbols_.resize(plan_.symbols.size());
}

Driver::Driver(Driver& whole, const plan::Step& step)
    : module_(whole.module_),
      request_(whole.request_),
      plan_(whole.plan_),
      body_(whole.body_),
      part_(true),
      locate_(whole.locate_),
      b_(module_.getContext()),
      scalars_(plan_.values.size()),
      addresses_(plan_.values.size()),
      symbols_(plan_.symbols.size()),
      kernels_(whole.kernels_),
      probes_(whole.probes_) {
  begin("beside", llvm::Function::InternalLinkage);
  this->step(step);
  b_.CreateRet(b_.getInt64(kDone));
  whole.probes_ = probes_;
  whole.error_ = error_;
}

void Driver::begin(const std::string& name, llvm::GlobalValue::LinkageTypes linkage) {
  bool far = block_ && !block_->emulated();
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {far ? frame_pointer(b_.getContext(), false) : b_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, linkage, name, module_);
  function_->setDSOLocal(true);
  if (far) function_->addFnAttr(llvm::Attribute::Convergent);
  function_->setDoesNotThrow();
  frame_ = function_->getArg(0);
  frame_->setName("frame");
  function_->addParamAttr(0, llvm::Attribute::NoUndef);
  function_->addDereferenceableParamAttr(0, sizeof(Frame));
  entry_ = new_block("entry");
  llvm::BasicBlock* first = new_block("begin");
  b_.SetInsertPoint(entry_);
  b_.CreateBr(first);
  b_.SetInsertPoint(first);
}

std::string Driver::emit() {
  begin(block_ ? "segment" : request_.entry, block_ ? llvm::Function::InternalLinkage : llvm::Function::ExternalLinkage);

  // The order of a module's functions is that of its kernels.
  for (uint32_t i = 0; i < kernels_.size(); ++i) kernels_[i] = emit_kernel(module_, plan_, i, request_.cpu, locate_);
  at(first_location(body_));
  steps(body_);
  if (!error_.empty()) return error_;
  // Of a tiny kernel most would be the call and what decides which of its loops to take.
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (is_tiny(plan_.kernels[i]) && is_called_once(*kernels_[i])) kernels_[i]->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  if (calls_kernels_ && !block_) {
    llvm::Value* failed = b_.CreateAlignedLoad(b_.getInt64Ty(), failed_address(b_, frame_), llvm::Align(8));
    b_.CreateRet(b_.CreateSelect(b_.CreateICmpNE(failed, b_.getInt64(0)), b_.getInt64(kFailed), b_.getInt64(kDone)));
  } else {
    b_.CreateRet(b_.getInt64(kDone));
  }
  return error_;
}

void Driver::at(uint32_t location) {
  if (locate_) b_.SetCurrentDebugLocation(locate_(*function_, location));
}

void Driver::steps(const plan::Block& block) {
  for (size_t i = 0, end; i < block.steps.size(); i = end) {
    end = block_ ? i + 1 : plan::beside_end(block, i);
    if (!error_.empty()) return;
    if (end - i > 1)
      beside({&block.steps[i], end - i});
    else
      step(block.steps[i]);
  }
}

// Each in a function of its own; what they leave in scalars is in the frame.
void Driver::beside(std::span<const Step> steps) {
  std::vector<llvm::Function*> functions;
  for (const Step& s : steps) {
    functions.push_back(Driver(*this, s).function());
    if (!error_.empty()) return;
  }
  calls_kernels_ = true;
  llvm::AllocaInst* table;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_->getTerminator());
    table = b_.CreateAlloca(llvm::ArrayType::get(b_.getPtrTy(), functions.size()));
  }
  for (size_t i = 0; i < functions.size(); ++i)
    b_.CreateAlignedStore(functions[i], b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), table, i), llvm::Align(8));
  at_entry(services_, [&] { return load_services(b_, frame_); });
  llvm::Value* run = services_field(b_, services_, offsetof(Services, beside));
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}, false);
  llvm::CallInst* status = b_.CreateCall(type, run, {frame_, table, b_.getInt64(functions.size())});
  status->setDoesNotThrow();
  llvm::BasicBlock *out = new_block("stopped"), *on = new_block("on");
  b_.CreateCondBr(b_.CreateICmpNE(status, b_.getInt64(kDone)), out, on);
  b_.SetInsertPoint(out);
  b_.CreateRet(status);
  b_.SetInsertPoint(on);
  for (const Step& s : steps) {
    for (plan::ValueId id : s.results)
      scalars_[id] = emit_load(b_, value(id).dtype, 1, emit_word_address(b_, frame_, value(id).word));
  }
}

void Driver::step(const Step& s) {
  at(s.kind == Step::Kind::scalar && s.expr.location != 0 ? s.expr.location : s.location);
  if (request_.probes && is_probed(s)) probe();
  switch (s.kind) {
    case Step::Kind::scalar: {
      llvm::Value* v = expression(s.expr);
      if (error_.empty()) define(s.result, v);
      return;
    }
    case Step::Kind::kernel:
      if (s.index >= plan_.kernels.size()) return fail("a kernel that the plan does not have");
      calls_kernels_ = true;
      if (block_) return block_->kernel(b_, frame_, s.index);
      return emit_kernel_call(b_, plan_, s.index, request_.cpu, kernels_[s.index], frame_);
    case Step::Kind::product:
      if (s.index >= plan_.products.size()) return fail("a product that the plan does not have");
      calls_kernels_ = true;
      if (block_) return block_->product(b_, frame_, s.index);
      return product(plan_.products[s.index]);
    case Step::Kind::routine:
      if (s.index >= plan_.routines.size()) return fail("a routine that the plan does not have");
      calls_kernels_ = true;
      if (block_) return block_->routine(b_, frame_, s.index);
      return routine(plan_.routines[s.index]);
    case Step::Kind::check: {
      llvm::Value* holds = scalar(s.condition);
      if (error_.empty()) s.room ? leave_if(b_.CreateNot(holds), kFull) : leave_if(b_.CreateNot(holds), kFailed, s.location);
      return;
    }
    case Step::Kind::point:
      b_.CreateAlignedStore(address(s.from), emit_word_address(b_, frame_, value(s.result).word), llvm::Align(8));
      return;
    case Step::Kind::branch: return branch(s);
    case Step::Kind::loop: return loop(s);
  }
}

// The step's number, and one more run of it.
void Driver::probe() {
  auto word = [&](int64_t i) { return emit_word_address(b_, frame_, plan_.words + static_cast<uint32_t>(i)); };
  b_.CreateAlignedStore(b_.getInt64(static_cast<uint64_t>(probes_)), word(0), llvm::Align(8), true);
  llvm::Value* count = word(++probes_);
  b_.CreateAlignedStore(b_.CreateAdd(b_.CreateAlignedLoad(b_.getInt64Ty(), count, llvm::Align(8)), b_.getInt64(1)), count,
                        llvm::Align(8));
}

void Driver::product(const plan::Product& p) {
  if (!product_call_) {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_->getTerminator());
    auto* call = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), sizeof(ProductCall) / sizeof(int64_t)));
    call->setAlignment(llvm::Align(16));
    product_call_ = call;
  }
  auto set = [&](size_t offset, llvm::Value* v) {
    b_.CreateAlignedStore(v, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), product_call_, offset), llvm::Align(8));
  };
  llvm::Value *m = size(p.m), *n = size(p.n), *k = size(p.k), *one = b_.getInt64(1);
  set(offsetof(ProductCall, a), address(p.a));
  set(offsetof(ProductCall, b), address(p.b));
  set(offsetof(ProductCall, result), address(p.result));
  set(offsetof(ProductCall, dtype), b_.getInt64(static_cast<uint64_t>(value(p.a).dtype)));
  set(offsetof(ProductCall, batch), size(p.batch));
  set(offsetof(ProductCall, m), m);
  set(offsetof(ProductCall, n), n);
  set(offsetof(ProductCall, k), k);
  set(offsetof(ProductCall, a_row), p.transpose_a ? one : k);
  set(offsetof(ProductCall, a_k), p.transpose_a ? m : one);
  set(offsetof(ProductCall, a_batch), size(p.a_batch));
  set(offsetof(ProductCall, b_k), p.transpose_b ? one : n);
  set(offsetof(ProductCall, b_col), p.transpose_b ? k : one);
  set(offsetof(ProductCall, b_batch), size(p.b_batch));
  llvm::Value* window = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (p.window != plan::kNone) {
    if (p.window >= plan_.windows.size()) return fail("windows that the plan does not have");
    if (!window_call_) {
      llvm::IRBuilderBase::InsertPointGuard guard(b_);
      b_.SetInsertPoint(entry_->getTerminator());
      window_call_ = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), kWindowWords));
    }
    window = window_call_;
    auto words = plan_.windows[p.window].words();
    for (size_t i = 0; i < words.size(); ++i)
      b_.CreateAlignedStore(size(words[i]), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), window, 8 * i), llvm::Align(8));
  }
  set(offsetof(ProductCall, window), window);
  if (p.epilogue != plan::kNone && p.epilogue >= kernels_.size()) return fail("a kernel that the plan does not have");
  set(offsetof(ProductCall, epilogue), p.epilogue == plan::kNone
                                           ? static_cast<llvm::Value*>(llvm::ConstantPointerNull::get(b_.getPtrTy()))
                                           : kernels_[p.epilogue]);
  at_entry(services_, [&] { return load_services(b_, frame_); });
  llvm::Value* run = services_field(b_, services_, offsetof(Services, product));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(type, run, {frame_, product_call_})->setDoesNotThrow();
}

void Driver::routine(const plan::RoutineStep& r) {
  if (!routine_call_) {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_->getTerminator());
    auto* call = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), sizeof(RoutineCall) / sizeof(int64_t)));
    call->setAlignment(llvm::Align(16));
    routine_call_ = call;
  }
  auto set = [&](size_t offset, llvm::Value* v) {
    b_.CreateAlignedStore(v, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), routine_call_, offset), llvm::Align(8));
  };
  auto number = [&](auto v) { return b_.getInt64(static_cast<uint64_t>(v)); };
  set(offsetof(RoutineCall, routine), number(r.routine));
  set(offsetof(RoutineCall, flags), number(r.flags));
  set(offsetof(RoutineCall, dtype), number(r.dtype));
  set(offsetof(RoutineCall, index_dtype), number(r.index_dtype));
  set(offsetof(RoutineCall, location), number(r.location));
  for (size_t i = 0; i < r.at.size(); ++i) {
    llvm::Value* at = llvm::ConstantPointerNull::get(b_.getPtrTy());
    if (r.at[i] != plan::kNone) at = address(r.at[i]);
    set(offsetof(RoutineCall, at) + 8 * i, at);
  }
  for (size_t i = 0; i < r.sizes.size(); ++i) set(offsetof(RoutineCall, sizes) + 8 * i, size(r.sizes[i]));
  at_entry(services_, [&] { return load_services(b_, frame_); });
  llvm::Value* table = services_field(b_, services_, offsetof(Services, routines));
  llvm::Value* run = services_field(b_, table, sizeof(void*) * static_cast<size_t>(r.routine));
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(type, run, {frame_, routine_call_})->setDoesNotThrow();
}

std::string emit_driver(llvm::Module& module, const CompileRequest& request) {
  if (!request.lines) return Driver(module, request, nullptr).emit();
  Lines lines(module, *request.lines);
  auto locate = [&](llvm::Function& function, uint32_t location) { return lines.at(function, location); };
  std::string error = Driver(module, request, locate).emit();
  lines.finish();
  return error;
}

}  // namespace tfl::codegen
