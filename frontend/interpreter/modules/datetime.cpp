// _datetime: what dates, times of day with them and the spans between are made of, and their arithmetic. The library's classes date,
// datetime and timedelta derive from Day and Span and add what is made of these.
#include "frontend/interpreter/modules/datetime.h"

#include <cmath>

#include "frontend/core/attributes.h"
#include "frontend/core/hashing.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"

namespace tfl::datetime {

namespace {

using Whole = __int128;
constexpr int64_t kSecond = 1000000, kDay = 86400 * kSecond, kMostDays = 999999999;

struct Span : Object {
  int32_t days, seconds, microseconds;
};

/// A day; with a time where `timed` says so.
struct Day : Object {
  Date date;
  Clock clock;
  bool timed;
  int8_t fold;
  Value zone;
};

extern const Slots kSpan, kDaySlots;
bool is_span(const Value& v) { return v.is(Kind::Native) && v.object()->type->slots == &kSpan; }
bool is_day(const Value& v) { return v.is(Kind::Native) && v.object()->type->slots == &kDaySlots; }
const Span& span_of(const Value& v) { return *v.as<Span>(); }
const Day& day_of(const Value& v) { return *v.as<Day>(); }

/// The class of the library that derives from a native type: what arithmetic gives, whatever derives from it.
Type* class_of_library(Type* type) {
  while (type->base->script) type = type->base;
  return type;
}

Value from_module(Interp& interp, std::string_view name) {
  Value module = interp.find_module("_datetime");
  return module.is(Kind::Module) ? dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern(name)) : Value();
}

// ---------------------------------------------------------------------------------------------------------------- spans

Whole total(const Span& s) { return (Whole{s.days} * 86400 + s.seconds) * kSecond + s.microseconds; }

Result<Value> make_span(Interp& interp, Type* type, Whole us) {
  Whole days = us / kDay, rest = us % kDay;
  if (rest < 0) {
    rest += kDay;
    --days;
  }
  if (days > INT32_MAX || days < INT32_MIN) return fail(ErrorKind::OverflowError, "Python int too large to convert to C int");
  if (days > kMostDays || days < -kMostDays)
    return fail(ErrorKind::OverflowError, "days={}; must have magnitude <= 999999999", static_cast<int64_t>(days));
  Span* s = interp.allocate<Span>(type);
  s->days = static_cast<int32_t>(days);
  s->seconds = static_cast<int32_t>(rest / kSecond);
  s->microseconds = static_cast<int32_t>(rest % kSecond);
  return Value::adopt(s);
}

/// Microseconds of the arguments of timedelta, as CPython adds them up: whole ones, and what floats leave below, rounded at the end.
struct Sum {
  Whole whole = 0;
  double below = 0;

  Result<void> add(Interp& interp, std::string_view name, const Value& given, int64_t factor) {
    Value v = unboxed(given);
    if (v.is_int() || v.is_bool()) return add_whole(v.as_int(), factor);
    if (v.is(Kind::BigInt)) return too_large();
    if (!v.is_float() && !interp.is_instance(v, interp.types.np_float64))
      return fail(ErrorKind::TypeError, "unsupported type for timedelta {} component: {}", name, interp.type_name(given));
    double number = TFL_TRY(to_double(interp, v));
    if (std::isnan(number)) return fail(ErrorKind::ValueError, "cannot convert float NaN to integer");
    if (std::isinf(number)) return fail(ErrorKind::OverflowError, "cannot convert float infinity to integer");
    double part, fraction = std::modf(number, &part);
    if (std::fabs(part) > 9e18) return too_large();
    TFL_TRY(add_whole(static_cast<int64_t>(part), factor));
    fraction = std::modf(fraction * static_cast<double>(factor), &part);
    whole += static_cast<int64_t>(part);
    below += fraction;
    return {};
  }
  Whole rounded() const {
    double up = std::round(below);
    if (std::fabs(up - below) == 0.5) {  // half way: to the even sum
      double odd = static_cast<double>(whole & 1);
      up = 2.0 * std::round((below + odd) * 0.5) - odd;
    }
    return whole + static_cast<int64_t>(up);
  }

 private:
  static Result<void> too_large() { return fail(ErrorKind::OverflowError, "Python int too large to convert to C int"); }
  Result<void> add_whole(int64_t n, int64_t factor) {
    whole += Whole{n} * factor;
    return {};
  }
};

Result<Value> construct_span(Interp& interp, Type* type, CallArgs& args) {
  Value out[7];
  TFL_TRY(take_arguments(interp, "timedelta", args,
                         {"days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks"}, 0, 0, out));
  constexpr struct {
    int at;
    const char* name;
    int64_t factor;
  } kParts[] = {{2, "microseconds", 1},       {3, "milliseconds", 1000}, {1, "seconds", kSecond}, {4, "minutes", 60 * kSecond},
                {5, "hours", 3600 * kSecond}, {0, "days", kDay},         {6, "weeks", 7 * kDay}};
  Sum sum;
  for (const auto& part : kParts) {
    if (!out[part.at].is_empty()) TFL_TRY(sum.add(interp, part.name, out[part.at], part.factor));
  }
  return make_span(interp, type, sum.rounded());
}

Result<uint64_t> hash_span(Interp&, const Value& self) {
  // As CPython's: that of a tuple of the three numbers.
  TupleHash h;
  for (int64_t n : {span_of(self).days, span_of(self).seconds, span_of(self).microseconds}) h.add(hash_int(n));
  return h.finish();
}
Result<bool> span_truth(Interp&, const Value& self) { return total(span_of(self)) != 0; }

Value compared(CompareOp op, int order) {
  switch (op) {
    case CompareOp::Eq: return Value::boolean(order == 0);
    case CompareOp::Ne: return Value::boolean(order != 0);
    case CompareOp::Lt: return Value::boolean(order < 0);
    case CompareOp::Le: return Value::boolean(order <= 0);
    case CompareOp::Gt: return Value::boolean(order > 0);
    default: return Value::boolean(order >= 0);
  }
}
template <class T>
int order_of(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

Result<Value> compare_spans(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!is_span(a) || !is_span(b)) return interp.not_implemented;
  return compared(op, order_of(total(span_of(a)), total(span_of(b))));
}

Result<Value> span_unary(Interp& interp, UnaryOp op, const Value& self) {
  if (op == UnaryOp::Plus) return self;
  if (op == UnaryOp::Minus) return make_span(interp, class_of_library(self.object()->type), -total(span_of(self)));
  return fail(ErrorKind::TypeError, "bad operand type for unary ~: '{}'", interp.type_name(self));
}

Result<Value> microseconds_value(Interp& interp, Whole us) {
  if (us == static_cast<int64_t>(us)) return Value::integer(static_cast<int64_t>(us));
  Value days = TFL_TRY(binary(interp, BinaryOp::Mul, Value::integer(static_cast<int64_t>(us / kDay)), Value::integer(kDay)));
  return binary(interp, BinaryOp::Add, days, Value::integer(static_cast<int64_t>(us % kDay)));
}
Result<Value> span_us(Interp& interp, Value* a) { return microseconds_value(interp, total(span_of(a[0]))); }

// ----------------------------------------------------------------------------------------------------------------- days

/// What the arguments of date or datetime are bound to.
struct Given {
  static constexpr std::string_view kNames[] = {"year",   "month",       "day",    "hour", "minute",
                                                "second", "microsecond", "tzinfo", "fold"};
  Value values[9];

  Result<void> take(CallArgs& args, bool timed) {
    const uint32_t most = timed ? 8 : 3;
    if (args.total() > most + timed || args.count > most)
      return fail(ErrorKind::TypeError, "function takes at most {} {}arguments ({} given)",
                  args.count > most ? most : most + timed, args.count > most && timed ? "positional " : "",
                  args.count > most ? args.count : args.total());
    for (uint32_t i = 0; i < args.count; ++i) values[i] = std::move(args.values[i]);
    for (size_t k = 0; k < args.keywords.size(); ++k) {
      const std::string& name = args.keywords[k]->text;
      uint32_t at = 0;
      while (at < most + timed && kNames[at] != name) ++at;
      if (at == most + timed) return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for this function", name);
      if (!values[at].is_empty())
        return fail(ErrorKind::TypeError, "argument for function given by name ('{}') and position ({})", name, at + 1);
      values[at] = std::move(args.values[args.count + k]);
    }
    for (uint32_t i = 0; i < 3; ++i) {
      if (values[i].is_empty())
        return fail(ErrorKind::TypeError, "function missing required argument '{}' (pos {})", kNames[i], i + 1);
    }
    return {};
  }
};

Result<int64_t> part(Interp& interp, const Value& v, int64_t otherwise) {
  if (v.is_int()) [[likely]]
    return v.as_int();
  if (v.is_empty()) return otherwise;
  return to_index(interp, v);
}

Result<Value> construct_day(Interp& interp, Type* type, CallArgs& args) {
  const Value with_time = from_module(interp, "datetime");
  const bool timed = with_time.is(Kind::Type) && type->is_subtype_of(with_time.as<Type>());
  Given given;
  TFL_TRY(given.take(args, timed));
  int64_t n[7] = {};
  for (int i = 0; i < 7; ++i) n[i] = TFL_TRY(part(interp, given.values[i], 0));
  int64_t fold = TFL_TRY(part(interp, given.values[8], 0));
  TFL_TRY(check_date(n[0], n[1], n[2]));
  TFL_TRY(check_clock(n[3], n[4], n[5], n[6]));
  if (fold != 0 && fold != 1) return fail(ErrorKind::ValueError, "fold must be either 0 or 1");
  Value zone = given.values[7].is_empty() ? Value::none() : given.values[7];
  if (!zone.is_none()) {
    Value wanted = from_module(interp, "tzinfo");
    bool fits = wanted.is(Kind::Type) ? TFL_TRY(is_instance_of(interp, zone, wanted)) : false;
    if (!fits)
      return fail(ErrorKind::TypeError, "tzinfo argument must be None or of a tzinfo subclass, not type '{}'",
                  interp.type_name(zone));
  }
  Day* d = interp.allocate<Day>(type);
  d->date = {static_cast<int32_t>(n[0]), static_cast<int8_t>(n[1]), static_cast<int8_t>(n[2])};
  d->clock = {static_cast<int8_t>(n[3]), static_cast<int8_t>(n[4]), static_cast<int8_t>(n[5]), static_cast<int32_t>(n[6])};
  d->timed = timed;
  d->fold = static_cast<int8_t>(fold);
  d->zone = std::move(zone);
  return Value::adopt(d);
}

/// Microseconds from the beginning of day 0, as the calendar and the clock show them.
int64_t shown(const Day& d) { return ordinal(d.date) * kDay + since_midnight(d.clock); }

/// A day of the class of `like`, which may say itself how it is made.
Result<Value> make_day(Interp& interp, const Value& like, int64_t us) {
  const Day& from = day_of(like);
  int64_t number = us / kDay;  // days before the first are refused, so that rounding towards zero does no harm
  if (us < kDay || number > kLastDay) return fail(ErrorKind::OverflowError, "date value out of range");
  Type* type = like.object()->type;
  Date date = date_of(number);
  Clock clock = clock_of(us % kDay);
  if (type != class_of_library(type) && (script_lookup(interp, type, interp.sym.__new__) || script_init(interp, type))) {
    std::vector<Value> values;
    for (int64_t n : {int64_t{date.year}, int64_t{date.month}, int64_t{date.day}}) values.push_back(Value::integer(n));
    if (from.timed) {
      for (int64_t n : {int64_t{clock.hour}, int64_t{clock.minute}, int64_t{clock.second}, int64_t{clock.microsecond}})
        values.push_back(Value::integer(n));
      values.push_back(from.zone);
    }
    CallArgs args{values.data(), static_cast<uint32_t>(values.size())};
    return interp.call(Value::share(type), args);
  }
  Day* d = interp.allocate<Day>(type);
  d->date = date;
  d->clock = clock;
  d->timed = from.timed;
  d->fold = 0;
  d->zone = from.zone;
  return Value::adopt(d);
}

Result<Value> day_plus(Interp& interp, const Value& day, const Span& s, bool less) {
  if (!day_of(day).timed) return make_day(interp, day, (ordinal(day_of(day).date) + (less ? -int64_t{s.days} : s.days)) * kDay);
  Whole us = less ? shown(day_of(day)) - total(s) : shown(day_of(day)) + total(s);
  if (us < 0 || us > Whole{kLastDay + 1} * kDay) return fail(ErrorKind::OverflowError, "date value out of range");
  return make_day(interp, day, static_cast<int64_t>(us));
}

/// What a moment's zone says of it: None, or a span.
Result<Value> offset_of(Interp& interp, const Value& day) {
  if (day_of(day).zone.is_none()) return Value::none();
  Value said = TFL_TRY(interp.call_method(Value(day_of(day).zone), interp.intern("utcoffset"), {day}));
  if (!said.is_none() && !is_span(said))
    return fail(ErrorKind::TypeError, "tzinfo.utcoffset() must return None or a timedelta, not '{}'", interp.type_name(said));
  return said;
}

/// Two moments as numbers that can be compared; false: one alone knows how far it is from UTC.
Result<bool> comparable(Interp& interp, const Value& a, const Value& b, Whole& x, Whole& y) {
  x = shown(day_of(a));
  y = shown(day_of(b));
  if (day_of(a).zone.identical(day_of(b).zone)) return true;
  Value first = TFL_TRY(offset_of(interp, a)), second = TFL_TRY(offset_of(interp, b));
  if (first.is_none() != second.is_none()) return false;
  if (!first.is_none()) {
    x -= total(span_of(first));
    y -= total(span_of(second));
  }
  return true;
}

Result<Value> compare_days(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!is_day(a) || !is_day(b)) return interp.not_implemented;
  const bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (day_of(a).timed != day_of(b).timed) {
    if (equality) return Value::boolean(op == CompareOp::Ne);
    const Value& date = day_of(a).timed ? b : a;
    return fail(ErrorKind::TypeError, "can't compare datetime.datetime to {}.{}", date.object()->type->module->text,
                date.object()->type->qualname->text);
  }
  Whole x, y;
  bool both = TFL_TRY(comparable(interp, a, b, x, y));
  if (both) return compared(op, order_of(x, y));
  if (equality) return Value::boolean(op == CompareOp::Ne);
  return fail(ErrorKind::TypeError, "can't compare offset-naive and offset-aware datetimes");
}

Result<uint64_t> hash_day(Interp& interp, const Value& self) {
  Whole us = shown(day_of(self));
  Value offset = TFL_TRY(offset_of(interp, self));
  if (!offset.is_none()) us -= total(span_of(offset));
  return hash_int(static_cast<int64_t>(us));
}

Result<Value> arithmetic(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op != BinaryOp::Add && op != BinaryOp::Sub) return interp.not_implemented;
  const bool less = op == BinaryOp::Sub;
  if (is_span(a) && is_span(b)) {
    Whole us = less ? total(span_of(a)) - total(span_of(b)) : total(span_of(a)) + total(span_of(b));
    return make_span(interp, class_of_library(a.object()->type), us);
  }
  if (is_day(a) && is_span(b)) return day_plus(interp, a, span_of(b), less);
  if (is_span(a) && is_day(b) && !less) return day_plus(interp, b, span_of(a), false);
  if (!less || !is_day(a) || !is_day(b) || day_of(a).timed != day_of(b).timed) return interp.not_implemented;
  Whole x, y;
  bool both = TFL_TRY(comparable(interp, a, b, x, y));
  if (!both) return fail(ErrorKind::TypeError, "can't subtract offset-naive and offset-aware datetimes");
  Value span = from_module(interp, "timedelta");
  if (!span.is(Kind::Type)) return interp.not_implemented;
  return make_span(interp, span.as<Type>(), x - y);
}

/// "2024-03-01T12:30:00.000250" of a moment.
std::string text_of_moment(const Day& d, std::string_view separator) {
  std::string text = fmt::format("{:04}-{:02}-{:02}", d.date.year, d.date.month, d.date.day);
  if (!d.timed) return text;
  text += separator;
  text += fmt::format("{:02}:{:02}:{:02}", d.clock.hour, d.clock.minute, d.clock.second);
  if (d.clock.microsecond) text += fmt::format(".{:06}", d.clock.microsecond);
  return text;
}

Result<Value> day_text(Interp& interp, Value* a) {
  if (!a[1].is_str())
    return fail(ErrorKind::TypeError, "isoformat() argument 1 must be a unicode character, not {}", interp.type_name(a[1]));
  return interp.str(text_of_moment(day_of(a[0]), text_of(a[1])));
}
Result<Value> day_ordinal(Interp&, Value* a) { return Value::integer(ordinal(day_of(a[0]).date)); }
Result<Value> day_weekday(Interp&, Value* a) { return Value::integer((ordinal(day_of(a[0]).date) + 6) % 7); }
Result<Value> day_isoweekday(Interp&, Value* a) { return Value::integer((ordinal(day_of(a[0]).date) + 6) % 7 + 1); }

template <auto get>
Result<Value> day_part(Interp&, Value* a) {
  return Value::integer(get(day_of(a[0])));
}
Result<Value> day_zone(Interp&, Value* a) { return day_of(a[0]).zone; }
template <auto member>
Result<Value> span_part(Interp&, Value* a) {
  return Value::integer(span_of(a[0]).*member);
}

const Slots kSpan = {.kind = Kind::Native,
                     .destroy = destroy_object<Span>,
                     .construct = construct_span,
                     .hash = hash_span,
                     .truth = span_truth,
                     .unary = span_unary,
                     .binary = arithmetic,
                     .compare = compare_spans};
const Slots kDaySlots = {.kind = Kind::Native,
                         .destroy = destroy_object<Day>,
                         .construct = construct_day,
                         .hash = hash_day,
                         .binary = arithmetic,
                         .compare = compare_days};

constexpr NativeDef kSpanMethods[] = {
    getter("days", span_part<&Span::days>),
    getter("seconds", span_part<&Span::seconds>),
    getter("microseconds", span_part<&Span::microseconds>),
    method("_us", "self, /", span_us),
};
constexpr NativeDef kDayMethods[] = {
    getter("year", day_part<[](const Day& d) { return int64_t{d.date.year}; }>),
    getter("month", day_part<[](const Day& d) { return int64_t{d.date.month}; }>),
    getter("day", day_part<[](const Day& d) { return int64_t{d.date.day}; }>),
    method("toordinal", "self, /", day_ordinal),
    method("weekday", "self, /", day_weekday),
    method("isoweekday", "self, /", day_isoweekday),
    method("_text", "self, separator, /", day_text),
};
/// What a day with a time has, too: the library's datetime takes these over.
constexpr NativeDef kClockMethods[] = {
    getter("hour", day_part<[](const Day& d) { return int64_t{d.clock.hour}; }>),
    getter("minute", day_part<[](const Day& d) { return int64_t{d.clock.minute}; }>),
    getter("second", day_part<[](const Day& d) { return int64_t{d.clock.second}; }>),
    getter("microsecond", day_part<[](const Day& d) { return int64_t{d.clock.microsecond}; }>),
    getter("fold", day_part<[](const Day& d) { return int64_t{d.fold}; }>),
    getter("zone", day_zone),
};

}  // namespace

}  // namespace tfl::datetime

namespace tfl {

Result<void> init_datetime(Interp& interp, Module& module) {
  using namespace datetime;
  define_native_type(interp, module, "Span", kSpan, kSpanMethods);
  Type* day = define_native_type(interp, module, "Day", kDaySlots, kDayMethods);
  for (const NativeDef& def : kClockMethods) define(interp, module, def.name, interp.native(def, {}, day));
  return {};
}

}  // namespace tfl
