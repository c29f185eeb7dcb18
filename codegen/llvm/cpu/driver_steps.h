// What the files of the driver share: the function being made, where its scalars are. This header must not know kernels' loops.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/llvm/cpu/driver.h"
#include "codegen/llvm/cpu/kernel.h"
#include "codegen/llvm/emit/frame.h"

namespace tfl::codegen {

/// Kernels, products and routines where a block of a GPU's threads goes through the steps together, each of which has all scalars.
class BlockSteps {
 public:
  virtual ~BlockSteps() = default;
  virtual void kernel(Builder& b, llvm::Value* frame, uint32_t kernel) = 0;
  virtual void product(Builder& b, llvm::Value* frame, uint32_t product) = 0;
  virtual void routine(Builder& b, llvm::Value* frame, uint32_t routine) = 0;
  virtual bool emulated() const = 0;
};

class Driver {
 public:
  Driver(llvm::Module& module, const CompileRequest& request, Locate locate);
  /// The steps of `body`, which is a part of the plan's, for a block of a GPU's threads: scalars of other parts are in the frame.
  Driver(llvm::Module& module, const CompileRequest& request, const plan::Block& body, BlockSteps& block);
  std::string emit();
  llvm::Function* function() const { return function_; }

  /// A function for one step of `whole`, which may run at the same time as others: scalars of the rest are in the frame.
  Driver(Driver& whole, const plan::Step& step);

 private:
  using Values = std::vector<llvm::Value*>;

  // driver.cpp: steps. What they give is left in `scalars_`.
  void steps(const plan::Block& block);
  void step(const plan::Step& s);
  void probe();
  void begin(const std::string& name, llvm::GlobalValue::LinkageTypes linkage);
  void beside(std::span<const plan::Step> steps);
  void product(const plan::Product& p);
  void routine(const plan::RoutineStep& r);

  // driver_control.cpp
  void branch(const plan::Step& s);
  void loop(const plan::Step& s);

  /// Leaves with `status` where `condition` holds; the builder goes on where it does not.
  // `location`: of what fails; Frame::failed tells it.
  void leave_if(llvm::Value* condition, int64_t status, uint32_t location = 0);
  llvm::BasicBlock* leaving(int64_t status);
  llvm::BasicBlock* new_block(const char* name);

  // driver_scalar.cpp
  llvm::Value* expression(const plan::Expr& e);
  llvm::Value* load(const plan::Access& access);
  llvm::Value* scalar(plan::ValueId id);
  /// Gives a scalar its value: in a register and, where kernels or the caller read it, in the frame.
  void define(plan::ValueId id, llvm::Value* value);
  llvm::Value* size(plan::Size s);
  llvm::Value* address(plan::ValueId id);
  llvm::Value* as_index(plan::ValueId id);
  /// Something that is the same for the whole run, computed in the first block.
  template <class Make>
  llvm::Value* at_entry(llvm::Value*& cached, Make&& make);

  const plan::Value& value(plan::ValueId id) const { return plan_.values[id]; }
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  void at(uint32_t location);

  llvm::Module& module_;
  const CompileRequest& request_;
  const plan::Plan& plan_;
  const plan::Block& body_;
  BlockSteps* block_ = nullptr;
  bool part_ = false;  // of a plan: scalars that have no value here are in the frame
  Locate locate_;
  Builder b_;
  llvm::Function* function_ = nullptr;
  llvm::Value* frame_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::BasicBlock* leaving_[4] = {};     // by status
  Values scalars_, addresses_, symbols_;  // by ValueId, ValueId, symbol
  std::vector<llvm::Function*> kernels_;
  llvm::Value* interrupt_ = nullptr;
  llvm::Value* services_ = nullptr;
  llvm::Value* product_call_ = nullptr;  // memory for one ProductCall
  llvm::Value* window_call_ = nullptr;   // and one WindowCall
  llvm::Value* routine_call_ = nullptr;  // and one RoutineCall
  bool calls_kernels_ = false;
  int64_t probes_ = 0;  // steps that have one
  std::string error_;
};

template <class Make>
llvm::Value* Driver::at_entry(llvm::Value*& cached, Make&& make) {
  if (!cached) {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_->getTerminator());
    cached = make();
  }
  return cached;
}

}  // namespace tfl::codegen
