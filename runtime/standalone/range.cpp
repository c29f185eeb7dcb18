// Ranges whose numbers follow from values: of floats, or in steps that only the run knows.
#include "runtime/kernels/layout/range_loops.h"

extern "C" {
#include "runtime/standalone/standalone.h"
}

namespace {

template <class T>
const T* first_of(const tfls_run* run, uint32_t value) {
  const tfl_tensor& t = run->value[value];
  return reinterpret_cast<const T*>(static_cast<const char*>(t.data) + t.byte_offset);
}

template <class T>
void say(char (&text)[40], T v) {
  if constexpr (std::is_floating_point_v<T>)
    snprintf(text, sizeof text, "%g", static_cast<double>(v));
  else if constexpr (std::is_unsigned_v<T>)
    snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(v));
  else
    snprintf(text, sizeof text, "%lld", static_cast<long long>(v));
}

template <class T>
tfl_status make(tfls_run* run, const tfls_step* s, int dtype) {
  using namespace tfl::ranges;
  tfl_context* c = run->context;
  auto start = read(first_of<T>(run, s->input[0])), limit = read(first_of<T>(run, s->input[1])),
       delta = read(first_of<T>(run, s->input[2]));
  int64_t n = 0;
  char a[40], b[40];
  auto refuse = [&](const char* words, auto x, auto y, bool both) {
    say(a, x);
    say(b, y);
    return tfls_fail(c, TFL_ERR_RUNTIME, "%s%s%s%s%s%s", s->piece[0].text, words, a, both ? "/" : "", both ? b : "",
                     s->piece[1].text);
  };
  switch (tfl::ranges::count<T>(start, limit, delta, n)) {
    case Refusal::no_step: return refuse("Requires delta != 0: ", delta, delta, false);
    case Refusal::not_up: return refuse("Requires start <= limit when delta > 0: ", start, limit, true);
    case Refusal::not_down: return refuse("Requires start >= limit when delta < 0: ", start, limit, true);
    case Refusal::too_long:
      return tfls_fail(c, TFL_ERR_RUNTIME, "%sRequires ((limit - start) / delta) <= 9223372036854775807%s", s->piece[0].text,
                       s->piece[1].text);
    case Refusal::none: break;
  }
  tfl_tensor* out = &run->value[s->result[0]];
  if (!tfls_new_tensor(c, dtype, 1, &n, out)) return tfls_fail(c, TFL_ERR_OOM, "%s: no memory for a result", run->function->name);
  fill(start, delta, n, static_cast<T*>(out->data));
  return TFL_OK;
}

}  // namespace

extern "C" tfl_status tfls_range(tfls_run* run, const tfls_step* s) {
  if (s->inputs != 3 || s->results != 1 || s->pieces != 2)
    return tfls_fail(run->context, TFL_ERR_ABI, "%s: damaged", run->function->name);
  int dtype = run->function->value[s->input[0]].dtype;
  return tfl::ranges::with_numeric_type(static_cast<tfl::DType>(dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return make<T>(run, s, dtype);
  });
}
