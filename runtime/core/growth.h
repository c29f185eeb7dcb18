// The memory of the whole process against the limit of the run. Whatever grows is measured, not only what somebody remembered to count: all that
// `new` gives out counts itself down, and every 16 MiB of it the system is asked what the process holds. What is over the limit becomes an
// interrupt: MemoryError at the script's next statement, in the midst of things when it goes on, exit code 70 when not even that stops it.
// This file must not know about interpreters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tfl {

class Context;

/// A bit of Context::interrupt.
inline constexpr uint32_t kInterruptMemory = 4;
/// The program ends with this code when the system has no memory left for it.
inline constexpr int kExitNoMemory = 70;

namespace growth {

/// From now on the process is held to this context's limit; nullptr: to none. The context outlives that.
void watch(Context* context);
/// Bytes that the process holds and that are no file's; 0 where the system does not tell.
size_t held();
/// Counts memory that comes from elsewhere than `new`.
void count(size_t bytes);
/// Measures now. For those who let others take memory, which `new` here does not see.
void measure();

/// For who got no memory from the system: lets go of what is kept for that case, has MemoryError raised, and ends the program when it has been
/// done before. Then the system may be asked again, once.
void shortage();
/// Ends the program; after be_a_guest() throws std::bad_alloc.
[[noreturn]] void out_of_memory();
/// From now on the process is another program's, and goes on when memory is short: libtfl tells its caller.
void be_a_guest();
/// MemoryError has been raised while the process held `bytes`, or 0: it had not been necessary. Something is put by for the next shortage, and the
/// limit is not asked again before the process has grown further: whoever catches the error needs room to let go.
void told(size_t bytes);
/// Would the system give that much? Nothing is taken.
bool available(size_t bytes);

/// std::aligned_alloc that returns memory or not at all.
void* aligned(size_t alignment, size_t bytes);

}  // namespace growth

}  // namespace tfl
