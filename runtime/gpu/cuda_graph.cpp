#include "runtime/gpu/cuda_graph.h"

#include <iterator>

namespace tfl::gpu {

using cuda::kSuccess;
using cuda::Status;

CudaGraph::~CudaGraph() {
  driver->set_context(context);
  if (handle) driver->destroy_graph_exec(handle);
  if (graph) driver->destroy_graph(graph);
}

Result<void> CudaGraphWriter::check(Status status) {
  if (status == kSuccess) [[likely]]
    return {};
  levels_.clear();  // nothing is made of what is not complete
  return driver_->failure(status, "making a graph of launches");
}

Result<void> CudaGraphWriter::begin() {
  made_ = std::make_unique<CudaGraph>(driver_, context_);
  levels_.clear();
  TFL_TRY(check(driver_->create_graph(&made_->graph, 0)));
  levels_.push_back({made_->graph, nullptr, {}, 0});
  return {};
}

Result<void> CudaGraphWriter::launch(cuda::FunctionHandle* function, unsigned blocks, unsigned threads, unsigned shared_bytes,
                                     void** parameters) {
  if (levels_.empty()) return check(cuda::kInvalidValue);
  Level& here = levels_.back();
  cuda::KernelNode node{function, {blocks, 1, 1}, {threads, 1, 1}, shared_bytes, parameters, nullptr};
  cuda::NodeHandle* made = nullptr;
  TFL_TRY(check(driver_->add_kernel(&made, here.graph, &here.last, here.last ? 1 : 0, &node)));
  here.last = made;
  return {};
}

// A launch of one thread that tells the driver whether the condition holds.
Result<void> CudaGraphWriter::set(cuda::ConditionHandle handle, const Condition& c, bool begins) {
  uint64_t values[] = {handle, c.word, c.bytes, c.blocks, c.block, c.failed, c.counter, static_cast<uint64_t>(c.limit),
                       begins, stop_};
  void* parameters[std::size(values)];
  for (size_t i = 0; i < std::size(values); ++i) parameters[i] = &values[i];
  return launch(kernel_, 1, 1, 0, parameters);
}

Result<void> CudaGraphWriter::begin_part(cuda::FunctionHandle* kernel, const Condition& condition, Address stop) {
  if (levels_.empty()) return check(cuda::kInvalidValue);
  kernel_ = kernel;
  stop_ = stop;
  made_->repeats |= condition.repeats;
  cuda::ConditionNode node;
  TFL_TRY(check(driver_->create_condition(&node.handle, levels_.back().graph, context_, 0, 0)));
  TFL_TRY(set(node.handle, condition, true));
  node.type = condition.repeats ? cuda::ConditionNode::repeated : cuda::ConditionNode::once;
  node.context = context_;
  Level& here = levels_.back();
  cuda::NodeHandle* made = nullptr;
  TFL_TRY(check(driver_->add_node(&made, here.graph, &here.last, nullptr, here.last ? 1 : 0, &node)));
  here.last = made;
  if (!node.graphs) return check(cuda::kNotSupported);
  levels_.push_back({node.graphs[0], nullptr, condition, node.handle});
  return {};
}

Result<void> CudaGraphWriter::end_part() {
  if (levels_.size() < 2) return check(cuda::kInvalidValue);
  const Level part = levels_.back();
  if (part.condition.repeats) TFL_TRY(set(part.handle, part.condition, false));
  levels_.pop_back();
  return {};
}

Result<std::unique_ptr<Graph>> CudaGraphWriter::end() {
  bool complete = levels_.size() == 1;
  levels_.clear();
  std::unique_ptr<CudaGraph> made = std::move(made_);
  if (!made || !complete) return check(cuda::kInvalidValue).failure();
  TFL_TRY(check(driver_->instantiate(&made->handle, made->graph, 0)));
  return std::unique_ptr<Graph>(std::move(made));
}

// cudaGraphSetConditional is a function that the driver has for all code that it loads.
const char* condition_code() {
  return R"(.version 7.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry tfl_condition(.param .u64 handle, .param .u64 word, .param .u64 bytes, .param .u64 blocks, .param .u64 block,
  .param .u64 failed, .param .u64 counter, .param .u64 limit, .param .u64 begins, .param .u64 stop)
{
  .reg .pred %p, %goes;
  .reg .b32 %r, %value;
  .reg .b64 %at, %x, %y, %chosen, %last, %handle;
  ld.param.u64 %at, [word];
  ld.global.u64 %x, [%at];
  ld.param.u64 %y, [blocks];
  sub.u64 %last, %y, 1;
  ld.param.u64 %y, [bytes];
  setp.eq.u64 %p, %y, 1;
  @%p bra TRUTH;
  setp.eq.u64 %p, %y, 8;
  @%p bra NUMBER;
  cvt.u32.u64 %r, %x;
  cvt.s64.s32 %x, %r;
NUMBER:
  min.u64 %chosen, %x, %last;
  bra.uni CHOSEN;
TRUTH:
  and.b64 %x, %x, 255;
  setp.ne.u64 %p, %x, 0;
  selp.u64 %chosen, 0, %last, %p;
CHOSEN:
  ld.param.u64 %y, [block];
  setp.eq.u64 %goes, %chosen, %y;
  ld.param.u64 %at, [failed];
  setp.eq.u64 %p, %at, 0;
  @%p bra COUNTED;
  ld.global.u64 %x, [%at];
  setp.eq.and.u64 %goes, %x, 0, %goes;
COUNTED:
  ld.param.u64 %at, [counter];
  setp.eq.u64 %p, %at, 0;
  @%p bra STOPPED;
  ld.global.u64 %x, [%at];
  add.u64 %x, %x, 1;
  ld.param.u64 %y, [begins];
  setp.ne.u64 %p, %y, 0;
  selp.u64 %x, 0, %x, %p;
  st.global.u64 [%at], %x;
  ld.param.u64 %y, [limit];
  setp.lt.and.s64 %goes, %x, %y, %goes;
STOPPED:
  ld.param.u64 %at, [stop];
  setp.eq.u64 %p, %at, 0;
  @%p bra SET;
  ld.volatile.global.u32 %r, [%at];
  setp.eq.and.u32 %goes, %r, 0, %goes;
SET:
  selp.u32 %value, 1, 0, %goes;
  ld.param.u64 %handle, [handle];
  {
    .param .b64 given_handle;
    .param .b32 given_value;
    st.param.b64 [given_handle], %handle;
    st.param.b32 [given_value], %value;
    call.uni cudaGraphSetConditional, (given_handle, given_value);
  }
  ret;
}
)";
}

}  // namespace tfl::gpu
