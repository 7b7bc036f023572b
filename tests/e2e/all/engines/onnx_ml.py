#!/usr/bin/env python3
"""Operators of ai.onnx.ml against ONNX Runtime, on models with random parameters and trained ones.

Models are run by `ge run`; those with texts as inputs are stored as node tests are and run by
`ge-test --onnx-node`. Trained models (scikit-learn, skl2onnx) are
skipped where these packages are not installed. The last line is the counts.

Examples:
  tests/e2e/all/engines/onnx_ml.py
  tests/e2e/all/engines/onnx_ml.py --only classifier -v
"""
import argparse
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[4]
BIN = ROOT / "build" / "release" / "bin"
RELATIVE = 1e-5  # of the greatest magnitude; sums of floats differ by their order
PROBIT_RELATIVE = 1e-3  # ONNX Runtime computes it in f32, which loses digits near 1/2
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
FLOATS, WHOLES = [np.float32, np.float64], [np.int64, np.int32]


class Case:
    def __init__(self, name, model, inputs):
        self.name, self.model, self.inputs = name, model, inputs

    def wanted(self):
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(self.model.SerializeToString(), options,
                                       providers=["CPUExecutionProvider"])
        return session.run(None, self.inputs)


def numbers_only(values):
    return all(isinstance(v, np.ndarray) and v.dtype.kind in "fiu" for v in values)


# ---- models --------------------------------------------------------------------------------------


def model_of(nodes, inputs, outputs, version=3):
    """`inputs` and `outputs`: (name, element type, shape or None); an output may be a ValueInfo."""
    def info(one):
        return one if isinstance(one, onnx.ValueInfoProto) else helper.make_tensor_value_info(*one)
    graph = helper.make_graph(nodes, "g", [info(i) for i in inputs], [info(o) for o in outputs])
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def one(op, x, outputs, version=3, **attrs):
    """A case's model: one node of that operator on the arrays in `x`. Outputs whose names begin with
    _ are none of the model."""
    names = [f"x{i}" for i in range(len(x))]
    results = [o.name if isinstance(o, onnx.ValueInfoProto) else o[0] for o in outputs]
    node = helper.make_node(op, names, results, domain="ai.onnx.ml", **attrs)
    inputs = [(n, element(a), [None] * a.ndim) for n, a in zip(names, x)]
    outputs = [o for o in outputs if isinstance(o, onnx.ValueInfoProto) or o[0][0] != "_"]
    return model_of([node], inputs, outputs, version), dict(zip(names, x))


def element(array):
    return T.STRING if array.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(array.dtype)


def floats(rng, n, least=-1.0, most=1.0):
    return [float(np.float32(v)) for v in rng.uniform(least, most, n)]


def rows(rng, dtype, n, features):
    x = rng.normal(size=(n, features)) * 2
    return np.round(x * 2).astype(dtype) if np.dtype(dtype).kind == "i" else x.astype(dtype)


# ---- features ------------------------------------------------------------------------------------


def feature_cases(rng):
    for dtype in FLOATS + WHOLES:
        x = rows(rng, dtype, 4, 3)
        y = [("y", T.FLOAT, None)]
        for n in (1, 3):
            yield f"scaler {dtype.__name__} {n}", one("Scaler", [x], y, offset=floats(rng, n),
                                                      scale=floats(rng, n))
        for norm in ("MAX", "L1", "L2"):
            z = x.copy()
            z[1] = 0
            z[2] = -np.abs(z[2]) - 1
            yield f"normalizer {norm} {dtype.__name__}", one("Normalizer", [z], y, norm=norm)
        yield f"normalizer vector {dtype.__name__}", one("Normalizer", [x[0]], y, norm="L2")
        yield f"binarizer {dtype.__name__}", one("Binarizer", [x], [("y", element(x), None)],
                                                 threshold=0.5)
        pick = np.array([[2, 0, 2]], np.int64)
        yield f"extractor {dtype.__name__}", one("ArrayFeatureExtractor", [x, pick],
                                                 [("y", element(x), None)])
        cats = [-2, 0, 1, 3]
        yield f"one hot {dtype.__name__}", one("OneHotEncoder", [x], y, cats_int64s=cats)
    yield from vectorizer_and_imputer_cases(rng)


def vectorizer_and_imputer_cases(rng):
    y = [("y", T.FLOAT, None)]
    for dtype in FLOATS + WHOLES:
        parts = [rows(rng, dtype, 4, 2), rows(rng, dtype, 4, 3)]
        for sizes in ([2, 3], [1, 3], [3, 5]):
            yield (f"vectorizer {sizes} {dtype.__name__}",
                   one("FeatureVectorizer", parts, y, inputdimensions=sizes))
        vectors = [part[0] for part in parts]
        yield (f"vectorizer of vectors {dtype.__name__}",
               one("FeatureVectorizer", vectors, y, inputdimensions=[2, 3]))
    for n in (1, 3):
        x = rows(rng, np.float32, 5, 3)
        x[1, 2], x[3, 0], x[4, 1] = np.nan, np.nan, 0
        for gone in (float("nan"), 0.0):
            yield f"imputer {gone} {n}", one("Imputer", [x], y, imputed_value_floats=floats(rng, n),
                                             replaced_value_float=gone)
        whole = rows(rng, np.int64, 5, 3)
        yield f"imputer whole {n}", one("Imputer", [whole], [("y", T.INT64, None)],
                                        imputed_value_int64s=list(range(7, 7 + n)),
                                        replaced_value_int64=int(whole[2, 1]))
    texts = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    yield "extractor of texts", one("ArrayFeatureExtractor", [texts, np.array([1, 1], np.int64)],
                                    [("y", T.STRING, None)])
    yield "one hot of texts", one("OneHotEncoder", [texts], y, cats_strings=["c", "a", "x", "d"])


def label_cases(rng):
    words = np.array([["Dori", "Amy"], ["Sally", "Amy"]], object)
    keys, whole = ["Amy", "Sally", "Bob"], np.array([3, 1, 2, 9, 3], np.int64)
    real = np.array([1.5, np.nan, 2, 7], np.float32)
    for values, kind in (([5, 6, 7], T.INT64), ([0.5, 1.5, 2.5], T.FLOAT), (["x", "y", "z"],
                                                                          T.STRING)):
        name = {T.INT64: "values_int64s", T.FLOAT: "values_floats", T.STRING: "values_strings"}[kind]
        y = [("y", kind, None)]
        yield f"labels text to {name}", one("LabelEncoder", [words], y, 2, keys_strings=keys,
                                            **{name: values})
        yield f"labels whole to {name}", one("LabelEncoder", [whole], y, 2, keys_int64s=[1, 2, 3],
                                             **{name: values})
        yield f"labels real to {name}", one("LabelEncoder", [real], y, 4, **{name: values},
                                            keys_floats=[2.0, float("nan"), 1.5])
    yield "labels default", one("LabelEncoder", [words], [("y", T.INT64, None)], 2,
                                keys_strings=keys, values_int64s=[5, 6, 7], default_int64=42)
    yield "labels v1 text", one("LabelEncoder", [words], [("y", T.INT64, None)], 1,
                                classes_strings=keys, default_int64=-5)
    yield "labels v1 whole", one("LabelEncoder", [whole], [("y", T.STRING, None)], 1,
                                 classes_strings=keys, default_string="none")
    yield "mapper to numbers", one("CategoryMapper", [words], [("y", T.INT64, None)], 1,
                                   cats_strings=keys, cats_int64s=[7, 8, 9], default_int64=-3)
    yield "mapper to texts", one("CategoryMapper", [whole], [("y", T.STRING, None)], 1,
                                 cats_strings=keys, cats_int64s=[1, 2, 3], default_string="?")
    for name, keys in (("classlabels_strings", ["a", "c", "b"]), ("classlabels_int64s", [4, 9, 6])):
        kind = T.STRING if name.endswith("strings") else T.INT64
        value = helper.make_tensor_type_proto(T.FLOAT, None)
        maps = helper.make_sequence_type_proto(helper.make_map_type_proto(kind, value))
        yield f"zip map {name}", one("ZipMap", [rows(rng, np.float32, 3, 3)],
                                     [helper.make_value_info("y", maps)], 1, **{name: keys})


# ---- linear models and vectors -------------------------------------------------------------------


def classes(rng, count, texts):
    labels = [int(v) for v in rng.permutation(20)[:count]]
    return [f"class {v}" for v in labels] if texts else labels


def class_outputs(texts):
    return [("label", T.STRING if texts else T.INT64, None), ("scores", T.FLOAT, None)]


def linear_cases(rng):
    for transform, targets in itertools.product(TRANSFORMS, (1, 3)):
        yield (f"linear regressor {transform} {targets}",
               one("LinearRegressor", [rows(rng, np.float32, 5, 4)], [("y", T.FLOAT, None)],
                   coefficients=floats(rng, 4 * targets), intercepts=floats(rng, targets),
                   targets=targets, post_transform=transform))
    for transform, lines, texts in itertools.product(TRANSFORMS, (1, 2, 4), (False, True)):
        if lines == 1 and transform == "PROBIT":  # ONNX Runtime leaves a column unwritten
            continue
        labels = classes(rng, max(lines, 2), texts)
        names = {"classlabels_strings" if texts else "classlabels_ints": labels}
        yield (f"linear classifier {transform} {lines} {'texts' if texts else 'ints'}",
               one("LinearClassifier", [rows(rng, np.float32, 6, 3)], class_outputs(texts),
                   coefficients=floats(rng, 3 * lines), intercepts=floats(rng, lines), **names,
                   post_transform=transform))
    for dtype in (np.float64, np.int64, np.int32):
        yield (f"linear classifier {dtype.__name__}",
               one("LinearClassifier", [rows(rng, dtype, 6, 3)], class_outputs(False),
                   coefficients=floats(rng, 9), intercepts=floats(rng, 3),
                   classlabels_ints=[4, 5, 6]))


def vector_cases(rng):
    for kernel, transform in [(k, "NONE") for k in ("LINEAR", "POLY", "RBF", "SIGMOID")] + \
            [("RBF", t) for t in TRANSFORMS[1:]]:
        params = {"kernel_type": kernel, "kernel_params": [0.3, 0.5, 3.0],
                  "post_transform": transform}
        x, vectors = rows(rng, np.float32, 5, 3), floats(rng, 7 * 3)
        for one_class in (0, 1):
            yield (f"svm regressor {kernel} {transform} {one_class}",
                   one("SVMRegressor", [x], [("y", T.FLOAT, None)], coefficients=floats(rng, 7),
                       support_vectors=vectors, n_supports=7, rho=[0.1], one_class=one_class,
                       **params))
        for count, chances, texts in itertools.product((2, 3, 4), (False, True), (False, True)):
            if count == 2 and transform == "PROBIT" and not chances:  # a column is unwritten
                continue
            per_class = [2, 3, 2, 1][:count]
            total, pairs = sum(per_class), count * (count - 1) // 2
            more = {"classlabels_strings" if texts else "classlabels_ints":
                    classes(rng, count, texts)}
            if chances:
                more |= {"prob_a": floats(rng, pairs, -2, -1), "prob_b": floats(rng, pairs)}
            yield (f"svm classifier {kernel} {transform} {count} {chances} {texts}",
                   one("SVMClassifier", [x], class_outputs(texts), rho=floats(rng, pairs),
                       coefficients=floats(rng, (count - 1) * total), vectors_per_class=per_class,
                       support_vectors=floats(rng, total * 3), **params, **more))
    yield ("svm regressor without vectors",
           one("SVMRegressor", [rows(rng, np.float32, 5, 3)], [("y", T.FLOAT, None)], rho=[0.2],
               coefficients=floats(rng, 3), kernel_type="LINEAR", kernel_params=[0.0] * 3))
    # Of two classes ONNX Runtime does not answer the one with the greater score.
    for count in (3, 4):
        yield (f"svm classifier without vectors {count}",
               one("SVMClassifier", [rows(rng, np.float32, 5, 3)], class_outputs(False),
                   rho=floats(rng, 3), coefficients=floats(rng, count * 3), kernel_type="LINEAR",
                   kernel_params=[0.0] * 3, classlabels_ints=classes(rng, count, False)))


# ---- trees ---------------------------------------------------------------------------------------


class Trees:
    """Random trees as lists; `votes` is "target" or "class"."""

    MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]

    def __init__(self, rng, votes, features, choices, least=-1.0, modes=None, trees=4, depth=4):
        self.rng, self.features, self.choices = rng, features, choices
        self.least, self.modes = least, modes or self.MODES
        self.nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes",
                                      "truenodeids", "falsenodeids",
                                      "missing_value_tracks_true")}
        self.votes = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
        for tree in range(trees):
            self.next = 0
            self.grow(tree, depth)
        self.attrs = {f"nodes_{k}": v for k, v in self.nodes.items()}
        self.attrs |= {f"{votes}_{k}": v for k, v in self.votes.items()}

    def grow(self, tree, depth):
        at, node = len(self.nodes["nodeids"]), self.next
        self.next += 1
        leaf = depth == 0 or (node > 0 and self.rng.random() < 0.2)
        values = {"treeids": tree, "nodeids": node, "truenodeids": 0, "falsenodeids": 0,
                  "featureids": 0 if leaf else int(self.rng.integers(self.features)),
                  "values": 0.0 if leaf else float(np.round(self.rng.normal() * 2) / 2),
                  "modes": "LEAF" if leaf else str(self.rng.choice(self.modes)),
                  "missing_value_tracks_true": 0 if leaf else int(self.rng.integers(2))}
        for key, value in values.items():
            self.nodes[key].append(value)
        if not leaf:
            self.nodes["truenodeids"][at] = self.grow(tree, depth - 1)
            self.nodes["falsenodeids"][at] = self.grow(tree, depth - 1)
            return node
        for choice in self.choices(self.rng):
            for key, value in (("treeids", tree), ("nodeids", node), ("ids", int(choice)),
                               ("weights", floats(self.rng, 1, self.least)[0])):
                self.votes[key].append(value)
        return node


def tree_rows(rng, dtype, missing):
    x = np.round(rng.normal(size=(12, 3)) * 4) / 2
    if missing and np.dtype(dtype).kind == "f":
        x[rng.random(x.shape) < 0.15] = np.nan
    return x.astype(dtype)


def regressor_cases(rng):
    for how, transform, targets in itertools.product(("SUM", "AVERAGE", "MIN", "MAX"), TRANSFORMS,
                                                     (1, 3)):
        if transform != "NONE" and how in ("MIN", "MAX"):
            continue
        dtype = FLOATS[targets % 2]
        # ONNX Runtime forgets the base value of a target that has no votes.
        more = {"base_values": floats(rng, targets)} if rng.random() < 0.5 else {}
        least = targets if more else 1
        trees = Trees(rng, "target", 3,
                      lambda r, n=targets, k=least: r.permutation(n)[:r.integers(k, n + 1)])
        yield (f"tree regressor {how} {transform} {targets}",
               one("TreeEnsembleRegressor", [tree_rows(rng, dtype, True)], [("y", T.FLOAT, None)],
                   n_targets=targets, aggregate_function=how, post_transform=transform,
                   **trees.attrs, **more))
    trees = Trees(rng, "target", 3, lambda r: [0], modes=["BRANCH_LEQ"], trees=100, depth=8)
    trees.attrs.pop("nodes_missing_value_tracks_true")
    for version in (1, 3):
        yield (f"tree regressor forest v{version}",
               one("TreeEnsembleRegressor", [tree_rows(rng, np.float32, False)],
                   [("y", T.FLOAT, None)], version, n_targets=1, **trees.attrs))


def sides(count, base, transform):
    """Which classes leaves vote for: any, all of them, or one and the same. Left out is what ONNX
    Runtime leaves unwritten or answers without a look at the base values."""
    if count > 2:
        yield "any", lambda r: r.permutation(count)[:r.integers(1, count + 1)]
        yield "all", lambda r: range(count)
        return
    if base == 0:
        yield "all", lambda r: range(count)
        yield "second", lambda r: [1]
    if base < 2 and transform != "PROBIT":
        yield "first", lambda r: [0]


def classifier_cases(rng):
    for transform, count, least, base in itertools.product(TRANSFORMS, (2, 3), (-1.0, 0.0),
                                                           (0, 1, 2, 3)):
        if base not in (0, count) and not (base == 1 and count == 2):
            continue
        for side, choices in sides(count, base, transform):
            texts = rng.random() < 0.3
            outputs = class_outputs(texts)
            if side == "all" and count == 2:  # ONNX Runtime answers 0 or 1, not a label
                outputs[0] = ("_label", *outputs[0][1:])
            trees = Trees(rng, "class", 3, choices, least)
            if least == 0:  # shares of one, as forests have
                trees.attrs["class_weights"] = [w / 4 for w in trees.attrs["class_weights"]]
            more = {"classlabels_strings" if texts else "classlabels_int64s":
                    classes(rng, count, texts)}
            if base:
                more["base_values"] = floats(rng, base)
            yield (f"tree classifier {transform} {count} {side} {'mixed' if least else 'positive'} "
                   f"base {base} {'texts' if texts else 'ints'}",
                   one("TreeEnsembleClassifier", [tree_rows(rng, np.float32, True)],
                       outputs, post_transform=transform, **trees.attrs, **more))
    for dtype in (np.float64, np.int64, np.int32):
        trees = Trees(rng, "class", 3, lambda r: range(3))
        yield (f"tree classifier {dtype.__name__}",
               one("TreeEnsembleClassifier", [tree_rows(rng, dtype, True)], class_outputs(False),
                   classlabels_int64s=[1, 2, 3], **trees.attrs))


def ensemble_cases(rng):
    for how, transform, targets in itertools.product(range(4), range(5), (1, 3)):
        if transform and how > 1:
            continue
        if transform in (1, 2) and targets > 1:  # ONNX Runtime takes SOFTMAX for LOGISTIC
            continue
        dtype = FLOATS[targets % 2]
        tree = Ensemble(rng, dtype, targets)
        yield (f"tree ensemble {how} {transform} {targets}",
               one("TreeEnsemble", [np.round(tree_rows(rng, dtype, True))],
                   [("y", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None)], 5,
                   aggregate_function=how, post_transform=transform, n_targets=targets,
                   **tree.attrs))


class Ensemble:
    """Random trees as the lists of version 5."""

    def __init__(self, rng, dtype, targets):
        self.rng, self.targets = rng, targets
        self.lists = {k: [] for k in ("featureids", "truenodeids", "falsenodeids", "trueleafs",
                                      "falseleafs", "missing_value_tracks_true")}
        self.modes, self.splits, self.members, self.ids, self.weights = [], [], [], [], []
        roots = [self.grow(3) for _ in range(4)]

        def tensor(name, values, kind=dtype):
            return numpy_helper.from_array(np.array(values, kind), name)
        self.attrs = {f"nodes_{k}": v for k, v in self.lists.items()}
        self.attrs |= {"tree_roots": roots, "leaf_targetids": self.ids,
                       "leaf_weights": tensor("w", self.weights),
                       "nodes_modes": tensor("m", self.modes, np.uint8),
                       "nodes_splits": tensor("s", self.splits)}
        if self.members:
            self.attrs["membership_values"] = tensor("v", self.members)

    def grow(self, depth):
        at, lists = len(self.splits), self.lists
        mode = int(self.rng.integers(7))
        self.modes.append(mode)
        self.splits.append(0 if mode == 6 else np.round(self.rng.normal() * 4) / 2)
        if mode == 6:
            some = np.unique(self.rng.integers(1, 7, 3))  # ONNX Runtime wants positive integers
            self.members += [*some, np.nan]
        for key, value in (("featureids", int(self.rng.integers(3))),
                           ("missing_value_tracks_true", int(self.rng.integers(2)))):
            lists[key].append(value)
        for side in ("true", "false"):
            lists[f"{side}nodeids"].append(0), lists[f"{side}leafs"].append(0)
        for side in ("true", "false"):
            leaf = depth == 0 or self.rng.random() < 0.3
            lists[f"{side}leafs"][at] = int(leaf)
            lists[f"{side}nodeids"][at] = self.leaf() if leaf else self.grow(depth - 1)
        return at

    def leaf(self):
        self.ids.append(int(self.rng.integers(self.targets)))
        self.weights.append(floats(self.rng, 1)[0])
        return len(self.ids) - 1


# ---- trained models ------------------------------------------------------------------------------


def converted(estimator, x, y, **options):
    """The fitted estimator as a model, None where the installed packages do not fit each other."""
    from skl2onnx import to_onnx
    try:
        return to_onnx(estimator.fit(x, y), x[:1], target_opset=15, **options)
    except Exception:
        return None


def trained_cases(rng):
    from sklearn import ensemble, linear_model, neural_network, pipeline, preprocessing, svm, tree
    x = rng.normal(size=(120, 4)).astype(np.float32)
    three = np.digitize(x[:, 0] - x[:, 2], [-0.5, 0.7])
    targets = {"two": (x[:, 0] + x[:, 1] ** 2 > 0.5).astype(np.int64), "three": three,
               "texts": np.array(["low", "middle", "high"])[three]}
    real = (x @ [0.5, -1, 2, 0] + np.sin(x[:, 1])).astype(np.float32)
    for estimator in (linear_model.LogisticRegression(), tree.DecisionTreeClassifier(max_depth=5),
                      ensemble.RandomForestClassifier(12, max_depth=6, random_state=1),
                      ensemble.ExtraTreesClassifier(8, max_depth=4, random_state=1),
                      ensemble.GradientBoostingClassifier(n_estimators=12, random_state=1),
                      ensemble.HistGradientBoostingClassifier(max_iter=12),
                      svm.SVC(), svm.SVC(probability=True, random_state=1), svm.LinearSVC(),
                      neural_network.MLPClassifier((8,), max_iter=60, random_state=1),
                      pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC())):
        name = re.sub(r"\(.*", "", str(estimator), flags=re.S)
        for (kind, y), zipmap in itertools.product(targets.items(), (True, False)):
            model = converted(estimator, x[:100], y[:100], options={"zipmap": zipmap})
            yield f"trained {name} {kind} zipmap {zipmap}", model and (model, {"X": x[100:]})
    for estimator in (linear_model.Ridge(), tree.DecisionTreeRegressor(max_depth=6),
                      ensemble.RandomForestRegressor(12, random_state=1),
                      ensemble.GradientBoostingRegressor(n_estimators=12), svm.SVR(),
                      ensemble.HistGradientBoostingRegressor(max_iter=12),
                      pipeline.make_pipeline(preprocessing.Normalizer(), linear_model.Lasso(0.01))):
        name = re.sub(r"\(.*", "", str(estimator), flags=re.S)
        model = converted(estimator, x[:100], real[:100])
        yield f"trained {name}", model and (model, {"X": x[100:]})


# ---- running -------------------------------------------------------------------------------------


def difference(found, wanted, relative=RELATIVE):
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"found {found.dtype}{list(found.shape)}, wanted {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind != "f":
        same = found == wanted
    else:
        finite = np.abs(wanted[np.isfinite(wanted)])
        bound = relative * max(1.0, finite.max(initial=0))
        with np.errstate(invalid="ignore"):
            near = np.abs(found - wanted) <= bound
        same = near | (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    if same.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"at {list(at)} found {found[at]}, wanted {wanted[at]} ({(~same).sum()} differ)"


def other_difference(found, wanted):
    """The same of texts and of sequences of maps, as JSON has them."""
    if isinstance(wanted, np.ndarray):
        return "" if found == wanted.tolist() else f"found {found}, wanted {wanted.tolist()}"
    for number, (row, entry) in enumerate(itertools.zip_longest(found, wanted)):
        keys = [str(key) for key in entry or {}]
        if row is None or entry is None or sorted(row) != sorted(keys):
            return f"map {number}: found {row}, wanted {entry}"
        why = difference(np.array([row[key] for key in keys], np.float32),
                         np.array(list(entry.values()), np.float32))
        if why:
            return f"map {number}: {why}"
    return ""


def run_model(case, wanted, folder):
    path = folder / "model.onnx"
    path.write_bytes(case.model.SerializeToString())
    command = [BIN / "ge", "run", path, "--engines", "ref", "--output", folder / "out"]
    for name, array in case.inputs.items():
        np.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder}/{name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return done.stderr.strip() or f"ge run ended with {done.returncode}"
    for output, array in zip(case.model.graph.output, wanted):
        name = folder / "out" / re.sub(r"[^A-Za-z0-9._-]", "_", output.name)
        if numbers_only([array]):
            relative = PROBIT_RELATIVE if "PROBIT" in case.name else RELATIVE
            why = difference(np.load(f"{name}.npy"), array, relative)
        else:
            why = other_difference(json.loads(pathlib.Path(f"{name}.json").read_text()), array)
        if why:
            return f"output {output.name}: {why}"
    return ""


def store(case, wanted, folder):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for i, (name, array) in enumerate(case.inputs.items()):
        tensor = numpy_helper.from_array(array, name)
        (data / f"input_{i}.pb").write_bytes(tensor.SerializeToString())
    for i, value in enumerate(wanted):
        tensor = numpy_helper.from_array(value, f"o{i}")
        (data / f"output_{i}.pb").write_bytes(tensor.SerializeToString())


class Counts:
    def __init__(self, verbose):
        self.passed = self.failed = self.skipped = 0
        self.verbose = verbose

    def add(self, name, why):
        self.failed += why != ""
        self.passed += why == ""
        if why or self.verbose:
            print(f"FAILED  {name}: {why}" if why else f"passed  {name}", flush=True)


def run_stored(names, folder, counts):
    done = subprocess.run([BIN / "ge-test", "--onnx-node", folder, "-v"], capture_output=True,
                          text=True, timeout=600)
    text = done.stdout + done.stderr
    for key, name in names.items():
        passed = re.search(rf"^passed  {key}$", text, re.M)
        failed = re.search(rf"^FAILED  {key}: (.*)$", text, re.M)
        counts.add(name, "" if passed else failed[1] if failed else "it was not run")


def all_cases(only, counts):
    rng = np.random.default_rng(7)
    groups = [feature_cases, label_cases, linear_cases, vector_cases, regressor_cases,
              classifier_cases, ensemble_cases, trained_cases]
    for group in groups:
        try:
            for name, made in group(rng):
                if only and not any(word in name for word in only):
                    continue
                if made is None:
                    counts.skipped += 1
                    print(f"skipped {name}: it was not converted")
                else:
                    yield Case(name, *made)
        except ImportError as error:
            counts.skipped += 1
            print(f"skipped {group.__name__}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="cases whose name contains this word")
    parser.add_argument("-v", "--verbose", action="store_true", help="name what passes too")
    args = parser.parse_args()
    os.environ.setdefault("GE_PLUGIN_PATH", str(ROOT / "build/release/lib/graphengine"))
    counts, names = Counts(args.verbose), {}
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        for number, case in enumerate(all_cases(args.only, counts)):
            try:
                wanted = case.wanted()
            except Exception as error:  # ONNX Runtime does not take every type that ONNX names
                counts.skipped += 1
                if args.verbose:
                    print(f"skipped {case.name}: ONNX Runtime: {str(error)[:150]}")
                continue
            folder = top / "run" / f"case{number:04}"
            if numbers_only(case.inputs.values()):
                folder.mkdir(parents=True)
                counts.add(case.name, run_model(case, wanted, folder))
            else:
                store(case, wanted, top / "stored" / folder.name)
                names[folder.name] = case.name
        if names:
            run_stored(names, top / "stored", counts)
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
