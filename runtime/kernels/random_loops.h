// Random numbers from a seed: each group of elements from its own counter, so that any number of threads gives the same stream. This header
// must not know tensors.
#pragma once

#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/random_words.h"
#include "runtime/kernels/routine.h"

namespace tfl::randoms {

/// n elements in groups of `width`, each from the words of its group: make(words, values) fills `width` values.
template <class V, int width, class Make, class Put>
void fill_groups(const Workers& workers, const Philox& base, int64_t n, Make make, Put put) {
  in_parts(workers, (n + width - 1) / width, 4096, 16, [&](int64_t first, int64_t last) {
    Philox stream = base;
    stream.skip(static_cast<uint64_t>(first));
    for (int64_t g = first; g < last; ++g) {
      V values[width];
      make(stream.next(), values);
      for (int i = 0; i < width && g * width + i < n; ++i) put(g * width + i, values[i]);
    }
  });
}

inline void give_floats(const Workers& workers, const Philox& base, DType dtype, int64_t n, bool normal, void* out) {
  if (dtype == DType::F64) {
    auto put = [to = static_cast<double*>(out)](int64_t i, double v) { to[i] = v; };
    if (normal) {
      fill_groups<double, 2>(workers, base, n, [](Philox::Words w, double* v) { normal_pair(w[0], w[1], w[2], w[3], v[0], v[1]); }, put);
    } else {
      fill_groups<double, 2>(workers, base, n, [](Philox::Words w, double* v) {
        v[0] = unit_double(w[0], w[1]);
        v[1] = unit_double(w[2], w[3]);
      }, put);
    }
    return;
  }
  auto put = [out, dtype](int64_t i, float v) {
    if (dtype == DType::F32) static_cast<float*>(out)[i] = v;
    else if (dtype == DType::F16) static_cast<f16*>(out)[i] = to_f16(v);
    else static_cast<bf16*>(out)[i] = to_bf16(v);
  };
  if (normal) {
    fill_groups<float, 4>(workers, base, n, [](Philox::Words w, float* v) {
      normal_pair(w[0], w[1], v[0], v[1]);
      normal_pair(w[2], w[3], v[2], v[3]);
    }, put);
    return;
  }
  fill_groups<float, 4>(workers, base, n, [dtype](Philox::Words w, float* v) {
    for (size_t i = 0; i < 4; ++i) {
      // As many bits as the type's mantissa holds, so that storing rounds nothing.
      if (dtype == DType::F16) v[i] = static_cast<float>(w[i] & 0x3ffu) / 1024.0f;
      else if (dtype == DType::BF16) v[i] = static_cast<float>(w[i] & 0x7fu) / 128.0f;
      else v[i] = unit_float(w[i]);
    }
  }, put);
}

/// Words as integers: all of their range, or `low` + word modulo `range`.
inline void give_integers(const Workers& workers, const Philox& base, size_t bytes, int64_t n, bool full, uint64_t low, uint64_t range, void* out) {
  if (bytes == 4) {
    auto narrow = static_cast<uint32_t>(range);
    fill_groups<uint32_t, 4>(workers, base, n, [=](Philox::Words w, uint32_t* v) {
      for (size_t i = 0; i < 4; ++i) v[i] = full ? w[i] : static_cast<uint32_t>(low) + w[i] % narrow;
    }, [to = static_cast<uint32_t*>(out)](int64_t i, uint32_t v) { to[i] = v; });
    return;
  }
  fill_groups<uint64_t, 2>(workers, base, n, [=](Philox::Words w, uint64_t* v) {
    for (size_t i = 0; i < 2; ++i) {
      uint64_t bits = w[2 * i] | (static_cast<uint64_t>(w[2 * i + 1]) << 32);
      v[i] = full ? bits : low + bits % range;
    }
  }, [to = static_cast<uint64_t*>(out)](int64_t i, uint64_t v) { to[i] = v; });
}

/// An integer of 4 or 8 bytes, extended as its type says.
inline uint64_t word_at(DType dtype, const void* data, int64_t i) {
  if (dtype_size(dtype) == 8) return static_cast<const uint64_t*>(data)[i];
  uint32_t word = static_cast<const uint32_t*>(data)[i];
  return is_unsigned(dtype) ? word : static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(word)));
}

/// How many integers there are from `low` to before `high`; 0: the operation refuses them.
inline uint64_t range_of(DType dtype, uint64_t low, uint64_t high) {
  uint64_t range = high - low;
  if (dtype_size(dtype) == 4) range = static_cast<uint32_t>(range);
  return is_unsigned(dtype) && high <= low ? 0 : range;
}

inline bool run(const Workers& workers, const RoutineCall& call) {
  auto dtype = static_cast<DType>(call.dtype), seeds = static_cast<DType>(call.index_dtype);
  auto kind = static_cast<RandomKind>(call.flags);
  uint64_t words[3] = {};
  for (int64_t i = 0; i < call.sizes[1] && i < 3; ++i) words[i] = word_at(seeds, call.at[0], i);
  Philox base = stream_of(words, call.sizes[1]);
  switch (kind) {
    case RandomKind::uniform:
    case RandomKind::normal: give_floats(workers, base, dtype, call.sizes[0], kind == RandomKind::normal, call.at[1]); return true;
    case RandomKind::integer: {
      uint64_t low = word_at(dtype, call.at[2], 0), range = range_of(dtype, low, word_at(dtype, call.at[3], 0));
      if (range == 0) return false;
      give_integers(workers, base, dtype_size(dtype), call.sizes[0], false, low, range, call.at[1]);
      return true;
    }
    case RandomKind::full_integer: give_integers(workers, base, dtype_size(dtype), call.sizes[0], true, 0, 1, call.at[1]); return true;
  }
  return false;
}

}  // namespace tfl::randoms
