// LLVM's linker and its tools for objects, in a library of their own (libtfl_lld.so): what `tfl build` uses where no C compiler and no
// binutils are installed. This header must not know LLVM, nor what is linked.
#pragma once

#include <string>
#include <vector>

namespace tfl::codegen {

struct LinkJob {
  std::vector<std::string> arguments;  // of ld.lld; none: `object` is there already
  // Where an archive is wanted: it holds the object alone, of whose symbols only those that begin with `prefix` are seen from outside.
  std::string object, archive, prefix;
};

/// What the library exports. `error` is empty when all went well. Relocatable links (-r) come before others: the linker keeps names that
/// a later one of them would take for its own.
using LinkerEntry = void (*)(const LinkJob& job, std::string& error);
inline constexpr const char* kLinkerEntry = "tfl_link_job";

}  // namespace tfl::codegen
