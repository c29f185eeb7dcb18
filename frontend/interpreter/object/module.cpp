// Modules, cells, code objects and tracebacks as objects.
#include <algorithm>
#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/code.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

Result<Value> repr_module(Interp& interp, const Value& self) {
  Module* m = self.as<Module>();
  if (m->file.is_str()) return interp.strf("<module '{}' from '{}'>", m->name->text, m->file.as<Str>()->text);
  return interp.strf("<module '{}' (built-in)>", m->name->text);
}

Result<Value> construct_module(Interp& interp, Type*, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "module", args, {"name", "doc"}, 1, 0, out));
  if (!out[0].is_str())
    return fail(ErrorKind::TypeError, "module() argument 'name' must be str, not {}", interp.type_name(out[0]));
  return interp.module(out[0].as<Str>()->text);
}

Result<Value> repr_cell(Interp& interp, const Value& self) {
  Cell* c = self.as<Cell>();
  if (c->value.is_empty()) return interp.strf("<cell at {:#x}: empty>", reinterpret_cast<uintptr_t>(c));
  return interp.strf("<cell at {:#x}: {} object>", reinterpret_cast<uintptr_t>(c), interp.type_name(c->value));
}

Result<Value> get_cell(Interp&, const Value& self, Str* name) {
  if (name->text != "cell_contents") return Value();
  if (self.as<Cell>()->value.is_empty()) return fail(ErrorKind::ValueError, "Cell is empty");
  return self.as<Cell>()->value;
}

Result<Value> repr_code(Interp& interp, const Value& self) {
  Code* c = self.as<Code>();
  TFL_TRY(complete(interp, *c));
  return interp.strf("<code object {} at {:#x}, file \"{}\", line {}>", c->name->text, reinterpret_cast<uintptr_t>(c),
                     c->source ? c->source->name : std::string("?"), c->span.line);
}

Result<Value> get_code(Interp& interp, const Value& self, Str* name) {
  Code* c = self.as<Code>();
  TFL_TRY(complete(interp, *c));
  std::string_view n = name->text;
  if (n == "co_name") return interp.str(c->name);
  if (n == "co_qualname") return interp.str(c->qualname);
  if (n == "co_filename") return interp.str(c->source ? c->source->name : std::string("?"));
  if (n == "co_firstlineno") return Value::integer(c->span.line);
  if (n == "co_argcount") return Value::integer(c->positional);
  if (n == "co_posonlyargcount") return Value::integer(c->positional_only);
  if (n == "co_kwonlyargcount") return Value::integer(c->keyword_only);
  if (n == "co_flags")
    return Value::integer((c->var_positional ? 4 : 0) | (c->var_keyword ? 8 : 0) |
                          (c->async_generator ? 512
                           : c->coroutine     ? 128
                           : c->generator     ? 32
                                              : 0) |
                          3);
  if (n == "co_varnames") {
    std::vector<Value> names;
    for (const Param& p : c->params) names.push_back(interp.str(p.name));
    for (size_t i = c->params.size(); i < c->register_names.size(); ++i) {
      bool free = std::find(c->free_registers.begin(), c->free_registers.end(), i) != c->free_registers.end();
      if (c->register_names[i] && !free) names.push_back(interp.str(c->register_names[i]));
    }
    return interp.tuple(names);
  }
  if (n == "co_nlocals") return Value::integer(static_cast<int64_t>(c->register_names.size()));
  if (n == "co_freevars") {
    std::vector<Value> names;
    for (Str* s : c->free_names) names.push_back(interp.str(s));
    return interp.tuple(names);
  }
  return Value();
}

// ------------------------------------------------------------------------------------------------------------ traceback

Result<Value> get_traceback(Interp& interp, const Value& self, Str* name) {
  Traceback* tb = self.as<Traceback>();
  Exception* e = tb->exception.as<Exception>();
  if (tb->index < 0 || tb->index >= static_cast<int64_t>(e->trace.size())) return Value();
  const TraceEntry& entry = e->trace[static_cast<size_t>(tb->index)];
  std::string_view n = name->text;
  if (n == "tb_lineno") return Value::integer(entry.span.line);
  if (n == "tb_next") {
    if (tb->index == 0) return Value::none();
    Traceback* next = interp.allocate<Traceback>(interp.types.traceback);
    next->exception = tb->exception;
    next->index = tb->index - 1;
    return Value::adopt(next);
  }
  if (n == "tb_frame") return self;  // what is asked of a frame here: its code and line
  if (n == "f_code") return Value::share(entry.code);
  if (n == "_shown") return interp.str(traceback_entry_text(entry));
  if (n == "f_lineno") return Value::integer(entry.span.line);
  return Value();
}

/// Two views of the same way through the code are equal.
Result<Value> compare_traceback(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !a.is(Kind::Traceback) || !b.is(Kind::Traceback))
    return interp.not_implemented;
  const Traceback &x = *a.as<Traceback>(), &y = *b.as<Traceback>();
  const auto& xs = x.exception.as<Exception>()->trace;
  const auto& ys = y.exception.as<Exception>()->trace;
  bool same = x.index == y.index;
  for (int64_t i = x.index; same && i >= 0; --i) {
    const TraceEntry &p = xs[static_cast<size_t>(i)], &q = ys[static_cast<size_t>(i)];
    same = p.code == q.code && p.span == q.span;
  }
  return Value::boolean(same == (op == CompareOp::Eq));
}

}  // namespace

extern const Slots module_slots, cell_slots, code_slots, traceback_slots;
const Slots module_slots = {.kind = Kind::Module,
                            .destroy = destroy_object<Module>,
                            .construct = construct_module,
                            .repr = repr_module,
                            .hash = identity_hash,
                            .has_dict = true};
const Slots cell_slots = {
    .kind = Kind::Cell, .destroy = destroy_object<Cell>, .repr = repr_cell, .hash = identity_hash, .get_attr = get_cell};
const Slots code_slots = {
    .kind = Kind::Code, .destroy = destroy_object<Code>, .repr = repr_code, .hash = identity_hash, .get_attr = get_code};
const Slots traceback_slots = {.kind = Kind::Traceback,
                               .destroy = destroy_object<Traceback>,
                               .hash = identity_hash,
                               .compare = compare_traceback,
                               .get_attr = get_traceback};

std::span<const NativeDef> code_methods() { return {}; }
std::span<const NativeDef> traceback_methods() { return {}; }

}  // namespace tfl
