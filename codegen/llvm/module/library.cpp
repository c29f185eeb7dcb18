#include "codegen/llvm/module/library.h"

#include <llvm/IR/IRBuilder.h>

namespace tfl::codegen {

namespace {

class Library {
 public:
  Library(llvm::Module& module, const LibraryModule& from)
      : module_(module),
        from_(from),
        context_(module.getContext()),
        builder_(context_),
        pointer_(builder_.getPtrTy()),
        status_(builder_.getInt32Ty()) {}

  void emit() {
    image_ = make_image();
    // What has the arguments of the runtime's own function hands them on as they are.
    forward("context_new", "tfls_context_new", status_, {pointer_, pointer_}, true);
    forward("context_free", "tfls_context_free", builder_.getVoidTy(), {pointer_}, false);
    forward("last_error", "tfls_last_error", pointer_, {pointer_}, false);
    forward("context_cancel", "tfls_context_cancel", status_, {pointer_}, false);
    if (from_.has_state) {
      forward("state_save", "tfls_state_save", status_, {pointer_, pointer_}, false);
      forward("state_load", "tfls_state_load", status_, {pointer_, pointer_}, false);
    }
    give("abi_version", builder_.getInt32Ty(), builder_.getInt32(1));
    give("metadata_json", pointer_, metadata_);
    bool allocates = false;
    for (const LibraryModule::Function& f : from_.functions) {
      if (f.kind == LibraryModule::Function::Kind::plain) {
        call(f, "", "tfls_call");
        call(f, "_shape", "tfls_shape");
        call_flat(f);
      } else if (f.kind == LibraryModule::Function::Kind::stepwise) {
        call(f, "_alloc", "tfls_call_steps");
        allocates = true;
      }
    }
    if (allocates) forward("tensor_free", "tfls_tensor_free", builder_.getVoidTy(), {pointer_, pointer_}, false);
  }

 private:
  llvm::Function* exported(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters) {
    auto* f = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), llvm::GlobalValue::ExternalLinkage,
                                     from_.name + "_" + name, module_);
    f->addFnAttr(llvm::Attribute::NoUnwind);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "", f));
    return f;
  }
  llvm::FunctionCallee runtime(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters) {
    llvm::FunctionCallee f = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
    llvm::cast<llvm::Function>(f.getCallee())->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return f;
  }
  void finish(llvm::Type* result, llvm::Value* value) {
    if (result->isVoidTy())
      builder_.CreateRetVoid();
    else
      builder_.CreateRet(value);
  }

  llvm::GlobalVariable* bytes(const std::string& text, llvm::Align alignment, bool terminated) {
    auto* data = llvm::ConstantDataArray::getString(context_, text, terminated);
    auto* g = new llvm::GlobalVariable(module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
    g->setAlignment(alignment);
    return g;
  }

  llvm::Constant* function(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters) {
    if (name.empty()) return llvm::ConstantPointerNull::get(pointer_);
    return llvm::cast<llvm::Function>(runtime(name.c_str(), result, parameters).getCallee());
  }
  llvm::Constant* table(const std::vector<llvm::Constant*>& functions) {
    if (functions.empty()) return llvm::ConstantPointerNull::get(pointer_);
    auto* type = llvm::ArrayType::get(pointer_, functions.size());
    return new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                    llvm::ConstantArray::get(type, functions));
  }

  // tfls_image of runtime/standalone/standalone.h.
  llvm::GlobalVariable* make_image() {
    metadata_ = bytes(from_.metadata, llvm::Align(1), true);
    auto* description = new llvm::GlobalVariable(module_, llvm::ArrayType::get(builder_.getInt8Ty(), from_.description_bytes),
                                                 true, llvm::GlobalValue::ExternalLinkage, nullptr, from_.description);
    description->setVisibility(llvm::GlobalValue::HiddenVisibility);
    description->setAlignment(llvm::Align(64));
    std::vector<llvm::Constant*> entries, better;
    bool has_better =
        std::any_of(from_.functions.begin(), from_.functions.end(), [](const auto& f) { return !f.better_entry.empty(); });
    for (const LibraryModule::Function& f : from_.functions) {
      if (f.kind == LibraryModule::Function::Kind::stepwise) continue;
      entries.push_back(function(f.entry, builder_.getInt64Ty(), {pointer_}));
      if (has_better) better.push_back(function(f.better_entry, builder_.getInt64Ty(), {pointer_}));
    }
    std::vector<llvm::Constant*> routines;
    for (const std::string& r : from_.routines) routines.push_back(function(r, builder_.getVoidTy(), {pointer_, pointer_}));
    llvm::Constant *gpu = llvm::ConstantPointerNull::get(pointer_), *gpu_description = gpu;
    if (!from_.gpu_description.empty()) {
      auto* hooks = new llvm::GlobalVariable(module_, pointer_, true, llvm::GlobalValue::ExternalLinkage, nullptr, "tfls_gpu");
      hooks->setVisibility(llvm::GlobalValue::HiddenVisibility);
      gpu = hooks;
      gpu_description = bytes(from_.gpu_description, llvm::Align(64), false);
    }
    auto* value = llvm::ConstantStruct::getAnon(
        {description, builder_.getInt64(from_.description_bytes), table(entries), metadata_,
         function(from_.product, builder_.getVoidTy(), {pointer_, pointer_}), table(better),
         function(from_.better_product, builder_.getVoidTy(), {pointer_, pointer_}), table(routines),
         function(from_.run_steps, status_, {pointer_, builder_.getInt32Ty(), pointer_}),
         function(from_.print, status_, {pointer_, pointer_}), function(from_.range, status_, {pointer_, pointer_}), gpu,
         gpu_description, builder_.getInt64(from_.gpu_description.size())});
    return new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
  }

  void forward(const std::string& name, const char* to, llvm::Type* result, std::vector<llvm::Type*> parameters,
               bool with_image) {
    llvm::Function* f = exported(name, result, parameters);
    std::vector<llvm::Value*> arguments;
    if (with_image) {
      arguments.push_back(image_);
      parameters.insert(parameters.begin(), pointer_);
    }
    for (llvm::Argument& a : f->args()) arguments.push_back(&a);
    llvm::CallInst* value = builder_.CreateCall(runtime(to, result, parameters), arguments);
    value->setTailCall();
    finish(result, value);
  }
  void give(const std::string& name, llvm::Type* result, llvm::Value* value) {
    exported(name, result, {});
    builder_.CreateRet(value);
  }

  // The arguments from `first` on, as an array on the stack; those for which `take` is false are left out.
  llvm::Value* array_of(std::vector<llvm::Value*> values, llvm::Type* type) {
    auto* array_type = llvm::ArrayType::get(type, std::max<size_t>(values.size(), 1));
    llvm::Value* array = builder_.CreateAlloca(array_type);
    for (unsigned i = 0; i < values.size(); ++i)
      builder_.CreateStore(values[i], builder_.CreateConstInBoundsGEP2_32(array_type, array, 0, i));
    return array;
  }

  void call(const LibraryModule::Function& from, const char* suffix, const char* to) {
    std::vector<llvm::Type*> parameters(1 + from.arguments + from.outputs, pointer_);
    llvm::Function* f = exported(from.name + suffix, status_, parameters);
    std::vector<llvm::Value*> values;
    for (llvm::Argument& a : f->args()) {
      if (a.getArgNo() > 0) values.push_back(&a);
    }
    llvm::FunctionCallee callee = runtime(to, status_, {pointer_, builder_.getInt32Ty(), pointer_});
    builder_.CreateRet(builder_.CreateCall(callee, {f->getArg(0), builder_.getInt32(from.number), array_of(values, pointer_)}));
  }

  // (context, inputs..., sizes..., outputs...)
  void call_flat(const LibraryModule::Function& from) {
    std::vector<llvm::Type*> parameters(1 + from.arguments, pointer_);
    parameters.insert(parameters.end(), from.open_sizes, builder_.getInt64Ty());
    parameters.insert(parameters.end(), from.outputs, pointer_);
    llvm::Function* f = exported(from.name + "_" + from.flat_suffix, status_, parameters);
    std::vector<llvm::Value*> pointers, sizes;
    for (llvm::Argument& a : f->args()) {
      if (a.getArgNo() > 0) (a.getType()->isPointerTy() ? pointers : sizes).push_back(&a);
    }
    llvm::FunctionCallee callee = runtime("tfls_call_flat", status_, {pointer_, builder_.getInt32Ty(), pointer_, pointer_});
    llvm::Value* pointer_array = array_of(pointers, pointer_);
    llvm::Value* size_array = array_of(sizes, builder_.getInt64Ty());
    builder_.CreateRet(builder_.CreateCall(callee, {f->getArg(0), builder_.getInt32(from.number), pointer_array, size_array}));
  }

  llvm::Module& module_;
  const LibraryModule& from_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  llvm::PointerType* pointer_;
  llvm::Type* status_;
  llvm::GlobalVariable* image_ = nullptr;
  llvm::GlobalVariable* metadata_ = nullptr;
};

}  // namespace

void emit_library(llvm::Module& module, const LibraryModule& library) { Library(module, library).emit(); }

}  // namespace tfl::codegen
