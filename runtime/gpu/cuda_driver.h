// NVIDIA's driver API as far as TFL uses it, by our own declarations: libcuda.so.1 is loaded when somebody asks for a GPU, and
// neither building nor starting TFL needs it. The names and numbers are those of CUDA's driver API reference. This header must
// not know devices of TFL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/support/result.h"

namespace tfl::gpu::cuda {

using Status = int;   // CUresult
using Ordinal = int;  // CUdevice
using Pointer = unsigned long long;
struct ContextHandle;
struct StreamHandle;
struct ModuleHandle;
struct FunctionHandle;
struct PoolHandle;
struct GraphHandle;
struct GraphExecHandle;
struct NodeHandle;
using ConditionHandle = uint64_t;  // CUgraphConditionalHandle

inline constexpr Status kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kStubLibrary = 34, kDeviceUnavailable = 46,
                        kNoDevice = 100, kInvalidDevice = 101, kNoBinary = 209, kUnsupportedPtx = 222, kOperatingSystem = 304,
                        kNotReady = 600, kNotPermitted = 800, kNotSupported = 801, kSystemNotReady = 802, kDriverMismatch = 803,
                        kNotOnThisDevice = 804, kUnknown = 999;

enum class Attribute : int {
  processors = 16,
  capability_major = 75,
  capability_minor = 76,
  cooperative_launch = 95,
  shared_bytes_per_block = 97,
  memory_pools = 115,
};
inline constexpr int kPoolReleaseThreshold = 4;  // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
inline constexpr int kDynamicSharedBytes = 8;    // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;
inline constexpr unsigned kStreamNonBlocking = 1;

/// The oldest CUDA version with stream-ordered memory, and with nodes of graphs that depend on what is computed.
inline constexpr int kOldestVersion = 11020, kConditionsVersion = 12040;

/// CUDA_KERNEL_NODE_PARAMS_v1
struct KernelNode {
  FunctionHandle* function;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};

/// CUgraphNodeParams, of a node that is CU_GRAPH_NODE_TYPE_CONDITIONAL.
struct ConditionNode {
  enum Type : int { once = 0, repeated = 1 };  // CU_GRAPH_COND_TYPE_IF, _WHILE
  int node_type = 13;
  int reserved0[3] = {};
  ConditionHandle handle = 0;  // CUDA_CONDITIONAL_NODE_PARAMS from here on
  Type type = once;
  unsigned bodies = 1;
  GraphHandle** graphs = nullptr;  // the driver's, which it fills in
  ContextHandle* context = nullptr;
  long long rest[25] = {}, reserved2 = 0;
};
static_assert(sizeof(KernelNode) == 56 && sizeof(ConditionNode) == 256 && offsetof(ConditionNode, reserved2) == 248);

// What every driver of kOldestVersion has: TFL_CUDA_FUNCTION(member, symbol, parameters).
#define TFL_CUDA_FUNCTIONS(F)                                                                                               \
  F(init, "cuInit", (unsigned))                                                                                             \
  F(driver_version, "cuDriverGetVersion", (int*))                                                                           \
  F(error_name, "cuGetErrorName", (Status, const char**))                                                                   \
  F(error_string, "cuGetErrorString", (Status, const char**))                                                               \
  F(device_count, "cuDeviceGetCount", (int*))                                                                               \
  F(device, "cuDeviceGet", (Ordinal*, int))                                                                                 \
  F(device_name, "cuDeviceGetName", (char*, int, Ordinal))                                                                  \
  F(device_attribute, "cuDeviceGetAttribute", (int*, int, Ordinal))                                                         \
  F(device_memory, "cuDeviceTotalMem_v2", (size_t*, Ordinal))                                                               \
  F(retain_context, "cuDevicePrimaryCtxRetain", (ContextHandle**, Ordinal))                                                 \
  F(release_context, "cuDevicePrimaryCtxRelease_v2", (Ordinal))                                                             \
  F(set_context, "cuCtxSetCurrent", (ContextHandle*))                                                                       \
  F(create_stream, "cuStreamCreate", (StreamHandle**, unsigned))                                                            \
  F(destroy_stream, "cuStreamDestroy_v2", (StreamHandle*))                                                                  \
  F(synchronize, "cuStreamSynchronize", (StreamHandle*))                                                                    \
  F(query, "cuStreamQuery", (StreamHandle*))                                                                                \
  F(default_pool, "cuDeviceGetDefaultMemPool", (PoolHandle**, Ordinal))                                                     \
  F(set_pool_attribute, "cuMemPoolSetAttribute", (PoolHandle*, int, void*))                                                 \
  F(trim_pool, "cuMemPoolTrimTo", (PoolHandle*, size_t))                                                                    \
  F(allocate, "cuMemAllocAsync", (Pointer*, size_t, StreamHandle*))                                                         \
  F(release, "cuMemFreeAsync", (Pointer, StreamHandle*))                                                                    \
  F(allocate_host, "cuMemAllocHost_v2", (void**, size_t))                                                                   \
  F(release_host, "cuMemFreeHost", (void*))                                                                                 \
  F(to_device, "cuMemcpyHtoDAsync_v2", (Pointer, const void*, size_t, StreamHandle*))                                       \
  F(to_host, "cuMemcpyDtoHAsync_v2", (void*, Pointer, size_t, StreamHandle*))                                               \
  F(copy, "cuMemcpyDtoDAsync_v2", (Pointer, Pointer, size_t, StreamHandle*))                                                \
  F(load_module, "cuModuleLoadDataEx", (ModuleHandle**, const void*, unsigned, int*, void**))                               \
  F(unload_module, "cuModuleUnload", (ModuleHandle*))                                                                       \
  F(function, "cuModuleGetFunction", (FunctionHandle**, ModuleHandle*, const char*))                                        \
  F(set_function_attribute, "cuFuncSetAttribute", (FunctionHandle*, int, int))                                              \
  F(launch, "cuLaunchKernel",                                                                                               \
    (FunctionHandle*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle*, void**, void**)) \
  F(launch_cooperative, "cuLaunchCooperativeKernel",                                                                        \
    (FunctionHandle*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle*, void**))

// What newer ones have: null otherwise.
#define TFL_CUDA_NEWER_FUNCTIONS(F)                                                                                           \
  F(create_graph, "cuGraphCreate", (GraphHandle**, unsigned))                                                                 \
  F(destroy_graph, "cuGraphDestroy", (GraphHandle*))                                                                          \
  F(add_kernel, "cuGraphAddKernelNode", (NodeHandle**, GraphHandle*, NodeHandle* const*, size_t, const KernelNode*))          \
  F(instantiate, "cuGraphInstantiateWithFlags", (GraphExecHandle**, GraphHandle*, unsigned long long))                        \
  F(launch_graph, "cuGraphLaunch", (GraphExecHandle*, StreamHandle*))                                                         \
  F(destroy_graph_exec, "cuGraphExecDestroy", (GraphExecHandle*))                                                             \
  F(create_condition, "cuGraphConditionalHandleCreate", (ConditionHandle*, GraphHandle*, ContextHandle*, unsigned, unsigned)) \
  F(add_node, "cuGraphAddNode_v2", (NodeHandle**, GraphHandle*, NodeHandle* const*, const void*, size_t, ConditionNode*))

struct Driver {
#define TFL_CUDA_FUNCTION(member, symbol, parameters) Status(*member) parameters = nullptr;
  TFL_CUDA_FUNCTIONS(TFL_CUDA_FUNCTION)
  TFL_CUDA_NEWER_FUNCTIONS(TFL_CUDA_FUNCTION)
#undef TFL_CUDA_FUNCTION
  int version = 0;  // 12040: what CUDA 12.4 has

  bool has_graphs() const {
    return create_graph && destroy_graph && add_kernel && instantiate && launch_graph && destroy_graph_exec;
  }
  bool has_conditions() const { return has_graphs() && version >= kConditionsVersion && create_condition && add_node; }
  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
  std::string text(Status status) const;
  /// An error for `status` of an attempt to do `what` ("copying 12 bytes to the GPU").
  Failure failure(Status status, std::string_view what) const;
};

/// Loads libcuda.so.1, or the library that TFL_CUDA_LIBRARY names, and starts it. The failure is one sentence that says what is
/// missing. The library stays loaded: it cannot be unloaded safely.
Result<Driver> load_driver();

/// What it means for a user that starting the driver gave `status`; `devices` is the folder of device files, "/dev".
std::string explain_start(const Driver& driver, Status status, const char* devices);

/// The newest PTX that a driver of this version takes, as 10 * major + minor: 84 for CUDA 12.4.
int newest_ptx(int driver_version);

}  // namespace tfl::gpu::cuda
