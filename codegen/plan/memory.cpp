// Where values lie: how long each lives, which may share memory, the slots of the arena, inputs that may become results.
#include <algorithm>

#include "codegen/plan/builder.h"
#include "codegen/plan/parallel_loops.h"

namespace tfl::plan {

namespace {

struct Life {
  int64_t first = INT64_MAX, last = -1;
  bool touched() const { return last >= 0; }
};

class Memory {
  // When each of several steps that may run at the same time begins and ends.
  using Sides = std::vector<std::pair<int64_t, int64_t>>;

 public:
  explicit Memory(Builder& builder) : b(builder), plan(builder.plan), lives_(plan.values.size()), parent_(plan.values.size()) {
    for (uint32_t i = 0; i < parent_.size(); ++i) parent_[i] = i;
  }

  void run() {
    for (auto [value, older] : b.same_places) {
      pointee_[value] = pointee_[older] = true;
      parent_[value] = root(older);
    }
    walk(plan.body);
    extend();
    now_ = 0;
    share_in(plan.body);
    slots();
    donate();
    words();
  }

 private:
  void touch(ValueId v) {
    if (v == kNone) return;
    auto one = [&](ValueId x) {
      lives_[x].first = std::min(lives_[x].first, now_);
      lives_[x].last = std::max(lives_[x].last, now_);
    };
    one(v);
    if (auto it = b.pointees.find(v); it != b.pointees.end()) {
      for (ValueId x : it->second) {
        one(x);
        pointee_[x] = true;
      }
    }
  }

  void touch(const Kernel& k) {
    std::vector<ValueId> reads, writes;
    kernel_values(k, reads, writes);
    for (ValueId v : reads) touch(v);
    for (ValueId v : writes) touch(v);
  }

  void walk(const Block& block) {
    for (size_t i = 0; i < block.steps.size(); ++i) {
      const Step& s = block.steps[i];
      const int64_t begin = ++now_;
      switch (s.kind) {
        case Step::Kind::scalar:
          touch(s.expr.access.value);
          touch(s.result);
          for (ValueId v : s.expr.operands) touch(v);
          break;
        case Step::Kind::kernel: touch(plan.kernels[s.index]); break;
        case Step::Kind::product: {
          const Product& p = plan.products[s.index];
          touch(p.a);
          touch(p.b);
          touch(p.result);
          if (p.epilogue != kNone) touch(plan.kernels[p.epilogue]);
          break;
        }
        case Step::Kind::routine:
          for (ValueId v : plan.routines[s.index].at) touch(v);
          break;
        case Step::Kind::check: touch(s.condition); break;
        case Step::Kind::point:
          touch(s.result);
          touch(s.from);
          break;
        case Step::Kind::branch:
        case Step::Kind::loop: {
          int64_t from = now_;
          touch(s.condition);
          for (ValueId v : s.initial) touch(v);
          for (const Block& inner : s.blocks) walk(inner);
          ++now_;
          for (ValueId v : s.results) touch(v);
          if (s.kind == Step::Kind::loop) loops_.push_back({from, now_});
          break;
        }
      }
      if (s.beside)
        beside_.back().push_back({begin, now_});
      else if (beside_end(block, i) > i + 1)
        beside_.push_back({{begin, now_}});
    }
  }

  // Of steps that may run at the same time: what more than one of them may see lives as long as all of them.
  static bool extend(Life& l, const Sides& sides) {
    const int64_t from = sides.front().first, to = sides.back().second;
    Life before = l;
    if (!l.touched() || l.last < from || l.first > to) return false;
    if (l.first > from) l.first = from;
    if (l.last < to) l.last = to;
    return l.first != before.first || l.last != before.last;
  }
  static bool within_one(const Life& l, const Sides& sides) {
    return std::any_of(sides.begin(), sides.end(), [&](const auto& s) { return l.first >= s.first && l.last <= s.second; });
  }

  // What a loop reads from before it lives as long as the loop; so does all that its pointers may point to.
  void extend() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Sides& sides : beside_) {
        for (ValueId v = 0; v < lives_.size(); ++v) {
          bool own = plan.values[v].home == Home::temporary && within_one(lives_[v], sides);
          if (!own && extend(lives_[v], sides)) changed = true;
        }
      }
      for (const auto& [from, to] : loops_) {
        for (ValueId v = 0; v < lives_.size(); ++v) {
          Life& l = lives_[v];
          if (!l.touched() || l.last < from || l.first > to) continue;
          bool pointee = pointee_.contains(v);
          if (l.first < from && l.last < to) {
            l.last = to;
            changed = true;
          }
          if (pointee && (l.first > from || l.last < to)) {
            l.first = std::min(l.first, from);
            l.last = std::max(l.last, to);
            changed = true;
          }
        }
      }
    }
  }

  ValueId root(ValueId v) const {
    while (parent_[v] != v) v = parent_[v];
    return v;
  }

  bool same_memory(ValueId x, ValueId y) {
    const Value &p = plan.values[x], &q = plan.values[y];
    return dtype_size(p.dtype) == dtype_size(q.dtype) && b.count(p.dims) == b.count(q.dims);
  }

  // Whether `from`, and what shares its memory, may lie where `to` does: branches write the same result through values of their own, and
  // one of them may still read `from`.
  bool apart(ValueId from, ValueId to) const {
    const Value& target = plan.values[to];
    if (target.home != Home::result) return true;
    for (ValueId v = 0; v < lives_.size(); ++v) {
      const Value& other = plan.values[v];
      if (v == to || other.home != Home::result || other.index != target.index || !lives_[v].touched()) continue;
      for (ValueId m = 0; m < lives_.size(); ++m) {
        if (root(m) == root(from) && lives_[m].touched() && lives_[m].first <= lives_[v].last &&
            lives_[v].first <= lives_[m].last)
          return false;
      }
    }
    return true;
  }

  // `product`: whose rows the kernel finishes, while others may still read its operands.
  void share(const Kernel& k, int64_t at, const Product* product = nullptr) {
    for (size_t i = 0; i < k.stages.size(); ++i) {
      ValueId to = k.stages[i].target.value;
      if (k.stages[i].kind != Stage::Kind::store || to == kNone || pointee_.contains(to)) continue;
      Home home = plan.values[to].home;
      if ((home != Home::temporary && home != Home::result) || lives_[to].first != at || taken_.contains(to)) continue;
      std::vector<ValueId> reads, writes;
      kernel_values(k, reads, writes);
      for (ValueId from : reads) {
        if (plan.values[from].home != Home::temporary || lives_[from].last != at || pointee_.contains(from)) continue;
        if (product && (product->a == from || product->b == from)) continue;
        if (given_.contains(from) || from == to || !same_memory(from, to) || !writes_in_place(k, i, from) || !apart(from, to))
          continue;
        given_.insert(from);
        taken_.insert(to);
        parent_[root(from)] = root(to);
        break;
      }
    }
  }

  // Writes by index change what dies here in place.
  void share(const RoutineStep& r, int64_t at) {
    if (r.routine != Routine::scatter || r.at[0] == kNone) return;
    ValueId from = r.at[0], to = r.at[3];
    auto fits = [&](ValueId v) {
      return plan.values[v].home == Home::temporary || (v == to && plan.values[v].home == Home::result);
    };
    bool alone = std::count(r.at.begin(), r.at.end(), from) == 1 && std::count(r.at.begin(), r.at.end(), to) == 1;
    if (!alone || !fits(from) || !fits(to) || lives_[from].last != at || lives_[to].first != at || pointee_.contains(from) ||
        pointee_.contains(to))
      return;
    if (given_.contains(from) || taken_.contains(to) || !apart(from, to)) return;
    given_.insert(from);
    taken_.insert(to);
    parent_[root(from)] = root(to);
  }

  void share_in(const Block& block) {
    for (const Step& s : block.steps) {
      ++now_;
      if (s.kind == Step::Kind::kernel) share(plan.kernels[s.index], now_);
      if (s.kind == Step::Kind::routine) share(plan.routines[s.index], now_);
      if (s.kind == Step::Kind::product && plan.products[s.index].epilogue != kNone)
        share(plan.kernels[plan.products[s.index].epilogue], now_, &plan.products[s.index]);
      if (s.kind == Step::Kind::branch || s.kind == Step::Kind::loop) {
        for (const Block& inner : s.blocks) share_in(inner);
        ++now_;
      }
    }
  }

  void slots() {
    // One life for all that share their memory.
    std::vector<Life> whole(lives_.size());
    for (ValueId v = 0; v < lives_.size(); ++v) {
      Life& l = whole[root(v)];
      l.first = std::min(l.first, lives_[v].first);
      l.last = std::max(l.last, lives_[v].last);
    }
    for (const Sides& sides : beside_) {
      for (Life& l : whole) extend(l, sides);
    }
    std::vector<ValueId> order;
    for (ValueId v = 0; v < lives_.size(); ++v) {
      Value& value = plan.values[v];
      if (root(v) == v && value.home == Home::temporary && whole[v].touched()) order.push_back(v);
    }
    std::stable_sort(order.begin(), order.end(), [&](ValueId x, ValueId y) { return whole[x].first < whole[y].first; });
    std::vector<int64_t> busy;  // until when a slot is used
    for (ValueId v : order) {
      Value& value = plan.values[v];
      Size bytes = b.multiply(b.count(value.dims), static_cast<Size>(dtype_size(value.dtype)));
      size_t best = plan.slots.size();
      for (size_t s = 0; s < plan.slots.size(); ++s) {
        if (busy[s] >= whole[v].first) continue;
        Size have = plan.slots[s];
        if (have == bytes) {
          best = s;
          break;
        }
        if (!is_known(have) || !is_known(bytes)) continue;
        if (best == plan.slots.size()) best = s;
        // The smallest that is large enough; else the largest, which grows.
        Size chosen = plan.slots[best];
        bool better = have >= bytes ? chosen < bytes || have < chosen : chosen < bytes && have > chosen;
        if (better) best = s;
      }
      if (best == plan.slots.size()) {
        plan.slots.push_back(bytes);
        busy.push_back(0);
      } else if (is_known(bytes)) {
        plan.slots[best] = std::max(plan.slots[best], bytes);
      }
      busy[best] = whole[v].last;
      value.index = static_cast<uint32_t>(best);
    }
    for (ValueId v = 0; v < lives_.size(); ++v) {
      ValueId r = root(v);
      if (r == v) continue;
      plan.values[v].home = plan.values[r].home;
      plan.values[v].index = plan.values[r].index;
    }
  }

  void donate() {
    std::vector<bool> given(plan.inputs.size(), false);
    for (const ResultPlace& r : plan.results) {
      if (r.kind == ResultPlace::Kind::input) given[r.index] = true;
    }
    for (uint32_t k = 0; k < plan.results.size(); ++k) {
      const ResultPlace& place = plan.results[k];
      if (place.kind != ResultPlace::Kind::memory) continue;
      ValueId target = kNone;
      Life life;
      for (ValueId v = 0; v < plan.values.size(); ++v) {
        if (plan.values[v].home != Home::result || plan.values[v].index != k) continue;
        target = v;
        life.first = std::min(life.first, lives_[v].first);
        life.last = std::max(life.last, lives_[v].last);
      }
      if (target == kNone || !life.touched()) continue;
      for (ValueId v = 0; v < plan.values.size(); ++v) {
        const Value& value = plan.values[v];
        if (value.home != Home::input || given[value.index] || value.dtype != place.dtype) continue;
        const InputType& input = plan.inputs[value.index];
        if (!(input.dims == place.dims) || !lives_[v].touched()) continue;
        bool fits = lives_[v].last < life.first;
        if (lives_[v].last == life.first) fits = overwrites(plan.body, v, k, life.first);
        if (!fits) continue;
        given[value.index] = true;
        plan.donations.push_back({value.index, k});
        break;
      }
    }
  }

  // Whether the step at `at` is a kernel that stores result `k` over what it reads of `v`.
  bool overwrites(const Block& body, ValueId v, uint32_t k, int64_t at) {
    int64_t now = 0;
    return overwrites(body, v, k, at, now);
  }
  bool overwrites(const Block& block, ValueId v, uint32_t k, int64_t at, int64_t& now) {
    for (const Step& s : block.steps) {
      ++now;
      if (now == at && s.kind == Step::Kind::kernel) {
        const Kernel& kernel = plan.kernels[s.index];
        for (size_t i = 0; i < kernel.stages.size(); ++i) {
          ValueId t = kernel.stages[i].target.value;
          if (t == kNone || plan.values[t].home != Home::result || plan.values[t].index != k) continue;
          return lives_[t].first == at && writes_in_place(kernel, i, v);
        }
        return false;
      }
      if (s.kind == Step::Kind::branch || s.kind == Step::Kind::loop) {
        for (const Block& inner : s.blocks) {
          if (overwrites(inner, v, k, at, now)) return true;
        }
        ++now;
      }
    }
    return false;
  }

  // Symbols come first in a frame, then addresses of what is used, and the scalars that kernels read.
  void words() {
    plan.words = static_cast<uint32_t>(plan.symbols.size());
    for (ValueId v = 0; v < plan.values.size(); ++v) {
      Value& value = plan.values[v];
      if (value.home != Home::scalar && !lives_[v].touched()) {
        value.home = Home::scalar;  // nobody uses it
        value.word = kNone;
        continue;
      }
      if (value.home != Home::scalar || value.word != kNone) value.word = plan.words++;
    }
  }

  Builder& b;
  Plan& plan;
  std::vector<Life> lives_;
  std::vector<ValueId> parent_;
  std::unordered_map<ValueId, bool> pointee_;
  std::unordered_set<ValueId> given_, taken_;
  std::vector<std::pair<int64_t, int64_t>> loops_;
  std::vector<Sides> beside_;
  int64_t now_ = 0;
};

}  // namespace

void place_values(Builder& b) { Memory(b).run(); }

}  // namespace tfl::plan
