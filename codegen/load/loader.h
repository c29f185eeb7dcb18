// Machine code in memory: an ELF object as the compiler writes it (x86-64, relocatable) is laid out, relocated and made
// executable. Memory is writable first and executable then, never both. Whatever is wrong with the bytes is an error and not a
// crash. This header must not know plans, nor where objects come from.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "codegen/abi.h"
#include "runtime/support/result.h"

namespace tfl::codegen {

/// Who else is told about loaded code.
struct CodeListeners {
  bool debugger = false;  // gdb's interface for compilers at run time
  bool profiler = false;  // /tmp/perf-PID.map
};

class LoadedCode {
 public:
  static Result<std::shared_ptr<const LoadedCode>> load(std::string_view object, const CodeListeners& listeners = {});
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  EntryFunction entry() const { return entry_; }
  size_t bytes() const { return bytes_; }  // of memory

 private:
  LoadedCode() = default;
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  EntryFunction entry_ = nullptr;
  void* debugger_ = nullptr;  // what the debugger was told
  friend class Loader;
};

/// Tells a debugger about `object`, whose section headers hold the addresses that its sections lie at; `forget_code` takes what
/// it gave.
void* announce_code(std::string object);
void forget_code(void* announced);
/// A line of the profiler's map.
void map_symbol(const void* address, size_t size, std::string_view name);

}  // namespace tfl::codegen
