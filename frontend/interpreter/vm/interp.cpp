#include "frontend/core/interp.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/core/protocol.h"
#include "frontend/core/registry.h"
#include "frontend/core/signals.h"
#include "frontend/core/signature.h"
#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/builtins/builtins.h"
#include "frontend/interpreter/object/containers/set_table.h"
#include "frontend/interpreter/object/file.h"
#include "frontend/text/utf8.h"
#include "runtime/core/growth.h"
#include "runtime/gpu/devices.h"

namespace tfl {

namespace {

/// How far down natives may recurse: the system's limit for the stack, with room left for what they call at the bottom.
const char* lowest_stack_address() {
  constexpr size_t kReserve = 512 * 1024;
  constexpr size_t kMost = 64 * 1024 * 1024;
  size_t size = 8 * 1024 * 1024;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) size = static_cast<size_t>(limit.rlim_cur);
  size = std::clamp(size, size_t{1024 * 1024}, kMost);
  return static_cast<const char*>(__builtin_frame_address(0)) - (size - kReserve);
}

}  // namespace

struct InterpSetup {
  static void run(Interp& interp) {
    make_types(interp, interp.all_types_);
#define TFL_SYMBOL(name) interp.sym.name = interp.intern(#name);
#include "frontend/core/symbols.def"
#undef TFL_SYMBOL
    fill_types(interp);
    make_exception_types(interp, interp.exception_types_, interp.all_types_);
  }
};

Interp::Interp(Context& c, InterpOptions o) : context(c), options(std::move(o)) {
  context.heap.host = this;
  stack_limit = lowest_stack_address();
  interned_.reserve(2048);
  InterpSetup::run(*this);
  auto singleton = [&](Type* type) { return Value::adopt(allocate<Object>(type)); };
  not_implemented = singleton(types.not_implemented_type);
  ellipsis = singleton(types.ellipsis_type);
  Tuple* nothing = allocate<Tuple>(types.tuple);
  nothing->size = 0;
  empty_tuple = Value::adopt(nothing);
  init_tensors(*this);
  modules = dict();
  hidden_modules = dict();
  builtins = module("builtins");
  dict_set_str(modules.as<Dict>(), sym.builtins, builtins);
  fill_builtins(*this, builtins.as<Module>());
}

Interp::~Interp() {
  streams.flush();
  while (frame) {
    Frame* f = frame;
    frame = f->back;
    if (!f->generator) drop_frame(*this, f);
  }
  Heap& heap = context.heap;
  // Reference counts do not free circles, so everything alive goes now, in any order: nothing reaches zero on the way, and the
  // storage stays readable. Types go last, because destroying an object looks at its type.
  heap.tearing_down = true;
  heap.for_each_live([](Counted* c) { c->refs += 1u << 30; });
  heap.for_each_live([](Counted* c) {
    if (c->kind == kTensorKind) {
      Tensor::destroy(static_cast<TensorRep*>(c));
    } else if (c->kind != static_cast<uint8_t>(Kind::Type)) {
      Object* object = static_cast<Object*>(c);
      object->type->slots->destroy(object);
    }
  });
  heap.for_each_live([](Counted* c) {
    Object* object = static_cast<Object*>(c);
    type_slots.destroy(object);
  });
}

void Interp::write_files() {
  context.heap.for_each_live([this](Counted* c) {
    if (c->kind != static_cast<uint8_t>(Kind::File)) return;
    auto* file = static_cast<File*>(c);
    if (file->role == File::Role::Disk && file->fd >= 0) end_dropped(*this, file);
  });
}

// ------------------------------------------------------------------------------------------------------- making values

Str* Interp::intern(std::string_view text) {
  auto it = interned_.find(text);
  if (it != interned_.end()) return it->second;
  Str* s = allocate<Str>(types.str);
  s->text = text;
  s->length = -1;
  s->interned = true;
  interned_.emplace(s->text, s);
  return s;
}

Value Interp::str(std::string text) {
  Str* s = allocate<Str>(types.str);
  s->text = std::move(text);
  s->length = -1;
  return Value::adopt(s);
}

Value Interp::ascii(std::string text) {
  Value v = str(std::move(text));
  v.as<Str>()->length = static_cast<int64_t>(v.as<Str>()->text.size());
  return v;
}

Value Interp::make_character(unsigned char c) {
  std::string text;
  utf8::append(text, c);
  Str* s = intern(text);
  s->length = 1;
  characters_[c] = s;
  return Value::share(s);
}

Value Interp::bytes(std::string data) {
  Bytes* b = allocate<Bytes>(types.bytes);
  b->data = std::move(data);
  return Value::adopt(b);
}

Value Interp::list(std::vector<Value> items) {
  List* l = allocate<List>(types.list);
  l->items = std::move(items);
  return Value::adopt(l);
}

Value Interp::tuple(std::span<const Value> items) {
  if (items.empty()) return empty_tuple;
  Tuple* t = allocate<Tuple>(types.tuple, sizeof(Tuple) + (items.size() - 1) * sizeof(Value));
  t->size = static_cast<int64_t>(items.size());
  t->items[0] = items[0];
  for (size_t i = 1; i < items.size(); ++i) new (&t->items[i]) Value(items[i]);
  return Value::adopt(t);
}

Value Interp::dict() { return Value::adopt(allocate<Dict>(types.dict)); }

Value Interp::set() {
  Set* s = allocate<Set>(types.set);
  set_clear(s);
  return Value::adopt(s);
}

Value Interp::slice(Value start, Value stop, Value step) {
  Slice* s = allocate<Slice>(types.slice);
  s->start = std::move(start);
  s->stop = std::move(stop);
  s->step = std::move(step);
  return Value::adopt(s);
}

Value Interp::cell(Value v) {
  Cell* c = allocate<Cell>(types.cell);
  c->value = std::move(v);
  return Value::adopt(c);
}

Value Interp::bound_method(const Value& function, const Value& self) {
  BoundMethod* m = allocate<BoundMethod>(function.is(Kind::NativeFunction) ? types.bound_native : types.method);
  m->function = function;
  m->self = self;
  return Value::adopt(m);
}

Value Interp::native(const NativeDef& def, Value self, Type* owner) {
  NativeFunction* f = allocate<NativeFunction>(owner ? types.method_descriptor : types.native_function);
  f->def = &def;
  f->self = std::move(self);
  f->owner = owner;
  return Value::adopt(f);
}

Value Interp::module(std::string_view name) {
  Module* m = allocate<Module>(types.module);
  m->name = intern(name);
  m->file = Value::none();
  m->dict = dict();
  Dict* d = m->dict.as<Dict>();
  dict_set_str(d, sym.__name__, str(m->name));
  dict_set_str(d, sym.__doc__, Value::none());
  return Value::adopt(m);
}

std::string_view Interp::type_name(const Value& v) const {
  // Messages call tensors by the full name of their class, as CPython does where a class of an extension says so.
  if (v.is_tensor()) return "tensorflow.python.framework.ops.EagerTensor";
  const Type* type = type_of(v);
  if (v.is(Kind::NdArray) || v.is(Kind::NumPyScalar)) {
    constexpr std::string_view kArrays[] = {"numpy.ndarray", "numpy.bool",    "numpy.int8",   "numpy.int16",  "numpy.int32",
                                            "numpy.int64",   "numpy.uint8",   "numpy.uint16", "numpy.uint32", "numpy.uint64",
                                            "numpy.float16", "numpy.float32", "numpy.float64"};
    for (std::string_view full : kArrays) {
      if (full.substr(sizeof "numpy") == type->name->text) return full;
    }
  }
  if (!type->script && !v.is(Kind::Native) && !v.is(Kind::Dict)) return type->name->text;
  // So are those of the library's classes that CPython has as an extension.
  constexpr std::string_view kFull[] = {
      "datetime.date",           "datetime.datetime",     "datetime.time",       "datetime.timedelta",
      "datetime.timezone",       "datetime.tzinfo",       "collections.deque",   "collections.OrderedDict",
      "collections.defaultdict", "functools.partial",     "re.Pattern",          "re.Match",
      "time.struct_time",        "types.SimpleNamespace", "operator.itemgetter", "operator.attrgetter",
      "operator.methodcaller",   "_io.StringIO",          "_io.BytesIO"};
  for (std::string_view full : kFull) {
    size_t dot = full.find('.');
    if (type->name->text == full.substr(dot + 1) && type->module->text == full.substr(0, dot)) return full;
  }
  return type->name->text;
}

Value* Interp::find_side_dict(Object* o) {
  if (!(o->flags & kHasSideDict)) return nullptr;
  auto it = side_dicts_.find(o);
  return it == side_dicts_.end() ? nullptr : &it->second;
}

void Interp::drop_side_dict(Object* o) {
  o->flags &= static_cast<uint8_t>(~kHasSideDict);
  auto it = side_dicts_.find(o);
  if (it == side_dicts_.end()) return;
  Value gone = std::move(it->second);  // its destructor may run code that looks for side dictionaries
  side_dicts_.erase(it);
}

// ------------------------------------------------------------------------------------------------------------- running

Result<Value> Interp::call(const Value& callee, std::initializer_list<Value> args) {
  if (args.size() <= 2) {  // most calls: less to make and to clear
    Value few[2];
    std::copy(args.begin(), args.end(), few);
    CallArgs call_args{few, static_cast<uint32_t>(args.size())};
    return call(callee, call_args);
  }
  Value values[8];
  if (args.size() > 8) return fail(ErrorKind::SystemError, "too many arguments of an internal call");
  std::copy(args.begin(), args.end(), values);
  CallArgs call_args{values, static_cast<uint32_t>(args.size())};
  return call(callee, call_args);
}

Result<void> Interp::check_interrupt(bool between_steps) {
  uint32_t bits = context.interrupt.load(std::memory_order_relaxed);
  bool script = frame && frame->code->source && !frame->code->source->internal;
  if (undivided == 0 && (between_steps || script)) bits |= context.interrupt_request.load(std::memory_order_relaxed);
  if (bits & kInterruptTimeout) {
    stopped = true;
    context.interrupt.fetch_or(kInterruptTimeout);
    return fail(ErrorKind::SystemExit, "the time limit was reached");
  }
  if (bits & kInterruptKeyboard) {
    context.interrupt_request.fetch_and(~kInterruptKeyboard);
    context.interrupt.fetch_and(~kInterruptKeyboard);
    if (!handles_signal(*this, SIGINT)) return fail(ErrorKind::KeyboardInterrupt, "");
    TFL_TRY(call_signal_handler(*this, SIGINT));
  }
  if (bits & kInterruptSignal) {
    context.interrupt_request.fetch_and(~kInterruptSignal);
    context.interrupt.fetch_and(~kInterruptSignal);
    TFL_TRY(call_signal_handlers(*this));
  }
  if (bits & kInterruptMemory) {
    const bool left_out =
        context.interrupt.load(std::memory_order_relaxed) & kInterruptMemory;  // work was, so that its result is none
    context.interrupt_request.fetch_and(~kInterruptMemory);
    context.interrupt.fetch_and(~kInterruptMemory);
    context.memory.trim();
    malloc_trim(0);
    const size_t held = growth::held();
    const bool over = held > context.memory.limit();
    growth::told(over ? held : 0);
    if (over) return fail(ErrorKind::MemoryError, "").with_hint("--max-memory raises the limit");
    if (left_out) return fail(ErrorKind::MemoryError, "");
  }
  if (bits & gpu::kInterruptDevice) return context.devices().take_failure();
  return {};
}

}  // namespace tfl
