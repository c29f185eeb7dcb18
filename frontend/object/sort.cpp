// A merge sort over natural runs, short ones made longer by binary insertion: as few comparisons as CPython's, stable, and safe
// when a comparison fails or makes no sense. Lists of one plain type are compared without going through the protocol.
#include "frontend/object/sort.h"

#include <algorithm>

#include "frontend/object/native.h"

namespace tfl {

namespace {

struct Item {
  Value key;
  Value value;  // Empty when the items are their own keys
};

struct LessInt {
  Result<bool> operator()(const Item& a, const Item& b) const { return a.key.as_int() < b.key.as_int(); }
};
struct LessFloat {
  Result<bool> operator()(const Item& a, const Item& b) const { return a.key.as_float() < b.key.as_float(); }
};
struct LessText {
  Result<bool> operator()(const Item& a, const Item& b) const { return text_of(a.key) < text_of(b.key); }
};
struct LessAny {
  Interp& interp;
  Result<bool> operator()(const Item& a, const Item& b) const { return less(interp, a.key, b.key); }
};

template <class Less>
class Sorter {
 public:
  Sorter(std::vector<Item>& items, Less less) : items_(items), less_(less) {}

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
        if (before) high = middle;
        else low = middle + 1;
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
    buffer_.clear();
    for (size_t i = 0; i < left; ++i) buffer_.push_back(std::move(items_[at + i]));
    size_t a = 0, b = at + left, end = b + right, to = at;
    while (a < left && b < end) {
      auto r = less_(items_[b], buffer_[a]);
      if (!r) {
        // Everything must be somewhere: put the rest of the left run back.
        while (a < left) items_[to++] = std::move(buffer_[a++]);
        return r.failure();
      }
      if (*r) items_[to++] = std::move(items_[b++]);
      else items_[to++] = std::move(buffer_[a++]);
    }
    while (a < left) items_[to++] = std::move(buffer_[a++]);
    return {};
  }

  std::vector<Item>& items_;
  Less less_;
  std::vector<Run> runs_;
  std::vector<Item> buffer_;
};

template <class Less>
Result<void> sort_items(std::vector<Item>& items, Less less) {
  return Sorter<Less>(items, less).run();
}

Result<void> sort_any(Interp& interp, std::vector<Item>& items) {
  bool ints = true, floats = true, texts = true;
  for (const Item& item : items) {
    ints &= item.key.is_int();
    floats &= item.key.is_float();
    texts &= item.key.is_str() && !item.key.object()->type->script;
  }
  if (ints) return sort_items(items, LessInt{});
  if (floats) return sort_items(items, LessFloat{});
  if (texts) return sort_items(items, LessText{});
  return sort_items(items, LessAny{interp});
}

}  // namespace

Result<void> sort_values(Interp& interp, std::vector<Value>& values, const Value& key, bool reverse) {
  bool keyed = !key.is_none() && !key.is_empty();
  TFL_TRY(guard_memory(interp, values.size() * sizeof(Item) * 2));
  std::vector<Item> items(values.size());
  Result<void> done;
  for (size_t i = 0; i < values.size() && done; ++i) {
    if (!keyed) {
      items[i].key = std::move(values[i]);
      continue;
    }
    auto k = interp.call(key, {values[i]});
    if (!k) return k.failure();
    items[i].key = k.take();
  }
  if (keyed) {
    for (size_t i = 0; i < values.size(); ++i) items[i].value = std::move(values[i]);
  }
  // Turned round before and after, so that equal items keep their order in a descending sort too.
  if (reverse) std::reverse(items.begin(), items.end());
  if (items.size() > 1) done = sort_any(interp, items);
  if (reverse) std::reverse(items.begin(), items.end());
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::move(keyed ? items[i].value : items[i].key);
  return done;
}

}  // namespace tfl
