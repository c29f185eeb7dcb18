// The sys module: arguments, exit, limits of the platform. sys.modules is the interpreter's own table.
#include <cfloat>
#include <limits>

#include "frontend/core/frame.h"
#include "frontend/core/native_module.h"
#include "frontend/interpreter/object/file.h"

namespace tfl {

namespace {

Result<Value> sys_exit(Interp& interp, Value* args) { return error_with(interp, ErrorKind::SystemExit, args[0]); }

Result<Value> sys_getrecursionlimit(Interp& interp, Value*) { return Value::integer(interp.options.max_depth); }

Result<Value> sys_setrecursionlimit(Interp& interp, Value* args) {
  int64_t n = TFL_TRY(to_index(interp, args[0]));
  if (n < 1) return fail(ErrorKind::ValueError, "recursion limit must be greater or equal than 1");
  if (n > 1000000) return fail(ErrorKind::OverflowError, "the recursion limit is at most 1000000");
  if (n <= interp.depth) {
    return fail(ErrorKind::RecursionError, "cannot set the recursion limit to {} at the recursion depth {}: the limit is too low",
                n, interp.depth);
  }
  interp.options.max_depth = static_cast<int>(n);
  return Value::none();
}

Result<Value> sys_intern(Interp& interp, Value* args) {
  if (!args[0].is_str()) return fail(ErrorKind::TypeError, "intern() argument must be str, not {}", interp.type_name(args[0]));
  return interp.str(interp.intern(text_of(args[0])));
}

Result<Value> sys_getrefcount(Interp&, Value* args) { return Value::integer(args[0].is_object() ? args[0].counted()->refs : 1); }

Result<Value> sys_get_int_max_str_digits(Interp& interp, Value*) { return Value::integer(interp.max_str_digits); }

Result<Value> sys_set_int_max_str_digits(Interp& interp, Value* args) {
  int64_t n = TFL_TRY(to_index(interp, args[0]));
  constexpr int64_t kLeast = 640;
  if (n != 0 && n < kLeast) return fail(ErrorKind::ValueError, "maxdigits must be 0 or larger than {}", kLeast);
  interp.max_str_digits = n;
  return Value::none();
}

/// What the innermost frame is handling: (class, exception, traceback).
Result<Value> sys_exc_info(Interp& interp, Value*) {
  Value e = current_handling(interp);
  if (e.is_empty()) return interp.tuple({Value::none(), Value::none(), Value::none()});
  Value type = Value::share(e.object()->type);
  Value trace = TFL_TRY(get_attr(interp, e, interp.sym.__traceback__));
  return interp.tuple({type, e, trace});
}

/// The exception that the innermost frame is handling, or None.
Result<Value> sys_exception(Interp& interp, Value*) {
  Value e = current_handling(interp);
  return e.is_empty() ? Value::none() : e;
}

/// What few scripts ask for is in stdlib/python/_sys_info.tfl: version_info, flags, getdefaultencoding and the like.
Result<Value> lazy_info(Interp& interp, Module*, Str* name) {
  if (name->text.starts_with('_')) return Value();
  Value made = TFL_TRY(interp.import_module("_sys_info"));
  Value values = TFL_TRY(get_attr(interp, made, interp.intern("VALUES")));
  return values.is(Kind::Dict) ? dict_get(interp, values.as<Dict>(), interp.str(name)) : Result<Value>(Value());
}

constexpr NativeDef kSys[] = {
    function("exit", "status=None, /", sys_exit),
    function("getrecursionlimit", "", sys_getrecursionlimit),
    function("setrecursionlimit", "limit, /", sys_setrecursionlimit),
    function("intern", "string, /", sys_intern),
    function("get_int_max_str_digits", "", sys_get_int_max_str_digits),
    function("set_int_max_str_digits", "maxdigits", sys_set_int_max_str_digits),
    function("getrefcount", "object, /", sys_getrefcount),
    function("exc_info", "", sys_exc_info),
    function("exception", "", sys_exception),
};

}  // namespace

Result<void> init_sys(Interp& interp, Module& module) {
  define_all(interp, module, kSys);
  std::vector<Value> argv;
  for (const std::string& a : interp.options.argv) argv.push_back(interp.str(a));
  define(interp, module, "argv", interp.list(std::move(argv)));
  define(interp, module, "modules", interp.modules);
  define(interp, module, "stdin", standard_stream(interp, 0));
  define(interp, module, "stdout", standard_stream(interp, 1));
  define(interp, module, "stderr", standard_stream(interp, 2));
  define(interp, module, "maxsize", Value::integer(std::numeric_limits<int64_t>::max()));
  define(interp, module, "maxunicode", Value::integer(0x10FFFF));
  define(interp, module, "byteorder", interp.str("little"));
  define(interp, module, "platform", interp.str("linux"));
  define(interp, module, "version", interp.str("3.11.0 (TFL)"));
  module.lazy = lazy_info;
  define(interp, module, "path", interp.list({interp.str(interp.options.script_folder)}));
  define(interp, module, "executable", interp.str("tfl"));
  for (int i = 0; i < 3; ++i) {
    static constexpr const char* kNames[] = {"stdin", "stdout", "stderr"};
    define(interp, module, kNames[i], standard_stream(interp, i));
    define(interp, module, std::string("__") + kNames[i] + "__", standard_stream(interp, i));
  }
  return {};
}

}  // namespace tfl
