"""The common calls of onnxruntime, by the module named, into a file; or two such files compared.

  python_drop_in.py MODULE OUT.npz
  python_drop_in.py --compare THEIRS.npz OURS.npz
"""
import importlib
import pathlib
import sys
import threading
import warnings

import numpy as np

MODEL = "build/models/lenet.onnx"


def told(session):
    """What a session says of its model, as one text."""
    lines = []
    for arg in session.get_inputs() + session.get_outputs():
        lines.append(f"{arg.name} {arg.shape} {arg.type}")
    lines += session.get_providers()
    lines.append(str(len(session.get_overridable_initializers())))
    return "\n".join(lines)


def field(number, value):
    """One field of a message of protobuf: a number, bytes or a text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def documented(full):
    """An ONNX model of one Identity that says of itself what a model may, or nothing."""
    dim = field(1, field(2, "batch") + field(3, "DATA_BATCH")) + field(1, field(1, 3)) + field(1, b"")
    port = lambda name: field(1, name) + field(2, field(1, field(1, 1) + field(2, dim)))
    graph = field(1, field(1, "x") + field(2, "y") + field(4, "Identity"))
    graph += field(2, "the graph") + field(11, port("x")) + field(12, port("y"))
    if not full:
        return field(1, 8) + field(7, graph) + field(8, field(2, 17))
    graph += field(10, "of the graph")
    model = field(1, 8) + field(2, "some tool") + field(3, "1.2") + field(4, "org.example")
    model += field(5, 7) + field(6, "of the model") + field(7, graph) + field(8, field(2, 17))
    for key in ("domain", "doc_string", "character", "empty"):
        model += field(14, field(1, key) + field(2, "" if key == "empty" else f"the model's own {key}"))
    return model


def metadata(ort):
    """What models say of themselves, as texts."""
    out = {}
    for full in (True, False):
        session = ort.InferenceSession(documented(full), providers=["CPUExecutionProvider"])
        meta = session.get_modelmeta()
        lines = [f"{name} {getattr(meta, name)}" for name in
                 ("description", "domain", "graph_description", "graph_name", "producer_name", "version")]
        lines += [f"{k}={v}" for k, v in sorted(meta.custom_metadata_map.items())]
        lines += [str(arg) for arg in session.get_inputs() + session.get_outputs()]
        out[f"metadata {full}"] = np.array("\n".join(lines))
    return out


def kind_of(call):
    """What a call gives, or all classes of the exception that it leaves with."""
    try:
        return repr(call())
    except Exception as error:  # pylint: disable=broad-except
        return "raises " + " ".join(each.__name__ for each in type(error).__mro__)


def free_sizes(ort):
    """Free dimension overrides by name and by denotation."""
    out, x = {}, np.ones((2, 3, 1), np.float32)
    for name, word in (("name", "batch"), ("denotation", "DATA_BATCH")):
        for size in (2, 4):
            options = ort.SessionOptions()
            getattr(options, f"add_free_dimension_override_by_{name}")(word, size)
            session = ort.InferenceSession(documented(True), options, providers=["CPUExecutionProvider"])
            shapes = [arg.shape for arg in session.get_inputs() + session.get_outputs()]
            out[f"{name} {size}"] = np.array(str(shapes))
            out[f"{name} {size}, run"] = np.array(kind_of(
                lambda: session.run(None, {"x": x})[0].shape))  # pylint: disable=cell-var-from-loop
    return out


def providers(ort):
    """What is said of providers, with the warnings."""
    cuda = "CUDAExecutionProvider"
    cases = {"several": {"providers": [cuda, "CPUExecutionProvider"]}, "another": {"providers": [cuda]},
             "none": {"providers": None}, "twice": {"providers": ["CPUExecutionProvider"] * 2},
             "pairs": {"providers": [("CPUExecutionProvider", {"use_arena": 0})]},
             "lists": {"providers": ["CPUExecutionProvider"], "provider_options": [{"use_arena": "1"}]},
             "too many": {"providers": ["CPUExecutionProvider"], "provider_options": [{}, {}],
                          "enable_fallback": 0},
             "a number": {"providers": [5], "enable_fallback": 0}}
    out = {}
    for name, words in cases.items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            told = kind_of(lambda: (lambda s: (s.get_providers(), s.get_provider_options()))(
                ort.InferenceSession(documented(True), **words)))  # pylint: disable=cell-var-from-loop
        said = [f"{w.category.__name__} {str(w.message)[:60]}" for w in said]
        out["providers, " + name] = np.array(told)
        out["warnings, " + name] = np.array(str(said))
    return out


def refusals(ort):
    """What a program may wait for."""
    session = ort.InferenceSession(MODEL, providers=["CPUExecutionProvider"])
    x, options, run = np.zeros((3, 1, 28, 28), np.float32), ort.SessionOptions(), ort.RunOptions()
    ended = ort.RunOptions()
    ended.terminate = True
    binding = session.io_binding()
    cases = {
        "a missing input": lambda: session.run(None, {}), "another output": lambda: session.run(["q"], {"x": x}),
        "another input": lambda: session.run(None, {"x": x, "q": x}),
        "a type": lambda: session.run(None, {"x": x.astype("f8")}),
        "a rank": lambda: session.run(None, {"x": x[0]}), "a list": lambda: session.run(None, [x]),
        "no file": lambda: ort.InferenceSession("/nowhere.onnx"),
        "no model": lambda: ort.InferenceSession(b"garbage garbage"),
        "no bytes": lambda: ort.InferenceSession(b""), "a number": lambda: ort.InferenceSession(5),
        "an option": lambda: setattr(options, "intra", 1), "its type": lambda: setattr(options, "logid", 1),
        "an entry": lambda: options.get_session_config_entry("a"),
        "an option of a run": lambda: setattr(run, "tag", 1), "its entry": lambda: run.get_run_config_entry("a"),
        "an end": lambda: session.run(None, {"x": x}, ended), "severity": lambda: ort.set_default_logger_severity(9),
        "nothing bound": lambda: session.run_with_iobinding(binding),
        "no such input": lambda: binding.bind_cpu_input("q", x),
        "an address": lambda: binding.bind_output(session.get_outputs()[0].name, "cpu", 0, None, None, 1),
        "another's binding": lambda: ort.InferenceSession(MODEL).run_with_iobinding(binding),
        "values": lambda: session.run_with_ort_values(None, {}),
        "a later run": lambda: session.run_async(None, {}, lambda *_: None, None)}
    out = {name: np.array(kind_of(call)) for name, call in cases.items()}
    words = ("execution_mode", "execution_order", "graph_optimization_level", "intra_op_num_threads", "logid",
             "log_severity_level", "optimized_model_filepath", "profile_file_prefix", "enable_profiling")
    out["options"] = np.array(str([str(getattr(options, word)) for word in words]))
    out["options of a run"] = np.array(str([getattr(run, word) for word in (
        "log_severity_level", "log_verbosity_level", "logid", "terminate", "only_execute_path_to_fetches")]))
    return out


def maps_in(ort):
    """A map of each kind of keys, as vectorizers of scikit-learn take them."""
    out = {}
    for number, words, given in ((8, field(9, "a") + field(9, "b") + field(20, 8), {"b": 2.5}),
                                 (7, field(8, 3) + field(8, 5) + field(20, 7), {5: 2.5, 3: 1.0})):
        attribute = field(1, "string_vocabulary" if number == 8 else "int64_vocabulary") + words
        graph = field(1, field(1, "m") + field(2, "y") + field(4, "DictVectorizer") + field(5, attribute)
                      + field(7, "ai.onnx.ml")) + field(2, "vectorizer")
        held = field(1, field(1, 1) + field(2, b""))
        graph += field(11, field(1, "m") + field(2, field(5, field(1, number) + field(2, held))))
        graph += field(12, field(1, "y") + field(2, field(1, field(1, 1))))
        model = field(1, 8) + field(7, graph) + field(8, field(2, 17))
        model += field(8, field(1, "ai.onnx.ml") + field(2, 1))
        session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        arg = session.get_inputs()[0]
        out[f"a map of {number}"] = session.run(None, {"m": given})[0]
        out[f"its type {number}"] = np.array(f"{arg.type} {arg.shape}")
        wrong = {1: 1.0} if number == 8 else {"a": 1.0}
        out[f"wrong keys {number}"] = np.array(kind_of(
            lambda: session.run(None, {"m": wrong})))  # pylint: disable=cell-var-from-loop
    return out


def texts(ort):
    """Labels and probabilities as classifiers of scikit-learn give them."""
    labels = field(1, "classlabels_strings") + field(9, "no") + field(9, "yes") + field(20, 8)
    graph = field(1, field(1, "s") + field(2, "t") + field(4, "Identity"))
    graph += field(1, field(1, "x") + field(2, "p") + field(4, "ZipMap") + field(5, labels)
                   + field(7, "ai.onnx.ml")) + field(2, "labels")
    rows = field(1, field(2, "N")) + field(1, field(1, 2))
    graph += field(11, field(1, "s") + field(2, field(1, field(1, 8) + field(2, field(1, field(2, "N"))))))
    graph += field(11, field(1, "x") + field(2, field(1, field(1, 1) + field(2, rows))))
    graph += field(12, field(1, "t") + field(2, field(1, field(1, 8))))
    of_maps = field(4, field(1, field(5, field(1, 8) + field(2, field(1, field(1, 1) + field(2, b""))))))
    graph += field(12, field(1, "p") + field(2, of_maps))
    model = field(1, 8) + field(7, graph) + field(8, field(2, 17)) + field(8, field(1, "ai.onnx.ml") + field(2, 3))
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    t, p = session.run(None, {"s": np.array(["a", "b\u00e9"], object), "x": np.eye(2, dtype=np.float32)})
    types = [arg.type for arg in session.get_inputs() + session.get_outputs()]
    told = f"{t.dtype} {t.shape} {t.tolist()} {p} {types}"
    return {"texts and maps": np.array(told)}


def words(ort):
    """Texts cut into words as skl2onnx has it done, by 60 expressions and separators; seed 5."""
    rng, out = np.random.default_rng(5), {}
    parts = ["a", "b", "ab", "[a-c]", "[0-9]+", " ", ",", "\u00e9", "(a|ab)", "b+", "\\b", "c?", "x"]
    for i in range(60):
        draw = lambda n: "".join(rng.choice(parts, n))  # pylint: disable=cell-var-from-loop
        if i % 2:
            how = field(1, "tokenexp") + field(4, draw(rng.integers(1, 4))) + field(20, 3)
        else:
            separators = [""] if i % 20 == 0 else [p for p in rng.choice(parts[:10], rng.integers(1, 4))]
            how = field(1, "separators") + b"".join(field(9, str(p)) for p in separators) + field(20, 8)
        least = 1 if i % 20 == 0 else int(rng.integers(1, 4))
        node = field(1, "x") + field(2, "y") + field(4, "Tokenizer") + field(7, "com.microsoft") + field(5, how)
        for name, value in (("mark", int(rng.integers(0, 2))), ("mincharnum", least)):
            node += field(5, field(1, name) + field(3, value) + field(20, 2))
        node += field(5, field(1, "pad_value") + field(4, "#") + field(20, 3))
        axes = b"".join(field(1, field(2, f"n{k}")) for k in range(1 + i // 30))
        graph = field(1, node) + field(2, "g")
        graph += field(11, field(1, "x") + field(2, field(1, field(1, 8) + field(2, axes))))
        graph += field(12, field(1, "y") + field(2, field(1, field(1, 8))))
        model = field(1, 8) + field(7, graph) + field(8, field(2, 17))
        model += field(8, field(1, "com.microsoft") + field(2, 1))
        session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        letters = list("aabbcx0189 ,\u00e9")
        given = ["".join(rng.choice(letters, rng.integers(0, 12))) for _ in range(4)]
        y = session.run(None, {"x": np.array(given, object).reshape((2, 2) if i >= 30 else 4)})[0]
        out[f"words {i}"] = np.array(f"{y.shape} {y.tolist()}")
    return out


def defaults(ort):
    """y = x + w, where w is an initializer that a feed may override."""
    port = lambda name: field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 3)))))
    graph = field(1, field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")) + field(2, "g")
    graph += field(5, field(1, 3) + field(2, 1) + field(8, "w") + field(9, np.ones(3, "float32").tobytes()))
    graph += field(11, port("w")) + field(11, port("x")) + field(12, port("y"))
    model = field(1, 8) + field(7, graph) + field(8, field(2, 17))
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    told = [[(arg.name, arg.shape, arg.type) for arg in args]
            for args in (session.get_inputs(), session.get_overridable_initializers())]
    x, w = np.arange(3, dtype=np.float32), np.full(3, 10, np.float32)
    return {"defaults": np.array(str(told)), "default": session.run(None, {"x": x})[0],
            "overridden": session.run(["y"], {"w": w, "x": x})[0], "default again": session.run(None, {"x": x})[0]}


def bound(ort, session, x):
    """By OrtValue and IOBinding."""
    name, y = session.get_inputs()[0].name, session.get_outputs()[0].name
    value = ort.OrtValue.ortvalue_from_numpy(x)
    out = {"value": value.numpy().copy(), "value told": np.array(str(
        [value.shape(), value.data_type(), value.element_type(), value.device_name(), value.is_tensor(),
         value.has_value(), value.tensor_size_in_bytes(), value.data_ptr() == x.ctypes.data]))}
    out["values"] = session.run_with_ort_values([y], {name: value})[0].numpy().copy()
    empty = ort.OrtValue.ortvalue_from_shape_and_type([3, 10], np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input(name, x)
    binding.bind_output(y)
    session.run_with_iobinding(binding)
    out["bound"], out["got"] = binding.copy_outputs_to_cpu()[0], binding.get_outputs()[0].numpy().copy()
    binding.bind_ortvalue_input(name, value)
    binding.bind_ortvalue_output(y, empty)
    session.run_with_iobinding(binding, ort.RunOptions())
    out["bound values"] = empty.numpy()
    mine = np.zeros((3, 10), np.float32)
    binding.clear_binding_outputs()
    binding.bind_input(name, "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_output(y, "cpu", 0, np.float32, mine.shape, mine.ctypes.data)
    session.run_with_iobinding(binding)
    out["bound addresses"] = mine
    value.update_inplace(np.ones_like(x))
    out["updated"] = x.copy()
    out["as an array"] = np.array(value)
    return out


def calls(ort):
    """Everything that is compared, by a name."""
    ort.disable_telemetry_events()
    ort.set_default_logger_severity(3)
    ort.set_default_logger_verbosity(0)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    session = ort.InferenceSession(MODEL, sess_options=options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(5).standard_normal((3, 1, 28, 28), dtype=np.float32)
    feed, name = {session.get_inputs()[0].name: x}, session.get_outputs()[0].name
    out = {"told": np.array(told(session)), "all": session.run(None, feed)[0],
           "empty": session.run([], feed)[0], "named": session.run([name], feed)[0],
           "options": session.run([name], feed, ort.RunOptions())[0]}
    by_bytes = ort.InferenceSession(pathlib.Path(MODEL).read_bytes(), options,
                                    providers=["CPUExecutionProvider"])
    out["bytes"] = by_bytes.run([name, name], feed)[1]
    out["strided"] = session.run(None, {session.get_inputs()[0].name: x[::2]})[0]
    done, ended = [], threading.Event()

    def finished(outputs, user, said):
        done.extend([outputs[0], user, said])
        ended.set()
    session.run_async([name], feed, finished, "mine")
    ended.wait(30)
    out["async"], out["async said"] = done[0], np.array(f"{done[1]} {done[2]}")
    for what, bad in (("name", {"nothing": x}), ("type", {"x": x.astype(np.float64)}),
                      ("rank", {"x": x[0]}), ("none", {})):
        try:
            session.run(None, bad)
            out["refused " + what] = np.array("no")
        except Exception:  # pylint: disable=broad-except
            out["refused " + what] = np.array("yes")
    out["providers"] = np.array("CPUExecutionProvider" in ort.get_available_providers())
    out["device"] = np.array(ort.get_device())
    out["kept"] = np.array(session.get_session_options().intra_op_num_threads)
    ort.enable_telemetry_events()
    more = [part(ort) for part in (metadata, texts, words, maps_in, defaults, free_sizes, providers, refusals)]
    return {**out, **bound(ort, session, x), **{name: value for part in more for name, value in part.items()}}


def compare(theirs, ours):
    """Counts the values that agree."""
    passed = failed = 0
    for name in theirs:
        a, b = theirs[name], ours[name] if name in ours else np.array("nothing")
        if a.dtype.kind == "f":
            good = a.shape == b.shape and np.max(np.abs(a - b)) <= 1e-4 * np.max(np.abs(a))
        elif str(a).startswith("raises "):  # theirs is among ours, which are of one family beside
            good = str(b).startswith("raises ") and str(a).split()[1] in str(b).split()
        else:
            good = np.array_equal(a, b)
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED  {name}: theirs {a}, ours {b}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        sys.exit(compare(np.load(sys.argv[2]), np.load(sys.argv[3])))
    np.savez(sys.argv[2], **calls(importlib.import_module(sys.argv[1])))
