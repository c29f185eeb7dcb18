// The reference evaluator: one loop over instructions. Frames are on the heap, so that neither loops nor calls recurse.
#include "ir/evaluate.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "ir/array.h"
#include "ir/frame.h"
#include "ir/named_sizes.h"
#include "ir/program.h"
#include "ir/single_operation.h"
#include "ir/softmax.h"
#include "runtime/ops/groups.h"
#include "runtime/tensor/element.h"

namespace tfl::ir {

namespace {

using namespace program;

// What a condition may be: a scalar, true unless it is zero or empty; anything else is true when it has elements.
bool truth(const Tensor& t) {
  if (t.rank() == 0) {
    if (t.dtype() == DType::Bool) [[likely]]
      return *t.data<uint8_t>() != 0;
    if (t.dtype() == DType::String) return !t.data<std::string>()->empty();
    if (is_complex(t.dtype())) return load_double(t.dtype(), t.raw()) != 0 || load_imag(t.dtype(), t.raw()) != 0;
    return is_floating(t.dtype()) ? load_double(t.dtype(), t.raw()) != 0 : load_int(t.dtype(), t.raw()) != 0;
  }
  return t.size() != 0;
}

Result<bool> all_true(Context& context, const Tensor& t) {
  if (t.rank() == 0) return *t.data<uint8_t>() != 0;
  Tensor all = TFL_TRY(apply1(context, Op::reduce_all, {t}));
  return *all.data<uint8_t>() != 0;
}

// An instruction that is_kernel; the operands are consumed.
Result<void> run_kernel(Context& context, const Instruction& i, std::span<Tensor> operands, Tensors& out) {
  if (i.step == Step::kernel) [[likely]]
    return apply_consuming(context, i.node->op, operands, i.node->attrs, out);
  out.push_back(TFL_TRY(run_softmax(context, std::move(operands[0]), i.target != 0)));
  return check_whole(context);
}

std::string text_of(const Tensor& t) {
  std::string out;
  for (int64_t i = 0; t.contiguous() && i < t.size(); ++i) out += t.data<std::string>()[i];
  return out;
}

class Machine {
 public:
  Machine(Context& context, Host& host, const std::vector<std::unique_ptr<Code>>& codes)
      : context_(context), host_(host), codes_(codes) {}

  Result<void> run(std::span<Datum> inputs, std::vector<Datum>& outputs) {
    alignas(16) std::byte room[kInlineFrame];
    Frame first(*codes_[0], room, sizeof room);
    const Code& code = first.code;
    if (inputs.size() != code.params.size())
      return fail(ErrorKind::InternalError, "function {} takes {} inputs and was given {}", code.function->name,
                  code.params.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) leave(first, code.params[i], std::move(inputs[i]));
    first.next = code.instructions.data();
    return loop(first, outputs);
  }

  std::vector<Program::Place> failed;  // see Program::run

 private:
  Result<void> loop(Frame& first, std::vector<Datum>& outputs) {
    std::vector<std::unique_ptr<Frame>> frames;  // of the calls in progress
    Frame* f = &first;
    auto enter = [&](const Code& callee, uint32_t count, auto&& argument) {
      auto frame = std::make_unique<Frame>(callee, nullptr, 0);
      for (uint32_t k = 0; k < count; ++k) leave(*frame, callee.params[k], argument(k));
      frame->next = callee.instructions.data();
      frames.push_back(std::move(frame));
      f = frames.back().get();
    };
    for (;;) {
      const Instruction& i = *f->next++;
      const Place* sources = f->code.places.data() + i.sources;
      const Place* results = f->code.places.data() + i.results;
      Result<void> done;
      switch (i.step) {
        case Step::kernel:
        case Step::softmax: done = kernel(*f, i, sources, results); break;
        case Step::control: done = control(*f, i, sources, results); break;
        case Step::move: move(*f, i, sources, results); break;
        case Step::release:
          for (uint32_t k = 0; k < i.source_count; ++k) take_datum(*f, sources[k]);
          break;
        case Step::jump: f->next = f->code.instructions.data() + i.target; break;
        case Step::branch:
          if (!test(*f, sources[0])) f->next = f->code.instructions.data() + i.target;
          break;
        case Step::choose: {
          Tensor index = take(*f, sources[0]);
          int64_t at = load_int(index.dtype(), index.raw());
          if (at < 0 || at >= i.target2) at = static_cast<int64_t>(i.target2) - 1;
          f->next = f->code.instructions.data() + f->code.targets[i.target + static_cast<size_t>(at)];
          break;
        }
        case Step::start_count: f->counters[i.target2] = 0; break;
        case Step::count:
          if (f->counters[i.target2]++ >= i.node->attrs.get_int(Attr::limit)) f->next = f->code.instructions.data() + i.target;
          break;
        case Step::back:
          f->next = f->code.instructions.data() + i.target;
          done = host_.check_interrupt();
          break;
        case Step::call: {
          const Code& callee = *codes_[i.target];
          // Machine code; or its graph, which is part of the caller: neither a failed check before it nor the depth of calls
          // matters.
          Native* native = callee.function->native.get();
          if (native && has_objects(i, sources)) {
            std::vector<Datum> values;
            for (uint32_t k = 0; k < i.source_count; ++k) values.push_back(take_datum(*f, sources[k]));
            bool ran = false;
            done = on_variables(*native, values, *f, i, results, ran);
            if (ran || !done) break;
            enter(callee, i.source_count, [&](uint32_t k) { return std::move(values[k]); });
            break;
          }
          if (native) {
            SmallVec<Tensor, 6> inputs;
            for (uint32_t k = 0; k < i.source_count; ++k) inputs.push_back(take(*f, sources[k]));
            SmallVec<Tensor, 4> given(i.result_count + native->arrays.size());
            if (native->run(context_, {inputs.data(), inputs.size()}, {given.data(), given.size()})) {
              done = leave_given(*native, *f, i, results, {given.data(), given.size()});
              break;
            }
            // Inputs that the code has written over are no values any more.
            if (context_.interrupt.load(std::memory_order_relaxed) != 0) [[unlikely]] {
              done = host_.check_interrupt();
              if (!done) break;
            }
            enter(callee, i.source_count, [&](uint32_t k) { return std::move(inputs[k]); });
            break;
          }
          if (frames.size() >= static_cast<size_t>(kMaxCallDepth)) {
            done = fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
            break;
          }
          enter(callee, i.source_count, [&](uint32_t k) { return take_datum(*f, sources[k]); });
          done = host_.check_interrupt();
          break;
        }
        case Step::finish: {
          if (frames.empty()) {
            outputs.reserve(outputs.size() + i.source_count);
            if (pending_) [[unlikely]]
              return Failure{std::move(pending_)};
            for (uint32_t k = 0; k < i.source_count; ++k) outputs.push_back(take_datum(*f, sources[k]));
            return {};
          }
          std::unique_ptr<Frame> callee = std::move(frames.back());
          if (pending_ && !callee->code.function->native) [[unlikely]]
            return Failure{std::move(pending_)};
          frames.pop_back();
          f = frames.empty() ? &first : frames.back().get();
          const Instruction& call = f->next[-1];
          for (uint32_t k = 0; k < i.source_count; ++k)
            leave(*f, f->code.places[call.results + k], take_datum(*callee, sources[k]));
          break;
        }
      }
      if (!done) [[unlikely]] {
        // A check that fails stops neither the writes behind it, which do not depend on it, nor the first error from being
        // reported; it stops loops, calls, output and the host.
        bool check = i.step == Step::control && i.node->op == Op::check && !pending_;
        if (!pending_) {
          for (size_t k = 0; k <= frames.size(); ++k) {
            const Frame& frame = k == 0 ? first : *frames[k - 1];
            const Node* node = &frame == f ? i.node : frame.next[-1].node;
            // A cluster is a part of its caller: its nodes tell the whole way.
            bool cluster = &frame != f && frames[k]->code.function->native;
            if (node && !cluster) failed.push_back({frame.code.function->locations.get(), node->location});
          }
        }
        if (!check) return pending_ ? Result<void>(Failure{std::move(pending_)}) : std::move(done);
        pending_ = done.failure().error;
      }
      if (pending_ && stops(i)) [[unlikely]]
        return Failure{std::move(pending_)};
    }
  }

  // Machine code that takes what variables hold. It cannot stop where the graph does while an error waits, nor tell one variable
  // that it has twice from two.
  Result<void> on_variables(Native& native, std::vector<Datum>& values, Frame& f, const Instruction& i, const Place* results,
                            bool& ran) {
    if (pending_) return {};
    SmallVec<VariableResource*, 6> variables;
    SmallVec<Tensor, 6> inputs;
    size_t objects = 0;
    for (const Datum& d : values) {
      inputs.push_back(d.tensor);
      objects += !d.tensor;
    }
    if (objects != native.variables.size()) return {};
    size_t assigned = 0;
    for (const VariableUse& u : native.variables) {
      auto* v = dynamic_cast<VariableResource*>(values[u.input].resource.get());
      if (!v || !v->initialized()) return {};
      for (VariableResource* other : variables) {
        if (other->identity() == v->identity()) return {};
      }
      variables.push_back(v);
      inputs[u.input] = TFL_TRY(v->read());
      assigned += u.result != VariableUse::kUnchanged;
    }
    SmallVec<Tensor, 6> given(i.result_count + assigned + native.arrays.size());
    if (!native.run(context_, {inputs.data(), inputs.size()}, {given.data(), given.size()})) return {};
    ran = true;
    TFL_TRY(leave_given(native, f, i, results, {given.data(), given.size()}));
    for (size_t k = 0; k < native.variables.size(); ++k) {
      uint32_t result = native.variables[k].result;
      if (result != VariableUse::kUnchanged) TFL_TRY(variables[k]->assign(std::move(given[result])));
    }
    return {};
  }

  // What machine code has given; of an array, its elements are rows of one tensor.
  Result<void> leave_given(const Native& native, Frame& f, const Instruction& i, const Place* results, std::span<Tensor> given) {
    size_t next = 0;
    for (uint32_t k = 0; k < i.result_count; ++k) {
      if (next == native.arrays.size() || native.arrays[next] != k) {
        leave(f, results[k], std::move(given[k]));
        continue;
      }
      const Tensor& count = given[given.size() - native.arrays.size() + next++];
      Datum d;
      d.array =
          TFL_TRY(array_of_rows(context_, i.node->types[k].tensor, std::move(given[k]), load_int(count.dtype(), count.raw())));
      leave(f, results[k], std::move(d));
    }
    return {};
  }

  static bool has_objects(const Instruction& i, const Place* sources) {
    return std::any_of(sources, sources + i.source_count, [](Place p) { return (p & kObject) != 0; });
  }

  // Where an error that waits for the writes behind a failed check is reported at the latest.
  bool stops(const Instruction& i) const {
    if (i.step == Step::call) return !codes_[i.target]->function->native;
    return i.step == Step::back;
  }

  static bool test(Frame& f, Place p) {
    if (p & kConstant) return truth(f.code.constants[p & kIndex]);
    Tensor& slot = f.tensors[p & kIndex];
    bool yes = truth(slot);
    if (p & kMove) slot = Tensor();
    return yes;
  }

  static void move(Frame& f, const Instruction& i, const Place* sources, const Place* results) {
    if (i.source_count == 1 && !(sources[0] & kObject)) return leave(f, results[0], take(f, sources[0]));
    SmallVec<Datum, 4> values;
    for (uint32_t k = 0; k < i.source_count; ++k) values.push_back(take_datum(f, sources[k]));
    for (uint32_t k = 0; k < i.source_count; ++k) leave(f, results[k], std::move(values[k]));
  }

  Result<void> kernel(Frame& f, const Instruction& i, const Place* sources, const Place* results) {
    SmallVec<Tensor, 4> operands;
    for (uint32_t k = 0; k < i.source_count; ++k) operands.push_back(take(f, sources[k]));
    Tensors out;
    TFL_TRY(run_kernel(context_, i, operands, out));
    if (out.size() < i.result_count)
      return fail(ErrorKind::InternalError, "operation {} gave {} results", op_info(i.node->op).name, out.size());
    for (uint32_t k = 0; k < i.result_count; ++k) leave(f, results[k], std::move(out[k]));
    return {};
  }

  Result<void> control(Frame& f, const Instruction& i, const Place* sources, const Place* results) {
    const Node& n = *i.node;
    if (is_array_op(n.op)) return array(f, i, sources, results);
    switch (static_cast<ControlOp>(n.op)) {
      case ControlOp::read_variable:
      case ControlOp::assign_variable:
      case ControlOp::is_initialized: return variable(f, n, sources, results);
      case ControlOp::print: {
        if (pending_) return {};
        std::string text = text_of(take(f, sources[0]));
        const AttrValue* end = n.attrs.find(Attr::end);
        text += end ? end->text : "\n";
        return host_.print(text, n.attrs.get_text(Attr::stream));
      }
      case ControlOp::check: {
        Tensor condition = take(f, sources[0]);
        if (TFL_TRY(all_true(context_, condition))) return {};
        std::string text = i.source_count > 1 ? text_of(take(f, sources[1])) : std::string(n.attrs.get_text(Attr::text));
        return fail(ErrorKind::InvalidArgumentError, std::move(text));
      }
      case ControlOp::host_call: return host_call(f, i, sources, results);
      case ControlOp::next_seed: {
        Tensor groups = take(f, sources[0]);
        leave(f, results[0], TFL_TRY(host_.next_seed(n, groups.size() == 1 ? load_int(groups.dtype(), groups.raw()) : 0)));
        return {};
      }
      case ControlOp::parameter:
      case ControlOp::constant:
      case ControlOp::cond:
      case ControlOp::switch_case:
      case ControlOp::while_loop:
      case ControlOp::call: break;  // steps of their own
    }
    return fail(ErrorKind::InternalError, "operation {} is no step", op_info(n.op).name);
  }

  Result<void> variable(Frame& f, const Node& n, const Place* sources, const Place* results) {
    Object o = take_object(f, sources[0]);
    auto* v = dynamic_cast<VariableResource*>(o.resource.get());
    if (!v) return fail(ErrorKind::InternalError, "operation {} was given no variable", op_info(n.op).name);
    if (n.op == Op::assign_variable) return v->assign(take(f, sources[1]));
    if (n.op == Op::read_variable) {
      leave(f, results[0], TFL_TRY(v->read()));
      return {};
    }
    leave(f, results[0], TFL_TRY(scalar<uint8_t>(context_, DType::Bool, v->initialized() ? 1 : 0)));
    return {};
  }

  Result<void> host_call(Frame& f, const Instruction& i, const Place* sources, const Place* results) {
    if (pending_) return Failure{std::move(pending_)};
    Object o = take_object(f, sources[0]);
    auto* callable = dynamic_cast<CallableResource*>(o.resource.get());
    if (!callable) return fail(ErrorKind::InternalError, "a host call was given nothing callable");
    std::vector<Datum> arguments, given;
    for (uint32_t k = 1; k < i.source_count; ++k) arguments.push_back(take_datum(f, sources[k]));
    TFL_TRY(callable->call(arguments, given));
    if (given.size() != i.result_count)
      return fail(ErrorKind::InternalError, "a host call gave {} results and not {}", given.size(), i.result_count);
    for (uint32_t k = 0; k < i.result_count; ++k) leave(f, results[k], std::move(given[k]));
    return {};
  }

  Result<void> array(Frame& f, const Instruction& i, const Place* sources, const Place* results) {
    const Node& n = *i.node;
    Array arrays[2];
    size_t count = 0;
    Tensors tensors;
    for (uint32_t k = 0; k < i.source_count; ++k) {
      if (!(sources[k] & kObject)) {
        tensors.push_back(take(f, sources[k]));
      } else if (count < 2) {
        arrays[count] = take_object(f, sources[k]).array;
        if (!arrays[count++]) return fail(ErrorKind::InternalError, "operation {} was given no array", op_info(n.op).name);
      }
    }
    TFL_TRY(run_array(context_, n.op, n.attrs, n.types[0], arrays[0], arrays[1], tensors));
    for (uint32_t k = 0; k < i.result_count; ++k) {
      if (n.types[k].kind == TypeKind::Array)
        leave(f, results[k], Datum{{}, std::move(arrays[0]), {}});
      else
        leave(f, results[k], std::move(tensors[0]));
    }
    return {};
  }

  Context& context_;
  Host& host_;
  const std::vector<std::unique_ptr<Code>>& codes_;
  std::unique_ptr<Error> pending_;  // of a check that has failed
};

class CompiledProgram final : public Program {
 public:
  explicit CompiledProgram(std::shared_ptr<const Function> f)
      : function_(std::move(f)), codes_(compile(*function_)), named_(*function_) {
    find_direct();
    if (is_plain()) plain_results_ = static_cast<int>(codes_[0]->instructions.back().source_count);
    for (const auto& code : codes_) {
      for (const Instruction& i : code->instructions) {
        const bool control = i.step == Step::control;
        changes_state_ |=
            control && (i.node->op == Op::assign_variable || i.node->op == Op::next_seed || i.node->op == Op::host_call);
      }
    }
    if (plain_results_ == 1) single_ = SingleOperation(*function_);
  }

  Result<void> run(Context& context, Host& host, std::span<Datum> inputs, std::vector<Datum>& outputs,
                   std::vector<Place>* failed) const override {
    if (!named_.empty()) TFL_TRY(named_.check(*function_, inputs));
    Machine machine(context, host, codes_);
    Result<void> done = machine.run(inputs, outputs);
    if (!done && failed) [[unlikely]]
      *failed = std::move(machine.failed);
    return done;
  }

  bool run_plain(Context& context, std::span<TensorRep* const> inputs, std::span<Tensor> results) const override {
    if (plain_results_ < 0) return false;
    if (single_) [[likely]]
      return single_.run(context, inputs, results[0]);
    const Code& code = *codes_[0];
    Tensor slots[kPlainSlots];
    auto take = [&](program::Place p) -> Tensor {
      if (p & kConstant) return code.constants[p & kIndex];
      return p & kMove ? std::move(slots[p & kIndex]) : slots[p & kIndex];
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (code.params[i] != kDiscard) slots[code.params[i]] = Tensor::share(inputs[i]);
    }
    for (const Instruction* i = code.instructions.data();; ++i) {
      const program::Place* sources = code.places.data() + i->sources;
      if (i->step == Step::finish) {
        for (uint32_t k = 0; k < i->source_count; ++k) results[k] = take(sources[k]);
        return true;
      }
      Tensor operands[kPlainOperands];
      for (uint32_t k = 0; k < i->source_count; ++k) operands[k] = take(sources[k]);
      Tensors out;
      if (!run_kernel(context, *i, {operands, i->source_count}, out) || out.size() < i->result_count) return false;
      const program::Place* places = code.places.data() + i->results;
      for (uint32_t k = 0; k < i->result_count; ++k) {
        if (places[k] != kDiscard) slots[places[k]] = std::move(out[k]);
      }
    }
  }

 private:
  static constexpr uint32_t kPlainSlots = 8, kPlainOperands = 4, kPlainInstructions = 16;

  bool is_plain() const {
    const Code& code = *codes_[0];
    bool plain = codes_.size() == 1 && code.object_slots == 0 && code.tensor_slots <= kPlainSlots && named_.empty() &&
                 code.instructions.size() <= kPlainInstructions && !code.instructions.empty() &&
                 code.instructions.back().step == Step::finish;
    for (const Instruction& i : code.instructions) {
      plain = plain && (i.step == Step::finish || (is_kernel(i) && i.source_count <= kPlainOperands));
    }
    for (const auto& p : function_->body.params) plain = plain && p->types[0].is_tensor();
    return plain;
  }

  void find_direct() {
    const Block& b = function_->body;
    const Node* call = b.nodes.empty() ? nullptr : b.nodes.back().get();
    if (!call || call->op != Op::call || !call->callee || !call->callee->native || !call->callee->native->variables.empty() ||
        !call->callee->native->arrays.empty())
      return;
    for (size_t i = 0; i + 1 < b.nodes.size(); ++i) {
      if (b.nodes[i]->op != Op::read_variable) return;
    }
    Direct found{call->callee->native, {}, {}, static_cast<uint32_t>(call->types.size())};
    for (Ref r : call->operands) {
      if (!r.type().is_tensor()) return;
      bool read = r.node->op == Op::read_variable;
      const Node* input = read ? r.node->operands[0].node : r.node;
      uint32_t at = 0;
      while (at < b.params.size() && b.params[at].get() != input) ++at;
      found.arguments.push_back(read ? at | Direct::kRead : at);
    }
    for (Ref r : b.results) {
      if (r.node != call) return;
      found.results.push_back(r.index);
    }
    direct_ = std::move(found);
  }

  std::shared_ptr<const Function> function_;
  std::vector<std::unique_ptr<Code>> codes_;
  NamedSizes named_;
  SingleOperation single_;
};

}  // namespace

Result<std::shared_ptr<const Program>> Program::build(std::shared_ptr<const Function> f) {
  return std::shared_ptr<const Program>(std::make_shared<CompiledProgram>(std::move(f)));
}

Result<void> evaluate(Context& context, Host& host, std::shared_ptr<const Function> f, std::span<Datum> inputs,
                      std::vector<Datum>& outputs) {
  std::shared_ptr<const Program> program = TFL_TRY(Program::build(std::move(f)));
  return program->run(context, host, inputs, outputs, nullptr);
}

}  // namespace tfl::ir
