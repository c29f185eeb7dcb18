// tf.Tensor(...) and <tf.Tensor: ...> around the text of the elements.
#include "frontend/tensors/tensor/tensor_text.h"

#include "runtime/text/array_text.h"

namespace tfl {

namespace {

/// Elements that need several lines begin on their own.
std::string on_own_lines(std::string text) { return text.find('\n') == std::string::npos ? text : '\n' + text; }

}  // namespace

std::string elements_str(Interp& interp, const Tensor& t) {
  return t.rank() == 0 ? element_str(t) : array_str(t, interp.tensors->print_options);
}

std::string elements_repr(Interp& interp, const Tensor& t) {
  return t.rank() == 0 ? element_item_repr(t) : on_own_lines(array_repr(t, interp.tensors->print_options));
}

std::string tensor_str(Interp& interp, const Tensor& t) {
  return fmt::format("tf.Tensor({}, shape={}, dtype={})", on_own_lines(elements_str(interp, t)), shape_tuple_text(t.dims()),
                     dtype_name(t.dtype()));
}

std::string tensor_repr(Interp& interp, const Tensor& t) {
  return fmt::format("<tf.Tensor: shape={}, dtype={}, numpy={}>", shape_tuple_text(t.dims()), dtype_name(t.dtype()),
                     elements_repr(interp, t));
}

}  // namespace tfl
