// Modified Bessel functions of the first kind, orders 0 and 1, plain and scaled by e^-|x|. In f64; f32 is rounded once.
//
// Method: a polynomial in x/4 - 1 for |x| <= 8, one in 16/x - 1 times 1/sqrt(x) beyond (the intervals of Cephes' i0.c; the
// polynomials come from tests/tools/fit.py).
#pragma once

#include "runtime/math/exp.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

template <class V>
TFL_OUTLINE V bessel_i0e(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(bessel_i0e(convert<double>(x)));
  } else {
    V a = abs(x);
    V t = fma(min(a, V(8)), V(0.25), V(-1));
    V small = horner(
        t, 0x1.a7f09f8eedf5ap-3, -0x1.cedda0048620bp-4, 0x1.8322d1d8a3bdep-4, -0x1.6cb8d0c91590ap-4, 0x1.65c235bfea3a6p-4,
        -0x1.5c028fe646311p-4, 0x1.44b6196a818d3p-4, -0x1.1cd73a8e87e28p-4, 0x1.d11e10f5217eap-5, -0x1.602411e04aa03p-5,
        0x1.ee6f565b17609p-6, -0x1.427b09b42aa78p-6, 0x1.87e8672c06d4bp-7, -0x1.bd258c5c271ap-8, 0x1.da1aa76145d5ep-9,
        -0x1.daf9d10ce0e7dp-10, 0x1.c0f4656a8f00fp-11, -0x1.917f15355332bp-12, 0x1.5498c4760739bp-13, -0x1.12ccb518fe815p-14,
        0x1.a6bfa85966e1ep-16, -0x1.3617b0b13eb3cp-17, 0x1.b1f0ebd99fc9bp-19, -0x1.265c487b9853bp-20, 0x1.887c7a35bcbbap-22,
        -0x1.d62cc8464bd7bp-24, 0x1.ce8b68b073004p-26, -0x1.386daf17fb385p-27, 0x1.2cbb39c1d9cdp-28, -0x1.10f3a91e26262p-30);
    V u = V(16) / max(a, V(8)) - V(1);
    V large =
        horner(u, 0x1.9bd428ad249a5p-2, 0x1.b87969bb93b86p-9, 0x1.1daa72b5cc361p-13, 0x1.75e5ee71951f3p-17, 0x1.8e513bcb7bee6p-20,
               0x1.3f49a7d2dca95p-22, 0x1.7d0de0aa1b679p-24, 0x1.51ce72b440ae7p-25, 0x1.72597dae0e8f6p-26, 0x1.0393ae22437c4p-27,
               -0x1.d2b00f09bab4p-28, -0x1.ccb9c039d8a1p-27, -0x1.69bef1bc16d99p-28, 0x1.03806d0ab03bdp-27, 0x1.e9a0382ffddd5p-28,
               -0x1.e1d62f439035p-29, -0x1.7a417409e665p-28, 0x1.a1cbb61835646p-30, 0x1.b756a20b2d0ccp-29, -0x1.3a2d708fef491p-31,
               -0x1.70c3ee789bdcdp-30, 0x1.4fe92b267f263p-33, 0x1.885625f365d6dp-32, -0x1.6451ae0b0418bp-36,
               -0x1.87bc8573355e8p-35) /
        sqrt(a);
    return select(x != x, x, select(a <= 8, small, large));
  }
}

template <class V>
TFL_OUTLINE V bessel_i1e(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(bessel_i1e(convert<double>(x)));
  } else {
    V a = abs(x);
    V t = fma(min(a, V(8)), V(0.25), V(-1));
    V small = a * horner(t, 0x1.6e14eb8e5d31ap-5, -0x1.f4bb071a77555p-5, 0x1.16c390ddb07edp-4, -0x1.1881379ffaafbp-4,
                         0x1.0530f818033bap-4, -0x1.c4daa513760c9p-5, 0x1.6df95e8b400e9p-5, -0x1.13d5f354fdb17p-5,
                         0x1.84125b1b5c2b8p-6, -0x1.fe3d9c93bbf0dp-7, 0x1.3a0c194474ba8p-7, -0x1.6ab69c7721952p-8,
                         0x1.89f8b2c02ef9fp-9, -0x1.93689978717c3p-10, 0x1.86563fcd86c9ep-11, -0x1.65ba6f9788283p-12,
                         0x1.37467932bff85p-13, -0x1.01ca0ef820f26p-14, 0x1.96784e4a0f16dp-16, -0x1.30dcb011bba1cp-17,
                         0x1.ba5f885b3f571p-19, -0x1.3c7529b6e3877p-20, 0x1.9697853813136p-22, -0x1.a11e260617ad3p-24,
                         0x1.260f66dfd7bbap-25, -0x1.3a4c0100b86d9p-26, 0x1.374270d49c9f4p-28);
    V u = V(16) / max(a, V(8)) - V(1);
    V large = horner(u, 0x1.8ebe783a8403p-2, -0x1.3f796198ee62dp-7, -0x1.cbc54df1eeb52p-13, -0x1.f89c23060e935p-17,
                     -0x1.ec8e1018bf5p-20, -0x1.76137f8be35aap-22, -0x1.ad8d9fe8cf7e5p-24, -0x1.727a0b0beff6ap-25,
                     -0x1.91861f3201cf2p-26, -0x1.2193e54e6253dp-27, 0x1.ce0dfedf6e0f1p-28, 0x1.e2383aab6c69bp-27,
                     0x1.9ceeb2083afefp-28, -0x1.069b6d0eb8c64p-27, -0x1.119e05034ad38p-27, 0x1.d700c90b2d207p-29,
                     0x1.b492c3eb8cddbp-28, -0x1.8bb1cc8755226p-30, -0x1.0c35e18a57a75p-28, 0x1.236c8e868a72fp-31,
                     0x1.e1dad65d52de7p-30, -0x1.349170a3dfaadp-33, -0x1.133a9ddfb1aeep-31, 0x1.4652599b83b69p-36,
                     0x1.26c2bcf89b672p-34) /
              sqrt(a);
    return select(x != x, x, copysign(select(a <= 8, small, large), x));
  }
}

// e^|x| in two halves: it overflows later than e^|x| does.
template <class V>
TFL_OUTLINE V bessel_i0(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(bessel_i0(convert<double>(x)));
  } else {
    V half = exp(abs(x) * 0.5);
    V y = bessel_i0e(x) * half * half;
    return select(is_inf(x), inf_of<V>(), y);
  }
}
template <class V>
TFL_OUTLINE V bessel_i1(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(bessel_i1(convert<double>(x)));
  } else {
    V half = exp(abs(x) * 0.5);
    V y = bessel_i1e(x) * half * half;
    return select(is_inf(x), x, y);
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
