// The module `_tf`: natives that are no operations, and the joining of all tables.
#include <algorithm>
#include <chrono>

#include "frontend/core/advice.h"
#include "frontend/core/exception.h"
#include "frontend/core/native_module.h"
#include "frontend/core/scope.h"
#include "frontend/core/signature.h"
#include "frontend/core/tensor_operators.h"
#include "frontend/interpreter/object/file.h"
#include "frontend/stdlib/embedded.h"
#include "frontend/stdlib/exports.h"
#include "frontend/syntax/diagnostics/suggest.h"
#include "frontend/tensors/tensor/device.h"
#include "frontend/tensors/tensor/natives.h"
#include "frontend/tensors/tensor/shape.h"
#include "frontend/tensors/tensor/tensor_text.h"
#include "frontend/tensors/tensor/transaction.h"
#include "runtime/core/memory_pool.h"
#include "runtime/formats/foreign.h"
#include "runtime/text/print_tensor.h"

namespace tfl {

namespace {

Result<Value> is_tensor(Interp&, Value* args) {
  return Value::boolean(args[0].is_tensor() || args[0].is(Kind::Symbolic) || args[0].is(Kind::Variable));
}
Result<Value> is_symbolic(Interp&, Value* args) { return Value::boolean(args[0].is(Kind::Symbolic)); }
Result<Value> is_tracing(Interp& interp, Value*) { return Value::boolean(interp.sink && interp.sink->building()); }

Result<Value> as_dtype(Interp& interp, Value* args) { return dtype_value(interp, TFL_TRY(to_dtype(interp, args[0]))); }

/// The element type of anything that can be a tensor, as convert_to_tensor would choose it.
Result<Value> dtype_of_value(Interp& interp, Value* args) {
  if (auto d = dtype_of(interp, args[0])) return dtype_value(interp, *d);
  Value t = TFL_TRY(to_tensor(interp, args[0]));
  return dtype_value(interp, *dtype_of(interp, t));
}

/// _static_value(x): the elements as nested lists, or None while they are unknown.
Result<Value> static_value(Interp& interp, Value* args) {
  if (args[0].is(Kind::Symbolic)) {
    Tensor known = known_value(interp, args[0]);
    return known ? to_host(interp, known) : Result<Value>(Value::none());
  }
  Tensor t = TFL_TRY(to_concrete(interp, args[0]));
  return to_host(interp, t);
}

Result<Value> print_text_native(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(to_concrete(interp, args[0]));
  return interp.str(print_tensor(t, TFL_TRY(optional_int(interp, args[1], 3))));
}

Result<Value> write_stream(Interp& interp, Value* args) {
  const std::string& text = args[0].as<Str>()->text;
  if (TFL_TRY(truth(interp, args[1])))
    interp.streams.err(text);
  else
    interp.streams.out(text);
  TFL_TRY(check_output(interp));
  return Value::none();
}

/// _undivided(function, *args): calls it, as a step that is whole or has not happened.
Result<Value> undivided(Interp& interp, Value* args) {
  CallArgs given{args[1].as<Tuple>()->items, static_cast<uint32_t>(args[1].as<Tuple>()->size)};
  std::vector<Value> values(given.values, given.values + given.count);
  given.values = values.data();
  Undivided step(interp, !(interp.sink && interp.sink->building()));
  auto done = interp.call(args[0], given);
  if (!done) step.failed(done.error());
  return done;
}
/// _between_steps(): a place in the library where everything is whole.
Result<Value> between_steps(Interp& interp, Value*) {
  if (interp.asked_to_stop()) TFL_TRY(interp.check_interrupt(true));
  return Value::none();
}

Result<Value> timestamp(Interp& interp, Value*) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  double seconds = std::chrono::duration<double>(now).count();
  return Value::of(TFL_TRY(scalar<double>(interp.context, DType::F64, seconds)));
}

Result<Value> import_module_native(Interp& interp, Value* args) {
  // Modules of natives are named where they are imported, and nowhere else: who calls this may have the name from a script.
  const std::string& name = args[0].as<Str>()->text;
  if (name.starts_with('_')) return fail(ErrorKind::ModuleNotFoundError, "No module named '{}'", name);
  TFL_TRY(interp.import_module(name));
  Value found = interp.find_module(name);
  if (found.is_empty()) return fail(ErrorKind::ModuleNotFoundError, "No module named '{}'", args[0].as<Str>()->text);
  return found;
}

template <std::string_view (*Measure)(std::string_view, const std::vector<std::string_view>&)>
Result<Value> nearest_native(Interp& interp, Value* args) {
  std::string name = TFL_TRY(str_text(interp, args[0]));
  std::vector<Value> items = TFL_TRY(to_vector(interp, args[1]));
  std::vector<std::string_view> names;
  for (const Value& v : items) {
    if (v.is_str()) names.push_back(v.as<Str>()->text);
  }
  std::string_view near = Measure(name, names);
  return near.empty() ? Value::none() : interp.str(std::string(near));
}

/// _foreign_format(head): what a file is that begins with these bytes, "" for none that is known.
Result<Value> foreign_format_native(Interp& interp, Value* args) {
  return interp.str(std::string(args[0].is(Kind::Bytes) ? foreign_format(args[0].as<Bytes>()->data) : std::string_view()));
}

/// _raise_with_hint(class, message, hint)
Result<Value> raise_with_hint(Interp& interp, Value* args) {
  Value e = TFL_TRY(interp.call(args[0], {args[1]}));
  if (!e.is(Kind::Exception)) return fail(ErrorKind::TypeError, "exceptions must derive from BaseException");
  if (args[2].is_str()) e.as<Exception>()->hint = args[2].as<Str>()->text;
  return interp.raise(std::move(e));
}

Result<Value> name_scope(Interp& interp, Value*) { return interp.str(interp.tensors->name_scope); }
Result<Value> set_name_scope(Interp& interp, Value* args) {
  Value before = interp.str(interp.tensors->name_scope);
  interp.tensors->name_scope = TFL_TRY(str_text(interp, args[0]));
  return before;
}

Result<Value> as_shape_native(Interp& interp, Value* args) { return as_shape(interp, args[0]); }

Result<Value> memory_info(Interp& interp, Value*) {
  Value d = interp.dict();
  dict_set_str(d.as<Dict>(), interp.intern("current"), Value::integer(static_cast<int64_t>(interp.context.memory.live_bytes())));
  dict_set_str(d.as<Dict>(), interp.intern("peak"), Value::integer(static_cast<int64_t>(interp.context.memory.peak_bytes())));
  return d;
}
Result<Value> reset_memory(Interp& interp, Value*) {
  interp.context.memory.reset_peak();
  return Value::none();
}
Result<Value> thread_count(Interp& interp, Value*) { return Value::integer(interp.context.thread_count()); }
Result<Value> set_thread_count(Interp& interp, Value* args) {
  int64_t n = TFL_TRY(to_index(interp, args[0]));
  if (n < 0 || n > 1024) return fail(ErrorKind::ValueError, "the number of threads must be 0 .. 1024, not {}", n);
  if (n > 0) interp.context.set_thread_count(static_cast<int>(n));
  return Value::none();
}

/// _broadcast_shape(a, b): the TensorShape that two shapes broadcast to.
Result<Value> broadcast_shape(Interp& interp, Value* args) {
  Value x = TFL_TRY(as_shape(interp, args[0])), y = TFL_TRY(as_shape(interp, args[1]));
  const ShapeObject *a = x.as<ShapeObject>(), *b = y.as<ShapeObject>();
  if (!a->ranked || !b->ranked) return unknown_shape_value(interp);
  const Dims& longer = a->dims.size() >= b->dims.size() ? a->dims : b->dims;
  const Dims& shorter = a->dims.size() >= b->dims.size() ? b->dims : a->dims;
  Dims out = longer;
  size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t p = longer[skip + i], q = shorter[i];
    if (p == q || q == 1) continue;
    if (p == 1)
      out[skip + i] = q;
    else if (p < 0 || q < 0)
      out[skip + i] = p > 1 ? p : q > 1 ? q : -1;
    else {
      return fail(ErrorKind::ValueError, "Incompatible shapes for broadcasting: {} and {}.", shape_object_text(a),
                  shape_object_text(b));
    }
  }
  return shape_value(interp, out);
}

/// _scalar_name(v): "float32" for a dtype and so on — what a type's arguments are called in messages.
Result<Value> type_name_native(Interp& interp, Value* args) { return interp.str(std::string(interp.type_name(args[0]))); }

/// Variables that an object holds, directly or in containers and other modules: tf.Module.variables.
Result<Value> is_variable(Interp&, Value* args) { return Value::boolean(args[0].is(Kind::Variable)); }
Result<Value> variable_source(Interp&, Value* args) {
  if (!args[0].is(Kind::Variable)) return args[0];
  return Value::share(variable_storage(args[0].as<VariableObject>()));
}

Result<Value> to_list(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(to_concrete(interp, args[0]));
  return to_host(interp, t);
}

// The marks of one file: "home name other names", a line each. A mark stands before `def` or `class` at the beginning of a line.
void marks_of(std::string_view text, std::string_view home, std::string_view mark, std::string& out) {
  const std::string word = "@" + std::string(mark);  // its first character is rare: the search for it is fast
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view names = text.substr(at + word.size(), end - at - word.size());
    if (at == 0 || text[at - 1] != '\n' || (!names.empty() && names[0] != '(')) continue;  // within a line, or a longer word
    while (end + 1 < text.size() && text[end + 1] == '@') end = std::min(text.find('\n', end + 1), text.size());
    std::string_view own = text.substr(std::min(end + 1, text.size()));
    if (own.starts_with("def "))
      own.remove_prefix(4);
    else if (own.starts_with("class "))
      own.remove_prefix(6);
    else
      continue;
    (out += home) += ' ';
    out += own.substr(0, own.find_first_of("(:"));
    for (size_t quote = names.find('"'); quote != names.npos; quote = names.find('"', quote + 1)) {
      const size_t close = std::min(names.find('"', quote + 1), names.size());
      (out += ' ') += names.substr(quote + 1, close - quote - 1);
      quote = close;
    }
    out += '\n';
  }
}

// _marked(folder, mark): of the files in a folder of the library.
Result<Value> marked(Interp& interp, Value* args) {
  const std::string folder = "tensorflow/" + args[0].as<Str>()->text + "/";
  std::string out;
  for (size_t i = 0; i < stdlib_file_count; ++i) {
    std::string_view name = stdlib_files[i].name;
    if (!name.starts_with(folder) || name.find('/', folder.size()) != name.npos) continue;
    std::string home(name.substr(11, name.size() - 11 - 4));
    std::replace(home.begin(), home.end(), '/', '.');
    marks_of(stdlib_files[i].text(), home, args[1].as<Str>()->text, out);
  }
  return interp.str(std::move(out));
}

/// Is there a public module of that name in the package, with a file of its own?
bool has_submodule(std::string_view module, std::string_view name) {
  return !name.starts_with('_') && is_module(std::string(module) + '.' + std::string(name));
}

/// _exported(module, name): what a module of the library shows under a name: what a file marks with @export, an operation, or a submodule.
Result<Value> exported(Interp& interp, Value* args) {
  const std::string module = args[0].as<Str>()->text, name = args[1].as<Str>()->text;
  Value value;
  if (std::optional<ExportedName> at = find_export(module, name)) {
    Value home = TFL_TRY(interp.import_module(at->home, true));
    value = TFL_TRY(get_attr(interp, home, interp.intern(at->own)));
  } else if (has_submodule(module, name)) {
    return interp.import_module(module + '.' + name, true);
  } else {
    return fail(ErrorKind::AttributeError, "module '{}' has no attribute '{}'", module, name);
  }
  Value shown = interp.find_module(module);
  dict_set_str(shown.as<Module>()->dict.as<Dict>(), interp.intern(name), value);
  return value;
}

/// _exports(module): the names that `_exported` knows.
Result<Value> exports(Interp& interp, Value* args) {
  const std::string module = args[0].as<Str>()->text;
  std::vector<Value> names;
  each_export(module, {}, [&](const ExportedName& e) {
    names.push_back(interp.str(std::string(e.name)));
    return true;
  });
  std::string folder = module + '/';
  std::replace(folder.begin(), folder.end(), '.', '/');
  for (size_t i = 0; i < stdlib_file_count; ++i) {
    std::string_view rest = stdlib_files[i].name;
    if (!rest.starts_with(folder)) continue;
    rest.remove_prefix(folder.size());
    const size_t end = rest.find_first_of("./");
    const std::string_view tail = rest.substr(end);
    if (rest[0] != '_' && (tail == ".tfl" || tail == "/__init__.tfl"))
      names.push_back(interp.str(std::string(rest.substr(0, end))));
  }
  return interp.list(std::move(names));
}

/// _ask_objects(names): from now on these natives ask objects among their arguments whether they have something to run instead.
Result<Value> ask_objects(Interp& interp, Value* args) {
  Value module = interp.find_module("_tf");
  for (const Value& name : args[0].as<List>()->items) {
    if (!name.is_str()) return fail(ErrorKind::TypeError, "_ask_objects: names are needed");
    Value found = TFL_TRY(dict_get(interp, module.as<Module>()->dict.as<Dict>(), name));
    if (!found.is(Kind::NativeFunction))
      return fail(ErrorKind::ValueError, "_ask_objects: there is no native function {}", name.as<Str>()->text);
    NativeFunction* f = found.as<NativeFunction>();
    if (!f->signature) f->signature = parse_signature(interp, f->def->signature ? f->def->signature : "").release();
    f->signature->simple = false;
    f->signature->asks = true;
  }
  return Value::none();
}

constexpr NativeDef kHostNatives[] = {
    function("_undivided", "function, *args", undivided),
    function("_between_steps", "", between_steps),
    function("is_tensor", "x", is_tensor),
    function("_foreign_format", "head", foreign_format_native),
    function("_is_symbolic", "x", is_symbolic),
    function("_is_tracing", "", is_tracing),
    function("_is_variable", "x", is_variable),
    function("_variable_source", "x", variable_source),
    function("as_dtype", "type_value", as_dtype),
    function("_dtype_of", "x", dtype_of_value),
    function("_static_value", "x", static_value),
    function("_to_list", "x", to_list),
    function("_print_text", "x, summarize=3", print_text_native),
    function("_write_stream", "text: str, error", write_stream),
    function("timestamp", "name=None", timestamp),
    function("_import_module", "name: str", import_module_native),
    function("_nearest", "name, candidates, /", nearest_native<suggest>),
    function("_nearest_keyword", "name, candidates, /", nearest_native<suggest_keyword>),
    function("_raise_with_hint", "cls, message, hint", raise_with_hint),
    function("_name_scope", "", name_scope),
    function("_set_name_scope", "name", set_name_scope),
    function("_as_shape", "shape", as_shape_native),
    function("_broadcast_shape", "a, b", broadcast_shape),
    function("_memory_info", "", memory_info),
    function("_reset_memory", "", reset_memory),
    function("_thread_count", "", thread_count),
    function("_set_thread_count", "n", set_thread_count),
    function("_type_name", "x", type_name_native),
    function("_marked", "folder: str, mark: str, /", marked),
    function("_exported", "module: str, name: str, /", exported),
    function("_exports", "module: str, /", exports),
    function("_ask_objects", "names: list, /", ask_objects),
};

}  // namespace

Result<Value> reference_to(Interp& interp, Value* args) {
  TFL_TRY(interp.import_module("tensorflow._framework.scopes"));
  Value module = interp.find_module("tensorflow._framework.scopes");
  Value cls = TFL_TRY(get_attr(interp, module, interp.intern("Reference")));
  return interp.call(cls, {args[0]});
}

Result<void> init_tf(Interp& interp, Module& module) {
  for (std::span<const NativeDef> table :
       {elementwise_natives(), creation_natives(), shape_natives(), gather_natives(), reduce_natives(), text_natives(),
        linalg_natives(), window_natives(), fourier_natives(), random_natives(), device_natives(),
        std::span<const NativeDef>(kHostNatives)}) {
    define_all(interp, module, table);
  }
  for (int i = 0; i < kDTypeCount; ++i) {
    auto d = static_cast<DType>(i);
    define(interp, module, dtype_name(d), dtype_value(interp, d));
  }
  define(interp, module, "Tensor", Value::share(interp.types.tensor_base));
  define(interp, module, "Variable", Value::share(interp.types.variable));
  define(interp, module, "TensorShape", Value::share(interp.types.shape));
  define(interp, module, "DType", Value::share(interp.types.dtype));
  constexpr ErrorKind kErrors[] = {ErrorKind::OpError,
                                   ErrorKind::AbortedError,
                                   ErrorKind::AlreadyExistsError,
                                   ErrorKind::CancelledError,
                                   ErrorKind::DataLossError,
                                   ErrorKind::DeadlineExceededError,
                                   ErrorKind::FailedPreconditionError,
                                   ErrorKind::InternalError,
                                   ErrorKind::InvalidArgumentError,
                                   ErrorKind::NotFoundError,
                                   ErrorKind::OutOfRangeError,
                                   ErrorKind::PermissionDeniedError,
                                   ErrorKind::ResourceExhaustedError,
                                   ErrorKind::UnauthenticatedError,
                                   ErrorKind::UnavailableError,
                                   ErrorKind::UnimplementedError,
                                   ErrorKind::UnknownError,
                                   ErrorKind::OperatorNotAllowedInGraphError,
                                   ErrorKind::InaccessibleTensorError};
  for (ErrorKind kind : kErrors) define(interp, module, error_kind_name(kind), Value::share(interp.exception_type(kind)));
  return {};
}

}  // namespace tfl
