// Gradients of array operations: the gradient of an array is an array, whose elements that were never written are zeros.
#include "ir/gradient/presence.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

void read(RuleCall& c) {
  X base = c.gathered(0).value;
  if (!base) base = zeros_of_x(c, 0);
  c.replace(0, {emit(Op::array_add, {base, c.x(1), c.g()})});
}

void write(RuleCall& c) {
  if (c.wanted(2)) c.give(2, emit(Op::array_read, {c.g(), c.x(1)}));
  if (c.wanted(0)) c.give(0, emit(Op::array_write, {c.g(), c.x(1), zeros_of_x(c, 2)}));
}

void add(RuleCall& c) {
  if (c.wanted(2)) c.give(2, emit(Op::array_read, {c.g(), c.x(1)}));
  if (c.wanted(0)) c.give(0, c.g());
}

void sum(RuleCall& c) {
  for (size_t i = 0; i < 2; ++i) {
    if (c.wanted(i)) c.give(i, c.g());
  }
}

void push(RuleCall& c) {
  std::vector<X> g = {c.g()}, elements = {c.flowing(0).elements};
  std::vector<X> popped = emit_many(Op::array_pop, g);
  if (popped.empty()) return;
  if (elements[0]) elements = emit_many(Op::array_pop, elements);
  if (c.a.failed()) return;
  c.give_array(0, popped[0], elements[0]);
  c.give(1, popped[1], elements[0] ? Presence::when(elements[1]) : Presence::always());
}

void pop(RuleCall& c) {
  const Sum &rest = c.flowing(0), &value = c.flowing(1);
  Presence present = value.value ? value.present : Presence::never();
  X elements;
  if (rest.value ? static_cast<bool>(rest.elements) : !present.is_always()) {
    X others = rest.value ? rest.elements : presences(c.r_size(0), false);
    elements = emit(Op::array_push, {others, scalar(c.a, c.running(present))});
  }
  c.give_array(0, emit(Op::array_push, {g_or_zeros(c, 0), g_or_zeros(c, 1)}), elements);
}

void stack(RuleCall& c) { c.give(0, emit(Op::array_from, {c.g()})); }

void from(RuleCall& c) { c.give(0, emit(Op::array_stack, {c.g()})); }

void gather(RuleCall& c) { c.give(0, emit(Op::array_scatter, {zeros_of_x(c, 0), c.x(1), c.g()})); }

void scatter(RuleCall& c) {
  if (c.wanted(2)) c.give(2, emit(Op::array_gather, {c.g(), c.x(1)}));
  if (c.wanted(0)) c.give(0, emit(Op::array_scatter, {c.g(), c.x(1), zeros_of_x(c, 2)}));
}

void split(RuleCall& c) {
  if (c.wanted(1)) c.give(1, emit(Op::array_concat, {c.g()}));
}

void concat(RuleCall& c) {
  const TensorType& element = c.operand_type(0).tensor;
  if (!element.ranked || element.dims.empty() || element.dims[0] < 0) {
    // The lengths are those of the elements, which have to be there for that.
    return c.give(0, emit(Op::array_split, {c.x(0), c.g(), int_scalar(c.a, 0)}, Attrs().set_bool(Attr::keepdims, true)));
  }
  int64_t one = 1;
  X count = emit(Op::reshape, {c.x_size(0), int_vector(c.a, {&one, 1})});
  X lengths = emit(Op::fill, {count, int_scalar(c.a, element.dims[0])});
  c.give(0, emit(Op::array_split, {zeros_of_x(c, 0), c.g(), lengths}));
}

constexpr RuleRow kArrayRules[] = {
    {Op::array_read, read},     {Op::array_write, write}, {Op::array_add, add},       {Op::array_sum, sum},         {Op::array_push, push}, {Op::array_pop, pop},
    {Op::array_stack, stack},   {Op::array_from, from},   {Op::array_gather, gather}, {Op::array_scatter, scatter}, {Op::array_split, split},
    {Op::array_concat, concat},
};

}  // namespace

std::span<const RuleRow> array_rules() { return kArrayRules; }

}  // namespace tfl::gradient
