#!/usr/bin/env python3
"""Writes tests/scripts/saving/onnx_operations.json: small ONNX models, one or more an operation, with inputs and what onnx's reference evaluator
gives. It needs the pip packages onnx and numpy; the test that reads the file (tests/scripts/saving/onnx_operations.tfl) needs neither.

    python3 tests/tools/onnx_cases.py
"""
import base64
import json
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "saving", "onnx_operations.json")
rng = np.random.RandomState(7)


def f(*shape):
    return np.round(rng.uniform(-2, 2, shape), 3).astype(np.float32)


def pos(*shape):
    return np.abs(f(*shape)) + np.float32(0.5)


def i64(*values):
    return np.array(values, np.int64)


def ints(low, high, *shape, dtype=np.int64):
    return rng.randint(low, high, shape).astype(dtype)


def graph(nodes, inputs, outputs):
    """A graph for a node; inputs and outputs are (name, type, shape)."""
    return helper.make_graph(nodes, "inside", [helper.make_tensor_value_info(*i) for i in inputs], [helper.make_tensor_value_info(*o) for o in outputs])


UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh
Celu Elu Gelu HardSigmoid HardSwish LeakyRelu Mish Selu Shrink ThresholdedRelu""".split()
DOMAINS = {"Acos": (-0.9, 0.9), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9), "Acosh": (1.1, 3), "Log": (0.1, 3), "Sqrt": (0.1, 3), "Reciprocal": (0.5, 2)}
X = TensorProto.FLOAT


def cases():
    """(operation, inputs, attributes, how many outputs, opset)"""
    for name in UNARY:
        low, high = DOMAINS.get(name, (-2, 2))
        yield name, [np.round(rng.uniform(low, high, (2, 3)), 3).astype(np.float32)], {}, 1
    for name in "Add Sub Mul Div Pow Max Min Mean Sum".split():
        yield name, [pos(2, 3), pos(3)], {}, 1
    for name in "Less Greater LessOrEqual GreaterOrEqual Equal".split():
        yield name, [ints(0, 3, 2, 3), ints(0, 3, 3)], {}, 1
    for name in "And Or Xor".split():
        yield name, [ints(0, 2, 2, 3).astype(bool), ints(0, 2, 3).astype(bool)], {}, 1
    for name in "BitwiseAnd BitwiseOr BitwiseXor".split():
        yield name, [ints(0, 99, 2, 3, dtype=np.int32), ints(0, 99, 3, dtype=np.int32)], {}, 1
    yield "Not", [ints(0, 2, 4).astype(bool)], {}, 1
    yield "BitwiseNot", [ints(0, 99, 4, dtype=np.int32)], {}, 1
    yield "Div", [i64(-7, 7, -8), i64(2, -2, 3)], {}, 1
    yield "Mod", [i64(-7, 7, -8), i64(2, -2, 3)], {}, 1
    yield "Mod", [f(4), pos(4)], {"fmod": 1}, 1
    yield "BitShift", [np.array([1, 200, 7], np.uint8), np.array([1, 2, 9], np.uint8)], {"direction": "RIGHT"}, 1
    yield "Clip", [f(2, 3), np.float32(-0.5), np.float32(1)], {}, 1
    yield "Where", [ints(0, 2, 2, 3).astype(bool), f(2, 3), f(3)], {}, 1
    yield "IsNaN", [np.array([1, np.nan, np.inf], np.float32)], {}, 1
    yield "IsInf", [np.array([1, -np.inf, np.inf], np.float32)], {"detect_negative": 0}, 1
    yield "PRelu", [f(2, 3), f(3)], {}, 1
    for name in "Softmax LogSoftmax Hardmax".split():
        yield name, [f(2, 3, 4)], {"axis": 1}, 1
    for name in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp".split():
        yield name, [pos(2, 3, 4), i64(1)], {"keepdims": 0}, 1
        yield name, [pos(2, 3)], {}, 1
    for name in "ArgMax ArgMin".split():
        yield name, [f(2, 4)], {"axis": 1}, 1
        yield name, [np.array([[1, 3, 3], [2, 2, 0]], np.float32)], {"axis": 1, "select_last_index": 1, "keepdims": 0}, 1
    yield "CumSum", [f(2, 3), np.array(1, np.int64)], {"reverse": 1, "exclusive": 1}, 1
    yield "TopK", [f(2, 5), i64(3)], {"axis": 1}, 2
    yield "TopK", [ints(0, 9, 2, 5), i64(2)], {"axis": 1, "largest": 0}, 2
    yield "Unique", [np.array([2, 1, 1, 3, 4, 3], np.float32)], {}, 4
    yield "Cast", [np.array([1.5, -2.5, 300], np.float32)], {"to": TensorProto.INT32}, 1
    yield "CastLike", [f(3), np.array([1], np.float16)], {}, 1
    yield "ConstantOfShape", [i64(2, 3)], {"value": helper.make_tensor("v", X, [1], [7.0])}, 1
    yield "EyeLike", [f(3, 4)], {"k": 1}, 1
    yield "Range", [np.float32(1), np.float32(4), np.float32(0.75)], {}, 1
    yield "Identity", [f(3)], {}, 1
    yield "Shape", [f(2, 3, 4)], {"start": 1}, 1
    yield "Size", [f(2, 3)], {}, 1
    yield "Reshape", [f(2, 3, 4), i64(0, -1)], {}, 1
    yield "Flatten", [f(2, 3, 4)], {"axis": 2}, 1
    yield "Transpose", [f(2, 3, 4)], {"perm": [2, 0, 1]}, 1
    yield "Squeeze", [f(1, 3, 1), i64(0)], {}, 1
    yield "Unsqueeze", [f(3), i64(0, 2)], {}, 1
    yield "Concat", [f(2, 3), f(1, 3)], {"axis": 0}, 1
    yield "Expand", [f(3, 1), i64(2, 1, 4)], {}, 1
    yield "Tile", [f(2, 3), i64(2, 1)], {}, 1
    yield "Slice", [f(4, 6), i64(3, -5), i64(-100, 100), i64(0, 1), i64(-2, 2)], {}, 1
    yield "Split", [f(5, 2), i64(2, 3)], {"axis": 0}, 2
    yield "Pad", [f(2, 3), i64(1, 0, 0, 2), np.float32(9)], {}, 1
    for mode in ("reflect", "edge", "wrap"):
        yield "Pad", [f(2, 4), i64(0, 2, 1, 1)], {"mode": mode}, 1
    yield "CenterCropPad", [f(5, 2), i64(3, 4)], {}, 1
    yield "Trilu", [f(3, 4), np.array(-1, np.int64)], {"upper": 0}, 1
    yield "DepthToSpace", [f(1, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"}, 1
    yield "SpaceToDepth", [f(1, 2, 2, 4)], {"blocksize": 2}, 1
    yield "ReverseSequence", [f(4, 3), i64(4, 2, 1)], {}, 1
    yield "Gather", [f(4, 3), i64(-1, 0)], {"axis": 0}, 1
    yield "GatherElements", [f(3, 3), ints(-3, 3, 2, 3)], {"axis": 0}, 1
    yield "GatherND", [f(2, 3, 2), np.array([[0, 1], [1, -1]], np.int64)], {}, 1
    for how in ("none", "add", "mul", "max"):
        yield "ScatterElements", [f(3, 3), np.array([[0, 1, 2], [2, 0, 0]], np.int64), f(2, 3)], {"axis": 0, "reduction": how}, 1
        yield "ScatterND", [f(4, 2), np.array([[1], [3]], np.int64), f(2, 2)], {"reduction": how}, 1
    yield "OneHot", [i64(1, -1, 2), np.array(4, np.int64), np.array([0, 5], np.float32)], {"axis": 0}, 1
    yield "NonZero", [ints(0, 2, 3, 3)], {}, 1
    yield "Compress", [f(3, 2), np.array([False, True, True])], {"axis": 0}, 1
    yield "MatMul", [f(2, 1, 3, 4), f(3, 4, 2)], {}, 1
    yield "Gemm", [f(3, 2), f(4, 3), f(4)], {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}, 1
    yield "Einsum", [f(2, 3), f(3, 4)], {"equation": "ij,jk->ki"}, 1
    yield "Det", [f(2, 3, 3)], {}, 1
    yield "Conv", [f(1, 4, 6, 5), f(6, 2, 3, 2), f(6)], {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}, 1
    yield "Conv", [f(2, 3, 8), f(4, 3, 3)], {"auto_pad": "SAME_LOWER", "strides": [2]}, 1
    yield "Conv", [f(1, 3, 5, 5), f(3, 1, 3, 3)], {"group": 3}, 1
    yield "Conv", [f(1, 2, 4, 4, 4), f(3, 2, 2, 2, 2)], {}, 1
    yield "ConvTranspose", [f(1, 2, 3, 3), f(2, 3, 3, 3)], {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}, 1
    yield "ConvTranspose", [f(1, 2, 4), f(2, 2, 3)], {"strides": [3], "group": 1}, 1
    yield "MaxPool", [f(1, 2, 5, 6)], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0], "ceil_mode": 1}, 1
    yield "MaxPool", [f(1, 2, 4, 4)], {"kernel_shape": [2, 2], "strides": [2, 2]}, 2
    yield "AveragePool", [f(1, 2, 5, 5)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}, 1
    yield "AveragePool", [f(1, 2, 7)], {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1}, 1
    yield "LpPool", [pos(1, 2, 5)], {"kernel_shape": [2], "p": 3}, 1
    yield "GlobalAveragePool", [f(1, 2, 3, 4)], {}, 1
    yield "GlobalMaxPool", [f(1, 2, 3, 4)], {}, 1
    yield "Col2Im", [f(1, 4, 9), i64(4, 4), i64(2, 2)], {}, 1
    yield "BatchNormalization", [f(2, 3, 4), f(3), f(3), f(3), pos(3)], {}, 1
    yield "LayerNormalization", [f(2, 3, 4), f(4), f(4)], {}, 1
    yield "InstanceNormalization", [f(2, 3, 4), f(3), f(3)], {}, 1
    yield "GroupNormalization", [f(1, 4, 3), f(4), f(4)], {"num_groups": 2}, 1
    yield "LpNormalization", [f(2, 3)], {"axis": 1}, 1
    yield "LRN", [f(3, 3, 2, 2)], {"size": 3}, 1
    for mode in ("nearest", "linear", "cubic"):
        yield "Resize", [f(1, 1, 3, 4), None, np.array([1, 1, 2, 1.5], np.float32)], {"mode": mode}, 1
        yield "Resize", [f(1, 1, 3, 4), None, None, i64(1, 1, 5, 3)], {"mode": mode, "coordinate_transformation_mode": "align_corners"}, 1
    for name, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        yield name, [f(3, 2, 4), f(1, gates * 3, 4), f(1, gates * 3, 3), f(1, gates * 6)], {"hidden_size": 3}, 2
    x = ("x", X, [2])
    double, negate = helper.make_node("Add", ["x0", "x0"], ["y"]), helper.make_node("Neg", ["x0"], ["y"])
    yield "If", [np.array(True)], {"then_branch": graph([helper.make_node("Constant", [], ["y"], value_floats=[1.0, 2.0])], [], [("y", X, [2])]),
                                  "else_branch": graph([helper.make_node("Constant", [], ["y"], value_floats=[3.0, 4.0])], [], [("y", X, [2])])}, 1
    body = [helper.make_node("Identity", ["c"], ["c1"]), helper.make_node("Add", ["s", "s"], ["s1"]), helper.make_node("Neg", ["s1"], ["row"])]
    yield "Loop", [np.array(3, np.int64), np.array(True), f(2)], {"body": graph(body, [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []), ("s", X, [2])],
                                                                               [("c1", TensorProto.BOOL, []), ("s1", X, [2]), ("row", X, [2])])}, 2
    body = [helper.make_node("Add", ["s", "e"], ["s1"]), helper.make_node("Identity", ["s1"], ["row"])]
    yield "Scan", [f(2), f(3, 2)], {"num_scan_inputs": 1, "body": graph(body, [("s", X, [2]), ("e", X, [2])], [("s1", X, [2]), ("row", X, [2])])}, 2
    yield "QuantizeLinear", [f(2, 3), np.float32(0.05), np.array(3, np.int8)], {}, 1
    yield "DequantizeLinear", [ints(-99, 99, 3, 2, dtype=np.int8), pos(2), np.array([1, -2], np.int8)], {"axis": 1}, 1
    yield "MatMulInteger", [ints(0, 200, 2, 3, dtype=np.uint8), ints(-9, 9, 3, 2, dtype=np.int8), np.array(7, np.uint8)], {}, 1
    yield "NegativeLogLikelihoodLoss", [f(3, 4), i64(0, 3, 1), pos(4)], {"ignore_index": 3}, 1
    yield "SoftmaxCrossEntropyLoss", [f(3, 4), i64(0, 3, 1)], {"reduction": "sum"}, 1
    yield "HannWindow", [np.array(6, np.int64)], {}, 1
    yield "DFT", [f(1, 5, 1), None, np.array(1, np.int64)], {"onesided": 1}, 1
    yield "GridSample", [f(1, 1, 3, 4), f(1, 2, 2, 2) / 2], {"mode": "linear", "padding_mode": "border"}, 1
    yield "AffineGrid", [f(1, 2, 3), i64(1, 1, 2, 3)], {}, 1
    yield "Attention", [f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 4)], {"is_causal": 1}, 1
    yield "RotaryEmbedding", [f(1, 2, 3, 4), f(1, 3, 2), f(1, 3, 2)], {}, 1
    del x, double, negate
    yield "NonMaxSuppression", [pos(1, 6, 4), pos(1, 2, 6), i64(3), np.array([0.4], np.float32), np.array([0.6], np.float32)], {}, 1
    yield "RoiAlign", [f(2, 3, 9, 8), np.array([[0.5, 1, 6, 7.5], [2, 0, 3, 8]], np.float32), i64(0, 1)], dict(
        output_height=3, output_width=2, sampling_ratio=2, spatial_scale=0.5), 1


def listed(a):
    a = np.asarray(a)
    if a.dtype.kind == "f":
        flat = [float(repr(float(v))) if np.isfinite(v) else repr(float(v)) for v in a.astype(np.float64).ravel()]
        if a.dtype == np.float32:
            flat = [float(str(np.float32(v))) if np.isfinite(v) else repr(float(v)) for v in a.ravel()]
    else:
        flat = a.ravel().tolist()
    return {"dtype": a.dtype.name, "shape": list(a.shape), "values": flat}


def main():
    rows = []
    for name, inputs, attributes, count in cases():
        names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
        outputs = [f"y{i}" for i in range(count)]
        node = helper.make_node(name, names, outputs, name=f"the_{name.lower()}", **attributes)
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.asarray(v).dtype), np.asarray(v).shape) for n, v in zip(names, inputs) if n]
        model = helper.make_model(helper.make_graph([node], "case", infos, [helper.make_empty_tensor_value_info(o) for o in outputs]),
                                  opset_imports=[helper.make_opsetid("", 25)], ir_version=10)
        given = {n: np.asarray(v) for n, v in zip(names, inputs) if n}
        results = ReferenceEvaluator(model).run(None, given)
        rows.append({"op": name, "model": base64.b64encode(model.SerializeToString()).decode(), "inputs": [listed(v) for v in given.values()],
                     "outputs": [listed(r) for r in results]})
    with open(OUTPUT, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    print(len(rows), "cases,", len({r["op"] for r in rows}), "operations")


if __name__ == "__main__":
    main()
