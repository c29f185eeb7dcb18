// Runs a plan element by element with the eager operations: what machine code made from it must do, so that an error of a plan can be told
// from one of the code. Strict: memory begins as rubbish, units run backwards, inputs are always given away, every access is checked.
#pragma once

#include <cstring>
#include <map>

#include "codegen/plan/build.h"
#include "runtime/kernels/reduce/reduce.h"
#include "runtime/kernels/window/window.h"
#include "runtime/tensor/element.h"
#include "tests/tools/plan_reductions.h"
#include "tests/tools/plan_routines.h"
#include "tests/tools/plan_sizes.h"

namespace tfl::test {

class PlanRun {
 public:
  PlanRun(Context& context, const plan::Plan& p, std::span<Tensor> inputs) : context_(context), p_(p), inputs_(inputs) {}

  /// False where the plan declines.
  bool run(std::span<Tensor> results) {
    if (!sizes_.enter(p_, inputs_)) return false;
    for (plan::Size bytes : p_.slots) slots_.push_back(rubbish(size(bytes)));
    for (const Tensor& t : inputs_) {
      dense_.push_back(*contiguous(context_, t));
      input_bytes_.emplace_back(dense_.back().raw(), dense_.back().raw() + dense_.back().bytes());
    }
    for (const plan::ResultPlace& r : p_.results) {
      int64_t bytes = static_cast<int64_t>(dtype_size(r.dtype));
      for (plan::Size d : r.dims) bytes *= size(d);
      result_bytes_.push_back(rubbish(r.kind == plan::ResultPlace::Kind::memory ? bytes : 0));
    }
    for (const plan::Donation& d : p_.donations) {
      expect_of_plan(result_bytes_[d.result].size() == input_bytes_[d.input].size(), "a donation of another size");
      donated_[d.result] = d.input;
    }
    if (!block(p_.body)) return false;
    for (size_t i = 0; i < p_.results.size(); ++i) {
      const plan::ResultPlace& r = p_.results[i];
      Dims dims;
      for (plan::Size d : r.dims) dims.push_back(size(d));
      if (r.kind == plan::ResultPlace::Kind::scalar)
        results[i] = scalars_.at(r.index);
      else if (r.kind == plan::ResultPlace::Kind::input)
        results[i] = inputs_[r.index];
      else if (r.kind == plan::ResultPlace::Kind::constant)
        results[i] = p_.constants[r.index];
      else
        results[i] = tensor(r.dtype, dims, memory_of_result(i).data());
      expect_of_plan(results[i].dtype() == r.dtype, "a result of another type");
      expect_of_plan(std::equal(dims.begin(), dims.end(), results[i].dims().begin(), results[i].dims().end()),
                     "a result of other sizes");
    }
    return true;
  }

 private:
  using Bytes = std::vector<std::byte>;
  struct Element {  // where a kernel is
    const plan::Kernel* kernel = nullptr;
    std::vector<int64_t> at;
    std::map<uint32_t, Tensor> reduced;                              // by stage
    std::map<std::pair<uint32_t, int64_t>, Tensor>* kept = nullptr;  // by stage and place in the row
    int64_t place = 0;
    std::vector<Tensor>* variables = nullptr;  // of the kernel's loop
    bool after_loop = false;
  };

  static Bytes rubbish(int64_t n) { return Bytes(static_cast<size_t>(std::max<int64_t>(n, 0)), std::byte{0xAB}); }
  Tensor tensor(DType dtype, const Dims& dims, const std::byte* from) {
    Tensor t = *Tensor::empty(context_, dtype, dims);
    if (t.bytes()) std::memcpy(t.raw(), from, t.bytes());
    return t;
  }
  Tensor number(DType dtype, int64_t v) {
    Tensor t = *Tensor::empty(context_, dtype, Dims{});
    store_int(dtype, v, t.raw());
    return t;
  }
  static int64_t integer(const Tensor& t) { return load_int(t.dtype(), t.raw()); }

  int64_t size(plan::Size s) const { return sizes_.size(s); }
  int64_t divisor(const plan::Stage& s) const { return s.divisor == 0 ? 0 : size(s.divisor); }

  Bytes& memory_of_result(size_t i) {
    auto it = donated_.find(static_cast<uint32_t>(i));
    return it == donated_.end() ? result_bytes_[i] : input_bytes_[it->second];
  }
  std::span<std::byte> memory(plan::ValueId v) {
    const plan::Value& value = p_.values[v];
    switch (value.home) {
      case plan::Home::input: return input_bytes_[value.index];
      case plan::Home::constant: {
        const Tensor& t = p_.constants[value.index];
        return {const_cast<std::byte*>(t.raw()), t.bytes()};
      }
      case plan::Home::result: return memory_of_result(value.index);
      case plan::Home::temporary:
        expect_of_plan(value.index < slots_.size(), "a slot that is not there");
        return slots_[value.index];
      case plan::Home::pointer: expect_of_plan(pointers_.contains(v), "a pointer that points nowhere"); return pointers_[v];
      default: expect_of_plan(false, "a scalar has no memory"); return {};
    }
  }

  Tensor apply_row(Op op, std::vector<Tensor> operands, bool& failed) {
    Tensors results;
    if (!apply(context_, op, {operands.data(), operands.size()}, {}, results)) {
      failed = true;
      return number(DType::I32, 0);
    }
    return results[0];
  }

  int64_t offset(const plan::Access& a, const Element* e) {
    int64_t at = size(a.offset);
    for (size_t k = 0; k < a.strides.size(); ++k) at += size(a.strides[k]) * e->at[k];
    for (const plan::Access::Indexed& i : a.indexed) {
      Tensor x = e ? value(i.index, *e) : scalars_.at(i.index);
      at += integer(x) * size(i.factor);
    }
    return at;
  }
  Tensor read(const plan::Access& a, DType dtype, const Element* e) {
    Tensor t = *Tensor::empty(context_, dtype, Dims{});
    std::memset(t.raw(), 0, dtype_size(dtype));
    if (a.mask != plan::kNone && !*value(a.mask, *e).data<bool>()) return t;
    expect_of_plan(p_.values[a.value].dtype == dtype, "a load of another type");
    std::span<std::byte> bytes = memory(a.value);
    int64_t at = offset(a, e) * static_cast<int64_t>(dtype_size(dtype));
    if (failed_) return t;  // what decides the place has failed
    expect_of_plan(at >= 0 && static_cast<size_t>(at) + dtype_size(dtype) <= bytes.size(), "a load outside the memory");
    std::memcpy(t.raw(), bytes.data() + at, dtype_size(dtype));
    return t;
  }
  void write(const plan::Access& a, const Tensor& x, const Element& e) {
    expect_of_plan(p_.values[a.value].dtype == x.dtype(), "a store of another type");
    expect_of_plan(a.strides.size() == e.at.size(), "a store with other axes");
    std::span<std::byte> bytes = memory(a.value);
    int64_t at = offset(a, &e) * static_cast<int64_t>(dtype_size(x.dtype()));
    expect_of_plan(at >= 0 && static_cast<size_t>(at) + dtype_size(x.dtype()) <= bytes.size(), "a store outside the memory");
    plan::Home home = p_.values[a.value].home;
    expect_of_plan(home == plan::Home::temporary || home == plan::Home::result || home == plan::Home::pointer,
                   "a store to what is only read");
    std::memcpy(bytes.data() + at, x.raw(), dtype_size(x.dtype()));
  }

  // Expression `id` at an element; nothing is remembered from one stage to the next.
  Tensor value(plan::ExprId id, const Element& e) {
    std::map<plan::ExprId, Tensor> known;
    return value(id, e, known);
  }
  Tensor value(plan::ExprId id, const Element& e, std::map<plan::ExprId, Tensor>& known) {
    if (auto it = known.find(id); it != known.end()) return it->second;
    const plan::Expr& x = e.kernel->exprs[id];
    std::vector<Tensor> operands;
    for (plan::ExprId o : x.operands) {
      expect_of_plan(o < id, "an operand behind its user");
      operands.push_back(value(o, e, known));
    }
    Tensor t;
    switch (x.kind) {
      case plan::ExprKind::load: t = read(x.access, x.dtype, &e); break;
      case plan::ExprKind::index: t = number(x.dtype, e.at[x.axis]); break;
      case plan::ExprKind::reduced: t = e.reduced.at(x.stage); break;
      case plan::ExprKind::kept: t = e.kept->at({x.stage, e.place}); break;
      case plan::ExprKind::variable:
        expect_of_plan(!e.after_loop, "a variable outside its loop");
        t = (*e.variables)[x.axis];
        break;
      case plan::ExprKind::looped:
        expect_of_plan(e.after_loop, "the end of a loop inside it");
        t = (*e.variables)[x.axis];
        break;
      default: t = simple(x, operands); break;
    }
    expect_of_plan(t.dtype() == x.dtype, "an expression of another type");
    known[id] = t;
    return t;
  }
  Tensor simple(const plan::Expr& x, const std::vector<Tensor>& operands) {
    switch (x.kind) {
      case plan::ExprKind::constant: return tensor(x.dtype, {}, reinterpret_cast<const std::byte*>(&x.bits));
      case plan::ExprKind::value: return scalars_.at(x.access.value);
      case plan::ExprKind::size: return number(x.dtype, size(x.size));
      case plan::ExprKind::apply: {
        bool failed = false;
        Tensor t = apply_row(x.op, operands, failed);
        if (failed) t = number(x.dtype, 0);
        failed_ = failed_ || failed;
        return t;
      }
      case plan::ExprKind::cast: return cast_to(context_, operands[0], x.dtype);
      case plan::ExprKind::bitcast: return tensor(x.dtype, {}, operands[0].raw());
      default: expect_of_plan(false, "an expression that is not for here"); return {};
    }
  }

  // f(at) for each index of axes [first, last), the last one first.
  template <class F>
  void backwards(const plan::Kernel& k, size_t first, size_t last, Element& e, F f) {
    if (first == last) return f();
    for (int64_t i = size(k.axes[first]); i-- > 0;) {
      e.at[first] = i;
      backwards(k, first + 1, last, e, f);
    }
  }

  bool routine(const plan::RoutineStep& r) {
    RoutineCall call{};
    call.flags = r.flags;
    call.dtype = static_cast<int64_t>(r.dtype);
    call.index_dtype = static_cast<int64_t>(r.index_dtype);
    for (size_t i = 0; i < r.at.size(); ++i) {
      if (r.at[i] == plan::kNone) continue;
      call.at[i] = memory(r.at[i]).data();
      plan::Home home = p_.values[r.at[i]].home;
      bool written = kRoutineWrites[static_cast<int>(r.routine)] >> i & 1;
      expect_of_plan(!written || home == plan::Home::temporary || home == plan::Home::result || home == plan::Home::pointer,
                     "a routine that writes what is only read");
    }
    for (size_t i = 0; i < r.sizes.size(); ++i) call.sizes[i] = size(r.sizes[i]);
    bool done = run_routine(r.routine, call);
    failed_ = failed_ || !done;
    return done;
  }

  bool kernel(const plan::Kernel& k, bool epilogue = false) {
    using Kind = plan::Stage::Kind;
    Element e;
    e.kernel = &k;
    e.at.resize(k.axes.size(), 0);
    if (epilogue) expect_of_plan(k.form == plan::Form::map && k.axes.size() == 2, "an epilogue that is no map over a matrix");
    uint32_t passes = 0;
    for (const plan::Stage& s : k.stages) passes = std::max(passes, s.pass + 1);
    size_t n = k.axes.size();
    switch (k.form) {
      case plan::Form::map:
        backwards(k, 0, n, e, [&] {
          std::vector<Tensor> variables;
          if (!k.loops.empty()) iterate(k.loops[0], e, variables);
          std::vector<Tensor> values;
          for (const plan::Stage& s : k.stages) {
            expect_of_plan(s.kind == Kind::store && s.pass == 0, "a map that does not only store");
            values.push_back(value(s.expr, e));
          }
          for (size_t s = 0; s < values.size(); ++s) write(k.stages[s].target, values[s], e);
          e.variables = nullptr;
          e.after_loop = false;
        });
        break;
      case plan::Form::rows:
        backwards(k, 0, n - 1, e, [&] {
          std::map<std::pair<uint32_t, int64_t>, Tensor> kept;
          e.kept = &kept;
          e.reduced.clear();
          for (uint32_t pass = 0; pass < passes; ++pass) {
            std::map<uint32_t, std::vector<Tensor>> items;
            for (int64_t i = 0; i < size(k.axes[n - 1]); ++i) {
              e.at[n - 1] = e.place = i;
              std::vector<Tensor> values(k.stages.size());
              auto skipped = [&](const plan::Stage& s) { return s.pass != pass || s.kind == Kind::store_once; };
              for (uint32_t s = 0; s < k.stages.size(); ++s) {
                if (!skipped(k.stages[s])) values[s] = value(k.stages[s].expr, e);
              }
              for (uint32_t s = 0; s < k.stages.size(); ++s) {
                const plan::Stage& stage = k.stages[s];
                if (skipped(stage)) continue;
                Tensor x = values[s];
                if (stage.kind == Kind::store)
                  write(stage.target, x, e);
                else if (stage.kind == Kind::keep)
                  kept[{s, i}] = x;
                else
                  items[s].push_back(x);
              }
            }
            for (auto& [s, list] : items) e.reduced[s] = reduce_row(context_, k.stages[s], divisor(k.stages[s]), list);
            once(k, pass, e);
          }
        });
        break;
      case plan::Form::columns:
        expect_of_plan(n >= 2 && passes == 1, "columns of several passes");
        backwards(k, 0, n - 2, e, [&] {
          for (int64_t c = size(k.axes[n - 1]); c-- > 0;) {
            e.at[n - 1] = c;
            std::map<uint32_t, std::vector<Tensor>> items;
            e.reduced.clear();
            for (int64_t i = 0; i < size(k.axes[n - 2]); ++i) {
              e.at[n - 2] = i;
              std::vector<Tensor> values(k.stages.size());
              for (uint32_t s = 0; s < k.stages.size(); ++s) {
                if (k.stages[s].kind != Kind::store_once) values[s] = value(k.stages[s].expr, e);
              }
              for (uint32_t s = 0; s < k.stages.size(); ++s) {
                const plan::Stage& stage = k.stages[s];
                if (stage.kind == Kind::store_once) continue;
                expect_of_plan(stage.kind != Kind::keep, "columns that keep");
                Tensor x = values[s];
                if (stage.kind == Kind::store)
                  write(stage.target, x, e);
                else
                  items[s].push_back(x);
              }
            }
            for (auto& [s, list] : items) {
              // The columns of a block give partial results, of the type that is summed in.
              bool whole = k.stages[s].dtype == list[0].dtype();
              e.reduced[s] = (whole ? reduce_row : reduce_block)(context_, k.stages[s], divisor(k.stages[s]), list);
            }
            once(k, 0, e);
          }
        });
        break;
      case plan::Form::blocks:
        expect_of_plan(k.stages.size() == 1, "blocks that do more than reduce");
        backwards(k, 0, n - 1, e, [&] {
          std::vector<Tensor> items;
          for (int64_t i = 0; i < size(k.axes[n - 1]); ++i) {
            e.at[n - 1] = i;
            items.push_back(value(k.stages[0].expr, e));
            if ((i + 1) % kReduceBlock != 0 && i + 1 != size(k.axes[n - 1])) continue;
            e.at[n - 1] = i / kReduceBlock;
            write(k.stages[0].target, reduce_block(context_, k.stages[0], divisor(k.stages[0]), items), e);
            items.clear();
          }
        });
        break;
      case plan::Form::tree:
        backwards(k, 0, n - 1, e, [&] {
          std::vector<Tensor> items;
          for (int64_t i = 0; i < size(k.axes[n - 1]); ++i) {
            e.at[n - 1] = i;
            items.push_back(value(k.stages[0].expr, e));
          }
          e.reduced[0] = reduce_tree(context_, k.stages[0], divisor(k.stages[0]), items);
          once(k, 0, e);
        });
        break;
    }
    return !failed_;
  }
  // What is stored once a row: no element of it may be read.
  void once(const plan::Kernel& k, uint32_t pass, Element& e) {
    Element row = e;
    size_t axis = k.axes.size() - (k.form == plan::Form::columns ? 2 : 1);
    row.at[axis] = int64_t{1} << 40;
    for (const plan::Stage& stage : k.stages) {
      if (stage.pass == pass && stage.kind == plan::Stage::Kind::store_once) write(stage.target, value(stage.expr, row), row);
    }
  }
  void iterate(const plan::KernelLoop& l, Element& e, std::vector<Tensor>& variables) {
    for (const auto& v : l.variables) variables.push_back(value(v.init, e));
    e.variables = &variables;
    e.after_loop = false;
    for (int64_t i = 0; l.limit < 0 || i < l.limit; ++i) {
      expect_of_plan(i < 100000, "a kernel's loop that does not end");
      if (!*value(l.condition, e).data<bool>()) break;
      std::vector<Tensor> next;
      for (const auto& v : l.variables) next.push_back(value(v.next, e));
      variables = std::move(next);
    }
    e.after_loop = true;
  }

  bool product(const plan::Product& p) {
    DType dtype = p_.values[p.result].dtype;
    size_t bytes = dtype_size(dtype);
    int64_t m = size(p.m), n = size(p.n), k = size(p.k);
    if (p.window != plan::kNone) {
      WindowCall call;
      auto words = p_.windows[p.window].words();
      int64_t values[kWindowWords];
      for (int i = 0; i < kWindowWords; ++i) values[i] = size(words[static_cast<size_t>(i)]);
      std::memcpy(&call, values, sizeof call);
      auto run = [&](auto zero) {
        auto job = job_of<decltype(zero)>(call, memory(p.a).data(), memory(p.b).data(), memory(p.result).data());
        expect_of_plan(run_window(context_, job).ok(), "memory for windows");
      };
      switch (dtype) {
        case DType::F32: run(float()); break;
        case DType::F64: run(double()); break;
        case DType::I32: run(int32_t()); break;
        default: run(int64_t()); break;
      }
      return p.epilogue == plan::kNone || kernel(p_.kernels[p.epilogue], true);
    }
    auto matrix = [&](plan::ValueId v, int64_t at, int64_t rows, int64_t columns) {
      std::span<std::byte> from = memory(v);
      expect_of_plan(static_cast<size_t>((at + rows * columns)) * bytes <= from.size(), "a matrix outside its memory");
      return tensor(dtype, Dims{rows, columns}, from.data() + static_cast<size_t>(at) * bytes);
    };
    for (int64_t i = 0; i < size(p.batch); ++i) {
      Tensor a = matrix(p.a, i * size(p.a_batch), p.transpose_a ? k : m, p.transpose_a ? m : k);
      Tensor c = matrix(p.b, i * size(p.b_batch), p.transpose_b ? n : k, p.transpose_b ? k : n);
      Attrs attrs;
      attrs.set_bool(Attr::transpose_a, p.transpose_a).set_bool(Attr::transpose_b, p.transpose_b);
      Tensor out = *apply1(context_, Op::matmul, {a, c}, attrs);
      std::span<std::byte> to = memory(p.result);
      size_t at = static_cast<size_t>(i * m * n) * bytes;
      expect_of_plan(at + out.bytes() <= to.size(), "a product outside its memory");
      if (out.bytes()) std::memcpy(to.data() + at, out.raw(), out.bytes());
    }
    return p.epilogue == plan::kNone || kernel(p_.kernels[p.epilogue], true);
  }

  bool block(const plan::Block& b) {
    for (size_t i = 0, end; i < b.steps.size(); i = end) {
      for (end = i + 1; end < b.steps.size() && b.steps[end].beside;) ++end;
      for (size_t k = end; k-- > i;)  // backwards those that may run at the same time
        if (!step(b.steps[k])) return false;
    }
    return true;
  }
  bool step(const plan::Step& s) {
    switch (s.kind) {
      case plan::Step::Kind::scalar: {
        std::vector<Tensor> operands;
        for (plan::ValueId v : s.expr.operands) operands.push_back(scalars_.at(v));
        Tensor t = s.expr.kind == plan::ExprKind::load ? read(s.expr.access, s.expr.dtype, nullptr) : simple(s.expr, operands);
        expect_of_plan(t.dtype() == p_.values[s.result].dtype && t.rank() == 0, "a scalar of another type");
        scalars_[s.result] = t;
        return !failed_;
      }
      case plan::Step::Kind::kernel: return kernel(p_.kernels[s.index]);
      case plan::Step::Kind::product: return product(p_.products[s.index]);
      case plan::Step::Kind::routine: return routine(p_.routines[s.index]);
      case plan::Step::Kind::check: return *scalars_.at(s.condition).data<bool>();
      case plan::Step::Kind::point:
        expect_of_plan(p_.values[s.result].home == plan::Home::pointer, "only pointers point");
        pointers_[s.result] = memory(s.from);
        return true;
      case plan::Step::Kind::branch: {
        const Tensor& c = scalars_.at(s.condition);
        int64_t count = static_cast<int64_t>(s.blocks.size());
        int64_t which = c.dtype() == DType::Bool ? !*c.data<bool>() : integer(c);
        if (which < 0 || which >= count) which = count - 1;
        const plan::Block& chosen = s.blocks[static_cast<size_t>(which)];
        if (!block(chosen)) return false;
        expect_of_plan(chosen.results.size() == s.results.size(), "a branch with other results");
        for (size_t i = 0; i < s.results.size(); ++i) scalars_[s.results[i]] = scalars_.at(chosen.results[i]);
        return true;
      }
      case plan::Step::Kind::loop: {
        std::vector<Tensor> variables;
        for (plan::ValueId v : s.initial) variables.push_back(scalars_.at(v));
        auto bind = [&](const plan::Block& b) {
          expect_of_plan(b.params.size() == variables.size(), "a loop with other variables");
          for (size_t i = 0; i < variables.size(); ++i) scalars_[b.params[i]] = variables[i];
        };
        for (int64_t i = 0; s.limit < 0 || i < s.limit; ++i) {
          expect_of_plan(i < 100000, "a loop that does not end");
          bind(s.blocks[0]);
          if (!block(s.blocks[0])) return false;
          if (!*scalars_.at(s.blocks[0].results[0]).data<bool>()) break;
          bind(s.blocks[1]);
          if (!block(s.blocks[1])) return false;
          for (size_t k = 0; k < variables.size(); ++k) variables[k] = scalars_.at(s.blocks[1].results[k]);
        }
        for (size_t i = 0; i < s.results.size(); ++i) scalars_[s.results[i]] = variables[i];
        return true;
      }
    }
    return false;
  }

  Context& context_;
  const plan::Plan& p_;
  std::span<Tensor> inputs_;
  std::vector<Tensor> dense_;
  PlanSizes sizes_;
  std::vector<Bytes> slots_, input_bytes_, result_bytes_;
  std::map<uint32_t, uint32_t> donated_;
  std::map<plan::ValueId, Tensor> scalars_;
  std::map<plan::ValueId, std::span<std::byte>> pointers_;
  bool failed_ = false;
};

}  // namespace tfl::test
