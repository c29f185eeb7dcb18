#include "frontend/interpreter/builtins/builtins.h"

#include "frontend/interpreter/builtins/functions.h"
#include "frontend/interpreter/builtins/open.h"

namespace tfl {

namespace {

constexpr NativeDef kFunctions[] = {
    function("abs", "x, /", builtin::abs_),
    function("all", "iterable, /", builtin::all_),
    function("any", "iterable, /", builtin::any_),
    function("ascii", "obj, /", builtin::ascii_),
    function("bin", "number, /", builtin::bin_),
    raw_function("breakpoint", builtin::breakpoint_),
    function("callable", "obj, /", builtin::callable_),
    function("chr", "i, /", builtin::chr_),
    function("delattr", "obj, name, /", builtin::delattr_),
    function("dir", "object=..., /", builtin::dir_),
    function("divmod", "x, y, /", builtin::divmod_),
    function("format", "value, format_spec='', /", builtin::format_),
    function("getattr", "object, name, default=..., /", builtin::getattr_),
    function("hasattr", "obj, name, /", builtin::hasattr_),
    function("hash", "obj, /", builtin::hash_),
    function("help", "request=..., /", builtin::help_),
    function("hex", "number, /", builtin::hex_),
    function("id", "obj, /", builtin::id_),
    function("input", "prompt=None, /", builtin::input_),
    function("isinstance", "obj, class_or_tuple, /", builtin::isinstance_),
    function("issubclass", "cls, class_or_tuple, /", builtin::issubclass_),
    function("iter", "iterable, sentinel=..., /", builtin::iter_),
    function("len", "obj, /", builtin::len_),
    raw_function("max", builtin::max_),
    raw_function("min", builtin::min_),
    function("next", "iterator, default=..., /", builtin::next_),
    function("oct", "number, /", builtin::oct_),
    function("open", "/, file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None",
             builtin_open),
    function("ord", "c, /", builtin::ord_),
    function("pow", "/, base, exp, mod=None", builtin::pow_),
    raw_function("print", builtin::print_),
    function("repr", "obj, /", builtin::repr_),
    function("round", "/, number, ndigits=None", builtin::round_),
    function("setattr", "obj, name, value, /", builtin::setattr_),
    raw_function("sorted", builtin::sorted_),
    function("sum", "iterable=..., /, start=0", builtin::sum_),
    function("vars", "object=..., /", builtin::vars_),
    function("globals", "", builtin::globals_),
    function("locals", "", builtin::locals_),
    function(".match_sequence", "subject, count: int, star: int, /", builtin::match_sequence),
    function(".match_mapping", "subject, keys: tuple, wants_rest: bool, /", builtin::match_mapping),
    function(".match_class", "subject, cls, positional: int, names: tuple, /", builtin::match_class),
    function("__import__", "name, globals=None, locals=None, fromlist=None, level=0", builtin::import_),
};

/// exit and quit: calling one ends the script, and a prompt shows how.
Result<Value> quitter_call(Interp& interp, Value* args) { return error_with(interp, ErrorKind::SystemExit, args[1]); }
Result<Value> quitter_repr(Interp& interp, Value* args) {
  Value name = TFL_TRY(get_attr(interp, args[0], interp.intern("name")));
  return interp.strf("Use {}() or Ctrl-D (i.e. EOF) to exit", text_of(name));
}
constexpr NativeDef kQuitter[] = {method("__call__", "self, code=None, /", quitter_call),
                                  method("__repr__", "self, /", quitter_repr)};

void add_quitters(Interp& interp, Dict* names) {
  Value methods = interp.dict();
  Type* type = interp.new_type("Quitter", nullptr, methods, "_sitebuiltins");
  for (const NativeDef& def : kQuitter) dict_set_str(methods.as<Dict>(), interp.intern(def.name), interp.native(def, {}, type));
  for (const char* name : {"exit", "quit"}) {
    auto* quitter = interp.allocate<Instance>(type);
    quitter->dict = interp.dict();
    dict_set_str(quitter->dict.as<Dict>(), interp.intern("name"), interp.str(interp.intern(name)));
    dict_set_str(names, interp.intern(name), Value::adopt(quitter));
  }
}

/// What the library has in its own language, made when somebody asks.
Result<Value> later_builtin(Interp& interp, Module* module, Str* name) {
  const bool group = name->text == "ExceptionGroup" || name->text == "BaseExceptionGroup";
  if (!group && name->text != "aiter" && name->text != "anext") return Value();
  Value from = TFL_TRY(interp.import_module(group ? "_exception_groups" : "_async_iteration"));
  Value found = TFL_TRY(get_attr(interp, from, name));
  dict_set_str(module->dict.as<Dict>(), name, found);
  return found;
}

}  // namespace

std::span<const NativeDef> builtin_functions() { return kFunctions; }

void fill_builtins(Interp& interp, Module* module) {
  Dict* names = module->dict.as<Dict>();
  module->lazy = later_builtin;
  for (const NativeDef& def : kFunctions) dict_set_str(names, interp.intern(def.name), interp.native(def));
  const Types& t = interp.types;
  for (Type* type :
       {t.object,      t.type,    t.int_,      t.bool_,    t.float_,   t.str,          t.bytes,       t.list,  t.bytearray,
        t.memory_view, t.complex, t.tuple,     t.dict,     t.set,      t.frozenset,    t.range,       t.slice, t.zip,
        t.map,         t.filter,  t.enumerate, t.reversed, t.property, t.staticmethod, t.classmethod, t.super}) {
    dict_set_str(names, type->name, Value::share(type));
  }
  constexpr ErrorKind kKinds[] = {
#define TFL_ERROR_KIND(id, base, where) ErrorKind::id,
#include "runtime/support/error_kinds.def"
#undef TFL_ERROR_KIND
  };
  for (ErrorKind kind : kKinds) {
    Type* type = interp.exception_type(kind);
    if (type->module == interp.sym.builtins) dict_set_str(names, type->name, Value::share(type));
  }
  // Classes that nothing in C++ raises.
  struct More {
    const char* name;
    ErrorKind base;
  };
  constexpr More kMore[] = {
      {"FutureWarning", ErrorKind::Warning},      {"PendingDeprecationWarning", ErrorKind::Warning},
      {"SyntaxWarning", ErrorKind::Warning},      {"ImportWarning", ErrorKind::Warning},
      {"UnicodeWarning", ErrorKind::Warning},     {"BytesWarning", ErrorKind::Warning},
      {"ResourceWarning", ErrorKind::Warning},    {"EncodingWarning", ErrorKind::Warning},
      {"BlockingIOError", ErrorKind::OSError},    {"ConnectionError", ErrorKind::OSError},
      {"InterruptedError", ErrorKind::OSError},   {"ChildProcessError", ErrorKind::OSError},
      {"ProcessLookupError", ErrorKind::OSError},
  };
  auto add = [&](const char* name, Type* base) {
    Type* type = interp.new_type(name, base, interp.dict(), "builtins");
    dict_set_str(names, type->name, Value::share(type));
    return type;
  };
  for (const More& m : kMore) add(m.name, interp.exception_type(m.base));
  Type* connection = dict_get_str(names, interp.intern("ConnectionError")).as<Type>();
  for (const char* name : {"BrokenPipeError", "ConnectionAbortedError", "ConnectionRefusedError", "ConnectionResetError"})
    add(name, connection);
  Value os_error = Value::share(interp.exception_type(ErrorKind::OSError));
  dict_set_str(names, interp.intern("IOError"), os_error);
  dict_set_str(names, interp.intern("EnvironmentError"), os_error);
  add_quitters(interp, names);
  dict_set_str(names, interp.intern("NotImplemented"), interp.not_implemented);
  dict_set_str(names, interp.intern("Ellipsis"), interp.ellipsis);
  dict_set_str(names, interp.intern("__debug__"), Value::boolean(true));
}

}  // namespace tfl
