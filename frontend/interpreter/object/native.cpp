#include "frontend/core/native.h"

#include <malloc.h>

#include "frontend/text/utf8.h"
#include "runtime/core/growth.h"

namespace tfl {

Result<void> take_arguments(Interp& interp, std::string_view function, CallArgs& args,
                            std::initializer_list<std::string_view> names, size_t required, size_t positional_only, Value* out) {
  size_t n = names.size();
  bool keywords_allowed = positional_only < n;
  if (!keywords_allowed && !args.keywords.empty()) return fail(ErrorKind::TypeError, "{}() takes no keyword arguments", function);
  if (args.total() > n || args.count > n) {
    if (keywords_allowed) {
      return fail(ErrorKind::TypeError, "{}() takes at most {} argument{} ({} given)", function, n, n == 1 ? "" : "s",
                  args.total());
    }
    if (required == n)
      return fail(ErrorKind::TypeError, "{} expected {} argument{}, got {}", function, n, n == 1 ? "" : "s", args.count);
    return fail(ErrorKind::TypeError, "{} expected at most {} argument{}, got {}", function, n, n == 1 ? "" : "s", args.count);
  }
  for (uint32_t i = 0; i < args.count; ++i) out[i] = std::move(args.values[i]);
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    const std::string& name = args.keywords[k]->text;
    size_t at = 0;
    for (std::string_view candidate : names) {
      if (at >= positional_only && candidate == name) break;
      ++at;
    }
    if (at == n) return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for {}()", name, function);
    if (!out[at].is_empty()) {
      return fail(ErrorKind::TypeError, "argument for {}() given by name ('{}') and position ({})", function, name, at + 1);
    }
    out[at] = std::move(args.values[args.count + k]);
  }
  size_t at = 0;
  for (std::string_view name : names) {
    if (at < required && out[at].is_empty()) {
      if (positional_only > at) {
        return fail(ErrorKind::TypeError, "{} expected {}{} argument{}, got {}", function, required == n ? "" : "at least ",
                    required, required == 1 ? "" : "s", args.count);
      }
      return fail(ErrorKind::TypeError, "{}() missing required argument '{}' (pos {})", function, name, at + 1);
    }
    ++at;
  }
  (void)interp;
  return {};
}

Result<void> no_keywords(std::string_view function, const CallArgs& args) {
  if (args.keywords.empty()) return {};
  return fail(ErrorKind::TypeError, "{}() takes no keyword arguments", function);
}

bool has_script_init(Interp& interp, const Type* type) {
  const Value* init = type_lookup(type, interp.sym.__init__);
  return init && init->is(Kind::Function);
}

Failure error_with(Interp& interp, ErrorKind kind, const Value& argument) {
  auto made = interp.call(Value::share(interp.exception_type(kind)), {argument});
  if (!made) return made.failure();
  return interp.raise(made.take());
}

Failure too_deep(const char* where) { return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded{}", where); }

Result<void> guard_memory_slow(Interp& interp, size_t bytes) {
  // What is smaller is measured while it grows (runtime/core/growth.h).
  constexpr size_t kLarge = size_t{4} << 20;
  const size_t limit = interp.context.memory.limit();
  if (bytes < kLarge && bytes < limit) return {};
  bool fits = bytes < limit && growth::held() + bytes < limit;
#ifdef __GLIBC__
  if (!fits && bytes < limit && malloc_trim(0) != 0)
    fits = growth::held() + bytes < limit;  // what is free is kept for the next list (cli/main.cpp)
#endif
  if (fits && growth::available(bytes)) return {};
  return fail(ErrorKind::MemoryError, "");
}

Result<size_t> guard_repeat(Interp& interp, size_t length, int64_t times, size_t item_size) {
  if (times <= 0 || length == 0) return size_t{0};
  size_t total, bytes;
  if (__builtin_mul_overflow(length, static_cast<size_t>(times), &total) || __builtin_mul_overflow(total, item_size, &bytes) ||
      bytes > (size_t{1} << 62)) {
    return fail(ErrorKind::MemoryError, "");
  }
  TFL_TRY(guard_memory(interp, bytes));
  return total;
}

Result<int64_t> sequence_index(Interp& interp, const Value& key, int64_t length, std::string_view what,
                               std::string_view wording) {
  int64_t i;
  if (key.is_int()) [[likely]] {
    i = key.as_int();
  } else {
    auto r = to_index(interp, key);
    if (!r) {
      // Only the absence of __index__ gets this message; an error raised by one passes.
      if (r.error().kind == ErrorKind::TypeError && !r.error().payload &&
          r.error().message.ends_with("cannot be interpreted as an integer")) {
        if (what == "string")
          return fail(ErrorKind::TypeError, "string indices must be integers, not '{}'", interp.type_name(key));
        return fail(ErrorKind::TypeError, "{} indices must be integers or slices, not {}", what, interp.type_name(key));
      }
      if (r.error().kind == ErrorKind::OverflowError && !r.error().payload)
        return fail(ErrorKind::IndexError, "cannot fit '{}' into an index-sized integer", interp.type_name(key));
      return r.failure();
    }
    i = r.take();
  }
  if (i < 0) i += length;
  if (i < 0 || i >= length) {
    if (what == "byte") return fail(ErrorKind::IndexError, "index out of range");
    return fail(ErrorKind::IndexError, "{} {} out of range", what, wording);
  }
  return i;
}

Result<std::string> repr_items(Interp& interp, Object* self, const std::vector<Value>* vector, std::span<const Value> items,
                               std::string_view open, std::string_view close, std::string_view loop) {
  if (self->flags & kReprActive) return std::string(loop);
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while getting the repr of an object");
  self->flags |= kReprActive;
  std::string out(open);
  for (size_t i = 0; vector ? i < vector->size() : i < items.size(); ++i) {
    if (i) out += ", ";
    Value item = vector ? (*vector)[i] : items[i];
    auto text = repr_text(interp, item);
    if (!text) {
      self->flags &= static_cast<uint8_t>(~kReprActive);
      return text.failure();
    }
    out += *text;
    if (auto fits = guard_memory(interp, out.size() >= kSmallGrowth && out.size() % 64 == 0 ? out.size() : 0); !fits) {
      self->flags &= static_cast<uint8_t>(~kReprActive);
      return fits.failure();
    }
  }
  self->flags &= static_cast<uint8_t>(~kReprActive);
  out += close;
  return out;
}

namespace {

struct Items {
  List* list;
  Tuple* tuple;
  explicit Items(const Value& v) : list(v.is(Kind::List) ? v.as<List>() : nullptr), tuple(list ? nullptr : v.as<Tuple>()) {}
  size_t size() const { return list ? list->items.size() : static_cast<size_t>(tuple->size); }
  Value at(size_t i) const { return list ? list->items[i] : tuple->items[i]; }
};

}  // namespace

Result<Value> compare_sequences(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  Items x(a), y(b);
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (equality && x.size() != y.size()) return Value::boolean(op == CompareOp::Ne);
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" in comparison");
  size_t i = 0;
  for (; i < x.size() && i < y.size(); ++i) {
    Value p = x.at(i), q = y.at(i);
    bool same = TFL_TRY(equals(interp, p, q));
    if (same) continue;
    if (equality) return Value::boolean(op == CompareOp::Ne);
    return compare(interp, op, p, q);
  }
  size_t n = x.size(), m = y.size();
  switch (op) {
    case CompareOp::Eq: return Value::boolean(n == m);
    case CompareOp::Ne: return Value::boolean(n != m);
    case CompareOp::Lt: return Value::boolean(n < m);
    case CompareOp::Le: return Value::boolean(n <= m);
    case CompareOp::Gt: return Value::boolean(n > m);
    case CompareOp::Ge: return Value::boolean(n >= m);
    default: return interp.not_implemented;
  }
}

Result<Value> native_doc(Interp& interp, Type* owner, const Value& function) {
  Value docs = TFL_TRY(interp.import_module("_docs"));
  return interp.call_method(docs, interp.intern("of"),
                            {owner ? Value::share(owner) : Value::none(), function.is_empty() ? Value::none() : function});
}

int64_t count_str(Str* s) { return s->length = utf8::count(s->text); }

}  // namespace tfl
