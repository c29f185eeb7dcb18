#!/usr/bin/env python3
"""Writes tests/scripts/saving/onnx_learned.json: models that scikit-learn learned, as its converter to ONNX writes them, with inputs and what scikit-learn
says; and layers with a batch normalisation behind them, with what onnx's reference says. It needs the pip packages scikit-learn, skl2onnx and onnx; the
test that reads the file (tests/scripts/saving/onnx_learned.tfl) needs none of them.

    python3 tests/tools/onnx_learned.py
"""
import base64
import json
import os
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "saving", "onnx_learned.json")
X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1)
X, Z = X.astype(np.float32), (X[:, 0] * 2 - X[:, 1] ** 2).astype(np.float32)
FEW = X[:12]
TEXTS = np.array([["the cat sat on the mat"], ["the dog barked at the cat"], ["one mat is one mat"]])
WORDS = np.array([["a", "x"], ["b", "y"], ["c", "x"]])


def numbers(a):
    a = np.asarray(a)
    return {"dtype": a.dtype.name if a.dtype.kind in "iufb" else "str", "shape": list(a.shape), "values": a.ravel().tolist()}


def learned():
    """(name, model, inputs, the results of scikit-learn)"""
    for name, model, target in (("tree", DecisionTreeClassifier(max_depth=3), Y), ("forest", RandomForestClassifier(3, max_depth=3, random_state=0), Y),
                                ("boosted trees", GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0), Y), ("logistic regression", LogisticRegression(), Y),
                                ("vectors of three classes", SVC(probability=True, random_state=0), Y), ("vectors of two classes", SVC(probability=True, random_state=0), Y > 0),
                                ("a polynomial kernel", SVC(kernel="poly"), Y), ("linear vectors", LinearSVC(), Y)):
        model.fit(X, target.astype(int))
        results = [model.predict(FEW).astype(np.int64)]
        if hasattr(model, "predict_proba"):
            results.append(model.predict_proba(FEW).astype(np.float32))
        yield name, model, FEW, results
    for name, model in (("tree of numbers", DecisionTreeRegressor(max_depth=3)), ("forest of numbers", RandomForestRegressor(3, max_depth=3, random_state=0)),
                        ("line", LinearRegression()), ("vectors of numbers", SVR()), ("a sigmoid kernel", SVR(kernel="sigmoid"))):
        yield name, model.fit(X, Z), FEW, [model.predict(FEW).reshape(-1, 1).astype(np.float32)]
    outliers = OneClassSVM().fit(X)
    yield "outliers", outliers, FEW, [outliers.predict(FEW).reshape(-1, 1).astype(np.int64)]
    for name, model in (("standard scaler", StandardScaler()), ("scaler of ranges", MinMaxScaler()), ("normalizer", Normalizer())):
        yield name, model.fit(X), FEW, [model.transform(FEW).astype(np.float32)]
    for name, model in (("one-hot encoder", OneHotEncoder(sparse_output=False)), ("ordinal encoder", OrdinalEncoder())):
        yield name, model.fit(WORDS), WORDS, [model.transform(WORDS).astype(np.float32)]
    for name, model in (("counts of words", CountVectorizer()), ("weighted words", TfidfVectorizer(ngram_range=(1, 2))), ("counts of letters", CountVectorizer(analyzer="char"))):
        yield name, model.fit(TEXTS[:, 0]), TEXTS, [model.transform(TEXTS[:, 0]).toarray().astype(np.float32)]


def normalised():
    """(name, model, inputs): a layer with a batch normalisation behind it."""
    r = np.random.RandomState(3)

    def draw(name, *shape):
        return numpy_helper.from_array(np.round(r.uniform(0.2, 2, shape), 3).astype(np.float32), name)
    for layer, shape, weights, attributes in (("Conv", (1, 4, 5, 5), (6, 2, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}), ("Conv", (2, 3, 6), (6, 3, 2), {}),
                                              ("ConvTranspose", (1, 4, 3, 3), (4, 6, 2, 2), {"strides": [2, 2]}), ("Gemm", (3, 4), (6, 4), {"transB": 1, "alpha": 0.5, "beta": 2.0})):
        for bias in (False, True):
            constants = [draw("w", *weights)] + ([draw("b", 6)] if bias else []) + [draw(n, 6) for n in ("scale", "shift", "mean", "variance")]
            nodes = [helper.make_node(layer, ["x", "w"] + (["b"] if bias else []), ["t"], **attributes),
                     helper.make_node("BatchNormalization", ["t", "scale", "shift", "mean", "variance"], ["y"], epsilon=1e-3)]
            inside = helper.make_graph(nodes, "pair", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
            model = helper.make_model(inside, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
            yield f"{layer}{list(shape)} normalised", model, np.round(r.uniform(-2, 2, shape), 3).astype(np.float32)


def main():
    warnings.simplefilter("ignore")
    rows = []
    for name, model, inputs, results in learned():
        kind = StringTensorType if inputs.dtype.kind == "U" else FloatTensorType
        options = {id(model): {"zipmap": False}} if hasattr(model, "classes_") and not isinstance(model, LinearSVC) else None
        made = convert_sklearn(model, initial_types=[("x", kind([None, inputs.shape[1]]))], options=options, target_opset={"": 20, "ai.onnx.ml": 3})
        rows.append({"name": name, "model": base64.b64encode(made.SerializeToString()).decode(), "input": numbers(inputs), "outputs": [numbers(r) for r in results]})
    for name, model, x in normalised():
        results = ReferenceEvaluator(model).run(None, {"x": x})
        rows.append({"name": name, "model": base64.b64encode(model.SerializeToString()).decode(), "input": numbers(x), "outputs": [numbers(r) for r in results]})
    with open(OUTPUT, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    print(len(rows), "models,", os.path.getsize(OUTPUT), "bytes")


if __name__ == "__main__":
    main()
