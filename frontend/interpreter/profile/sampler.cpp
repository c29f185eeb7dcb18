#include "frontend/interpreter/profile/sampler.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "frontend/core/frame.h"

namespace tfl::profile {

namespace {

constexpr long kPeriod = 1000000;  // nanoseconds

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

/// Zeroed pages that cost nothing until they are written; null when there are none.
template <class T>
T* map(size_t count) {
  void* p = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<T*>(p);
}

template <class T>
void unmap(T* p, size_t count) {
  if (p) munmap(p, count * sizeof(T));
}

/// Copies what may not be there: a frame that is being made or dropped has pointers that lead nowhere.
bool read_safely(const void* from, void* to, size_t bytes) {
  iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

/// The instruction in progress, which the loop writes to the frame only when it calls out: a register that points to one of them.
const Instruction* in_registers(const Code& code, const void* machine) {
  const auto* context = static_cast<const ucontext_t*>(machine);
#if defined(__x86_64__)
  const auto* registers = context->uc_mcontext.gregs;
  constexpr int count = 15;  // r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx
#elif defined(__aarch64__)
  const auto* registers = context->uc_mcontext.regs;
  constexpr int count = 29;
#else
  const uintptr_t* registers = nullptr;
  constexpr int count = 0;
  (void)context;
#endif
  auto first = reinterpret_cast<uintptr_t>(code.instructions.data());
  uintptr_t bytes = code.instructions.size() * sizeof(Instruction);
  const Instruction* found = nullptr;
  for (int i = 0; i < count; ++i) {
    uintptr_t at = static_cast<uintptr_t>(registers[i]) - first;
    if (at >= bytes || at % sizeof(Instruction) != 0) continue;
    found = code.instructions.data() + at / sizeof(Instruction);
    if (at != 0) break;  // the first one may be the address of them all
  }
  return found;
}

void keep_alive(Object* code) { code->refs = 1; }

}  // namespace

Sampler::Sampler(Interp& interp, const Running& running)
    : interp_(interp), running_code_(running), kept_(*interp.types.code->slots), before_(interp.types.code->slots) {
  kept_.destroy = keep_alive;
  interp.types.code->slots = &kept_;
}

Sampler::~Sampler() {
  stop();
  interp_.types.code->slots = before_;
  unmap(nodes_, kNodes);
  unmap(slots_, kSlots);
  unmap(moments_, kMoments);
}

bool Sampler::start() {
  nodes_ = map<Node>(kNodes);
  slots_ = map<uint32_t>(kSlots);
  moments_ = map<Moment>(kMoments);
  if (!nodes_ || !slots_ || !moments_) return false;
  node_count_ = 1;
  // Some sandboxes forbid it; reading directly is right nearly always.
  uintptr_t word = 0, copy = 0;
  safe_reads_ = read_safely(&word, &copy, sizeof word);

  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  if (sigaction(SIGPROF, &action, nullptr) != 0) return false;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event.sigev_value.sival_ptr = this;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return false;
  begin_ = last_ = now();
  itimerspec when{};
  when.it_value.tv_nsec = when.it_interval.tv_nsec = kPeriod;
  running_ = true;
  if (timer_settime(timer_, 0, &when, nullptr) == 0) return true;
  stop();
  return false;
}

void Sampler::stop() {
  if (!running_) return;
  running_ = false;
  timer_delete(timer_);
  signal(SIGPROF, SIG_IGN);  // one may be on its way
  uint64_t end = now();
  if (moment_count_ == 0) moments_[moment_count_++] = {0, 0};
  nodes_[moments_[moment_count_ - 1].node].self += end - last_;
  last_ = end;
}

void Sampler::on_signal(int, siginfo_t* info, void* machine) {
  if (info->si_code != SI_TIMER) return;
  int error = errno;
  static_cast<Sampler*>(info->si_value.sival_ptr)->sample(machine);
  errno = error;
}

bool Sampler::read_frame(const void* frame, uintptr_t out[3]) const {
  // The words of a frame that are looked at come first in it, in this order.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  static_assert(offsetof(Frame, back) == 0 && offsetof(Frame, ip) == 8 && offsetof(Frame, code) == 16);
#pragma GCC diagnostic pop
  if (safe_reads_) return read_safely(frame, out, 3 * sizeof(uintptr_t));
  const auto* f = static_cast<const Frame*>(frame);
  out[0] = reinterpret_cast<uintptr_t>(f->back);
  out[1] = reinterpret_cast<uintptr_t>(f->ip);
  out[2] = reinterpret_cast<uintptr_t>(f->code);
  return true;
}

/// Code objects do not go, so what was one stays one.
bool Sampler::is_code(const Code* code) {
  auto address = reinterpret_cast<uintptr_t>(code);
  if (address == 0 || address % 8 != 0) return false;
  const Code*& known = known_[(address / 16) % kKnown];
  if (known == code) return true;
  struct Header {
    Counted counted;
    const Type* type;
  } header{};
  static_assert(sizeof(Header) == sizeof(Object));
  if (safe_reads_) {
    if (!read_safely(code, &header, sizeof header)) return false;
  } else {
    header = {*code, code->type};
  }
  if (header.counted.kind != static_cast<uint8_t>(Kind::Code) || header.type != interp_.types.code) return false;
  known = code;
  return true;
}

uint32_t Sampler::node_of(uint32_t parent, const Code* code, const Instruction* ip, const CodeStep* step) {
  uint64_t hash = (reinterpret_cast<uintptr_t>(ip) + reinterpret_cast<uintptr_t>(step)) / sizeof(Instruction) +
                  parent * uint64_t{0x9E3779B97F4A7C15};
  hash *= uint64_t{0xBF58476D1CE4E5B9};
  for (size_t at = hash >> 44;; at = (at + 1) % kSlots) {
    static_assert(kSlots == size_t{1} << (64 - 44) && kNodes < kSlots);
    uint32_t known = slots_[at];
    if (known == 0) {
      if (node_count_ == kNodes) return parent;
      slots_[at] = node_count_;
      nodes_[node_count_] = {parent, code, ip, step, 0};
      return node_count_++;
    }
    const Node& n = nodes_[known];
    if (n.parent == parent && n.ip == ip && n.code == code && n.step == step) return known;
  }
}

void Sampler::sample(const void* machine) {
  size_t depth = 0;
  const void* frame = interp_.frame;
  while (frame && depth < kDepth) {
    uintptr_t words[3];
    if (!read_frame(frame, words)) break;
    const auto* code = reinterpret_cast<const Code*>(words[2]);
    if (!is_code(code)) break;
    const auto* ip = reinterpret_cast<const Instruction*>(words[1]);
    if (depth == 0) {
      if (const Instruction* exact = in_registers(*code, machine)) ip = exact;
    }
    uintptr_t at = words[1] - reinterpret_cast<uintptr_t>(code->instructions.data());
    if (at / sizeof(Instruction) >= code->instructions.size()) break;
    stack_[depth++] = {code, ip};
    frame = reinterpret_cast<const void*>(words[0]);
  }
  uint32_t node = 0;
  while (depth-- > 0) node = node_of(node, stack_[depth].code, stack_[depth].ip, nullptr);
  if (const RunningCode* run = running_code_.load(std::memory_order_acquire)) {
    int64_t step = *static_cast<const volatile int64_t*>(run->step);
    if (step >= 0 && step < run->count) node = node_of(node, nullptr, nullptr, run->steps + step);
  }
  uint64_t time = now();
  nodes_[node].self += time - last_;
  bool same = moment_count_ > 0 && moments_[moment_count_ - 1].node == node;
  if (!same && moment_count_ < kMoments) moments_[moment_count_++] = {last_ - begin_, node};
  last_ = time;
  ++samples_;
}

}  // namespace tfl::profile
