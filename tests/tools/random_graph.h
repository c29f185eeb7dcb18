// Random well-typed graphs with nested control flow, effects and arrays, and inputs to run them on. The same seed gives the same graph.
#pragma once

#include <random>

#include "runtime/tensor/element.h"
#include "tests/unit/graphs.h"

namespace tfl::test {

class RandomGraph {
 public:
  RandomGraph(Context& c, uint64_t seed) : context_(c), random_(seed) {}

  std::shared_ptr<ir::Function> function() {
    if (chance(4)) callee_ = build("helper", 2, 6);
    return build("main", 4, 8 + static_cast<int>(pick(25)));
  }

  /// Inputs for `f`: tensors, and a variable for each resource (the same variable each time it is called).
  std::vector<ir::Datum> inputs(const ir::Function& f, std::vector<std::shared_ptr<TestVariable>>& variables) {
    std::vector<ir::Datum> data;
    std::mt19937_64 saved = random_;
    random_.seed(99);
    for (const auto& p : f.body.params) {
      const TensorType& t = p->types[0].tensor;
      Dims dims = t.dims;
      for (int64_t& d : dims) d = d < 0 ? 3 : d;
      Tensor value = random_tensor(context_, t.dtype, dims, static_cast<uint32_t>(random_()), chance(2));
      constexpr double kEdges[] = {-0.0, 0.0, 1.0, -1.0, __builtin_inf(), __builtin_nan("")};
      for (int64_t i = 0; is_floating(t.dtype) && i < value.size(); ++i) {
        if (chance(3))
          store_double(t.dtype, kEdges[pick(std::size(kEdges))], value.raw() + static_cast<size_t>(i) * dtype_size(t.dtype));
      }
      if (p->types[0].kind == ir::TypeKind::Resource) {
        variables.push_back(std::make_shared<TestVariable>(value));
        data.push_back({{}, {}, variables.back()});
      } else {
        data.push_back(datum(value));
      }
    }
    random_ = saved;
    return data;
  }

 private:
  size_t pick(size_t n) { return random_() % n; }
  bool chance(size_t one_in) { return pick(one_in) == 0; }

  std::shared_ptr<ir::Function> build(std::string name, size_t params, int nodes) {
    auto f = std::make_shared<ir::Function>();
    f->name = std::move(name);
    f->symbols.push_back("n");
    Values values;
    for (size_t i = 0; i < params; ++i) values.push_back(f->body.add_param(ir::Type::of(some_type(true)), ""));
    if (f->name == "main") {
      for (size_t i = 0; i < 2; ++i)
        values.push_back(f->body.add_param(ir::Type::variable({DType::F32, true, i ? Dims{3} : Dims{}}), ""));
    }
    fill(f->body, values, nodes, 0);
    // Most of what was made is wanted, so that most of it matters.
    for (size_t i = values.size(); i-- > params && f->body.results.size() < 12;) {
      if (values[i].type().is_tensor() && values[i].node->op != Op::constant && !chance(3)) f->body.results.push_back(values[i]);
    }
    if (Ref r = tensor_of(values); r && f->body.results.empty()) f->body.results.push_back(r);
    return f;
  }

  using Ref = ir::Ref;
  using Values = std::vector<Ref>;

  TensorType some_type(bool unknown) {
    static const Dims kShapes[] = {{}, {}, {3}, {2, 3}, {3, 2}, {1, 3}, {3, 3}, {2, 1, 3}};
    constexpr DType kTypes[] = {DType::F32, DType::F32, DType::F32, DType::I32, DType::I32, DType::Bool, DType::F64};
    TensorType t{kTypes[pick(std::size(kTypes))], true, kShapes[pick(std::size(kShapes))]};
    for (int64_t& d : t.dims) {
      if (unknown && d == 3 && chance(6)) d = chance(2) ? -1 : -2;
    }
    return t;
  }

  // A value that `fits`; one of the newest more often than others.
  template <class Fits>
  Ref find(const Values& values, Fits fits) {
    for (int tries = 0; tries < 12 && !values.empty(); ++tries) {
      size_t back = chance(2) ? pick(std::min<size_t>(values.size(), 6)) : pick(values.size());
      Ref r = values[values.size() - 1 - back];
      if (fits(r.type())) return r;
    }
    return {};
  }
  Ref tensor_of(const Values& values) {
    return find(values, [](const ir::Type& t) { return t.is_tensor(); });
  }
  Ref number_of(const Values& values) {
    return find(values, [](const ir::Type& t) { return t.is_tensor() && is_numeric(t.tensor.dtype); });
  }
  Ref scalar_of(const Values& values, DType dtype) {
    return find(values, [dtype](const ir::Type& t) {
      return t.is_tensor() && t.tensor.dtype == dtype && t.tensor.ranked && t.tensor.dims.empty();
    });
  }
  Ref like(const Values& values, const ir::Type& wanted) {
    return find(values, [&](const ir::Type& t) { return t == wanted; });
  }

  Ref constant(ir::Block& b, TensorType t) {
    for (int64_t& d : t.dims) d = d < 0 ? 3 : d;
    Tensor value = random_tensor(context_, t.dtype, t.dims, static_cast<uint32_t>(random_()), true);
    if (chance(2) && t.dtype != DType::Bool) {
      size_t all = pick(5);
      for (int64_t i = 0; i < value.size(); ++i) {
        std::byte* at = value.raw() + static_cast<size_t>(i) * dtype_size(t.dtype);
        constexpr double kSpecial[] = {0, 1, 2, -0.0, -1};
        double v = kSpecial[all];
        if (is_floating(t.dtype))
          store_double(t.dtype, v, at);
        else
          store_int(t.dtype, static_cast<int64_t>(v), at);
      }
    }
    return ir::append_constant(b, value);
  }
  Ref integer(ir::Block& b, int32_t v) { return ir::append_constant(b, ints(context_, {}, {v})); }
  Ref integers(ir::Block& b, std::vector<int32_t> v) {
    Dims dims{static_cast<int64_t>(v.size())};
    return ir::append_constant(b, ints(context_, dims, v));
  }

  void add(ir::Block& b, Values& values, Op op, std::vector<Ref> operands, Attrs attrs = {}) {
    for (Ref r : operands) {
      if (!r) return;
    }
    Result<ir::Node*> n = ir::append(context_, b, op, std::move(operands), std::move(attrs));
    if (!n) return;
    for (uint32_t i = 0; i < (*n)->types.size(); ++i) values.push_back({*n, i});
  }

  void fill(ir::Block& b, Values& values, int nodes, int depth) {
    for (int i = 0; i < nodes; ++i) {
      if (values.empty() || chance(8))
        values.push_back(constant(b, some_type(false)));
      else
        node(b, values, depth);
    }
  }

  void node(ir::Block& b, Values& values, int depth) {
    switch (pick(24)) {
      case 0:
      case 1:
      case 2: {
        constexpr Op kOps[] = {Op::negative, Op::abs,  Op::square, Op::floor, Op::exp,     Op::sigmoid,
                               Op::relu,     Op::sign, Op::round,  Op::tanh,  Op::identity};
        return add(b, values, kOps[pick(std::size(kOps))], {number_of(values)});
      }
      case 3:
      case 4:
      case 5:
      case 6: {
        constexpr Op kOps[] = {Op::add,     Op::subtract, Op::multiply, Op::divide,        Op::maximum,
                               Op::minimum, Op::less,     Op::equal,    Op::greater_equal, Op::squared_difference};
        Ref x = number_of(values);
        if (!x) return;
        Ref y = chance(5) ? x
                : chance(3)
                    ? constant(b, x.type().tensor)
                    : find(values, [&](const ir::Type& t) { return t.is_tensor() && t.tensor.dtype == x.type().tensor.dtype; });
        if (chance(2)) std::swap(x, y);
        return add(b, values, kOps[pick(std::size(kOps))], {x, y});
      }
      case 7: {
        Ref x = scalar_of(values, DType::I32);
        return add(b, values, chance(2) ? Op::floordiv : Op::mod,
                   {x, chance(2) ? integer(b, 1 + static_cast<int32_t>(pick(3))) : scalar_of(values, DType::I32)});
      }
      case 8: {
        Ref p = find(values, [](const ir::Type& t) { return t.is_tensor() && t.tensor.dtype == DType::Bool; });
        if (chance(2)) return add(b, values, Op::logical_not, {p});
        Ref x = number_of(values);
        return x ? add(b, values, Op::where, {p, x, like(values, x.type())}) : void();
      }
      case 9: {
        constexpr Op kOps[] = {Op::reduce_sum, Op::reduce_max, Op::reduce_mean};
        Attrs attrs;
        if (chance(2)) attrs.set_ints(Attr::axes, {0});
        attrs.set_bool(Attr::keepdims, chance(2));
        return add(b, values, kOps[pick(3)], {number_of(values)}, attrs);
      }
      case 10:
      case 11: return moves(b, values);
      case 12:
        return add(b, values, Op::matmul, {number_of(values), number_of(values)},
                   Attrs().set_bool(Attr::transpose_a, chance(2)).set_bool(Attr::transpose_b, chance(2)));
      case 13: {
        constexpr DType kTypes[] = {DType::F32, DType::F64, DType::I32, DType::I64};
        return add(b, values, Op::cast, {tensor_of(values)}, Attrs().set_dtype(Attr::dtype, kTypes[pick(4)]));
      }
      case 14:
        return add(b, values, chance(2) ? Op::shape : Op::size, {tensor_of(values)}, Attrs().set_dtype(Attr::dtype, DType::I32));
      case 15:
      case 16: return depth < 3 ? branches(b, values, depth) : void();
      case 17:
      case 18: return depth < 3 ? loop(b, values, depth) : void();
      case 19: return call(b, values);
      case 20: return effect(b, values);
      case 21: return array(b, values);
      case 22:
        return add(b, values, Op::gather,
                   {tensor_of(values), integers(b, {static_cast<int32_t>(pick(2)), static_cast<int32_t>(pick(3))})});
      default:
        return add(b, values, chance(2) ? Op::stack : Op::concat, {tensor_of(values), tensor_of(values)},
                   Attrs().set_int(Attr::axis, 0));
    }
  }

  void moves(ir::Block& b, Values& values) {
    Ref x = tensor_of(values);
    if (!x || !x.type().tensor.ranked) return;
    const Dims dims = x.type().tensor.dims;
    switch (pick(9)) {
      case 0: return add(b, values, Op::transpose, {x});
      case 1: {
        bool odd = chance(2);
        return add(b, values, Op::reshape, {x, integers(b, odd ? std::vector<int32_t>{-1} : std::vector<int32_t>{3, -1})});
      }
      case 2:
        return add(b, values, Op::expand_dims, {x}, Attrs().set_int(Attr::axis, static_cast<int64_t>(pick(dims.size() + 1))));
      case 3: {
        Dims ones;
        for (size_t i = 0; i < dims.size(); ++i) {
          if (dims[i] == 1) ones.push_back(static_cast<int64_t>(i));
        }
        return ones.empty() ? void() : add(b, values, Op::squeeze, {x}, Attrs().set_ints(Attr::axes, ones));
      }
      case 4: return dims.empty() ? void() : add(b, values, Op::reverse, {x}, Attrs().set_ints(Attr::axes, {0}));
      case 5:
        return dims.empty() ? void()
                            : add(b, values, Op::strided_slice,
                                  {x, integers(b, {static_cast<int32_t>(pick(2))}), integers(b, {3}), integers(b, {1})},
                                  Attrs().set_int(chance(2) ? Attr::shrink_axis_mask : Attr::end_mask, 1));
      case 6: return add(b, values, Op::broadcast_to, {x, integers(b, {2, 3})});
      case 7: return dims.size() == 1 ? add(b, values, Op::tile, {x, integers(b, {1 + static_cast<int32_t>(pick(2))})}) : void();
      default: {
        // A shape that is computed.
        std::vector<Ref> before = values;
        add(b, values, Op::shape, {x}, Attrs().set_dtype(Attr::dtype, DType::I32));
        Ref y = tensor_of(before);
        if (y && values.size() > before.size()) add(b, values, Op::reshape, {y, values.back()});
      }
    }
  }

  // Some values of any kind, to be the inputs of a region.
  Values some_inputs(const Values& values) {
    Values inputs;
    size_t n = 1 + pick(4);
    for (size_t i = 0; i < n; ++i) inputs.push_back(values[pick(values.size())]);
    return inputs;
  }

  std::unique_ptr<ir::Block> region(ir::Block& b, const std::vector<ir::Type>& types, Values& inside) {
    auto region = std::make_unique<ir::Block>();
    region->function = b.function;
    for (const ir::Type& t : types) inside.push_back(region->add_param(t, ""));
    return region;
  }
  static std::vector<ir::Type> types_of(const Values& values) {
    std::vector<ir::Type> types;
    for (Ref r : values) types.push_back(r.type());
    return types;
  }

  void branches(ir::Block& b, Values& values, int depth) {
    bool cond = !chance(4);
    Ref first =
        chance(8) ? constant(b, {cond ? DType::Bool : DType::I32, true, {}}) : scalar_of(values, cond ? DType::Bool : DType::I32);
    if (!first) return;
    Values inputs = some_inputs(values);
    std::vector<std::unique_ptr<ir::Block>> regions;
    std::vector<ir::Type> wanted;
    size_t count = cond ? 2 : 1 + pick(3);
    for (size_t r = 0; r < count; ++r) {
      Values inside;
      regions.push_back(region(b, types_of(inputs), inside));
      fill(*regions.back(), inside, static_cast<int>(pick(6)), depth + 1);
      if (r == 0) {
        size_t n = 1 + pick(4);
        for (size_t i = 0; i < n; ++i) {
          Ref result = i < inside.size() && chance(2) ? inside[inside.size() - 1 - i] : tensor_of(inside);
          if (result && !result.type().is_tensor()) continue;
          if (!result) continue;
          regions[0]->results.push_back(result);
          wanted.push_back(result.type());
        }
        continue;
      }
      for (const ir::Type& t : wanted) {
        Ref result = like(inside, t);
        regions.back()->results.push_back(result ? result : constant(*regions.back(), t.tensor));
      }
    }
    inputs.insert(inputs.begin(), first);
    finish(b, values, cond ? Op::cond : Op::switch_case, inputs, {}, std::move(regions));
  }

  void loop(ir::Block& b, Values& values, int depth) {
    Ref end = chance(3) ? integer(b, static_cast<int32_t>(pick(5))) : scalar_of(values, DType::I32);
    if (!end) return;
    Values inputs{integer(b, 0)};
    size_t variables = 1;
    size_t wanted = pick(3);
    for (size_t i = 0; i < wanted; ++i) {
      if (Ref r = tensor_of(values)) {
        inputs.push_back(r);
        ++variables;
      }
    }
    inputs.push_back(end);
    for (Ref r : some_inputs(values)) inputs.push_back(r);
    std::vector<ir::Type> types = types_of(inputs);
    std::vector<std::unique_ptr<ir::Block>> regions;
    Values condition, inside;
    regions.push_back(region(b, types, condition));
    Values test;
    add(*regions[0], test, Op::less, {condition[0], condition[variables]});
    if (chance(6)) fill(*regions[0], condition, 2, depth + 1);
    regions[0]->results.push_back(test[0]);
    regions.push_back(region(b, types, inside));
    fill(*regions[1], inside, 1 + static_cast<int>(pick(6)), depth + 1);
    Values next;
    add(*regions[1], next, Op::add, {regions[1]->param(0), integer(*regions[1], 1)});
    regions[1]->results.push_back(next[0]);
    for (size_t i = 1; i < variables; ++i) {
      Ref r = chance(6) ? regions[1]->param(i) : like(inside, types[i]);
      regions[1]->results.push_back(r ? r : regions[1]->param(i));
    }
    Attrs attrs;
    attrs.set_int(Attr::num, static_cast<int64_t>(variables)).set_int(Attr::limit, chance(5) ? 2 : 6);
    finish(b, values, Op::while_loop, inputs, attrs, std::move(regions));
  }

  void finish(ir::Block& b, Values& values, Op op, Values operands, Attrs attrs,
              std::vector<std::unique_ptr<ir::Block>> regions) {
    Result<ir::Node*> n = ir::append(context_, b, op, operands, std::move(attrs), std::move(regions));
    if (!n) return;
    for (uint32_t i = 0; i < (*n)->types.size(); ++i) values.push_back({*n, i});
  }

  void call(ir::Block& b, Values& values) {
    if (!callee_ || b.function->name != "main") return;
    Values operands;
    for (const auto& p : callee_->body.params) {
      Ref r = find(values, [&](const ir::Type& t) { return ir::is_subtype(t, p->types[0]); });
      if (!r) return;
      operands.push_back(r);
    }
    Result<ir::Node*> n = ir::append(context_, b, Op::call, operands, {}, {}, callee_);
    if (!n) return;
    for (uint32_t i = 0; i < (*n)->types.size(); ++i) values.push_back({*n, i});
  }

  void effect(ir::Block& b, Values& values) {
    Ref v = find(values, [](const ir::Type& t) { return t.kind == ir::TypeKind::Resource; });
    switch (pick(5)) {
      case 0:
      case 1: return add(b, values, Op::read_variable, {v});
      case 2: return v ? add(b, values, Op::assign_variable, {v, like(values, ir::Type::of(v.type().tensor))}) : void();
      case 3: {
        Values text;
        add(b, text, Op::as_string, {scalar_of(values, chance(2) ? DType::F32 : DType::I32)});
        return text.empty() ? void() : add(b, values, Op::print, {text[0]});
      }
      default: {
        Values seed;
        add(b, seed, Op::next_seed, {integer(b, 3)});
        return add(b, values, Op::stateless_uniform, {integers(b, {3}), seed[0]}, Attrs().set_dtype(Attr::dtype, DType::F32));
      }
    }
  }

  void array(ir::Block& b, Values& values) {
    Ref a = find(values, [](const ir::Type& t) { return t.kind == ir::TypeKind::Array; });
    if (!a)
      return add(b, values, Op::array_new, {integer(b, 3)},
                 Attrs().set_dtype(Attr::dtype, DType::F32).set_ints(Attr::shape, {3}).set_bool(Attr::grows, chance(2)));
    Ref at = integer(b, static_cast<int32_t>(pick(3)));
    switch (pick(5)) {
      case 0:
      case 1: return add(b, values, Op::array_write, {a, at, like(values, ir::Type::of(a.type().tensor))});
      case 2: return add(b, values, Op::array_read, {a, at});
      case 3: return add(b, values, Op::array_stack, {a});
      default: return add(b, values, Op::array_size, {a});
    }
  }

  Context& context_;
  std::mt19937_64 random_;
  std::shared_ptr<ir::Function> callee_;
};

}  // namespace tfl::test
