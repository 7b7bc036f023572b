"""The models that every run of exports.py has: rows and how scikit-learn's and quantized ones are made.

ROWS are {name, kind, ...}; kind says who makes one: net (exports_nets.py), vision (torchvision and
timm), detector (detectors.py), learned (scikit-learn) or quantized (ONNX Runtime's quantizers over a
vision row). Imported by export_one.py; LEARNED and quantize() need its environment.
"""


def torch_row(kind, model, opset, dynamo=False, batch=False, library=None):
    name = f"{model}_op{opset}{'d' if dynamo else ''}"
    return {"name": name, "kind": kind, "model": model, "opset": opset, "dynamo": dynamo,
            "batch": batch, "library": library}


def quantized_row(model, how, library="torchvision"):
    return {"name": f"{model}_{how}", "kind": "quantized", "model": model, "how": how, "opset": 17,
            "dynamo": False, "batch": False, "library": library}


ROWS = [
    *(torch_row("net", model, opset, dynamo, batch) for model, opset, dynamo, batch in [
        ("dcgan", 11, False, False), ("unet_nearest", 13, False, False),
        ("unet_bilinear", 18, True, False), ("stn", 20, True, False), ("tagger_lstm", 14, False, True),
        ("tagger_gru", 17, False, True), ("decode", 16, False, True), ("tiles", 15, False, False),
        ("upscale_bicubic", 12, False, False), ("upscale_antialias", 18, True, False),
        ("speech", 16, False, False), ("spectrum", 17, False, False), ("mixture", 18, True, False),
        ("encoder", 21, True, False)]),
    *(torch_row("vision", model, opset, dynamo, batch, "torchvision")
      for model, opset, dynamo, batch in [
        ("resnet18", 11, False, True), ("mobilenet_v3_small", 13, False, True),
        ("efficientnet_b0", 18, True, False), ("convnext_tiny", 20, True, False),
        ("lraspp_mobilenet_v3_large", 14, False, False),
        ("ssdlite320_mobilenet_v3_large", 16, False, False), ("r3d_18", 19, True, False)]),
    torch_row("detector", "fasterrcnn", 16),
    *({"name": f"learned_{model}", "kind": "learned", "model": model, "opset": opset}
      for model, opset in [("forest", 15), ("boosting", 17), ("svc", 18), ("neighbours", 16),
                           ("scaled_logistic", 13), ("perceptron", 19), ("words", 17),
                           ("categories", 20)]),
    *(quantized_row(model, how) for model, how in [
        ("resnet18", "qdq"), ("mobilenet_v2", "qdq"), ("squeezenet1_1", "qlinear"),
        ("shufflenet_v2_x1_0", "qlinear")]),
    quantized_row("attend", "dynamic", "net"), quantized_row("attend", "nbits", "net"),
]


def digits(rows=400, wide=20, classes=5):
    import numpy as np
    rng = np.random.default_rng(3)
    centres = 2 * rng.standard_normal((classes, wide))
    labels = rng.integers(0, classes, rows)
    return (centres[labels] + rng.standard_normal((rows, wide))).astype("float32"), labels


def words():
    import numpy as np
    rng = np.random.default_rng(4)
    known = ["graph", "engine", "tensor", "plan", "price", "shape", "node", "pass", "run", "file"]
    texts = [" ".join(rng.choice(known, 12)) for _ in range(200)]
    return texts, rng.integers(0, 2, 200)


def learned(kind):
    """(fitted model, {input: array}) of scikit-learn."""
    import numpy as np
    from sklearn import (compose, ensemble, feature_extraction, linear_model, neighbors,
                         neural_network, pipeline, preprocessing, svm)
    x, y = digits()
    plain = {
        "forest": lambda: ensemble.RandomForestClassifier(100, max_depth=8, random_state=0),
        "boosting": lambda: ensemble.GradientBoostingRegressor(random_state=0),
        "svc": lambda: svm.SVC(probability=True, random_state=0),
        "neighbours": lambda: neighbors.KNeighborsClassifier(5),
        "scaled_logistic": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(),
                                                          linear_model.LogisticRegression()),
        "perceptron": lambda: neural_network.MLPClassifier((64, 32), max_iter=50, random_state=0),
    }
    if kind in plain:
        return plain[kind]().fit(x, y), {"x": x[:32]}
    if kind == "words":
        texts, label = words()
        model = pipeline.make_pipeline(feature_extraction.text.TfidfVectorizer(),
                                       linear_model.LogisticRegression())
        return model.fit(texts, label), {"x": np.array(texts[:8]).reshape(-1, 1)}
    colours = np.random.default_rng(5).choice(["red", "green", "blue", "grey"], (400, 2))
    table = compose.ColumnTransformer([("c", preprocessing.OneHotEncoder(), [0, 1])])
    model = pipeline.make_pipeline(table, linear_model.LogisticRegression())
    return model.fit(colours, y), {"x": colours[:32]}


def write_learned(row, path):
    """Writes the file; returns the inputs by name."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    model, feeds = learned(row["model"])
    array = feeds["x"]
    kind = FloatTensorType if array.dtype.kind == "f" else StringTensorType
    options = {} if row["model"] == "boosting" else {"zipmap": False}
    made = to_onnx(model, initial_types=[("x", kind([None, array.shape[1]]))],
                   options={id(model): options} if options else None, target_opset=row["opset"])
    path.write_bytes(made.SerializeToString())
    return feeds


def quantize(source, path, how, feeds):
    """What ONNX Runtime's quantizers make of the file `source`, calibrated on noise like `feeds`."""
    import numpy as np
    import onnx
    from onnxruntime import quantization as q
    from onnxruntime.quantization import matmul_nbits_quantizer as nbits
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Noise(q.CalibrationDataReader):
        def __init__(self):
            rng = np.random.default_rng(6)
            self.rows = iter([{k: rng.standard_normal(v.shape).astype(v.dtype)
                               for k, v in feeds.items()} for _ in range(4)])

        def get_next(self):
            return next(self.rows, None)
    if how == "dynamic":
        q.quantize_dynamic(str(source), str(path), weight_type=q.QuantType.QInt8)
        return
    if how == "nbits":
        worker = nbits.MatMulNBitsQuantizer(onnx.load(str(source)), block_size=32)
        worker.process()
        worker.model.save_model_to_file(str(path))
        return
    ready = source.with_suffix(".ready")
    quant_pre_process(str(source), str(ready))
    kind = q.QuantFormat.QDQ if how == "qdq" else q.QuantFormat.QOperator
    q.quantize_static(str(ready), str(path), Noise(), quant_format=kind,
                      per_channel=how == "qdq", weight_type=q.QuantType.QInt8)
    ready.unlink()
