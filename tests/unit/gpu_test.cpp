// Operations and functions of graphs on the emulated GPU against the CPU: products, windows, routines, control flow, schedules, and what
// is counted of it.
#include "codegen/gpu/emulator.h"
#include "codegen/gpu/gpu_cluster.h"
#include "codegen/jit/jit.h"
#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

struct EmulatedGpu {
  Context c{options(1)};
  std::unique_ptr<gpu::Device> device = codegen::make_emulator(c).take();
  ~EmulatedGpu() { c.devices().drop_copies(true); }  // which are the device's

  /// Where the GPU's results differ from the eager ones, or why there are none; operands named in `constant` are known when code is
  /// made; with `open` the sizes of the others are not.
  std::string difference(Op op, const std::vector<Tensor>& operands, const Attrs& attrs = {}, std::vector<size_t> constant = {},
                         bool open = false) {
    ir::Function f;
    f.name = "f";
    std::vector<ir::Ref> refs;
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (std::find(constant.begin(), constant.end(), i) != constant.end()) {
        refs.push_back(ir::append_constant(f.body, operands[i]));
        continue;
      }
      // Of images and filters only their number may be open.
      Dims dims(operands[i].dims());
      if (open) std::fill(dims.begin(), dims.size() >= 4 ? dims.begin() + 1 : dims.end(), -1);
      if (dims.size() >= 4 && open && i > 0 && (op == Op::conv2d || op == Op::depthwise_conv2d)) dims = Dims(operands[i].dims());
      refs.push_back(f.body.add_param(ir::Type::of({operands[i].dtype(), true, dims}), "x" + std::to_string(i)));
      inputs.push_back(operands[i]);
    }
    auto node = ir::append(c, f.body, op, refs, attrs);
    if (!node) return node.error().message;
    std::vector<Tensor> given((*node)->types.size());
    for (uint32_t i = 0; i < given.size(); ++i) f.body.results.push_back({*node, i});
    Tensors wanted;
    if (auto done = apply(c, op, operands, attrs, wanted); !done) return done.error().message;
    codegen::GpuCluster cluster;
    if (!cluster.run(c, *device, f, {}, inputs, given)) {
      std::string why = "declined:";
      for (const auto& [reason, times] : c.devices().work().reasons) why += " " + reason;
      return why;
    }
    for (size_t i = 0; i < given.size(); ++i) {
      Tensor rows = contiguous(c, wanted[i]).take();
      if (Dims(given[i].dims()) != Dims(rows.dims())) return "other sizes";
      if (int64_t at = first_difference(given[i], rows); at >= 0)
        return "result " + std::to_string(i) + " differs at " + std::to_string(at);
    }
    return {};
  }
};

Attrs window_attrs(Dims strides, const char* padding, Dims dilations = {1, 1}) {
  return Attrs()
      .set_ints(Attr::strides, std::move(strides))
      .set_ints(Attr::dilations, std::move(dilations))
      .set_text(Attr::padding, padding);
}

Tensor sizes_of(Context& c, const Tensor& t) {
  std::vector<int32_t> dims(t.dims().begin(), t.dims().end());
  return ints(c, {static_cast<int64_t>(dims.size())}, dims);
}

}  // namespace

TEST_CASE("products on a GPU", "[gpu]") {
  EmulatedGpu gpu;
  struct Shape {
    int64_t m, n, k;
  };
  const Shape shapes[] = {{70, 90, 513}, {3, 5, 7}, {33, 200, 1100}, {100, 65, 0}, {0, 4, 5}, {130, 40, 30}};
  for (DType dtype : {DType::F32, DType::F64, DType::I32, DType::I64}) {
    for (int how = 0; how < (dtype == DType::F32 ? 6 : 2); ++how) {
      const Shape& s = shapes[how];
      INFO(dtype_name(dtype) << " " << s.m << " " << s.n << " " << s.k);
      bool ta = how & 1, tb = how & 2;
      Tensor a = random_tensor(gpu.c, dtype, ta ? Dims{s.k, s.m} : Dims{s.m, s.k}, 1, true);
      Tensor b = random_tensor(gpu.c, dtype, tb ? Dims{s.n, s.k} : Dims{s.k, s.n}, 2, true);
      CHECK(gpu.difference(Op::matmul, {a, b}, Attrs().set_bool(Attr::transpose_a, ta).set_bool(Attr::transpose_b, tb), {},
                           how > 3) == "");
    }
  }
  Tensor a = random_tensor(gpu.c, DType::F32, {3, 40, 50}, 1), b = random_tensor(gpu.c, DType::F32, {3, 50, 45}, 2);
  CHECK(gpu.difference(Op::matmul, {a, b}) == "");
  Tensor large = random_tensor(gpu.c, DType::F32, {1030, 20}, 1, true),
         wide = random_tensor(gpu.c, DType::F32, {20, 1100}, 2, true);
  CHECK(gpu.difference(Op::matmul, {large, wide}) == "");
}

TEST_CASE("convolutions on a GPU, and their gradients", "[gpu]") {
  EmulatedGpu gpu;
  struct Case {
    Dims x, filter, strides, dilations;
    const char* padding;
  };
  const Case cases[] = {
      {{2, 9, 8, 3}, {3, 3, 3, 5}, {1, 1}, {1, 1}, "SAME"},      {{1, 9, 8, 3}, {3, 2, 3, 40}, {2, 1}, {1, 1}, "VALID"},
      {{3, 11, 7, 4}, {3, 3, 2, 6}, {2, 3}, {1, 1}, "SAME"},     {{2, 12, 12, 2}, {3, 3, 2, 4}, {1, 1}, {2, 3}, "SAME"},
      {{2, 10, 10, 34}, {3, 3, 34, 66}, {1, 1}, {1, 1}, "SAME"}, {{1, 5, 5, 60}, {3, 3, 60, 33}, {2, 2}, {1, 1}, "SAME"},
      {{1, 4, 4, 1}, {1, 1, 1, 1}, {3, 3}, {1, 1}, "VALID"}};
  int number = 0;
  for (const Case& k : cases) {
    {
      DType dtype = number++ == 2 ? DType::F64 : DType::F32;
      INFO(dtype_name(dtype) << " " << k.x[1] << " " << k.filter[0] << " " << k.filter[3] << " " << k.strides[0] << k.strides[1]);
      Attrs attrs = window_attrs(k.strides, k.padding, k.dilations);
      Tensor x = random_tensor(gpu.c, dtype, k.x, 1), w = random_tensor(gpu.c, dtype, k.filter, 2);
      CHECK(gpu.difference(Op::conv2d, {x, w}, attrs, {}, number % 2 == 0) == "");
      Tensor y = apply1(gpu.c, Op::conv2d, {x, w}, attrs).take();
      Tensor g = random_tensor(gpu.c, dtype, Dims(y.dims()), 3);
      CHECK(gpu.difference(Op::conv2d_backprop_input, {sizes_of(gpu.c, x), w, g}, attrs, {0}) == "");
      CHECK(gpu.difference(Op::conv2d_backprop_filter, {x, sizes_of(gpu.c, w), g}, attrs, {1}) == "");
    }
  }
}

TEST_CASE("depthwise convolutions on a GPU, and their gradients", "[gpu]") {
  EmulatedGpu gpu;
  for (int64_t times : {1, 2}) {
    for (Dims strides : {Dims{1, 1}, Dims{2, 2}}) {
      INFO(times << " " << strides[0]);
      Attrs attrs = window_attrs(strides, "SAME");
      Tensor x = random_tensor(gpu.c, DType::F32, {2, 9, 8, 5}, 1), w = random_tensor(gpu.c, DType::F32, {3, 2, 5, times}, 2);
      CHECK(gpu.difference(Op::depthwise_conv2d, {x, w}, attrs) == "");
      Tensor y = apply1(gpu.c, Op::depthwise_conv2d, {x, w}, attrs).take();
      Tensor g = random_tensor(gpu.c, DType::F32, Dims(y.dims()), 3);
      CHECK(gpu.difference(Op::depthwise_conv2d_backprop_input, {sizes_of(gpu.c, x), w, g}, attrs, {0}) == "");
      CHECK(gpu.difference(Op::depthwise_conv2d_backprop_filter, {x, sizes_of(gpu.c, w), g}, attrs, {1}) == "");
    }
  }
}

TEST_CASE("pooling on a GPU, and its gradients", "[gpu]") {
  EmulatedGpu gpu;
  for (const char* padding : {"SAME", "VALID"}) {
    {
      for (int64_t stride : {1, 3}) {
        DType dtype = stride == 1 ? DType::F32 : DType::F64;
        INFO(padding << " " << stride);
        Attrs attrs = Attrs().set_ints(Attr::ksize, {3, 2}).set_ints(Attr::strides, {stride, 2}).set_text(Attr::padding, padding);
        Tensor x = random_tensor(gpu.c, dtype, {2, 8, 9, 3}, 1);
        CHECK(gpu.difference(Op::max_pool, {x}, attrs) == "");
        CHECK(gpu.difference(Op::avg_pool, {x}, attrs) == "");
        Tensor y = apply1(gpu.c, Op::max_pool, {x}, attrs).take();
        Tensor g = random_tensor(gpu.c, dtype, Dims(y.dims()), 3);
        CHECK(gpu.difference(Op::max_pool_grad, {x, y, g}, attrs) == "");
        CHECK(gpu.difference(Op::avg_pool_grad, {sizes_of(gpu.c, x), g}, attrs, {0}) == "");
      }
    }
  }
}

TEST_CASE("scans on a GPU", "[gpu]") {
  EmulatedGpu gpu;
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I32, DType::U8, DType::I64}) {
    for (int flags = 0; flags < 4; ++flags) {
      if (dtype != DType::F32 && flags != static_cast<int>(dtype) % 4) continue;
      INFO(dtype_name(dtype) << " " << flags);
      Attrs attrs = Attrs().set_bool(Attr::exclusive, flags & 1).set_bool(Attr::reverse, flags & 2);
      CHECK(gpu.difference(Op::cumsum, {random_tensor(gpu.c, dtype, {3, 50, 7}, 1, true)}, Attrs(attrs).set_int(Attr::axis, 1)) ==
            "");
      CHECK(gpu.difference(Op::cumprod, {random_tensor(gpu.c, dtype, {300}, 2, true)}, Attrs(attrs).set_int(Attr::axis, 0), {},
                           true) == "");
      if (dtype != DType::F32 && dtype != DType::F16) continue;
      CHECK(gpu.difference(Op::cumsum, {random_tensor(gpu.c, dtype, {13 * 4096 + 5}, 3, true)},
                           Attrs(attrs).set_int(Attr::axis, 0)) == "");
    }
  }
  // One block's, and more blocks than a block of threads has threads.
  CHECK(gpu.difference(Op::cumsum, {random_tensor(gpu.c, DType::F32, {6000}, 3, true)}, Attrs().set_int(Attr::axis, 0)) == "");
  CHECK(gpu.difference(Op::cumprod, {random_tensor(gpu.c, DType::F32, {3, 9000, 5}, 3, true)}, Attrs().set_int(Attr::axis, 1)) ==
        "");
  CHECK(gpu.difference(Op::cumsum, {random_tensor(gpu.c, DType::F32, {4096 * 259 + 5}, 3, true)},
                       Attrs().set_int(Attr::axis, 0)) == "");
}

TEST_CASE("argmax on a GPU", "[gpu]") {
  EmulatedGpu gpu;
  for (Op op : {Op::argmax, Op::argmin}) {
    for (DType dtype : {DType::F32, DType::F64, DType::BF16, DType::I32, DType::U16, DType::Bool}) {
      INFO(op_info(op).name << " " << dtype_name(dtype));
      CHECK(gpu.difference(op, {random_tensor(gpu.c, dtype, {40, 30}, 1)},
                           Attrs().set_int(Attr::axis, 0).set_dtype(Attr::dtype, DType::I64)) == "");
      CHECK(gpu.difference(op, {random_tensor(gpu.c, dtype, {3, 5000}, 2)},
                           Attrs().set_int(Attr::axis, 1).set_dtype(Attr::dtype, DType::I32), {}, true) == "");
    }
    Tensor nan = random_tensor(gpu.c, DType::F32, {2000}, 1);
    std::fill_n(nan.data<float>(), 2000, __builtin_nanf(""));
    CHECK(gpu.difference(op, {nan}, Attrs().set_int(Attr::axis, 0).set_dtype(Attr::dtype, DType::I64)) == "");
  }
}

TEST_CASE("sorting on a GPU", "[gpu]") {
  EmulatedGpu gpu;
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::I32, DType::I64, DType::U8, DType::U64}) {
    for (bool descending : {false, true}) {
      INFO(dtype_name(dtype) << " " << descending);
      for (int64_t n : dtype == DType::F32 ? std::vector<int64_t>{1, 2, 3, 64, 1000} : std::vector<int64_t>{37}) {
        Attrs attrs = Attrs().set_int(Attr::axis, -1).set_bool(Attr::descending, descending);
        CHECK(gpu.difference(Op::sort, {random_tensor(gpu.c, dtype, {3, n}, 1)}, attrs) == "");
        CHECK(gpu.difference(Op::argsort, {random_tensor(gpu.c, dtype, {3, n}, 1)}, attrs, {}, n > 3) == "");
      }
    }
    CHECK(gpu.difference(Op::sort, {random_tensor(gpu.c, dtype, {30, 4}, 1)}, Attrs().set_int(Attr::axis, 0)) == "");
    if (dtype == DType::F32 || dtype == DType::I64 || dtype == DType::U8) {  // many equal ones, and parts that are merged
      for (int64_t n : {4097, 9000, 20000}) {
        Attrs attrs = Attrs().set_int(Attr::axis, -1).set_bool(Attr::descending, n == 9000);
        CHECK(gpu.difference(Op::argsort, {random_tensor(gpu.c, dtype, {n == 9000 ? 3 : 1, n}, 1)}, attrs, {}, n == 9000) == "");
      }
    }
    CHECK(gpu.difference(Op::top_k, {random_tensor(gpu.c, dtype, {4, 50}, 1), ints(gpu.c, {}, {7})}, {}, {1}) == "");
  }
}

TEST_CASE("writes by index and segments on a GPU", "[gpu]") {
  EmulatedGpu gpu;
  Context& c = gpu.c;
  std::vector<int32_t> where;
  for (int i = 0; i < 500; ++i) where.push_back((i * 37 + i / 7) % 90);
  Tensor indices = ints(c, {500, 1}, where), ids = ints(c, {500}, where);
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::I32, DType::U8, DType::Bool}) {
    INFO(dtype_name(dtype));
    Tensor x = random_tensor(c, dtype, {90, 6}, 1), updates = random_tensor(c, dtype, {500, 6}, 2);
    for (Op op : {Op::tensor_scatter_update, Op::tensor_scatter_add, Op::tensor_scatter_sub, Op::tensor_scatter_min,
                  Op::tensor_scatter_max}) {
      if (dtype != DType::F32 && op != Op::tensor_scatter_update && op != Op::tensor_scatter_min) continue;
      if (dtype == DType::Bool && op != Op::tensor_scatter_update) continue;
      INFO(op_info(op).name);
      CHECK(gpu.difference(op, {x, indices, updates}) == "");
    }
    if (dtype == DType::Bool) continue;
    CHECK(gpu.difference(Op::scatter_nd, {indices, updates, ints(c, {2}, {90, 6})}, {}, {2}) == "");
    for (Op op : {Op::unsorted_segment_sum, Op::unsorted_segment_prod, Op::unsorted_segment_max, Op::unsorted_segment_min}) {
      if (dtype == DType::F64 || (dtype == DType::U8 && op != Op::unsorted_segment_max)) continue;
      INFO(op_info(op).name);
      CHECK(gpu.difference(op, {updates, ids, ints(c, {}, {95})}, {}, {2}) == "");
    }
  }
  Tensor wide = random_tensor(c, DType::F32, {700}, 1);
  CHECK(gpu.difference(Op::tensor_scatter_add, {wide, indices, random_tensor(c, DType::F32, {500}, 2)}) == "");
  Tensor pairs = ints(c, {4, 2}, {0, 1, 2, 2, 0, 1, 1, 0});
  CHECK(gpu.difference(Op::tensor_scatter_add,
                       {random_tensor(c, DType::F32, {3, 3, 2}, 1), pairs, random_tensor(c, DType::F32, {4, 2}, 2)}) == "");
  // A list that is too long to be made, beside others, and updates of few elements by one block.
  std::vector<int32_t> hot;
  for (int i = 0; i < 20000; ++i) hot.push_back(i % 10 == 0 ? i % 7 : 3);
  Tensor many = random_tensor(c, DType::F32, {20000, 2}, 2);
  CHECK(gpu.difference(Op::tensor_scatter_add, {random_tensor(c, DType::F32, {9, 2}, 1), ints(c, {20000, 1}, hot), many}) == "");
  CHECK(gpu.difference(Op::unsorted_segment_sum, {many, ints(c, {20000}, hot), ints(c, {}, {8})}, {}, {2}) == "");
  CHECK(gpu.difference(Op::unsorted_segment_max, {many, ints(c, {20000}, hot), ints(c, {}, {8})}, {}, {2}, true) == "");
  Tensor few = ints(c, {6, 1}, {2, 0, 2, 2, 1, 0});
  CHECK(gpu.difference(Op::tensor_scatter_add,
                       {random_tensor(c, DType::F32, {3, 4}, 1), few, random_tensor(c, DType::F32, {6, 4}, 2)}) == "");
  // What is out of range raises on the CPU, and the GPU leaves it to it.
  ir::Function f;
  f.name = "f";
  std::vector<ir::Ref> refs;
  std::vector<Tensor> inputs = {floats(c, {3}, {1, 2, 3}), ints(c, {1, 1}, {3}), floats(c, {1}, {1})}, given(1);
  for (const Tensor& t : inputs) refs.push_back(f.body.add_param(ir::Type::of({t.dtype(), true, Dims(t.dims())}), "x"));
  f.body.results.push_back({ir::append(c, f.body, Op::tensor_scatter_update, refs).take(), 0});
  codegen::GpuCluster cluster;
  CHECK(!cluster.run(c, *gpu.device, f, {}, inputs, given));
}

TEST_CASE("random numbers on a GPU", "[gpu]") {
  EmulatedGpu gpu;
  Context& c = gpu.c;
  Tensor seed = ints(c, {2}, {7, -3});
  for (int64_t n : {3, 1000}) {
    Tensor shape = ints(c, {1}, {static_cast<int32_t>(n)});
    for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
      INFO(dtype_name(dtype) << " " << n);
      for (Op op : {Op::stateless_uniform, Op::stateless_normal})
        CHECK(gpu.difference(op, {shape, seed}, Attrs().set_dtype(Attr::dtype, dtype), {0}) == "");
    }
    for (DType dtype : {DType::I32, DType::I64, DType::U32}) {
      INFO(dtype_name(dtype) << " " << n);
      CHECK(gpu.difference(Op::stateless_uniform_full_int, {shape, seed}, Attrs().set_dtype(Attr::dtype, dtype), {0}) == "");
      if (dtype == DType::U32) continue;
      Tensor low = cast_to(c, ints(c, {}, {-5}), dtype), high = cast_to(c, ints(c, {}, {1000003}), dtype);
      CHECK(gpu.difference(Op::stateless_uniform_int, {shape, seed, low, high}, Attrs().set_dtype(Attr::dtype, dtype), {0}) ==
            "");
    }
  }
}

namespace {

/// A function of a graph with every cluster on the emulated GPU.
struct Placed {
  Context c{options(1)};
  codegen::Jit jit{[] {
    codegen::JitOptions o;
    o.wait = true;
    return o;
  }()};

  Placed() {
    setenv("TFL_GPU", "emulate", 1);
    c.devices().make_emulator = codegen::make_emulator;
    REQUIRE(c.devices().count() == 1);
    unsetenv("TFL_GPU");
  }
  std::string run(const std::string& text, std::vector<Tensor> inputs, bool there) {
    c.devices().place(there ? 0 : gpu::kCpu);
    std::shared_ptr<ir::Function> f = parse_graph(c, text);
    if (there) REQUIRE(jit.prepare(c, *f).ok());
    std::vector<ir::Datum> data;
    for (Tensor& t : inputs) data.push_back(datum(std::move(t)));
    Ran ran = run_graph(c, f, std::move(data));
    c.devices().place(gpu::kCpu);
    return ran.text;
  }
  /// As the evaluator; and so many calls ran there, none here.
  void same(const std::string& text, std::vector<Tensor> inputs, uint64_t calls = 1) {
    gpu::Devices::Work before = c.devices().work();
    std::string wanted = run(text, inputs, false), given = run(text, inputs, true);
    CHECK(given == wanted);
    CHECK(c.devices().work().done - before.done == calls);
    CHECK(c.devices().work().declined == before.declined);
  }
};

// A loop whose body is one block's, and one whose body is launched over many.
std::string doubled(int64_t n, const std::string& limit = "") {
  std::string type = "f32[" + std::to_string(n) + "]";
  return "func @f(%x: " + type + ", %most: f32) -> (" + type +
         ", i32) {\n%zero = constant 0 : i32\n%i, %v = while_loop(%zero, %x, %most) {num = 2" + limit + "} : i32, " + type +
         " while (%i: i32, %v: " + type +
         ", %m: f32) {\n%s = reduce_max(%v) {axis = [0]} : f32\n%p = less(%s, %m) : bool\nyield %p\n} do (%i: i32, "
         "%v: " +
         type + ", %m: f32) {\n%one = constant 1 : i32\n%j = add(%i, %one) : i32\n%w = add(%v, %v) : " + type +
         "\nyield %j, %w\n}\nreturn %v, %i\n}";
}

std::string chosen(int64_t n) {
  std::string type = "f32[" + std::to_string(n) + "]";
  return "func @f(%x: " + type + ", %p: bool) -> (" + type + ") {\n%r = cond(%p, %x) : " + type + " then (%y: " + type +
         ") {\n%e = exp(%y) : " + type + "\nyield %e\n} else (%y: " + type + ") {\n%s = cumsum(%y) {axis = 0} : " + type +
         "\nyield %s\n}\nreturn %r\n}";
}

}  // namespace

TEST_CASE("loops on a GPU", "[gpu]") {
  Placed p;
  for (int64_t n : {10, 100000}) {
    INFO(n);
    Tensor x = random_tensor(p.c, DType::F32, {n}, 1, true);
    for (float most : {-1e30f, 2e3f, 1e5f}) p.same(doubled(n), {x, floats(p.c, {}, {most})});
  }
}

TEST_CASE("loops over launches: conditions of graphs, graphs of an iteration, launches one by one", "[gpu]") {
  Placed p;
  Tensor x = random_tensor(p.c, DType::F32, {100000}, 1, true);
  for (int how = 0; how < 3; ++how) {
    p.c.devices().at(0).uses_conditions = how < 1;
    p.c.devices().at(0).uses_graphs = how < 2;
    for (const char* limit : {"", ", limit = 0", ", limit = 1", ", limit = 2", ", limit = 5"}) {
      INFO(how << limit);
      for (float most : {-1e30f, 1e5f}) p.same(doubled(100000, limit), {x, floats(p.c, {}, {most})});
    }
  }
}

TEST_CASE("a function that is called often is one graph, for each number of blocks", "[gpu]") {
  Placed p;
  const std::string text =
      "func @f(%x: f32[n,300]) -> (f32[n,300]) {\n%s = reduce_sum(%x) {axes = [0]} : f32[300]\n%r = divide(%x, %s) : f32[n,"
      "300]\nreturn %r\n}";
  codegen::GpuCluster cluster;
  std::shared_ptr<ir::Function> f = parse_graph(p.c, text);
  gpu::Device& device = p.c.devices().at(0);
  for (int64_t rows : {500, 500, 500, 500, 700, 700, 700, 700, 500, 0, 500}) {
    INFO(rows);
    Tensor x = random_tensor(p.c, DType::F32, {rows, 300}, static_cast<uint64_t>(rows), true);
    std::vector<Tensor> given(1);
    REQUIRE(cluster.run(p.c, device, *f, {}, {&x, 1}, given));
    Tensor sum = apply1(p.c, Op::reduce_sum, {x}, Attrs().set_ints(Attr::axes, {0})).take();
    CHECK(first_difference(given[0], apply1(p.c, Op::divide, {x, sum}).take()) < 0);
  }
}

TEST_CASE("products of TF32 are near those of f32, and only when they were asked for", "[gpu]") {
  Placed p;
  codegen::GpuCluster cluster;
  std::shared_ptr<ir::Function> f = parse_graph(p.c,
                                                "func @f(%a: f32[80, 90], %b: f32[70, 90]) -> (f32[80, 70]) {\n%m = matmul(%a, "
                                                "%b) {transpose_b = true} : f32[80, 70]\n%r = "
                                                "relu(%m) : f32[80, 70]\nreturn %r\n}");
  Tensor inputs[2] = {random_tensor(p.c, DType::F32, {80, 90}, 1), random_tensor(p.c, DType::F32, {70, 90}, 2)};
  Tensor exact =
      apply1(p.c, Op::relu, {apply1(p.c, Op::matmul, {inputs[0], inputs[1]}, Attrs().set_bool(Attr::transpose_b, true)).take()})
          .take();
  for (bool fast : {false, true, false}) {
    INFO(fast);
    p.c.devices().tensor_float_32 = fast;
    std::vector<Tensor> given(1);
    REQUIRE(cluster.run(p.c, p.c.devices().at(0), *f, {}, inputs, given));
    CHECK((first_difference(given[0], exact) >= 0) == fast);
    double most = 0, off = 0;
    for (int64_t i = 0; i < exact.size(); ++i) {
      most = std::max<double>(most, std::abs(exact.data<float>()[i]));
      off = std::max<double>(off, std::abs(exact.data<float>()[i] - given[0].data<float>()[i]));
    }
    CHECK(off < 2e-3 * most);
  }
}

TEST_CASE("branches on a GPU", "[gpu]") {
  Placed p;
  for (int64_t n : {10, 100000}) {
    for (bool yes : {false, true}) {
      INFO(n << " " << yes);
      p.same(chosen(n), {random_tensor(p.c, DType::F32, {n}, 1, true), tensor<uint8_t>(p.c, DType::Bool, {}, {yes})});
    }
  }
}

TEST_CASE("what does not run on a GPU is counted with the reason", "[gpu]") {
  Placed p;
  const std::string checked = R"(func @f(%x: i32[3], %y: i32[3]) -> (i32[3]) {
    %q = floordiv(%x, %y) : i32[3]
    %r = add(%q, %x) : i32[3]
    return %r
  })";
  p.same(checked, {ints(p.c, {3}, {7, -8, 9}), ints(p.c, {3}, {2, 3, 4})});
  std::string failed = p.run(checked, {ints(p.c, {3}, {7, -8, 9}), ints(p.c, {3}, {2, 0, 4})}, true);
  CHECK(failed.find("InvalidArgumentError") != failed.npos);
  CHECK(p.c.devices().work().declined == 1);
  CHECK(p.c.devices().work().reasons.count("an operation would raise, or gives what the plan did not expect") == 1);
  CHECK(p.c.devices().work_text().starts_with("1 calls and operations ran on a GPU, 1 on the CPU"));
}

}  // namespace tfl::test
