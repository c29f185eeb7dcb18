// Plans made by hand, compiled, loaded and run: for the tests of what the driver of a plan does.
#pragma once

#include <cstring>
#include "tests/catch.h"

#include "codegen/abi.h"
#include "tests/unit/compiled.h"

namespace tfl::test_plans {

using namespace codegen;
using plan::Block;
using plan::Expr;
using plan::ExprKind;
using plan::Home;
using plan::kNone;
using plan::Plan;
using plan::Step;
using plan::ValueId;
using test::compile;
using test::load_code;

inline Step step(Step::Kind kind) {
  Step s;
  s.kind = kind;
  return s;
}

struct Maker {
  Plan p;

  // A scalar of the driver, with a word if it is read outside.
  ValueId scalar(DType dtype, bool visible = false) {
    plan::Value v;
    v.dtype = dtype;
    v.home = Home::scalar;
    if (visible) v.word = p.words++;
    p.values.push_back(std::move(v));
    return static_cast<ValueId>(p.values.size() - 1);
  }
  ValueId memory(DType dtype, plan::Sizes dims, Home home) {
    plan::Value v;
    v.dtype = dtype;
    v.dims = std::move(dims);
    v.home = home;
    v.word = p.words++;
    p.values.push_back(std::move(v));
    return static_cast<ValueId>(p.values.size() - 1);
  }
  uint32_t word(ValueId id) const { return p.values[id].word; }

  ValueId give(Block& b, Expr e, bool visible = false) {
    Step s = step(Step::Kind::scalar);
    s.result = scalar(e.dtype, visible);
    s.expr = std::move(e);
    b.steps.push_back(std::move(s));
    return b.steps.back().result;
  }
  ValueId constant(Block& b, DType dtype, uint64_t bits) {
    Expr e;
    e.dtype = dtype;
    e.bits = bits;
    return give(b, std::move(e));
  }
  ValueId apply(Block& b, Op op, DType dtype, std::initializer_list<ValueId> operands, bool visible = false) {
    Expr e;
    e.kind = ExprKind::apply;
    e.op = op;
    e.dtype = dtype;
    for (ValueId id : operands) e.operands.push_back(id);
    return give(b, std::move(e), visible);
  }
  ValueId load(Block& b, ValueId from, int64_t offset = 0, ValueId index = kNone, int64_t factor = 1, ValueId mask = kNone) {
    Expr e;
    e.kind = ExprKind::load;
    e.dtype = p.values[from].dtype;
    e.access.value = from;
    e.access.offset = offset;
    if (index != kNone) e.access.indexed.push_back({index, factor});
    e.access.mask = mask;
    return give(b, std::move(e));
  }
};

// The frame of one run, big enough for the plans here.
struct Run {
  Services services{};
  uint32_t interrupt = 0;
  // The frame lies in words that have no bound of their own: its last member has one more word than its type says for each of the plan.
  std::vector<int64_t> storage = std::vector<int64_t>(sizeof(Frame) / sizeof(int64_t) + 32);
  std::shared_ptr<const LoadedCode> code;

  explicit Run(const Plan& p) {
    REQUIRE(p.words <= 32);
    code = load_code(p);
    frame()->services = &services;
    frame()->interrupt = &interrupt;
  }
  Frame* frame() { return reinterpret_cast<Frame*>(storage.data()); }
  int64_t& word(uint32_t i) { return storage[offsetof(Frame, words) / sizeof(int64_t) + i]; }
  void set(uint32_t i, const void* address) { word(i) = reinterpret_cast<int64_t>(address); }
  template <class T>
  T as(uint32_t i) {
    T value;
    std::memcpy(&value, &word(i), sizeof value);
    return value;
  }
  int64_t operator()() { return code->entry()(frame()); }
};

}  // namespace tfl::test_plans
