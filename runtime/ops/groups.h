// The operations of one form as an enumeration of their own. A switch over one names every operation of the form and has no `default:`,
// so the compiler lists where a new row is missing. `static_cast` leads from an operation of the form to its enumerator.
// This header must not know what is done with them.
#pragma once

#include "runtime/ops/op.h"

namespace tfl {

#define TFL_MEMBER(name) name = static_cast<uint16_t>(Op::name),
#define TFL_NO_MEMBER(name)

// Views, in order or not.
#define TFL_VIEW_none TFL_NO_MEMBER
#define TFL_VIEW_ordered_view TFL_MEMBER
#define TFL_VIEW_view TFL_MEMBER
#define TFL_VIEW_deferred TFL_NO_MEMBER
#define TFL_VIEW_reduction TFL_NO_MEMBER
#define TFL_VIEW_product TFL_NO_MEMBER
#define TFL_VIEW_window TFL_NO_MEMBER
#define TFL_VIEW_routine TFL_NO_MEMBER
#define TFL_VIEW_write TFL_NO_MEMBER
enum class ViewOp : uint16_t {
#define TFL_OP(name, tf_name, kind, form, ...) TFL_VIEW_##form(name)
#include "runtime/ops/structural.def"
#undef TFL_OP
};

// What is computed where an element is needed.
#define TFL_DEFERRED_none TFL_NO_MEMBER
#define TFL_DEFERRED_ordered_view TFL_NO_MEMBER
#define TFL_DEFERRED_view TFL_NO_MEMBER
#define TFL_DEFERRED_deferred TFL_MEMBER
#define TFL_DEFERRED_reduction TFL_NO_MEMBER
#define TFL_DEFERRED_product TFL_NO_MEMBER
#define TFL_DEFERRED_window TFL_NO_MEMBER
#define TFL_DEFERRED_routine TFL_NO_MEMBER
#define TFL_DEFERRED_write TFL_NO_MEMBER
enum class DeferredOp : uint16_t {
#define TFL_OP(name, tf_name, kind, form, ...) TFL_DEFERRED_##form(name)
#include "runtime/ops/structural.def"
#undef TFL_OP
};

// Rows that only graphs have: operations on arrays, and the others. They have no eager kernel: ir/infer.h types them, ir/evaluate.h runs them.
#undef TFL_ARRAY
enum class ArrayOp : uint16_t {
#define TFL_CONTROL(...)
#define TFL_ARRAY(name, ...) TFL_MEMBER(name)
#include "runtime/ops/control.def"
#undef TFL_ARRAY
#undef TFL_CONTROL
};
enum class ControlOp : uint16_t {
#define TFL_CONTROL(name, ...) TFL_MEMBER(name)
#define TFL_ARRAY(...)
#include "runtime/ops/control.def"
#undef TFL_ARRAY
#undef TFL_CONTROL
};

#undef TFL_MEMBER
#undef TFL_NO_MEMBER

constexpr bool is_array_op(Op op) { return op >= Op::array_new && op <= Op::array_sum; }

}  // namespace tfl
