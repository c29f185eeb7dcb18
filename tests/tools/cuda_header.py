#!/usr/bin/env python3
"""What TFL declares of NVIDIA's driver and of cuBLASLt is what NVIDIA's headers declare: functions with parameters of the same kinds and sizes,
numbers, and the layout of structures. Without the headers (CUDA Toolkit, the folder $TFL_CUDA_INCLUDE) nothing is compared, and a line says so.

  cuda_header.py --tfl build/tfl
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A parameter may be another pointer, and an enumeration an integer of its size.
SAME = '''
#include <type_traits>
template <class A, class B>
constexpr bool same_kind = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
                           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class A, class B>
constexpr bool same = false;
template <class R, class... P, class S, class... Q>
  requires(sizeof...(P) == sizeof...(Q))
constexpr bool same<R (*)(P...), S (*)(Q...)> = same_kind<R, S> && (same_kind<P, Q> && ...);
'''

DRIVER = '''
#include <cstddef>
#include "runtime/gpu/cuda_driver.h"
#include <cuda.h>
namespace ours = tfl::gpu::cuda;
static_assert(ours::kInvalidValue == CUDA_ERROR_INVALID_VALUE && ours::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(ours::kStubLibrary == CUDA_ERROR_STUB_LIBRARY && ours::kDeviceUnavailable == CUDA_ERROR_DEVICE_UNAVAILABLE);
static_assert(ours::kNoDevice == CUDA_ERROR_NO_DEVICE && ours::kInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(ours::kNoBinary == CUDA_ERROR_NO_BINARY_FOR_GPU && ours::kUnsupportedPtx == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(ours::kOperatingSystem == CUDA_ERROR_OPERATING_SYSTEM && ours::kNotReady == CUDA_ERROR_NOT_READY);
static_assert(ours::kNotPermitted == CUDA_ERROR_NOT_PERMITTED && ours::kNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(ours::kSystemNotReady == CUDA_ERROR_SYSTEM_NOT_READY && ours::kDriverMismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(ours::kNotOnThisDevice == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE && ours::kUnknown == CUDA_ERROR_UNKNOWN);
using A = ours::Attribute;
static_assert(int(A::processors) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT && int(A::cooperative_launch) == CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
static_assert(int(A::capability_major) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR && int(A::capability_minor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int(A::shared_bytes_per_block) == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN && int(A::memory_pools) == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(ours::kPoolReleaseThreshold == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && ours::kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(ours::kDynamicSharedBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(ours::kJitErrorLog == CU_JIT_ERROR_LOG_BUFFER && ours::kJitErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(sizeof(ours::KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1) && offsetof(ours::KernelNode, grid) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX));
static_assert(offsetof(ours::KernelNode, block) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, blockDimX) && offsetof(ours::KernelNode, shared_bytes) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes));
static_assert(offsetof(ours::KernelNode, parameters) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, kernelParams) && offsetof(ours::KernelNode, extra) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, extra));
static_assert(sizeof(ours::ConditionNode) == sizeof(CUgraphNodeParams) && ours::ConditionNode{}.node_type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
static_assert(offsetof(ours::ConditionNode, handle) == offsetof(CUgraphNodeParams, conditional.handle) && offsetof(ours::ConditionNode, type) == offsetof(CUgraphNodeParams, conditional.type));
static_assert(offsetof(ours::ConditionNode, bodies) == offsetof(CUgraphNodeParams, conditional.size) && offsetof(ours::ConditionNode, graphs) == offsetof(CUgraphNodeParams, conditional.phGraph_out));
static_assert(offsetof(ours::ConditionNode, context) == offsetof(CUgraphNodeParams, conditional.ctx) && offsetof(ours::ConditionNode, reserved2) == offsetof(CUgraphNodeParams, reserved2));
static_assert(int(ours::ConditionNode::once) == CU_GRAPH_COND_TYPE_IF && int(ours::ConditionNode::repeated) == CU_GRAPH_COND_TYPE_WHILE);
static_assert(sizeof(ours::ConditionHandle) == sizeof(CUgraphConditionalHandle) && sizeof(ours::Ordinal) == sizeof(CUdevice) && sizeof(ours::Pointer) == sizeof(CUdeviceptr));
'''

LIBRARY = '''
#include "runtime/gpu/cublaslt.h"
#include <cublasLt.h>
namespace ours = tfl::gpu::cublas;
static_assert(ours::kSuccess == CUBLAS_STATUS_SUCCESS && ours::kFloat == CUDA_R_32F && ours::kComputeTf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(ours::kTransposeA == CUBLASLT_MATMUL_DESC_TRANSA && ours::kTransposeB == CUBLASLT_MATMUL_DESC_TRANSB && ours::kTransposed == CUBLAS_OP_T);
static_assert(ours::kBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && ours::kBatchDistance == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(sizeof(ours::kTransposed) == sizeof(cublasOperation_t));
'''


def functions(path):
    """[(member, symbol)] of a header of ours."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.findall(r'^\s*F\((\w+),\s*"(\w+)"', f.read(), re.M)


def checks(path, table):
    """One line for each function: a name that the header gives another version is that version there, too."""
    lines = []
    for member, symbol in functions(path):
        plain = re.sub(r"_v\d+$", "", symbol)
        lines.append(f'static_assert(same<decltype({table}::{member}), decltype(&{plain})>, "{symbol}");')
    return "\n".join(lines) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True, help="not used")
    p.parse_args()
    include = next((f for f in (os.environ.get("TFL_CUDA_INCLUDE"), "/usr/local/cuda/include", "/usr/include") if f and os.path.exists(os.path.join(f, "cuda.h"))), None)
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not include or not compiler:
        print("nothing was compared: there is no " + ("C++ compiler" if include else "cuda.h"))
        return 0
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        parts = [("driver", DRIVER, "runtime/gpu/cuda_driver.h", "ours::Driver")]
        if os.path.exists(os.path.join(include, "cublasLt.h")):
            parts.append(("library", LIBRARY, "runtime/gpu/cublaslt.h", "ours::Library"))
        for name, text, header, table in parts:
            path = os.path.join(folder, name + ".cpp")
            with open(path, "w", encoding="utf-8") as f:
                f.write(SAME + text + checks(header, table))
            count += len(functions(header))
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", "-I", ROOT, "-isystem", include, path], capture_output=True, text=True)
            if done.returncode:
                print(done.stderr)
                return 1
    print(f"{count} functions are declared as in {include}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
