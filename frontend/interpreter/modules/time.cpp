// The time module. Broken-down times are made by stdlib/python/_struct_time.tfl.
#include <time.h>

#include <algorithm>
#include <cmath>

#include "frontend/core/native_module.h"
#include "frontend/interpreter/modules/threads.h"
#include "runtime/support/c_library.h"

namespace tfl {

namespace {

int64_t clock_nanoseconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

template <clockid_t clock>
Result<Value> seconds(Interp&, Value*) {
  return Value::real(static_cast<double>(clock_nanoseconds(clock)) * 1e-9);
}
template <clockid_t clock>
Result<Value> nanoseconds(Interp&, Value*) {
  return Value::integer(clock_nanoseconds(clock));
}

/// Sleeps in short pieces so that an interrupt is seen soon.
Result<Value> time_sleep(Interp& interp, Value* args) {
  double wanted = TFL_TRY(to_double(interp, args[0]));
  if (std::isnan(wanted)) return fail(ErrorKind::ValueError, "Invalid value NaN (not a number)");
  if (wanted < 0) return fail(ErrorKind::ValueError, "sleep length must be non-negative");
  if (wanted > 1e9) return fail(ErrorKind::OverflowError, "timestamp too large to convert to C _PyTime_t");
  interp.streams.flush();
  int64_t end = clock_nanoseconds(CLOCK_MONOTONIC) + static_cast<int64_t>(wanted * 1e9);
  for (bool first = true;; first = false) {
    TFL_TRY(interp.check_interrupt());
    int64_t left = end - clock_nanoseconds(CLOCK_MONOTONIC);
    if (left <= 0) return Value::none();
    if (TFL_TRY(let_others_run(interp, end, first))) continue;
    timespec piece{0, std::min<int64_t>(left, 20000000)};
    nanosleep(&piece, nullptr);
  }
}

Result<Value> struct_time(Interp& interp) {
  Value module = TFL_TRY(interp.import_module("_struct_time"));
  return get_attr(interp, module, interp.intern("struct_time"));
}

/// time.struct_time and time.strptime are looked for when a script names them.
Result<Value> lazy_name(Interp& interp, Module*, Str* name) {
  if (name->text == "strptime") {
    Value module = TFL_TRY(interp.import_module("_strptime"));
    return get_attr(interp, module, interp.intern("time_tuple"));
  }
  if (name->text != "struct_time") return Value();
  return struct_time(interp);
}

Result<Value> broken_down(Interp& interp, const Value& v, tm* (*convert)(const time_t*, tm*)) {
  time_t t;
  if (v.is_none()) {
    t = ::time(nullptr);
  } else {
    double s = TFL_TRY(to_double(interp, v));
    if (!(std::fabs(s) < 1e14)) return fail(ErrorKind::OverflowError, "timestamp out of range for platform time_t");
    t = static_cast<time_t>(std::floor(s));
  }
  tm parts;
  if (!convert(&t, &parts)) return fail(ErrorKind::OSError, "[Errno 75] Value too large for defined data type");
  Value numbers =
      interp.tuple({Value::integer(parts.tm_year + 1900), Value::integer(parts.tm_mon + 1), Value::integer(parts.tm_mday),
                    Value::integer(parts.tm_hour), Value::integer(parts.tm_min), Value::integer(parts.tm_sec),
                    Value::integer((parts.tm_wday + 6) % 7), Value::integer(parts.tm_yday + 1), Value::integer(parts.tm_isdst),
                    Value::integer(parts.tm_gmtoff)});
  Value type = TFL_TRY(struct_time(interp));
  return interp.call(type, {numbers, interp.str(std::string(parts.tm_zone ? parts.tm_zone : ""))});
}
Result<Value> time_localtime(Interp& interp, Value* args) { return broken_down(interp, args[0], localtime_r); }
Result<Value> time_gmtime(Interp& interp, Value* args) { return broken_down(interp, args[0], gmtime_r); }

/// year .. isdst of a sequence of nine.
Result<tm> parts_of(Interp& interp, const Value& v) {
  std::vector<Value> items = TFL_TRY(to_vector(interp, v));
  if (items.size() < 9) return fail(ErrorKind::TypeError, "time tuple must have exactly 9 elements");
  int64_t n[9];
  for (int i = 0; i < 9; ++i) {
    n[i] = TFL_TRY(to_index(interp, items[static_cast<size_t>(i)]));
    if (n[i] < -1000000 || n[i] > 1000000) return fail(ErrorKind::OverflowError, "time tuple field out of range");
  }
  tm t{};
  t.tm_year = static_cast<int>(n[0] - 1900);
  t.tm_mon = static_cast<int>(n[1] - 1);
  t.tm_mday = static_cast<int>(n[2]);
  t.tm_hour = static_cast<int>(n[3]);
  t.tm_min = static_cast<int>(n[4]);
  t.tm_sec = static_cast<int>(n[5]);
  t.tm_wday = static_cast<int>((n[6] + 1) % 7);
  t.tm_yday = static_cast<int>(n[7] - 1);
  t.tm_isdst = static_cast<int>(n[8]);
  if (t.tm_mon < 0 || t.tm_mon > 11) return fail(ErrorKind::ValueError, "month out of range");
  if (t.tm_mday < 0 || t.tm_mday > 31) return fail(ErrorKind::ValueError, "day of month out of range");
  if (t.tm_hour < 0 || t.tm_hour > 23) return fail(ErrorKind::ValueError, "hour out of range");
  if (t.tm_min < 0 || t.tm_min > 59) return fail(ErrorKind::ValueError, "minute out of range");
  if (t.tm_sec < 0 || t.tm_sec > 61) return fail(ErrorKind::ValueError, "seconds out of range");
  if (t.tm_wday < 0) return fail(ErrorKind::ValueError, "day of week out of range");
  if (t.tm_yday < 0 || t.tm_yday > 365) return fail(ErrorKind::ValueError, "day of year out of range");
  return t;
}

Result<Value> time_strftime(Interp& interp, Value* args) {
  if (!args[0].is_str())
    return fail(ErrorKind::TypeError, "strftime() argument 1 must be str, not {}", interp.type_name(args[0]));
  const std::string& format = text_of(args[0]);
  tm t{};
  if (args[1].is_none()) {
    time_t now = ::time(nullptr);
    localtime_r(&now, &t);
  } else {
    t = TFL_TRY(parts_of(interp, args[1]));
  }
  if (format.empty()) return interp.str("");
  TFL_TRY(guard_memory(interp, format.size() * 64));
  std::string out(format.size() * 64 + 256, 0);
  size_t n = ::strftime(out.data(), out.size(), format.c_str(), &t);
  out.resize(n);
  return interp.str(std::move(out));
}

Result<Value> time_mktime(Interp& interp, Value* args) {
  tm t = TFL_TRY(parts_of(interp, args[0]));
  time_t s = ::mktime(&t);
  if (s == -1 && t.tm_wday < 0) return fail(ErrorKind::OverflowError, "mktime argument out of range");
  return Value::real(static_cast<double>(s));
}

constexpr NativeDef kTime[] = {
    function("time", "", seconds<CLOCK_REALTIME>),
    function("time_ns", "", nanoseconds<CLOCK_REALTIME>),
    function("perf_counter", "", seconds<CLOCK_MONOTONIC>),
    function("perf_counter_ns", "", nanoseconds<CLOCK_MONOTONIC>),
    function("monotonic", "", seconds<CLOCK_MONOTONIC>),
    function("monotonic_ns", "", nanoseconds<CLOCK_MONOTONIC>),
    function("process_time", "", seconds<CLOCK_PROCESS_CPUTIME_ID>),
    function("process_time_ns", "", nanoseconds<CLOCK_PROCESS_CPUTIME_ID>),
    function("thread_time", "", seconds<CLOCK_THREAD_CPUTIME_ID>),
    function("sleep", "secs, /", time_sleep),
    function("strftime", "format, t=None, /", time_strftime),
    function("mktime", "t, /", time_mktime),
    function("localtime", "seconds=None, /", time_localtime),
    function("gmtime", "seconds=None, /", time_gmtime),
};

}  // namespace

Result<void> init_time(Interp& interp, Module& module) {
  define_all(interp, module, kTime);
  tzset();
  module.lazy = lazy_name;
  define(interp, module, "timezone", Value::integer(seconds_west()));
  define(interp, module, "tzname", interp.tuple({interp.str(zone_name(false)), interp.str(zone_name(true))}));
  return {};
}

}  // namespace tfl
