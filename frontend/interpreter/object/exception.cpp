// Exception objects.
#include "frontend/core/exception.h"

#include <algorithm>
#include <cerrno>

#include "frontend/core/attributes.h"
#include "frontend/core/frame.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/text/codec.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

void destroy_exception(Object* o) {
  auto* e = static_cast<Exception*>(o);
  for (TraceEntry& t : e->trace) Value::adopt(t.code);
  e->~Exception();
  Heap::release(e, sizeof(Exception));
}

bool is_kind(const Type* type, Interp& interp, ErrorKind kind) { return type->is_subtype_of(interp.exception_type(kind)); }

bool is_codec_error(const Type* type, Interp& interp) {
  return is_kind(type, interp, ErrorKind::UnicodeDecodeError) || is_kind(type, interp, ErrorKind::UnicodeEncodeError);
}

/// OSError(errno, text) is an instance of the class that fits the number.
Type* os_error_type(Interp& interp, Type* type, const CallArgs& args) {
  if (type != interp.exception_type(ErrorKind::OSError) || args.count < 2 || !args.values[0].is_int()) return type;
  switch (args.values[0].as_int()) {
    case ENOENT: return interp.exception_type(ErrorKind::FileNotFoundError);
    case EEXIST: return interp.exception_type(ErrorKind::FileExistsError);
    case EISDIR: return interp.exception_type(ErrorKind::IsADirectoryError);
    case ENOTDIR: return interp.exception_type(ErrorKind::NotADirectoryError);
    case EACCES:
    case EPERM: return interp.exception_type(ErrorKind::PermissionError);
    case ETIMEDOUT: return interp.exception_type(ErrorKind::TimeoutError);
    default: return type;
  }
}

/// The arguments an exception keeps: an OSError's file name is not among them.
void take_args(Interp& interp, Exception* e, const Value* values, uint32_t count) {
  bool with_file = is_kind(e->type, interp, ErrorKind::OSError) && count >= 3 && count <= 5;
  if (with_file) e->obj = values[2];
  if (with_file && count == 5) e->name = values[4];  // the second file, of a call that has two
  e->args = interp.tuple(std::span<const Value>(values, with_file ? 2 : count));
}

Result<Value> construct_exception(Interp& interp, Type* type, CallArgs& args) {
  type = os_error_type(interp, type, args);
  if (is_codec_error(type, interp) && args.count != 5 && !script_init(interp, type)) {
    return fail(ErrorKind::TypeError, "function takes exactly 5 arguments ({} given)", args.count);
  }
  Exception* e = interp.allocate<Exception>(type);
  Value self = Value::adopt(e);
  take_args(interp, e, args.values, args.count);
  Symbols& sym = interp.sym;
  for (size_t i = 0; i < args.keywords.size(); ++i) {
    Str* name = args.keywords[i];
    const Value& value = args.values[args.count + i];
    bool import = is_kind(type, interp, ErrorKind::ImportError);
    bool attribute = is_kind(type, interp, ErrorKind::AttributeError);
    bool named = is_kind(type, interp, ErrorKind::NameError);
    if (name == sym.name && (import || attribute || named)) {
      e->name = value;
    } else if (name == sym.obj && attribute) {
      e->obj = value;
    } else if (is_kind(type, interp, ErrorKind::OpError) || (name == sym.path && import)) {
      if (e->dict.is_empty()) e->dict = interp.dict();
      dict_set_str(e->dict.as<Dict>(), name, value);
    } else if (!script_init(interp, type)) {
      return fail(ErrorKind::TypeError, "{}() takes no keyword arguments", type->name->text);
    }
  }
  return self;
}

Result<Value> init_exception(Interp& interp, CallArgs& args) {
  if (args.count == 0 || !args.values[0].is(Kind::Exception)) {
    return fail(ErrorKind::TypeError, "descriptor '__init__' requires a 'BaseException' object");
  }
  Exception* e = args.values[0].as<Exception>();
  if (!args.keywords.empty() && !is_kind(e->type, interp, ErrorKind::ImportError) &&
      !is_kind(e->type, interp, ErrorKind::NameError) && !is_kind(e->type, interp, ErrorKind::AttributeError) &&
      !is_kind(e->type, interp, ErrorKind::OpError)) {
    return fail(ErrorKind::TypeError, "{}() takes no keyword arguments", e->type->name->text);
  }
  take_args(interp, e, args.values + 1, args.count - 1);
  return Value::none();
}

std::span<Value> args_of(Exception* e) {
  if (!e->args.is(Kind::Tuple)) return {};
  return e->args.as<Tuple>()->span();
}

Result<Value> str_exception(Interp& interp, const Value& self) {
  std::string text = TFL_TRY(exception_text(interp, self.as<Exception>()));
  return interp.str(std::move(text));
}

Result<Value> repr_exception(Interp& interp, const Value& self) {
  Exception* e = self.as<Exception>();
  std::string text = e->type->name->text + "(";
  bool first = true;
  // TensorFlow's errors keep what they say elsewhere, and hand Exception nothing.
  if (is_kind(e->type, interp, ErrorKind::OpError)) return interp.str(text + ")");
  for (Value& v : args_of(e)) {
    if (!first) text += ", ";
    first = false;
    std::string part = TFL_TRY(repr_text(interp, v));
    text += part;
  }
  text += ')';
  return interp.str(std::move(text));
}

Value arg_or_none(Exception* e, size_t i) {
  auto args = args_of(e);
  return i < args.size() ? args[i] : Value::none();
}
Value or_none(const Value& v) { return v.is_empty() ? Value::none() : v; }

/// tf.errors' codes, by class.
int64_t op_error_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::CancelledError: return 1;
    case ErrorKind::UnknownError: return 2;
    case ErrorKind::InvalidArgumentError: return 3;
    case ErrorKind::DeadlineExceededError: return 4;
    case ErrorKind::NotFoundError: return 5;
    case ErrorKind::AlreadyExistsError: return 6;
    case ErrorKind::PermissionDeniedError: return 7;
    case ErrorKind::ResourceExhaustedError: return 8;
    case ErrorKind::FailedPreconditionError: return 9;
    case ErrorKind::AbortedError: return 10;
    case ErrorKind::OutOfRangeError: return 11;
    case ErrorKind::UnimplementedError: return 12;
    case ErrorKind::InternalError: return 13;
    case ErrorKind::UnavailableError: return 14;
    case ErrorKind::DataLossError: return 15;
    case ErrorKind::UnauthenticatedError: return 16;
    default: return 2;
  }
}

Result<Value> get_exception_attr(Interp& interp, const Value& self, Str* name) {
  Exception* e = self.as<Exception>();
  Type* t = e->type;
  Symbols& sym = interp.sym;
  if (name == sym.args) return is_kind(t, interp, ErrorKind::OpError) ? interp.tuple({}) : e->args;
  if (name == sym.__cause__) return or_none(e->cause);
  if (name == sym.__context__) return or_none(e->context);
  if (name == sym.__suppress_context__) return Value::boolean(e->suppress_context);
  if (name == sym.__traceback__) {
    if (e->trace.empty()) return Value::none();
    Traceback* tb = interp.allocate<Traceback>(interp.types.traceback);
    tb->exception = self;
    tb->index = static_cast<int64_t>(e->trace.size()) - 1;
    return Value::adopt(tb);
  }
  if (name == sym.value && is_kind(t, interp, ErrorKind::StopIteration)) return arg_or_none(e, 0);
  if (name == sym.code && is_kind(t, interp, ErrorKind::SystemExit)) {
    return args_of(e).size() > 1 ? e->args : arg_or_none(e, 0);
  }
  if (is_kind(t, interp, ErrorKind::ImportError)) {
    if (name == sym.msg) return arg_or_none(e, 0);
    if (name == sym.name) return or_none(e->name);
    if (name == sym.path) return Value::none();
  }
  if (is_kind(t, interp, ErrorKind::AttributeError) || is_kind(t, interp, ErrorKind::NameError)) {
    if (name == sym.name) return or_none(e->name);
    if (name == sym.obj && is_kind(t, interp, ErrorKind::AttributeError)) return or_none(e->obj);
  }
  if (is_kind(t, interp, ErrorKind::OSError)) {
    bool full = args_of(e).size() >= 2;
    if (name->text == "errno") return full ? arg_or_none(e, 0) : Value::none();
    if (name == sym.strerror) return full ? arg_or_none(e, 1) : Value::none();
    if (name == sym.filename) return or_none(e->obj);
    if (name->text == "filename2") return or_none(e->name);
  }
  if (is_codec_error(t, interp)) {
    constexpr std::string_view kNames[] = {"encoding", "object", "start", "end", "reason"};
    for (size_t i = 0; i < 5; ++i) {
      if (name->text == kNames[i]) return arg_or_none(e, i);
    }
  }
  if (is_kind(t, interp, ErrorKind::OpError)) {
    bool full = args_of(e).size() >= 3;
    if (name->text == "experimental_payloads") return interp.dict();
    if (name == sym.message) return full ? arg_or_none(e, 2) : arg_or_none(e, 0);
    if (name == sym.node_def) return full ? arg_or_none(e, 0) : Value::none();
    if (name == sym.op) return full ? arg_or_none(e, 1) : Value::none();
    if (name == sym.error_code) return Value::integer(op_error_code(t->error_kind));
  }
  return Value();
}

Result<bool> set_exception_attr(Interp& interp, const Value& self, Str* name, const Value& value) {
  Exception* e = self.as<Exception>();
  Symbols& sym = interp.sym;
  auto exception_or_none = [&](Value& place, const char* what) -> Result<bool> {
    if (!value.is_none() && !value.is(Kind::Exception)) {
      return fail(ErrorKind::TypeError, "exception {} must be None or derive from BaseException", what);
    }
    place = value.is_none() ? Value() : value;
    return true;
  };
  if (name == sym.args) {
    if (value.is_empty()) return fail(ErrorKind::TypeError, "args may not be deleted");
    std::vector<Value> items = TFL_TRY(to_vector(interp, value));
    e->args = interp.tuple(items);
    return true;
  }
  if (name == sym.__cause__) {
    e->suppress_context = true;
    return exception_or_none(e->cause, "cause");
  }
  if (name == sym.__context__) return exception_or_none(e->context, "context");
  if (name == sym.__suppress_context__) {
    e->suppress_context = TFL_TRY(truth(interp, value));
    return true;
  }
  if (name == sym.__traceback__) {
    auto keep = [&](size_t n) {
      for (size_t i = n; i < e->trace.size(); ++i) Value::adopt(e->trace[i].code);
      e->trace.resize(std::min(n, e->trace.size()));
    };
    if (value.is_none()) {
      keep(0);
    } else if (interp.type_of(value) != interp.types.traceback) {
      return fail(ErrorKind::TypeError, "__traceback__ must be a traceback or None");
    } else {
      auto* tb = value.as<Traceback>();
      const Exception* from = tb->exception.as<Exception>();
      const auto count = static_cast<size_t>(tb->index) + 1;
      if (from == e) {
        keep(count);  // what was added since goes
      } else {
        keep(0);
        for (size_t i = 0; i < std::min(count, from->trace.size()); ++i) {
          e->trace.push_back(from->trace[i]);
          ++e->trace.back().code->refs;
        }
      }
    }
    return true;
  }
  return false;
}

Result<Value> with_traceback(Interp& interp, Value* args) {
  TFL_TRY(set_exception_attr(interp, args[0], interp.sym.__traceback__, args[1]));
  return args[0];
}

Result<Value> add_note(Interp& interp, Value* args) {
  if (!args[1].is_str()) return fail(ErrorKind::TypeError, "note must be a str, not '{}'", interp.type_name(args[1]));
  Dict* d = instance_dict(interp, args[0], true);
  Value notes = dict_get_str(d, interp.sym.__notes__);
  if (!notes.is(Kind::List)) {
    notes = interp.list();
    dict_set_str(d, interp.sym.__notes__, notes);
  }
  notes.as<List>()->items.push_back(args[1]);
  return Value::none();
}

constexpr NativeDef kMethods[] = {
    raw_method("__init__", init_exception),
    method("with_traceback", "self, tb, /", with_traceback),
    method("add_note", "self, note, /", add_note),
};

/// What codecs say of their fault: (encoding, object, start, end, reason).
std::string codec_text(Interp& interp, const Exception* e, std::span<const Value> args) {
  auto text = [](const Value& v) { return v.is_str() ? text_of(v) : std::string(); };
  int64_t start = args[2].is_int() ? args[2].as_int() : 0, end = args[3].is_int() ? args[3].as_int() : 0;
  std::string head = "'" + text(args[0]) + "' codec can't ", tail = ": " + text(args[4]);
  bool decodes = is_kind(e->type, interp, ErrorKind::UnicodeDecodeError);
  if (end - start == 1 && decodes && args[1].is(Kind::Bytes) && start >= 0 &&
      start < static_cast<int64_t>(args[1].as<Bytes>()->data.size())) {
    auto byte = static_cast<unsigned char>(args[1].as<Bytes>()->data[static_cast<size_t>(start)]);
    return head + fmt::format("decode byte 0x{:02x} in position {}", byte, start) + tail;
  }
  if (end - start == 1 && !decodes && args[1].is_str() && start >= 0 && start < utf8::count(text_of(args[1]))) {
    size_t at = utf8::offset(text_of(args[1]), start);
    auto c = static_cast<uint32_t>(utf8::next(text_of(args[1]), at));
    std::string escaped = c < 0x100     ? fmt::format("\\x{:02x}", c)
                          : c < 0x10000 ? fmt::format("\\u{:04x}", c)
                                        : fmt::format("\\U{:08x}", c);
    return head + "encode character '" + escaped + fmt::format("' in position {}", start) + tail;
  }
  return head + fmt::format("{} in position {}-{}", decodes ? "decode bytes" : "encode characters", start, end - 1) + tail;
}

}  // namespace

Failure codec_failure(Interp& interp, Failure failure, const CodecFault& fault, Value object) {
  if (fault.codec.empty()) return failure;
  Value args[] = {interp.str(fault.codec), std::move(object), Value::integer(static_cast<int64_t>(fault.start)),
                  Value::integer(static_cast<int64_t>(fault.end)), interp.str(fault.reason)};
  return interp.raise(make_exception(interp, interp.exception_type(failure.error->kind), args));
}

extern const Slots exception_slots;
const Slots exception_slots = {.kind = Kind::Exception,
                               .destroy = destroy_exception,
                               .construct = construct_exception,
                               .repr = repr_exception,
                               .str = str_exception,
                               .hash = identity_hash,
                               .get_attr = get_exception_attr,
                               .set_attr = set_exception_attr,
                               .has_dict = true};

std::span<const NativeDef> exception_methods() { return kMethods; }

Value make_exception(Interp& interp, Type* type, std::span<const Value> args) {
  Exception* e = interp.allocate<Exception>(type);
  e->args = interp.tuple(args);
  return Value::adopt(e);
}

Result<std::string> exception_text(Interp& interp, Exception* e) {
  auto args = args_of(e);
  if (is_kind(e->type, interp, ErrorKind::OpError)) {
    if (args.size() >= 3) return str_text(interp, args[2]);
  } else if (is_kind(e->type, interp, ErrorKind::KeyError)) {
    if (args.size() == 1) return repr_text(interp, args[0]);
  } else if (is_kind(e->type, interp, ErrorKind::OSError) && args.size() == 2) {
    std::string number = TFL_TRY(str_text(interp, args[0]));
    std::string what = TFL_TRY(str_text(interp, args[1]));
    std::string text = "[Errno " + number + "] " + what;
    if (!e->obj.is_empty() && !e->obj.is_none()) {
      std::string file = TFL_TRY(repr_text(interp, e->obj));
      text += ": " + file;
      if (!e->name.is_empty() && !e->name.is_none()) {
        std::string other = TFL_TRY(repr_text(interp, e->name));
        text += " -> " + other;
      }
    }
    return text;
  }
  if (args.empty()) return std::string();
  if (args.size() == 1) return str_text(interp, args[0]);
  if (args.size() == 5 && is_codec_error(e->type, interp)) return codec_text(interp, e, args);
  return repr_text(interp, e->args);
}

void set_context(Exception* e, const Value& handled) {
  if (!handled.is(Kind::Exception) || handled.as<Exception>() == e) return;
  // `e` may already lie on the way from the handled exception outwards: that link is cut, as CPython does.
  Exception* walk = handled.as<Exception>();
  for (int steps = 0; walk->context.is(Kind::Exception) && steps < 100000; ++steps) {
    Exception* next = walk->context.as<Exception>();
    if (next == e) {
      Value keep = std::move(walk->context);
      walk->context = Value();
      break;
    }
    walk = next;
  }
  e->context = handled;
}

bool error_is(const Error& error, ErrorKind kind) {
  ErrorKind k = error.kind;
  for (;;) {
    if (k == kind) return true;
    ErrorKind base = error_kind_base(k);
    if (base == k) return false;
    k = base;
  }
}

Value Interp::exception_of(Error& error) {
  if (error.payload) return static_cast<HostError*>(error.payload.get())->exception;
  // What fails while work is left out fails because of that.
  if (context.interrupt.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (auto stop = check_interrupt(); !stop) error = std::move(stop.error());
  }
  Type* type = exception_type(error.kind);
  Value made;
  if (error_is(error, ErrorKind::OpError)) {
    Value parts[] = {Value::none(), Value::none(), str(error.message)};
    made = make_exception(*this, type, parts);
  } else if (error.message.empty()) {
    made = make_exception(*this, type, {});
  } else {
    Value text = str(error.message);
    made = make_exception(*this, type, {&text, 1});
  }
  Exception* e = made.as<Exception>();
  e->hint = error.hint;
  set_context(e, current_handling(*this));
  error.payload = std::make_unique<HostError>(made);
  return made;
}

Failure Interp::raise(Value exception) {
  Exception* e = exception.as<Exception>();
  if (e->context.is_empty()) set_context(e, current_handling(*this));
  ErrorKind kind = e->type->error_kind;
  Failure f = fail(kind, std::string());
  if (auto args = args_of(e); args.size() == 1 && args[0].is_str()) f.error->message = args[0].as<Str>()->text;
  f.error->hint = e->hint;
  f.error->payload = std::make_unique<HostError>(std::move(exception));
  return f;
}

Failure stop_iteration(Interp& interp) {
  if (interp.ended.error) return Failure{std::move(interp.ended.error)};
  Type* type = interp.exception_type(ErrorKind::StopIteration);
  Value result = std::exchange(interp.ended.value, Value());
  bool nothing = result.is_empty() || result.is_none();
  return interp.raise(make_exception(interp, type, {&result, nothing ? 0u : 1u}));
}

Value take_end_value(Interp& interp) {
  if (auto error = std::move(interp.ended.error)) return arg_or_none(interp.exception_of(*error).as<Exception>(), 0);
  Value result = std::exchange(interp.ended.value, Value());
  return result.is_empty() ? Value::none() : result;
}

}  // namespace tfl
