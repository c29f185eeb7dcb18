// Single elements as host numbers: for conversion, printing and messages, not for kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace tfl {

/// The element at `at` as f64: exact for every dtype but i64 and u64 beyond 2^53; of a complex one the real part. Not for String.
double load_double(DType dtype, const std::byte* at);
/// The imaginary part of a complex element.
double load_imag(DType dtype, const std::byte* at);
/// The element of an integer or bool dtype at `at`; u64 values wrap.
int64_t load_int(DType dtype, const std::byte* at);
/// Rounds `value` once to a floating dtype.
void store_double(DType dtype, double value, std::byte* at);
/// Rounds both parts once to a complex dtype.
void store_complex(DType dtype, double re, double im, std::byte* at);
/// Keeps the low bits of `value` in an integer dtype; bool is value != 0.
void store_int(DType dtype, int64_t value, std::byte* at);

}  // namespace tfl
