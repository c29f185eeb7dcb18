// Built-in functions that go through the items of something.
#include "frontend/interpreter/builtins/functions.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/order.h"
#include "frontend/interpreter/object/containers/sort.h"
#include "frontend/interpreter/object/numbers/number.h"

namespace tfl::builtin {

Result<Value> all_(Interp& interp, Value* a) {
  bool result = true;
  TFL_TRY(for_each(interp, a[0], [&](Value item) -> Result<bool> {
    result = TFL_TRY(truth(interp, item));
    return result;
  }));
  return Value::boolean(result);
}

Result<Value> any_(Interp& interp, Value* a) {
  bool result = false;
  TFL_TRY(for_each(interp, a[0], [&](Value item) -> Result<bool> {
    result = TFL_TRY(truth(interp, item));
    return !result;
  }));
  return Value::boolean(result);
}

Result<Value> sum_(Interp& interp, Value* a) {
  if (a[0].is_empty()) return fail(ErrorKind::TypeError, "sum() takes at least 1 positional argument (0 given)");
  if (a[1].is_str()) return fail(ErrorKind::TypeError, "sum() can't sum strings [use ''.join(seq) instead]");
  if (a[1].is(Kind::ByteArray)) return fail(ErrorKind::TypeError, "sum() can't sum bytearray [use b''.join(seq) instead]");
  if (a[1].is(Kind::Bytes)) return fail(ErrorKind::TypeError, "sum() can't sum bytes [use b''.join(seq) instead]");
  Value total = a[1];
  TFL_TRY(for_each(interp, a[0], [&](Value item) -> Result<bool> {
    if (total.is_int() && item.is_int()) {
      int64_t r;
      total = __builtin_add_overflow(total.as_int(), item.as_int(), &r) ? TFL_TRY(int_binary(interp, BinaryOp::Add, total, item))
                                                                        : Value::integer(r);
    } else if (total.is_float() && item.is_float()) {
      total = Value::real(total.as_float() + item.as_float());
    } else {
      total = TFL_TRY(binary(interp, BinaryOp::Add, total, item));
    }
    return true;
  }));
  return total;
}

Result<Value> sorted_(Interp& interp, CallArgs& args) {
  if (args.count != 1) return fail(ErrorKind::TypeError, "sorted expected 1 argument, got {}", args.count);
  Value key = Value::none(), reversed = Value::boolean(false);
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    const std::string& keyword = args.keywords[k]->text;
    if (keyword != "key" && keyword != "reverse")
      return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for sort()", keyword);
    (keyword == "key" ? key : reversed) = args.values[args.count + k];
  }
  std::vector<Value> items = TFL_TRY(to_vector(interp, args.values[0]));
  bool reverse = TFL_TRY(to_index(interp, reversed)) != 0;
  TFL_TRY(sort_values(interp, items, key, reverse));
  return interp.list(std::move(items));
}

Result<Value> len_(Interp& interp, Value* a) {
  int64_t n = TFL_TRY(length(interp, a[0]));
  return Value::integer(n);
}

Result<Value> iter_(Interp& interp, Value* a) {
  if (a[1].is_empty()) return iter(interp, a[0]);
  if (!is_callable(interp, a[0])) return fail(ErrorKind::TypeError, "iter(v, w): v must be callable");
  return make_callable_iterator(interp, a[0], a[1]);
}

namespace {

/// min and max: `op` tells when an item replaces the best one so far.
Result<Value> extreme(Interp& interp, const char* name, CompareOp op, CallArgs& args) {
  Value key, otherwise;
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    const std::string& keyword = args.keywords[k]->text;
    Value& v = args.values[args.count + k];
    if (keyword == "key")
      key = v;
    else if (keyword == "default")
      otherwise = v;
    else
      return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for {}()", keyword, name);
  }
  if (args.count == 0) return fail(ErrorKind::TypeError, "{} expected at least 1 argument, got 0", name);
  if (args.count > 1 && !otherwise.is_empty()) {
    return fail(ErrorKind::TypeError, "Cannot specify a default for {}() with multiple positional arguments", name);
  }
  bool keyed = !key.is_empty() && !key.is_none();
  Value best, best_key;
  auto consider = [&](Value item) -> Result<bool> {
    Value item_key = item;
    if (keyed) item_key = TFL_TRY(interp.call(key, {item}));
    bool better = best.is_empty();
    if (!better) {
      Plain order = plain_order(interp, item_key, best_key);
      if (order != Plain::Unknown) {
        better = order == (op == CompareOp::Lt ? Plain::Less : Plain::Greater);
      } else {
        Value verdict = TFL_TRY(compare(interp, op, item_key, best_key));
        better = TFL_TRY(truth(interp, verdict));
      }
    }
    if (better) {
      best = std::move(item);
      best_key = std::move(item_key);
    }
    return true;
  };
  if (args.count == 1) {
    TFL_TRY(for_each(interp, args.values[0], consider));
  } else {
    for (uint32_t i = 0; i < args.count; ++i) TFL_TRY(consider(args.values[i]));
  }
  if (!best.is_empty()) return best;
  if (!otherwise.is_empty()) return otherwise;
  return fail(ErrorKind::ValueError, "{}() arg is an empty sequence", name);
}

}  // namespace

Result<Value> min_(Interp& interp, CallArgs& args) { return extreme(interp, "min", CompareOp::Lt, args); }
Result<Value> max_(Interp& interp, CallArgs& args) { return extreme(interp, "max", CompareOp::Gt, args); }

}  // namespace tfl::builtin
