// Gradients of array operations: the gradient of an array is an array, whose elements that were never written are zeros.
#include <array>

#include "ir/gradient/presence.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

X write_at(const X& array, const X& index, const X& value) { return emit(Op::array_write, {array, index, value}); }

// Whether any element of an array of booleans is true.
Presence any_of(const X& elements) {
  return elements ? Presence::when(emit(Op::reduce_any, {emit(Op::array_stack, {elements})})) : Presence::always();
}

// Whether it has to be said which elements of operand i are there, now that result 0 flows into it: not as long as all are.
bool tells(RuleCall& c, size_t i) {
  Sum before = c.gathered(i);
  return before.value ? static_cast<bool>(before.elements) : !c.flowing(0).present.is_always();
}
X elements_before(RuleCall& c, size_t i) {
  X elements = c.gathered(i).elements;
  return elements ? elements : presences(c.x_size(i), Presence::never());
}

void read(RuleCall& c) {
  X base = c.gathered(0).value, elements;
  if (tells(c, 0)) {
    X before = elements_before(c, 0);
    X present = emit(Op::logical_or, {emit(Op::array_read, {before, c.x(1)}), scalar(c.a, c.running(c.flowing(0).present))});
    elements = write_at(before, c.x(1), present);
  }
  if (!base) base = zeros_of_x(c, 0);
  c.replace(0, told(emit(Op::array_add, {base, c.x(1), c.g()}), elements, Fill::Unknown));
}

void write(RuleCall& c) {
  X elements = c.flowing(0).elements;
  Presence present = elements && c.wanted(2) ? Presence::when(emit(Op::array_read, {elements, c.x(1)})) : Presence::always();
  if (c.wanted(2)) c.give(2, emit(Op::array_read, {c.g(), c.x(1)}), present);
  if (!c.wanted(0)) return;
  if (elements) elements = write_at(elements, c.x(1), scalar(c.a, Presence::never()));
  c.give_array(0, write_at(c.g(), c.x(1), zeros_of_x(c, 2)), elements);
}

void add(RuleCall& c) {
  X elements = c.flowing(0).elements;
  Presence present = elements && c.wanted(2) ? Presence::when(emit(Op::array_read, {elements, c.x(1)})) : Presence::always();
  if (c.wanted(2)) c.give(2, emit(Op::array_read, {c.g(), c.x(1)}), present);
  c.give_array(0, c.g(), elements);
}

void sum(RuleCall& c) {
  for (size_t i = 0; i < 2; ++i) c.give_array(i, c.g(), c.flowing(0).elements);
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
    X others = rest.value ? rest.elements : presences(c.r_size(0), Presence::never());
    elements = emit(Op::array_push, {others, scalar(c.a, c.running(present))});
  }
  c.give_array(0, emit(Op::array_push, {g_or_zeros(c, 0), g_or_zeros(c, 1)}), elements);
}

void stack(RuleCall& c) { c.give_array(0, emit(Op::array_from, {c.g()}), {}); }

void from(RuleCall& c) { c.give(0, emit(Op::array_stack, {c.g()}), any_of(c.flowing(0).elements)); }

void gather(RuleCall& c) {
  X elements;
  if (tells(c, 0)) {
    X rows =
        emit(Op::slice, {c.r_shape(0), int_vector(c.a, std::array<int64_t, 1>{0}), int_vector(c.a, std::array<int64_t, 1>{1})});
    X all = emit(Op::fill, {rows, scalar(c.a, c.running(c.flowing(0).present))});
    elements = emit(Op::array_scatter, {presences(c.x_size(0), Presence::never()), c.x(1), all});
  }
  c.give_array(0, emit(Op::array_scatter, {zeros_of_x(c, 0), c.x(1), c.g()}), elements);
}

void scatter(RuleCall& c) {
  X elements = c.flowing(0).elements;
  X here = elements ? emit(Op::array_gather, {elements, c.x(1)}) : X();
  Presence present = here ? Presence::when(emit(Op::reduce_any, {here})) : Presence::always();
  if (c.wanted(2)) c.give(2, emit(Op::array_gather, {c.g(), c.x(1)}), present);
  if (!c.wanted(0)) return;
  if (elements) elements = emit(Op::array_scatter, {elements, c.x(1), emit(Op::not_equal, {here, here})});
  c.give_array(0, emit(Op::array_scatter, {c.g(), c.x(1), zeros_of_x(c, 2)}), elements);
}

void split(RuleCall& c) {
  if (c.wanted(1)) c.give(1, emit(Op::array_concat, {c.g()}), any_of(c.flowing(0).elements));
}

void concat(RuleCall& c) {
  const TensorType& element = c.operand_type(0).tensor;
  if (!element.ranked || element.dims.empty() || element.dims[0] < 0) {
    // The lengths are those of the elements, which have to be there for that.
    return c.give_array(0, emit(Op::array_split, {c.x(0), c.g(), int_scalar(c.a, 0)}, Attrs().set_bool(Attr::keepdims, true)),
                        {});
  }
  int64_t one = 1;
  X count = emit(Op::reshape, {c.x_size(0), int_vector(c.a, {&one, 1})});
  X lengths = emit(Op::fill, {count, int_scalar(c.a, element.dims[0])});
  c.give_array(0, emit(Op::array_split, {zeros_of_x(c, 0), c.g(), lengths}), {});
}

constexpr RuleRow kArrayRules[] = {
    {Op::array_read, read},     {Op::array_write, write},     {Op::array_add, add},     {Op::array_sum, sum},
    {Op::array_push, push},     {Op::array_pop, pop},         {Op::array_stack, stack}, {Op::array_from, from},
    {Op::array_gather, gather}, {Op::array_scatter, scatter}, {Op::array_split, split}, {Op::array_concat, concat},
};

}  // namespace

std::span<const RuleRow> array_rules() { return kArrayRules; }

}  // namespace tfl::gradient
