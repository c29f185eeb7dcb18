// What an interpreter keeps for tensors, made once at its start.
#include "frontend/core/tensor_api.h"
#include "frontend/tensors/tensor/variable.h"
#include "frontend/text/quote.h"

namespace tfl {

void TensorStateDeleter::operator()(TensorState* state) const { delete state; }

void init_tensors(Interp& interp) {
  interp.tensors.reset(new TensorState);
  interp.tensors->print_options.quote = quote_text;
  init_variables(interp);
  const Types& t = interp.types;
  interp.tensors->numpy_scalars = {t.np_float16, t.np_bfloat16,  t.np_float32,    t.np_float64, t.np_int8,   t.np_int16,
                                   t.np_int32,   t.np_int64,     t.np_uint8,      t.np_uint16,  t.np_uint32, t.np_uint64,
                                   t.np_bool,    t.np_complex64, t.np_complex128, nullptr};
  // Where TensorFlow defines the classes, as repr() of them tells.
  interp.types.tensor_base->module = interp.intern("tensorflow.python.framework.tensor");
  interp.types.shape->module = interp.intern("tensorflow.python.framework.tensor_shape");
  interp.types.dtype->module = interp.intern("tensorflow.python.framework.dtypes");
  for (int i = 0; i < kDTypeCount; ++i) {
    for (bool numpy : {false, true}) {
      DTypeObject* d = interp.allocate<DTypeObject>(interp.types.dtype);
      d->dtype = static_cast<DType>(i);
      d->numpy = numpy;
      (numpy ? interp.tensors->numpy_dtypes : interp.tensors->dtypes)[static_cast<size_t>(i)] = Value::adopt(d);
    }
  }
}

}  // namespace tfl
