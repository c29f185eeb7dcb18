// The table of facts. It stands above the kernels, whose kinds the rows name.
#include "runtime/ops/facts.h"

#include "runtime/kernels/fourier/fourier_sizes.h"
#include "runtime/kernels/reduce/reduce.h"
#include "runtime/kernels/routine.h"
#include "runtime/kernels/window/window_job.h"

namespace tfl {

// The words of the last columns of runtime/ops/*.def.
namespace row {

using enum Fails;
using enum Follows;

template <auto member>
struct Says {
  constexpr void operator()(OpFacts& f) const { f.*member = true; }
};
constexpr Says<&OpFacts::reads> reads;
constexpr Says<&OpFacts::writes> writes;
constexpr Says<&OpFacts::regions> regions;
constexpr Says<&OpFacts::variable> variable;
constexpr Says<&OpFacts::rows> rows;
constexpr Says<&OpFacts::by_operands> by_operands;
constexpr Says<&OpFacts::refuses> refuses;
constexpr Says<&OpFacts::words> words;
constexpr Says<&OpFacts::commutes> commutes;
constexpr Says<&OpFacts::stops_at_zero> stops_at_zero;
constexpr Says<&OpFacts::steps_are_exact> steps_are_exact;

constexpr auto in(std::string_view homes) {
  return [=](OpFacts& f) { f.homes = homes; };
}
template <class... Operand>
constexpr auto fails(Fails when, Operand... numbers) {
  return [=](OpFacts& f) {
    f.fails = when;
    f.numbers = static_cast<uint8_t>((0u | ... | (1u << numbers)));
  };
}
constexpr auto sizes_in(int8_t operand) {
  return [=](OpFacts& f) { f.sizes_in = operand; };
}
constexpr auto unread(int operand) {
  return [=](OpFacts& f) { f.unread = static_cast<uint8_t>(1 << operand); };
}
constexpr auto reads_only(int operand) {
  return [=](OpFacts& f) { f.unread = static_cast<uint8_t>(~(1 << operand)); };
}
constexpr auto reads_none = [](OpFacts& f) { f.unread = 0xff; };
constexpr auto costs(uint8_t cost) {
  return [=](OpFacts& f) { f.cost = cost; };
}
constexpr auto follows(Follows operands) {
  return [=](OpFacts& f) { f.follows = operands; };
}
template <class How = int64_t>
constexpr auto calls(Routine routine, How how = {}) {
  return [=](OpFacts& f) {
    f.routine = routine;
    f.how = static_cast<int64_t>(how);
  };
}
constexpr auto window(WindowKind kind) {
  return [=](OpFacts& f) { f.window = kind; };
}
constexpr auto folds(ReduceKind kind) {
  return [=](OpFacts& f) { f.folds = kind; };
}

template <class... Fact>
constexpr OpFacts facts(OpFacts start, Fact... fact) {
  (fact(start), ...);
  return start;
}

constexpr OpFacts kFacts[kOpCount] = {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, names, places, ...)                       \
  facts({.form = PlanForm::elementwise, .arguments = names, .homes = places, .fails = Fails::elementwise} __VA_OPT__(, ) \
            __VA_ARGS__),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
#define TFL_OP(name, tf_name, kind, form, min_operands, max_operands, results, ...) \
  facts({PlanForm::form} __VA_OPT__(, ) __VA_ARGS__),
#include "runtime/ops/structural.def"
#undef TFL_OP
#define TFL_CONTROL(name, tf_name, kind, min_operands, max_operands, results, ...) \
  facts({PlanForm::control} __VA_OPT__(, ) __VA_ARGS__),
#include "runtime/ops/control.def"
#undef TFL_CONTROL
};

}  // namespace row

const OpFacts& op_facts(Op op) { return row::kFacts[static_cast<size_t>(op)]; }

}  // namespace tfl
