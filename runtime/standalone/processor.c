/* What the processor can do, asked of itself: the compiler's own answer is part of libgcc, which is not there where a linker works alone. */
#include "runtime/standalone/standalone.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum { YMM_STATE = 0x6, ZMM_STATE = 0xe6 };

/* Which registers the operating system saves. */
static unsigned saved_registers(void) {
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static bool has(unsigned flags, unsigned wanted) { return (flags & wanted) == wanted; }

/* The level of the x86-64 ABI: 4, 3, or 1 for what is less. */
static int level(void) {
  unsigned a, b, c, d, b7, extended;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
  if (!has(c, bit_AVX | bit_OSXSAVE | bit_F16C | bit_FMA | bit_MOVBE | bit_POPCNT | bit_SSE4_2)) return 1;
  if (!has(saved_registers(), YMM_STATE)) return 1;
  if (!__get_cpuid(0x80000001u, &a, &b, &extended, &d) || !has(extended, bit_LZCNT)) return 1;
  if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d) || !has(b7, bit_AVX2 | bit_BMI | bit_BMI2)) return 1;
  if (!has(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL)) return 3;
  return has(saved_registers(), ZMM_STATE) ? 4 : 3;
}
#endif

bool tfls_processor_serves(const char *cpu) {
#if defined(__x86_64__)
  if (strcmp(cpu, "x86-64-v4") == 0) return level() >= 4;
  if (strcmp(cpu, "x86-64-v3") == 0) return level() >= 3;
#else
  (void)cpu;
#endif
  return true;
}
