#include "codegen/llvm/gpu/program.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>

#include "codegen/abi.h"
#include "codegen/llvm/cpu/driver_steps.h"
#include "codegen/llvm/gpu/kernel.h"
#include "codegen/llvm/gpu/launches.h"
#include "codegen/llvm/gpu/routine.h"

namespace tfl::codegen {

namespace {

class Gpu final : public BlockSteps {
 public:
  Gpu(llvm::Module& module, const CompileRequest& request)
      : module_(module),
        request_(request),
        plan_(*request.plan),
        gpu_(*request.gpu),
        kernels_(plan_.kernels.size()),
        products_(plan_.products.size()),
        routines_(plan_.routines.size()),
        b_(module.getContext()) {}

  std::string emit(std::vector<GpuUnits>& units) {
    std::vector<llvm::Function*> bodies;
    for (size_t i = 0; i < gpu_.segments.size(); ++i) {
      Driver driver(module_, request_, gpu_.segments[i], *this);
      std::string wrong = driver.emit();
      if (error_.empty()) error_ = std::move(wrong);
      if (!error_.empty()) return error_;
      bodies.push_back(driver.function());
      if (!gpu_.emulated) enter("segment" + std::to_string(i), driver.function());
    }
    auto body = [&](const std::string& name, const Made& made) {
      if (!error_.empty()) return;
      bodies.push_back(made.function);
      units.push_back(made.units);
      if (!gpu_.emulated) enter(name, made.function);
    };
    for (uint32_t k : gpu_.kernels) body("kernel" + std::to_string(k), kernel_of(k));
    for (uint32_t p : gpu_.products) body("product" + std::to_string(p), product_of(p));
    for (uint32_t r : gpu_.routines) {
      for (int phase = 0; phase < gpu_launches(plan_.routines[r]); ++phase)
        body(gpu_phase_name(r, phase), phases_of(r)[static_cast<size_t>(phase)]);
    }
    if (error_.empty() && gpu_.emulated) emit_choice(bodies);
    return error_;
  }

  // All threads have come to a kernel before it begins, and have ended it before what follows.
  void kernel(Builder& b, llvm::Value* frame, uint32_t kernel) override { call(b, frame, kernel_of(kernel).function); }
  void product(Builder& b, llvm::Value* frame, uint32_t product) override {
    call(b, frame, product_of(product).function);
    if (plan_.products[product].epilogue != plan::kNone && !is_fused(product)) kernel(b, frame, plan_.products[product].epilogue);
  }
  void routine(Builder& b, llvm::Value* frame, uint32_t routine) override {
    for (const Made& phase : phases_of(routine)) call(b, frame, phase.function);
  }
  bool emulated() const override { return gpu_.emulated; }

 private:
  bool is_fused(uint32_t product) const { return std::find(gpu_.fused.begin(), gpu_.fused.end(), product) != gpu_.fused.end(); }

  struct Made {
    llvm::Function* function = nullptr;
    GpuUnits units;
  };

  const Made& kernel_of(uint32_t k) {
    Made& made = kernels_[k];
    if (!made.function) {
      GpuKernel emitter(module_, plan_, k, gpu_.emulated);
      made.function = emitter.emit();
      made.units = emitter.units();
      finish(made.function);
    }
    return made;
  }
  const Made& product_of(uint32_t p) {
    Made& made = products_[p];
    if (!made.function) {
      std::string error;
      made.function = emit_gpu_product(module_, plan_, p, is_fused(p), gpu_.emulated, made.units, error);
      if (!error.empty()) error_ = error;
      if (made.function) finish(made.function);
    }
    return made;
  }
  const std::vector<Made>& phases_of(uint32_t r) {
    std::vector<Made>& phases = routines_[r];
    for (int phase = static_cast<int>(phases.size()); phase < gpu_launches(plan_.routines[r]); ++phase) {
      GpuRoutine emitter(module_, plan_, r, phase, gpu_.emulated);
      Made made;
      made.function = emitter.emit();
      made.units = emitter.units();
      finish(made.function);
      phases.push_back(std::move(made));
    }
    return phases;
  }
  void finish(llvm::Function* f) const {
    if (!gpu_.emulated) f->addFnAttr(llvm::Attribute::AlwaysInline);
  }

  void call(Builder& b, llvm::Value* frame, llvm::Function* f) {
    if (!f) return;
    emit_barrier(b, gpu_.emulated);
    b.CreateCall(f, {frame, b.getInt64(0), b.getInt64(1)});
    emit_barrier(b, gpu_.emulated);
  }

  // Runs a block: of a segment there is but one.
  void run(llvm::Function* body, llvm::Value* frame, llvm::Value* block, llvm::Value* blocks) {
    if (body->arg_size() > 1) {
      b_.CreateCall(body, {frame, block, blocks});
      return;
    }
    llvm::Value* status = b_.CreateCall(body, {frame});
    llvm::Value* address = failed_address(b_, frame);
    llvm::Value* failed = b_.CreateAlignedLoad(b_.getInt64Ty(), address, llvm::Align(8));
    llvm::Value* unnamed = b_.CreateAnd(b_.CreateICmpNE(status, b_.getInt64(kDone)), b_.CreateICmpEQ(failed, b_.getInt64(0)));
    b_.CreateAlignedStore(b_.CreateSelect(unnamed, b_.getInt64(1), failed), address, llvm::Align(8));
  }

  // What the driver of a GPU starts.
  void enter(const std::string& name, llvm::Function* body) {
    llvm::LLVMContext& context = module_.getContext();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {frame_pointer(context, false)}, false);
    auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
    f->setCallingConv(llvm::CallingConv::PTX_Kernel);
    f->setDoesNotThrow();
    f->addFnAttr(llvm::Attribute::Convergent);
    body->addFnAttr(llvm::Attribute::AlwaysInline);
    llvm::NamedMDNode* notes = module_.getOrInsertNamedMetadata("nvvm.annotations");
    auto note = [&](const char* what, int64_t value) {
      auto* number = llvm::ConstantAsMetadata::get(b_.getInt32(static_cast<uint32_t>(value)));
      notes->addOperand(llvm::MDNode::get(context, {llvm::ValueAsMetadata::get(f), llvm::MDString::get(context, what), number}));
    };
    note("kernel", 1);
    note("maxntidx", kGpuThreads);
    note("minctasm", 1);  // as many registers as one block may have: without it the assembler would rather spill some
    b_.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", f));
    auto number = [&](llvm::Intrinsic::ID id) { return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty()); };
    if (gpu_.checks) {
      // What failed before may have left anything. All threads of a block must see the same.
      llvm::Value* failed = b_.CreateAlignedLoad(b_.getInt64Ty(), failed_address(b_, f->getArg(0)), llvm::Align(8));
      llvm::Value* any = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0_or, {},
                                            {b_.CreateZExt(b_.CreateICmpNE(failed, b_.getInt64(0)), b_.getInt32Ty())});
      auto* go = llvm::BasicBlock::Create(context, "go", f);
      auto* nothing = llvm::BasicBlock::Create(context, "nothing", f);
      b_.CreateCondBr(b_.CreateICmpNE(any, b_.getInt32(0)), nothing, go);
      llvm::ReturnInst::Create(context, nothing);
      b_.SetInsertPoint(go);
    }
    run(body, f->getArg(0), number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
        number(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x));
    b_.CreateRetVoid();
  }

  // int64_t tfl_run(const int64_t call[4]): kernel, block, blocks, frame.
  void emit_choice(const std::vector<llvm::Function*>& bodies) {
    llvm::LLVMContext& context = module_.getContext();
    auto* f = llvm::Function::Create(llvm::FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy()}, false),
                                     llvm::Function::ExternalLinkage, kEntryName, module_);
    f->setDSOLocal(true);
    f->setDoesNotThrow();
    b_.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", f));
    auto field = [&](uint64_t i, llvm::Type* type) {
      return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), f->getArg(0), i));
    };
    llvm::Value *which = field(0, b_.getInt64Ty()), *block = field(1, b_.getInt64Ty()), *blocks = field(2, b_.getInt64Ty());
    llvm::Value* frame = field(3, b_.getPtrTy());
    auto* after = llvm::BasicBlock::Create(context, "after", f);
    if (gpu_.checks) {
      llvm::Value* failed = b_.CreateAlignedLoad(b_.getInt64Ty(), failed_address(b_, frame), llvm::Align(8));
      which = b_.CreateSelect(b_.CreateICmpNE(failed, b_.getInt64(0)), b_.getInt64(bodies.size()), which);
    }
    auto* choice = b_.CreateSwitch(which, after, static_cast<unsigned>(bodies.size()));
    for (size_t i = 0; i < bodies.size(); ++i) {
      auto* here = llvm::BasicBlock::Create(context, "kernel", f);
      choice->addCase(b_.getInt64(i), here);
      b_.SetInsertPoint(here);
      run(bodies[i], frame, block, blocks);
      b_.CreateBr(after);
    }
    b_.SetInsertPoint(after);
    b_.CreateRet(b_.getInt64(kDone));
  }

  llvm::Module& module_;
  const CompileRequest& request_;
  const plan::Plan& plan_;
  const GpuModule& gpu_;
  std::vector<Made> kernels_, products_;
  std::vector<std::vector<Made>> routines_;
  Builder b_;
  std::string error_;
};

}  // namespace

std::string emit_gpu(llvm::Module& module, const CompileRequest& request, std::vector<GpuUnits>& units) {
  return Gpu(module, request).emit(units);
}

void tidy_gpu(llvm::Module& module) {
  for (llvm::Function& f : module) {
    for (llvm::BasicBlock& block : f) {
      for (llvm::Instruction& i : llvm::make_early_inc_range(block)) {
        auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        if (!call || call->getIntrinsicID() != llvm::Intrinsic::arithmetic_fence) continue;
        call->replaceAllUsesWith(call->getArgOperand(0));
        call->eraseFromParent();
      }
    }
  }
}

}  // namespace tfl::codegen
