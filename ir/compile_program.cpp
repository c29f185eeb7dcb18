// From a function to the instructions that the evaluator runs. A value is moved out of its slot where it is used for the last
// time, so that the operation there may take over its memory; the slot then serves other values.
#include "ir/program.h"

#include "ir/softmax.h"
#include "runtime/ops/facts.h"

namespace tfl::ir::program {

namespace {

constexpr uint32_t kNever = UINT32_MAX;

struct Value {
  Place place = kDiscard;
  bool movable = false;  // its last use may empty the slot
  bool own = false;      // the slot goes back to the free ones after the last use
  uint32_t last_use = kNever;
};

class Compiler {
 public:
  Compiler(Code& code, std::unordered_map<const Function*, uint32_t>& numbers, std::vector<const Function*>& wanted)
      : code_(code), numbers_(numbers), wanted_(wanted) {}

  void function(const Function& f) {
    code_.function = &f;
    const Block& b = f.body;
    find_last_uses(b);
    for (const auto& p : b.params) {
      Value& v = value({p.get(), 0});
      v.place = v.last_use == kNever ? kDiscard : slot(p->types[0]);
      v.movable = v.own = true;
      code_.params.push_back(v.place);
    }
    nodes(b);
    Instruction& end = emit(Step::finish, nullptr);
    std::vector<Place> places = use(b.results, static_cast<uint32_t>(b.nodes.size()));
    set_sources(end, places);
  }

 private:
  Value& value(Ref r) { return values_[first_[r.node] + r.index]; }

  // What the instruction made of a node needs.
  std::span<const Ref> operands_of(const Node& n) const {
    auto softmax = softmaxes_.find(&n);
    return softmax == softmaxes_.end() ? n.operands.span() : std::span(&softmax->second.x, 1);
  }

  // Numbers the values of a block and notes where each is used for the last time: at a node, or by the block's results.
  void find_last_uses(const Block& b) {
    auto number = [this](const Node& n) {
      first_[&n] = static_cast<uint32_t>(values_.size());
      values_.resize(values_.size() + n.types.size());
    };
    for (const auto& p : b.params) number(*p);
    for (const auto& n : b.nodes) number(*n);
    for (const auto& n : b.nodes) {
      Softmax s = softmax_ending_at(b, *n);
      if (!s.x) continue;
      inner_.insert(s.inner.begin(), s.inner.end());
      softmaxes_[n.get()] = std::move(s);
    }
    for (uint32_t i = 0; i < b.nodes.size(); ++i) {
      if (inner_.contains(b.nodes[i].get())) continue;
      for (Ref r : operands_of(*b.nodes[i])) value(r).last_use = i;
    }
    for (Ref r : b.results) value(r).last_use = static_cast<uint32_t>(b.nodes.size());
  }

  Place slot(const Type& type) {
    bool object = !type.is_tensor();
    std::vector<Place>& free = object ? free_objects_ : free_tensors_;
    if (!free.empty()) {
      Place p = free.back();
      free.pop_back();
      return p;
    }
    return object ? kObject | code_.object_slots++ : code_.tensor_slots++;
  }
  void recycle(Place p) { (p & kObject ? free_objects_ : free_tensors_).push_back(p); }

  Instruction& emit(Step step, const Node* node) {
    code_.instructions.push_back({step});
    code_.instructions.back().node = node;
    return code_.instructions.back();
  }
  uint32_t here() const { return static_cast<uint32_t>(code_.instructions.size()); }
  uint32_t put(std::span<const Place> places) {
    uint32_t at = static_cast<uint32_t>(code_.places.size());
    code_.places.insert(code_.places.end(), places.begin(), places.end());
    return at;
  }
  void set_sources(Instruction& i, std::span<const Place> places) {
    i.sources = put(places);
    i.source_count = static_cast<uint32_t>(places.size());
  }
  void set_results(Instruction& i, std::span<const Place> places) {
    i.results = put(places);
    i.result_count = static_cast<uint32_t>(places.size());
  }

  // The places of operands at node number `at` of their block; the last mention of a value that dies there moves it.
  std::vector<Place> use(std::span<const Ref> refs, uint32_t at) {
    std::vector<Place> places(refs.size());
    for (size_t i = refs.size(); i-- > 0;) {
      Value& v = value(refs[i]);
      places[i] = v.place;
      if (v.movable && v.last_use == at) {
        places[i] |= kMove;
        v.movable = false;
      }
    }
    return places;
  }
  // Gives back the slots of what died there; after the places of the results have been chosen where those must differ.
  void retire(std::span<const Ref> refs, std::span<const Place> places) {
    for (size_t i = 0; i < refs.size(); ++i) {
      if ((places[i] & kMove) && value(refs[i]).own) recycle(places[i] & ~kMove);
    }
  }
  std::vector<Place> results_of(const Node& n) {
    std::vector<Place> places;
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      Value& v = value({const_cast<Node*>(&n), i});
      v.place = v.last_use == kNever ? kDiscard : slot(n.types[i]);
      v.movable = v.own = true;
      places.push_back(v.place);
    }
    return places;
  }

  void nodes(const Block& b) {
    for (uint32_t i = 0; i < b.nodes.size(); ++i) node(*b.nodes[i], i);
  }

  void node(const Node& n, uint32_t at) {
    if (inner_.contains(&n)) return;
    if (n.op == Op::constant) {
      Value& v = value({const_cast<Node*>(&n), 0});
      v.place = kConstant | static_cast<uint32_t>(code_.constants.size());
      code_.constants.push_back(n.constant);
      return;
    }
    if (op_facts(n.op).regions) return n.op == Op::while_loop ? loop(n, at) : branches(n, at);
    auto softmax = softmaxes_.find(&n);
    std::span<const Ref> operands = operands_of(n);
    std::vector<Place> sources = use(operands, at);
    retire(operands, sources);
    std::vector<Place> results = results_of(n);
    Instruction& i = emit(softmax != softmaxes_.end() ? Step::softmax
                          : n.op == Op::call          ? Step::call
                          : is_control(n.op)          ? Step::control
                                                      : Step::kernel,
                          &n);
    set_sources(i, sources);
    set_results(i, results);
    if (n.op == Op::call) i.target = code_number(n.target());
    if (i.step == Step::softmax) i.target = softmax->second.logs;
  }

  uint32_t code_number(const Function* f) {
    auto [at, fresh] = numbers_.try_emplace(f, static_cast<uint32_t>(wanted_.size()));
    if (fresh) wanted_.push_back(f);
    return at->second;
  }

  // What the slots of a region leave behind: everything it took is free again when it ends.
  struct Mark {
    std::vector<Place> tensors, objects;
    uint32_t tensor_slots, object_slots;
  };
  Mark mark() const { return {free_tensors_, free_objects_, code_.tensor_slots, code_.object_slots}; }
  void free_new_slots(const Mark& m) {
    free_tensors_ = m.tensors;
    free_objects_ = m.objects;
    for (uint32_t i = m.tensor_slots; i < code_.tensor_slots; ++i) free_tensors_.push_back(i);
    for (uint32_t i = m.object_slots; i < code_.object_slots; ++i) free_objects_.push_back(kObject | i);
  }

  // The code of a region whose parameters lie in `params`; those with the move bit are the region's to give away.
  std::vector<Place> region(const Block& b, std::span<const Place> params) {
    find_last_uses(b);
    std::vector<Place> unused;
    for (size_t i = 0; i < b.params.size(); ++i) {
      Value& v = value({b.params[i].get(), 0});
      v.place = params[i] & ~kMove;
      v.movable = (params[i] & kMove) != 0;
      if (v.movable && v.last_use == kNever) unused.push_back(params[i]);
    }
    if (!unused.empty()) set_sources(emit(Step::release, nullptr), unused);
    nodes(b);
    return use(b.results, static_cast<uint32_t>(b.nodes.size()));
  }

  void branches(const Node& n, uint32_t at) {
    std::vector<Place> sources = use(n.operands, at);
    std::vector<Place> results = results_of(n);
    // A value given twice lies in one slot: no region may empty it while the other parameter is alive.
    std::vector<Place> inputs(sources.begin() + 1, sources.end()), leftover;
    for (size_t i = 0; i < inputs.size(); ++i) {
      bool again = false;
      for (size_t k = 0; k < i; ++k) again |= inputs[k] == (inputs[i] & ~kMove);
      if (!again || !(inputs[i] & kMove)) continue;
      leftover.push_back(inputs[i]);
      inputs[i] &= ~kMove;
    }
    uint32_t test = here();
    Instruction& first = emit(n.op == Op::cond ? Step::branch : Step::choose, &n);
    set_sources(first, {sources.data(), 1});
    uint32_t table = static_cast<uint32_t>(code_.targets.size());
    first.target2 = static_cast<uint32_t>(n.regions.size());
    if (n.op == Op::switch_case) {
      first.target = table;
      code_.targets.resize(table + n.regions.size());
    }
    std::vector<uint32_t> ends;
    Mark before = mark();
    for (size_t r = 0; r < n.regions.size(); ++r) {
      if (n.op == Op::switch_case)
        code_.targets[table + r] = here();
      else if (r == 1)
        code_.instructions[test].target = here();
      free_new_slots(before);
      std::vector<Place> given = region(*n.regions[r], inputs);
      if (!given.empty()) {
        Instruction& move = emit(Step::move, &n);
        set_sources(move, given);
        set_results(move, results);
      }
      if (r + 1 < n.regions.size()) {
        ends.push_back(here());
        emit(Step::jump, &n);
      }
    }
    for (uint32_t e : ends) code_.instructions[e].target = here();
    if (!leftover.empty()) set_sources(emit(Step::release, &n), leftover);
    free_new_slots(before);
    retire(n.operands, sources);
  }

  void loop(const Node& n, uint32_t at) {
    size_t variables = n.types.size();
    std::vector<Place> sources = use(n.operands, at);
    std::vector<Place> slots, params_read, params_move, leftover;
    for (size_t i = 0; i < variables; ++i) slots.push_back(slot(n.types[i]));
    for (size_t i = 0; i < n.operands.size(); ++i) {
      Place p = i < variables ? slots[i] : sources[i] & ~kMove;
      params_read.push_back(p);
      params_move.push_back(i < variables ? p | kMove : p);
      if (i >= variables && (sources[i] & kMove)) leftover.push_back(sources[i]);
    }
    if (variables) {
      Instruction& start = emit(Step::move, &n);
      set_sources(start, std::span<const Place>(sources).first(variables));
      set_results(start, slots);
    }
    bool limited = n.attrs.find(Attr::limit) && n.attrs.get_int(Attr::limit) >= 0;
    uint32_t counter = limited ? code_.counters++ : 0;
    if (limited) emit(Step::start_count, &n).target2 = counter;

    Mark before = mark();
    uint32_t top = here();
    std::vector<Place> test = region(*n.regions[0], params_read);
    uint32_t leave = here();
    set_sources(emit(Step::branch, &n), test);
    uint32_t leave_counted = here();
    if (limited) emit(Step::count, &n).target2 = counter;
    free_new_slots(before);
    std::vector<Place> next = region(*n.regions[1], params_move);
    if (!next.empty()) {
      Instruction& move = emit(Step::move, &n);
      set_sources(move, next);
      set_results(move, slots);
    }
    emit(Step::back, &n).target = top;
    code_.instructions[leave].target = here();
    if (limited) code_.instructions[leave_counted].target = here();
    free_new_slots(before);

    for (uint32_t i = 0; i < variables; ++i) {
      Value& v = value({const_cast<Node*>(&n), i});
      v.place = slots[i];
      v.movable = v.own = true;
      if (v.last_use == kNever) {
        leftover.push_back(slots[i] | kMove);
        recycle(slots[i]);
      }
    }
    if (!leftover.empty()) set_sources(emit(Step::release, &n), leftover);
    retire(n.operands, sources);
  }

  Code& code_;
  std::unordered_map<const Function*, uint32_t>& numbers_;
  std::vector<const Function*>& wanted_;
  std::unordered_map<const Node*, uint32_t> first_;
  std::unordered_map<const Node*, Softmax> softmaxes_;  // by their last operations
  std::unordered_set<const Node*> inner_;               // the others of them, which get no instruction
  std::vector<Value> values_;
  std::vector<Place> free_tensors_, free_objects_;
};

}  // namespace

std::vector<std::unique_ptr<Code>> compile(const Function& f) {
  std::vector<std::unique_ptr<Code>> codes;
  std::vector<const Function*> wanted{&f};
  std::unordered_map<const Function*, uint32_t> numbers{{&f, 0}};
  for (size_t i = 0; i < wanted.size(); ++i) {
    codes.push_back(std::make_unique<Code>());
    Compiler(*codes.back(), numbers, wanted).function(*wanted[i]);
  }
  return codes;
}

}  // namespace tfl::ir::program
