// Sorting lists. Keys that are all ints, all floats or all text are sorted by their bits; others by a merge sort over natural runs, short ones
// made longer by binary insertion: as few comparisons as CPython's, stable, and safe when a comparison fails or makes no sense.
#include "frontend/interpreter/object/containers/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "frontend/core/str.h"
#include "frontend/interpreter/object/containers/order.h"

namespace tfl {

namespace {

/// An item's number, with bits that order it: unsigned, smaller ones first.
struct Ranked {
  uint64_t bits;
  uint64_t number;
};

/// Stable.
void sort_ranked(std::vector<Ranked>& items, Stop stop) {
  auto before = [](const Ranked& a, const Ranked& b) { return a.bits < b.bits || (a.bits == b.bits && a.number < b.number); };
  if (std::is_sorted(items.begin(), items.end(), before)) return;
  constexpr size_t kFew = 256;
  if (items.size() < kFew) {
    std::sort(items.begin(), items.end(), before);
    return;
  }
  // By one byte after the other, beginning with the last; bytes in which all agree are left out.
  std::array<std::array<size_t, 256>, 8> counts{};
  for (const Ranked& item : items) {
    for (size_t byte = 0; byte < 8; ++byte) ++counts[byte][item.bits >> (8 * byte) & 0xFF];
  }
  std::vector<Ranked> other(items.size());
  for (size_t byte = 0; byte < 8 && !stops(stop); ++byte) {
    std::array<size_t, 256>& places = counts[byte];
    if (places[items[0].bits >> (8 * byte) & 0xFF] == items.size()) continue;
    size_t at = 0;
    for (size_t& place : places) at += std::exchange(place, at);
    for (const Ranked& item : items) other[places[item.bits >> (8 * byte) & 0xFF]++] = item;
    items.swap(other);
  }
}

uint64_t bits_of_int(int64_t i) { return static_cast<uint64_t>(i) ^ (uint64_t{1} << 63); }

uint64_t bits_of_float(double x) {
  auto bits = std::bit_cast<uint64_t>(x + 0.0);  // -0 and 0 are equal
  return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
}

uint64_t bits_of_text(const std::string& s) {
  uint64_t bits = 0;
  std::memcpy(&bits, s.data(), std::min<size_t>(s.size(), 8));
  return __builtin_bswap64(bits);
}

/// The numbers of the keys in their order, where the bits of all of them say it; false: they do not. After an interrupt the order means nothing.
bool sort_plain(Interp& interp, const std::vector<Value>& keys, bool reverse, std::vector<size_t>& order) {
  bool ints = true, floats = true, texts = true;
  for (const Value& key : keys) {
    ints &= key.is_int();
    floats &= key.is_float() && !std::isnan(key.as_float());
    texts &= key.is_str() && key.object()->type == interp.types.str;
    if (!ints && !floats && !texts) return false;
  }
  uint64_t turned = reverse ? ~uint64_t{0} : 0;  // equal keys keep their order in a descending sort, too
  std::vector<Ranked> items;
  items.reserve(keys.size());
  for (const Value& key : keys) {
    uint64_t bits = ints ? bits_of_int(key.as_int()) : floats ? bits_of_float(key.as_float()) : bits_of_text(text_of(key));
    items.push_back({bits ^ turned, items.size()});
  }
  const Stop stop = stop_of(interp);
  sort_ranked(items, stop);
  if (texts) {
    // The first eight bytes said which come first; the others decide where these are equal.
    auto before = [&](const Ranked& a, const Ranked& b) {
      int c = text_of(keys[a.number]).compare(text_of(keys[b.number]));
      return reverse ? c > 0 : c < 0;
    };
    for (size_t i = 0, end; i < items.size() && !stops(stop); i = end) {
      for (end = i + 1; end < items.size() && items[end].bits == items[i].bits;) ++end;
      if (end - i > 1)
        std::stable_sort(items.begin() + static_cast<ptrdiff_t>(i), items.begin() + static_cast<ptrdiff_t>(end), before);
    }
  }
  for (const Ranked& item : items) order.push_back(item.number);
  return true;
}

/// Sorts numbers of keys by what the keys say of each other.
class Sorter {
 public:
  Sorter(Interp& interp, const std::vector<Value>& keys, std::vector<size_t>& items)
      : interp_(interp), keys_(keys), items_(items) {}

  Result<void> run() {
    size_t n = items_.size();
    size_t shortest = minimum_run(n);
    for (size_t at = 0; at < n;) {
      size_t length = TFL_TRY(natural_run(at));
      if (length < shortest) {
        size_t wanted = std::min(shortest, n - at);
        TFL_TRY(insert(at, at + length, at + wanted));
        length = wanted;
      }
      runs_.push_back({at, length});
      at += length;
      TFL_TRY(collapse(false));
    }
    return collapse(true);
  }

 private:
  struct Run {
    size_t at, length;
  };

  Result<bool> less_(size_t a, size_t b) {
    if (++asked_ % kLookEvery == 0) TFL_TRY(look_for_interrupt(interp_));
    return quick_less(interp_, keys_[a], keys_[b]);
  }

  static size_t minimum_run(size_t n) {
    size_t odd = 0;
    while (n >= 64) {
      odd |= n & 1;
      n >>= 1;
    }
    return n + odd;
  }

  /// The length of the run at `at`: not descending, or strictly descending and then turned round.
  Result<size_t> natural_run(size_t at) {
    size_t n = items_.size(), i = at + 1;
    if (i >= n) return n - at;
    bool down = TFL_TRY(less_(items_[i], items_[i - 1]));
    for (++i; i < n; ++i) {
      bool smaller = TFL_TRY(less_(items_[i], items_[i - 1]));
      if (smaller != down) break;
    }
    if (down) std::reverse(items_.begin() + static_cast<ptrdiff_t>(at), items_.begin() + static_cast<ptrdiff_t>(i));
    return i - at;
  }

  /// [first, sorted) is in order; puts [sorted, last) into it.
  Result<void> insert(size_t first, size_t sorted, size_t last) {
    for (size_t i = sorted; i < last; ++i) {
      size_t low = first, high = i;
      while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool before = TFL_TRY(less_(items_[i], items_[middle]));
        if (before)
          high = middle;
        else
          low = middle + 1;
      }
      auto base = items_.begin();
      std::rotate(base + static_cast<ptrdiff_t>(low), base + static_cast<ptrdiff_t>(i), base + static_cast<ptrdiff_t>(i) + 1);
    }
    return {};
  }

  Result<void> collapse(bool all) {
    while (runs_.size() > 1) {
      size_t n = runs_.size() - 2;
      bool out_of_balance = (n > 0 && runs_[n - 1].length <= runs_[n].length + runs_[n + 1].length) ||
                            (n > 1 && runs_[n - 2].length <= runs_[n - 1].length + runs_[n].length);
      if (all || out_of_balance) {
        if (n > 0 && runs_[n - 1].length < runs_[n + 1].length) --n;
      } else if (runs_[n].length > runs_[n + 1].length) {
        break;
      }
      TFL_TRY(merge(runs_[n].at, runs_[n].length, runs_[n + 1].length));
      runs_[n].length += runs_[n + 1].length;
      runs_.erase(runs_.begin() + static_cast<ptrdiff_t>(n) + 1);
    }
    return {};
  }

  Result<void> merge(size_t at, size_t left, size_t right) {
    // Already in order: nothing to move.
    bool overlap = TFL_TRY(less_(items_[at + left], items_[at + left - 1]));
    if (!overlap) return {};
    auto from = items_.begin() + static_cast<ptrdiff_t>(at);
    buffer_.assign(from, from + static_cast<ptrdiff_t>(left));
    size_t a = 0, b = at + left, end = b + right, to = at;
    while (a < left && b < end) {
      auto r = less_(items_[b], buffer_[a]);
      if (!r) {
        // Everything must be somewhere: put the rest of the left run back.
        while (a < left) items_[to++] = buffer_[a++];
        return r.failure();
      }
      if (*r)
        items_[to++] = items_[b++];
      else
        items_[to++] = buffer_[a++];
    }
    while (a < left) items_[to++] = buffer_[a++];
    return {};
  }

  Interp& interp_;
  const std::vector<Value>& keys_;
  std::vector<size_t>& items_;
  size_t asked_ = 0;
  std::vector<Run> runs_;
  std::vector<size_t> buffer_;
};

}  // namespace

Result<void> sort_values(Interp& interp, std::vector<Value>& values, const Value& key, bool reverse) {
  bool keyed = !key.is_none() && !key.is_empty();
  TFL_TRY(guard_memory(interp, values.size() * 6 * sizeof(size_t)));
  std::vector<Value> made;
  if (keyed) {
    made.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      Value k = TFL_TRY(interp.call(key, {values[i]}));
      made.push_back(std::move(k));
    }
  }
  if (values.size() < 2) return {};
  const std::vector<Value>& keys = keyed ? made : values;
  std::vector<size_t> order;
  order.reserve(values.size());
  Result<void> done;
  if (!sort_plain(interp, keys, reverse, order)) {
    order.resize(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    // Turned round before and after, so that equal items keep their order in a descending sort too.
    if (reverse) std::reverse(order.begin(), order.end());
    done = Sorter(interp, keys, order).run();
    if (reverse) std::reverse(order.begin(), order.end());
  }
  TFL_TRY(look_for_interrupt(interp));  // the values are still as they were
  std::vector<Value> sorted;
  sorted.reserve(values.size());
  for (size_t number : order) sorted.push_back(std::move(values[number]));
  values.swap(sorted);
  return done;
}

}  // namespace tfl
