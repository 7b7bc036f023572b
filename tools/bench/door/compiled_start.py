#!/usr/bin/env python3
"""How soon does a new process have the first outputs of a model that was compiled before? Session, load and first run
of the file of `ge compile`, beside ONNX Runtime on its optimised model with saved packed weights and OpenVINO's
import_model of what it exported. All three from Python, imported before the clock; default options and threads, equal
precision; a process each, in turns; ours without a cache folder. Peers have two ways each, all of which run: ONNX
Runtime as by default or with optimisations off, OpenVINO from bytes or from a tensor over the mapped file.

Prints medians, and our time over that of the way with the least median: the median over rounds with a 95 % bootstrap
interval, and the geometric mean. It reports and does not judge. --peer-python: an interpreter that has OpenVINO.

Examples:
  tools/bench/door/compiled_start.py --rounds 31 --peer-python ~/openvino/bin/python
  tools/bench/door/compiled_start.py lenet --peers ort --json start.json
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

if "--side" not in sys.argv:  # a side has the Python that was chosen for it
    import project_venv

    project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

MODELS = ["lenet", "mlp", "squeezenet", "resnet50", "minilm"]
WAYS = {"ours": [""], "ort": ["default", "off"], "openvino": ["bytes", "tensor"]}
# Float32 sums in another order stay well below it; a wrong output does not.
MOST_ERROR = 1e-3
PREPACKED = {"optimized_model_external_initializers_file_name": "model.data",
             "optimized_model_external_initializers_min_size_in_bytes": "64",  # sizes of shapes stay inside
             "save_external_prepacked_constant_initializers": "1"}
# By default it rounds to bf16 where the processor multiplies that.
OPENVINO_IN_F32 = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}


# ---- a side, in a process of its own ----

def quiet_ort():
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort, options


def save(side, folder, feed):
    """Writes a peer's own compiled model."""
    model = (folder / "model.txt").read_text()
    if side == "ort":
        ort, options = quiet_ort()
        options.optimized_model_filepath = str(folder / "model.onnx")
        for key, value in PREPACKED.items():
            options.add_session_config_entry(f"session.{key}", value)
        ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return
    import openvino as ov
    core = ov.Core()
    read = core.read_model(model)
    read.reshape({name: list(array.shape) for name, array in feed.items()})
    compiled = core.compile_model(read, "CPU", OPENVINO_IN_F32)
    with open(folder / "model.blob", "wb") as f:
        f.write(compiled.export_model().getbuffer())


def ours(folder, feed, _):
    import ctypes

    import ge_session
    library = os.environ["GE_LIBRARY"]
    ctypes.CDLL(library)  # as an import does

    def start():
        session = ge_session.GeSession(folder / "model.gecap", library=library)
        session.run_feed(session.feed(feed))
        return session.arrays
    return start


def by_ort(folder, feed, way):
    ort, _ = quiet_ort()

    def start():
        _, options = quiet_ort()
        if way == "off":
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(str(folder / "model.onnx"), options,
                                       providers=["CPUExecutionProvider"])
        out = session.run(None, feed)
        return lambda: out
    return start


def by_openvino(folder, feed, way):
    import openvino as ov
    file = folder / "model.blob"

    def start():
        blob = file.read_bytes() if way == "bytes" else ov.Tensor(np.memmap(file, np.uint8, "r"))
        model = ov.Core().import_model(blob, "CPU", OPENVINO_IN_F32)
        result = model.create_infer_request().infer(feed, share_inputs=True, share_outputs=True)
        return lambda: [result[output] for output in model.outputs]
    return start


def be_side(side, way, folder):
    folder = pathlib.Path(folder)
    feed = dict(np.load(folder / "feed.npz"))
    if way == "save":
        return save(side, folder, feed)
    start = {"ours": ours, "ort": by_ort, "openvino": by_openvino}[side](folder, feed, way)
    begin = time.perf_counter()
    outputs = start()
    ms = (time.perf_counter() - begin) * 1e3
    np.savez(folder / "outputs.npz", *outputs())
    return print(json.dumps({"ms": ms}))


# ---- the race ----

def call(args, side, way, folder):
    """What a process of a side says, and how long it was there."""
    python = args.peer_python if side == "openvino" else sys.executable
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("GE_PROBE", "GE_PLUGIN_PATH", "OPENBLAS_CORETYPE")}
    environment |= {"GE_CACHE_DIR": "off", "GE_LIBRARY": str(args.lib)}
    begin = time.perf_counter()
    done = subprocess.run([python, __file__, "--side", side, way, str(folder)], text=True,
                          capture_output=True, env=environment, timeout=600)
    whole_ms = (time.perf_counter() - begin) * 1e3
    if done.returncode:
        sys.exit(f"compiled_start.py: {side} {way}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return {"whole_ms": whole_ms, **json.loads(done.stdout or "{}")}


def prepare(name, args, folder):
    """The feed and what each side compiled; the outputs that are wanted."""
    import reference
    model, known_in, known = reference.ensure(name, say=lambda text: print(text, file=sys.stderr))
    feed = {key: np.load(known_in / file) for key, file in known["inputs"].items()}
    folder.mkdir()
    (folder / "model.txt").write_text(str(model))
    np.savez(folder / "feed.npz", **feed)
    words = [word for key, array in feed.items()
             for word in ("--input", f"{key}={'x'.join(map(str, array.shape))}:rand")]
    subprocess.run([args.ge, "compile", model, *words, "-o", folder / "model.gecap"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "GE_CACHE_DIR": "off"})
    for peer in args.peers:
        call(args, peer, "save", folder)
    return [np.load(known_in / file) for file in known["outputs"].values()]


def race(name, args, folder):
    import compare
    import speed
    wanted = prepare(name, args, folder)
    sides = [(side, way) for side in ("ours", *args.peers) for way in WAYS[side]]
    times = {side: [] for side in sides}
    for i in range(-1, args.rounds):  # the first fills the memory of files
        for side, way in sides[i % len(sides):] + sides[:i % len(sides)]:
            found = call(args, side, way, folder)
            got = np.load(folder / "outputs.npz")
            error = max(compare.error_of(got[f"arr_{k}"], want) for k, want in enumerate(wanted))
            if error > MOST_ERROR:
                sys.exit(f"compiled_start.py: {name}: {side} {way} is {error:.1e} off")
            times[side, way] += [found] if i >= 0 else []
    ms = {side: [found["ms"] for found in all_of] for side, all_of in times.items()}
    best = min(sides[1:], key=lambda side: np.median(ms[side]))
    ratios = [a / b for a, b in zip(ms[sides[0]], ms[best])]
    return {"model": name, "best": " ".join(best), "ratio": float(np.median(ratios)),
            "interval": speed.interval(ratios),
            "sides": {" ".join(side).strip(): {
                "ms": float(np.median(ms[side])), "interval": speed.interval(ms[side]),
                "whole_ms": float(np.median([found["whole_ms"] for found in times[side]]))} for side in sides}}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS, help=f"default: {' '.join(MODELS)}")
    parser.add_argument("--peers", nargs="+", choices=["ort", "openvino"], default=["ort", "openvino"])
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--ge", type=pathlib.Path, default=pathlib.Path("build/release/bin/ge"))
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    parser.add_argument("--side", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.lib = args.ge.resolve().parents[1] / "lib" / "libgraphengine.so"
    return args


def main():
    args = parse_arguments()
    if args.side:
        return be_side(*args.side)
    rows = []
    with tempfile.TemporaryDirectory(prefix="compiled_start.") as folder:
        for name in args.models:
            row = race(name, args, pathlib.Path(folder) / name)
            rows.append(row)
            sides = "; ".join(f"{side} {s['ms']:.1f} [{s['interval'][0]:.1f}, {s['interval'][1]:.1f}]"
                              f" (process {s['whole_ms']:.0f})" for side, s in row["sides"].items())
            print(f"{name:<11} {row['ratio']:.2f} [{row['interval'][0]:.2f}, {row['interval'][1]:.2f}]"
                  f" of {row['best']}; ms: {sides}", flush=True)
    mean = float(np.exp(np.mean([np.log(row["ratio"]) for row in rows])))
    print(f"geometric mean {mean:.3f}")
    if args.json:
        args.json.write_text(json.dumps({"models": rows, "geometric_mean": mean}, indent=1))
    return None


if __name__ == "__main__":
    main()
