"""Rows of ai.onnx.ml, as scikit-learn's converters write them."""
import numpy as np

from operator_rows import row

LEARNED, WIDE = "ai.onnx.ml", 16


def ml(name, types, inputs, attributes=None, **more):
    row(name, types, inputs, attributes, domain=LEARNED, **more)


def samples(d, n):
    return [d.x(max(1, n // WIDE), WIDE)]


def forest(classes, trees=10, depth=5):
    """Attributes of complete trees."""
    rng, out = np.random.default_rng(7), {}
    inner, nodes = 2 ** depth - 1, 2 ** (depth + 1) - 1
    ids = np.arange(nodes)
    is_inner = ids < inner
    out["nodes_treeids"] = np.repeat(np.arange(trees), nodes).tolist()
    out["nodes_nodeids"] = np.tile(ids, trees).tolist()
    out["nodes_featureids"] = rng.integers(0, WIDE, trees * nodes).tolist()
    out["nodes_values"] = rng.standard_normal(trees * nodes).astype(np.float32).tolist()
    out["nodes_modes"] = np.tile(np.where(is_inner, "BRANCH_LEQ", "LEAF"), trees).tolist()
    out["nodes_truenodeids"] = np.tile(np.where(is_inner, 2 * ids + 1, 0), trees).tolist()
    out["nodes_falsenodeids"] = np.tile(np.where(is_inner, 2 * ids + 2, 0), trees).tolist()
    name, leaves = ("class" if classes else "target"), nodes - inner
    out[f"{name}_treeids"] = np.repeat(np.arange(trees), leaves).tolist()
    out[f"{name}_nodeids"] = np.tile(ids[inner:], trees).tolist()
    out[f"{name}_ids"] = rng.integers(0, classes or 1, trees * leaves).tolist()
    out[f"{name}_weights"] = rng.random(trees * leaves).astype(np.float32).tolist()
    if classes:
        out["classlabels_int64s"] = list(range(classes))
    else:
        out["n_targets"] = 1
    return out


def vectors(classes, count=32):
    rng = np.random.default_rng(7)
    out = {"kernel_type": "RBF", "kernel_params": [0.1, 0.0, 3.0],
           "rho": [0.1] * (classes * (classes - 1) // 2 if classes else 1)}
    points = rng.standard_normal(count * WIDE).astype(np.float32).tolist()
    if not classes:
        return {**out, "n_supports": count, "support_vectors": points,
                "coefficients": rng.standard_normal(count).astype(np.float32).tolist()}
    return {**out, "support_vectors": points, "classlabels_ints": list(range(classes)),
            "vectors_per_class": [count // classes] * classes,
            "coefficients": rng.standard_normal(count * (classes - 1)).astype(np.float32).tolist()}


def linear(targets):
    rng = np.random.default_rng(7)
    return {"coefficients": rng.standard_normal(targets * WIDE).astype(np.float32).tolist(),
            "intercepts": rng.standard_normal(targets).astype(np.float32).tolist()}


def rows():
    ml("TreeEnsembleRegressor", "f32 f64", samples, forest(0))
    ml("TreeEnsembleClassifier", "f32", samples, forest(3), outputs=2)
    ml("SVMRegressor", "f32", samples, vectors(0))
    ml("SVMClassifier", "f32", samples, vectors(4), outputs=2)
    ml("LinearRegressor", "f32", samples, {**linear(1), "targets": 1})
    ml("LinearClassifier", "f32", samples, {**linear(3), "classlabels_ints": [0, 1, 2],
                                              "post_transform": "SOFTMAX"}, outputs=2)
    ml("Scaler", "f32 f64 i64", samples, {"offset": [0.5] * WIDE, "scale": [2.0] * WIDE})
    for norm in ("L2", "MAX"):
        ml("Normalizer", "f32", samples, {"norm": norm}, kind=norm)
    ml("Binarizer", "f32", samples, {"threshold": 0.1})
    ml("Imputer", "f32", samples, {"imputed_value_floats": [0.0] * WIDE,
                                        "replaced_value_float": float("nan")})
    ml("LabelEncoder", "i64", lambda d, n: [d.ints(50, n)],
       {"keys_int64s": list(range(40)), "values_int64s": list(range(100, 140)), "default_int64": -1})
    ml("OneHotEncoder", "i64", lambda d, n: [d.ints(WIDE, max(1, n // WIDE), 1)],
       {"cats_int64s": list(range(WIDE))})
    ml("ArrayFeatureExtractor", "f32 i64", lambda d, n: [
        d.x(max(1, n // 4), WIDE), d.const([1, 3, 5, 7], np.int64)])
    ml("FeatureVectorizer", "f32", lambda d, n: [d.x(max(1, n // WIDE), WIDE // 2),
                                                      d.x(max(1, n // WIDE), WIDE // 2)],
       {"inputdimensions": [WIDE // 2, WIDE // 2]})


rows()
