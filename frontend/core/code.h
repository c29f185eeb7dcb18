// Compiled code: instructions, constants, names, spans and exception handlers of one function, class body or module. Of a function of a
// library module there is only the head until somebody asks for the rest, see complete().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/core/object.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl {

enum class Opcode : uint8_t {
#define TFL_INSTRUCTION(name, operands) name,
#include "frontend/core/instructions.def"
#undef TFL_INSTRUCTION
};

struct Instruction {
  Opcode op;
  uint8_t x;
  uint16_t a;
  uint16_t b;
  uint16_t c;
  int32_t bc() const { return static_cast<int32_t>(static_cast<uint32_t>(b) | static_cast<uint32_t>(c) << 16); }
  void set_bc(int32_t v) {
    b = static_cast<uint16_t>(static_cast<uint32_t>(v) & 0xFFFF);
    c = static_cast<uint16_t>(static_cast<uint32_t>(v) >> 16);
  }
};
static_assert(sizeof(Instruction) == 8);

/// An error raised at an instruction in [first, last) goes to `target` with the exception in register `reg`.
/// Inner handlers come before outer ones.
struct Handler {
  uint32_t first, last, target;
  uint16_t reg;
};

/// A condition in the instructions [first, last), or the ForIter there, that may be a tensor: of statement number `statement`. In a graph what
/// it decides is a branch or a loop, whose results are values of their own (frontend/interpreter/vm/renewal.h). A place is a register, or -1 - r for the
/// cell in register r.
struct Decision {
  uint32_t first, last;
  uint32_t statement;
  bool loop = false;
  bool returns = false;         // a `return` stands inside
  std::vector<int32_t> places;  // of the variables that are assigned inside, in the order in which they are renewed
  std::vector<int32_t> reads;   // of a loop: of the variables that are only read inside
};

/// What the traceback underlines: the whole span, and for a binary operation or subscript the operator within it.
struct InstructionSpan {
  Span span;
  Span anchor;  // all 0: none
};

struct Param {
  Str* name;
  ast::ParamKind kind;
};

/// A name cache of LoadGlobal/StoreGlobal, filled in by the VM.
struct GlobalCache {
  uint32_t module_version = 0;   // keys_version of the module's dict, 0: not filled
  uint32_t builtin_version = 0;  // keys_version of the builtins' dict when the name came from there
  uint32_t entry = 0;
  bool builtin = false;
  const Dict* dict = nullptr;  // the module's names it was filled from
};

struct CodeBytes;

/// What `complete` says below is made when complete() is called; the rest is always there.
struct Code : Object {
  // ---- complete
  std::vector<Instruction> instructions;
  std::vector<Value> constants;
  mutable std::vector<InstructionSpan> spans;  // one an instruction; read them with span_at()
  mutable std::string_view packed_spans;       // of code that was read from a file, in `bytes`: unpacked when first asked for
  std::vector<Handler> handlers;
  std::vector<Decision> decisions;
  /// In the order of the registers they arrive in, r[0] ..: all positional ones, keyword-only ones, *args, **kwargs.
  std::vector<Param> params;
  std::vector<Str*> register_names;      // names of the first registers (locals and cells); null for temporaries
  std::vector<uint16_t> free_registers;  // registers that get the closure's cells, in order
  std::vector<Str*> free_names;
  mutable std::vector<GlobalCache> caches;
  Span span;               // of the def, lambda, class or module
  uint32_t registers = 0;  // frame size
  // ---- the head
  uint32_t body = 0;  // where in `bytes` the rest begins; 0: it has been read
  Str* name;
  Str* qualname;
  mutable Value doc;        // Str or None; Empty: in `bytes`, read it with doc_of()
  uint32_t doc_string = 0;  // of what was read from a library module: which string there, counted from 1; 0: none
  std::shared_ptr<const Source> source;
  std::shared_ptr<CodeBytes> bytes;  // what it was read from; null for code that was compiled here
  bool generator = false;            // a call makes an object that runs it: a generator, or as the next two say
  bool coroutine = false;            // `async def`, or a comprehension that awaits
  bool async_generator = false;      // ... that yields
  bool class_body = false;
  bool module_body = false;
  /// Parameter counts, *args and **kwargs apart; `positional` includes the `positional_only` first ones.
  uint16_t positional_only = 0, positional = 0, keyword_only = 0;
  bool var_positional = false, var_keyword = false;
  /// Made by AutoGraph; `helper`: part of the body of the function around it, whose name it has and in whose place tracebacks show it.
  bool converted = false, helper = false;
  mutable Value autograph;  // what AutoGraph made of it: a Code, None where it stays as it is; Empty: not asked yet

  InstructionSpan span_at(uint32_t instruction) const;
};

/// The docstring, Str or None. That of a library module is made when somebody asks.
Value doc_of(Interp&, const Code&);
inline bool has_doc(const Code& code) { return code.doc_string != 0 || code.doc.is_str(); }

Result<void> read_body(Interp&, Code&);
/// Before anything but the head is looked at, unless a frame runs the code. Fails where the bytes are damaged.
inline Result<void> complete(Interp& interp, Code& code) {
  if (code.body != 0) [[unlikely]]
    return read_body(interp, code);
  return {};
}

}  // namespace tfl
