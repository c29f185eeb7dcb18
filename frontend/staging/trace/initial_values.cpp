// Values of symbolic tensors that are needed while tracing: the initial values of variables made on the first call.
#include <unordered_map>

#include "frontend/core/concrete.h"
#include "frontend/core/native.h"
#include "frontend/staging/trace/region.h"

namespace tfl {

namespace {

/// Copies what a value depends on into a function of its own, whose parameters are values known now.
struct Lifter {
  Interp& interp;
  std::shared_ptr<ir::Function> out = std::make_shared<ir::Function>();
  std::vector<Value> operands;
  std::unordered_map<const ir::Node*, ir::Node*> done;
  int depth = 0;

  Result<ir::Ref> input(const Value& v, const ir::Type& type) {
    operands.push_back(v);
    ir::Type unnamed = type;
    TFL_TRY(name_sizes(interp, *out, Value::none(), unnamed));
    return out->body.add_param(std::move(unnamed), "input" + std::to_string(operands.size()));
  }

  Result<ir::Ref> outside(const Value& v, const ir::Type& type) {
    if (v.is(Kind::Symbolic)) return copy(*symbolic(v)->scope, ref_of(v));
    return input(v, type);
  }

  Result<ir::Ref> copy(Scope& scope, ir::Ref ref) {
    auto found = done.find(ref.node);
    if (found != done.end()) return ir::Ref{found->second, ref.index};
    if (++depth > 2000) return fail(ErrorKind::RecursionError, "the initial value of a variable is made of too many operations");
    ir::Ref made = TFL_TRY(copy_new(scope, ref));
    --depth;
    done.emplace(ref.node, made.node);
    return ir::Ref{made.node, ref.index};
  }

  Result<ir::Ref> copy_new(Scope& scope, ir::Ref ref) {
    const ir::Node& node = *ref.node;
    if (node.op == Op::parameter) {
      for (size_t i = 0; i < scope.capture_params.size(); ++i) {
        if (scope.capture_params[i].node == &node) return outside(scope.captures[i], node.types[0]);
      }
      for (size_t i = 0; i < scope.inputs.size() && i < scope.input_values.size(); ++i) {
        const Value& in = scope.inputs[i];
        bool same = in.is(Kind::Symbolic) ? symbolic(in)->node == &node
                                          : scope.captured.count(in.counted()) && scope.captured[in.counted()].node == &node;
        const Value& given = scope.input_values[i];
        if (!same || given.is_empty() || given.is_none()) continue;
        return outside(given, node.types[0]);
      }
      return fail(
          ErrorKind::ValueError,
          "Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., `tf.Variable(lambda : "
          "tf.truncated_normal([10, 40]))`) when building functions. Please file a feature request if this restriction "
          "inconveniences you.");
    }
    if (node.op == Op::constant) return ir::append_constant(out->body, node.constant);
    std::vector<ir::Ref> refs;
    for (const ir::Ref& r : node.operands) refs.push_back(TFL_TRY(copy(scope, r)));
    ir::Node* fresh = out->body.add(node.op, std::move(refs), node.attrs, node.types);
    fresh->callee = node.callee;
    for (const auto& region : node.regions) {
      auto block = std::make_unique<ir::Block>();
      block->function = out.get();
      block->owner = fresh;
      std::vector<ir::Ref> arguments;
      for (const auto& p : region->params) arguments.push_back(block->add_param(p->types[0], p->name));
      block->results = ir::inline_block(*region, *block, std::move(arguments));
      fresh->regions.push_back(std::move(block));
    }
    return ir::Ref{fresh, 0};
  }
};

}  // namespace

Result<Tensor> lift_value(Interp& interp, const Value& v) {
  Lifter lifter{interp};
  lifter.out->name = "initial_value";
  ir::Ref ref = TFL_TRY(lifter.copy(*symbolic(v)->scope, ref_of(v)));
  lifter.out->body.results.push_back(ref);
  auto program = TFL_TRY(ir::Program::build(lifter.out));
  SmallVec<Value, 2> results;
  Tracer& tracer = tracer_of(interp);
  std::shared_ptr<Scope> scope = std::move(tracer.scope);
  tracer.scope = nullptr;
  auto done = [&] {
    Eagerly eagerly(interp);
    return run_graph(interp, *program, lifter.operands, results);
  }();
  tracer.scope = std::move(scope);
  if (!done) return done.failure();
  return results[0].tensor();
}

Result<void> check_variable_creation(Interp& interp) {
  if (!current_scope(interp)) return {};
  for (Scope* s = tracer_of(interp).scope.get(); s; s = s->outer.get()) {
    if (s->is_function && !s->creates_variables) {
      return fail(
          ErrorKind::ValueError,
          "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only created "
          "once or created "
          "outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables for more information.");
    }
  }
  return {};
}

Result<void> note_variable(Interp& interp, const Value& variable) {
  if (!current_scope(interp)) return {};
  for (Scope* s = tracer_of(interp).scope.get(); s; s = s->outer.get()) {
    if (s->is_function) s->created.push_back(variable);
  }
  return {};
}

}  // namespace tfl
