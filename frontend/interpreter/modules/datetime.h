// The days of the calendar by number, times of day, and whether numbers are one: without host values.
#pragma once

#include <cstdint>

#include "runtime/support/result.h"

namespace tfl::datetime {

inline constexpr int64_t kLastDay = 3652059;  // the last of year 9999; 1 is the first of year 1

struct Date {
  int32_t year;
  int8_t month, day;
};
struct Clock {
  int8_t hour, minute, second;
  int32_t microsecond;
};

inline bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
inline int64_t days_before_month(int64_t year, int64_t month) {
  constexpr int16_t kBefore[] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  return kBefore[month] + (month > 2 && is_leap(year));
}
inline int64_t days_in_month(int64_t year, int64_t month) {
  return month == 12 ? 31 : days_before_month(year, month + 1) - days_before_month(year, month);
}

inline int64_t ordinal(Date d) {
  int64_t y = d.year - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 + days_before_month(d.year, d.month) + d.day;
}
/// The day of a number in [1, kLastDay].
inline Date date_of(int64_t number) {
  int64_t n = number - 1;
  int64_t n400 = n / 146097, in400 = n % 146097;
  int64_t n100 = in400 / 36524 > 3 ? 3 : in400 / 36524, in100 = in400 - n100 * 36524;
  int64_t n4 = in100 / 1461, in4 = in100 % 1461;
  int64_t n1 = in4 / 365 > 3 ? 3 : in4 / 365, day = in4 - n1 * 365;
  int64_t year = n400 * 400 + n100 * 100 + n4 * 4 + n1 + 1;
  int64_t month = (day + 50) / 32 + 1;  // right, or one too early
  if (month > 12) month = 12;
  while (month < 12 && day >= days_before_month(year, month + 1)) ++month;
  while (day < days_before_month(year, month)) --month;
  return {static_cast<int32_t>(year), static_cast<int8_t>(month), static_cast<int8_t>(day - days_before_month(year, month) + 1)};
}

inline int64_t since_midnight(Clock c) { return ((c.hour * 60 + c.minute) * int64_t{60} + c.second) * 1000000 + c.microsecond; }
inline Clock clock_of(int64_t us) {
  int64_t s = us / 1000000;
  return {static_cast<int8_t>(s / 3600), static_cast<int8_t>(s / 60 % 60), static_cast<int8_t>(s % 60),
          static_cast<int32_t>(us % 1000000)};
}

inline Result<void> check_date(int64_t year, int64_t month, int64_t day) {
  if (year < 1 || year > 9999) return fail(ErrorKind::ValueError, "year {} is out of range", year);
  if (month < 1 || month > 12) return fail(ErrorKind::ValueError, "month must be in 1..12");
  if (day < 1 || day > days_in_month(year, month)) return fail(ErrorKind::ValueError, "day is out of range for month");
  return {};
}
inline Result<void> check_clock(int64_t hour, int64_t minute, int64_t second, int64_t microsecond) {
  if (hour < 0 || hour > 23) return fail(ErrorKind::ValueError, "hour must be in 0..23");
  if (minute < 0 || minute > 59) return fail(ErrorKind::ValueError, "minute must be in 0..59");
  if (second < 0 || second > 59) return fail(ErrorKind::ValueError, "second must be in 0..59");
  if (microsecond < 0 || microsecond > 999999) return fail(ErrorKind::ValueError, "microsecond must be in 0..999999");
  return {};
}

}  // namespace tfl::datetime
