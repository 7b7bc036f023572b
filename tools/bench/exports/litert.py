#!/usr/bin/env python3
"""MobileNet v1 at 224 x 224, batch 1, in float32 and in 8 bits, against LiteRT.

--make writes the two models with TensorFlow's own tools in a process of its own: Keras' network with
random weights by --seed, its normalizations set by what 64 random pictures give, its last layer
scaled so that a few classes lead; LiteRT's converter for float32, and with full 8-bit quantization
calibrated on pictures of the same kind; tf2onnx makes the ONNX file of each from the LiteRT file, so
that both sides hold the same numbers.

Without it: one picture, both sides in fresh processes that take turns, default options, --threads
each. A row shows medians over rounds, the ratio ours / LiteRT's with its 95 % bootstrap interval, and
how far the class scores are apart, as a share of the greatest. Exit code 1 where that is above
--bound (a score's quantum is 1/256) or a side fails.

Examples:
  tools/bench/exports/litert.py --setup
  tools/bench/exports/litert.py --make
  tools/bench/exports/litert.py --rounds 7
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
import project_venv  # noqa: E402

ROOT = project_venv.ROOT
VENV = ROOT / "build" / "venv-litert"
FOLDER = ROOT / "build" / "litert"
HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["mobilenet_v1_f32", "mobilenet_v1_int8"]
BOUNDS = {"mobilenet_v1_f32": 1e-4, "mobilenet_v1_int8": 0.02}


def set_up():
    """A virtual environment of its own: TensorFlow wants other versions than the peers do."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", str(VENV)], check=True)
    subprocess.run([str(VENV / "bin" / "pip"), "install", "-q", "-r",
                    str(ROOT / "tools" / "setup" / "requirements-litert.txt")], check=True)


def pictures(count, seed):
    """Smooth random pictures in [-1, 1], NHWC: noise of 14 x 14 made larger."""
    import numpy as np
    rng = np.random.default_rng(seed)
    coarse = rng.uniform(-1, 1, (count, 14, 14, 3)).astype(np.float32)
    return np.kron(coarse, np.ones((1, 16, 16, 1), np.float32))


def make(seed):
    """Runs under VENV: writes NAME.tflite and NAME.onnx of both into FOLDER."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # TensorFlow looks for modules whose names ours have, too.
    sys.path[:] = [p for p in sys.path if pathlib.Path(p).resolve() not in (HERE, HERE.parent)]
    import keras
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    keras.utils.set_random_seed(seed)
    net = keras.applications.MobileNet(weights=None, input_shape=(224, 224, 3))
    for layer in net.layers:  # running statistics become those of the last batch
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
    net(pictures(64, seed), training=True)
    last = net.get_layer("conv_preds")  # sharper scores: else each is a quantum of 8 bits or two
    last.set_weights([20 * last.get_weights()[0], last.get_weights()[1]])
    FOLDER.mkdir(parents=True, exist_ok=True)
    calls = tf.function(lambda x: net(x, training=False)).get_concrete_function(
        tf.TensorSpec((1, 224, 224, 3), tf.float32))
    frozen = convert_variables_to_constants_v2(calls)
    for name in NAMES:
        converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
        if name.endswith("int8"):
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
            converter.representative_dataset = lambda: (
                [picture[None]] for picture in pictures(64, seed + 1))
        lite = FOLDER / f"{name}.tflite"
        lite.write_bytes(converter.convert())
        subprocess.run([sys.executable, "-m", "tf2onnx.convert", "--tflite", str(lite), "--output",
                        str(lite.with_suffix(".onnx")), "--opset", "17"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"{name}: {lite.stat().st_size} and {lite.with_suffix('.onnx').stat().st_size} bytes",
              flush=True)


def lite_side(name, threads, repeat, picture, save):
    """Runs under VENV: one process of LiteRT's; prints what a round needs."""
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter
    begin = time.perf_counter()
    lite = Interpreter(str(FOLDER / f"{name}.tflite"), num_threads=threads)
    lite.allocate_tensors()
    loaded = time.perf_counter() - begin
    lite.set_tensor(lite.get_input_details()[0]["index"], np.load(picture))
    times = []
    for _ in range(repeat + 3):
        begin = time.perf_counter()
        lite.invoke()
        times.append(1e3 * (time.perf_counter() - begin))
    np.save(save, lite.get_tensor(lite.get_output_details()[0]["index"]))
    print(json.dumps({"load_ms": 1e3 * loaded, "median_ms": float(np.median(times[3:]))}))


def lite_run(name, args, folder):
    done = subprocess.run([str(VENV / "bin" / "python"), __file__, "--side", name, "--threads",
                           str(args.threads), "--repeat", str(args.repeat), "--folder",
                           str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=600, check=False)
    if done.returncode:
        import ge_run
        raise ge_run.RunError(f"LiteRT: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def row(name, args, folder):
    """One model raced: medians in ms, the ratio with its interval, the error."""
    import numpy as np
    import onnx

    import ge_run
    import reference
    import speed
    model = FOLDER / f"{name}.onnx"
    graph = onnx.load(model).graph
    np.save(folder / "picture.npy", pictures(1, args.seed + 2))
    known = {"inputs": {graph.input[0].name: "picture.npy"}}
    options = ["--threads", str(args.threads), "--repeat", str(args.repeat), "--warmup", "3"]
    ours, theirs, report = [], [], {}
    for i in range(args.rounds):
        for side in (0, 1) if i % 2 == 0 else (1, 0):
            if side == 0:
                report = ge_run.run(args.ge, model, folder, known, None, options, folder / "out")
                ours.append(report["median_ms"])
            else:
                theirs.append(lite_run(name, args, folder)["median_ms"])
    got = np.load(folder / "out" / reference.file_name(graph.output[0].name))
    want = np.load(folder / "lite.npy")
    error = float(np.abs(got.astype(np.float64) - want).max() / np.abs(want).max())
    ratios = [a / b for a, b in zip(ours, theirs)]
    low, high = speed.interval(ratios)
    return {"model": name, "ours_ms": float(np.median(ours)), "litert_ms": float(np.median(theirs)),
            "ratio": float(np.median(ratios)), "low": low, "high": high, "error": error,
            "threads": args.threads, "isa": report.get("isa"), "engines": report["engines"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, help=f"default: {' '.join(NAMES)}")
    parser.add_argument("--setup", action="store_true", help="install TensorFlow and LiteRT, 1.5 GB")
    parser.add_argument("--make", action="store_true", help="write the models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bound", type=float, help=f"default: {BOUNDS}")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--ge", type=pathlib.Path,
                        default=ROOT / "build" / "release" / "bin" / "ge")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if unknown := set(args.names) - set(NAMES):
        parser.error(f"there is no model {min(unknown)!r}; wanted {' or '.join(NAMES)}")
    if args.repeat < 30 or args.rounds < 3:
        parser.error("a median needs --repeat of at least 30 and an interval --rounds of 3")
    return args


def inside_venv(args):
    return subprocess.run([str(VENV / "bin" / "python"), __file__, "--make", "--seed",
                           str(args.seed)], check=False).returncode


def main():
    args = parse_arguments()
    if args.side:
        return lite_side(args.side, args.threads, args.repeat, args.folder / "picture.npy",
                         args.folder / "lite.npy")
    if args.setup:
        return set_up()
    if args.make:
        inside = pathlib.Path(sys.prefix).resolve() == VENV.resolve()
        return make(args.seed) if inside else inside_venv(args)
    project_venv.enter("numpy", "onnx")
    import ge_run
    if missing := [n for n in args.names if not (FOLDER / f"{n}.onnx").is_file()]:
        sys.stderr.write(f"litert.py: {missing[0]} is not there; run: tools/bench/exports/litert.py --setup, "
                         "then --make\n")
        return 2
    rows, failed = [], False
    if not args.json:
        print(f"{'model':18} {'ours ms':>9} {'LiteRT':>9} {'ratio':>7}  95 % interval   error")
    for name in args.names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                r = row(name, args, pathlib.Path(folder))
            except ge_run.RunError as problem:
                print(f"{name:18} {problem}", file=sys.stderr)
                failed = True
                continue
        rows.append(r)
        failed |= not r["error"] <= (BOUNDS[name] if args.bound is None else args.bound)
        if not args.json:
            nodes = " ".join(f"{e}:{n}" for e, n in sorted(r["engines"].items()))
            print(f"{name:18} {r['ours_ms']:9.3f} {r['litert_ms']:9.3f} {r['ratio']:7.3f}  "
                  f"[{r['low']:.3f}, {r['high']:.3f}]  {r['error']:.1e}  {r['threads']} thread(s), "
                  f"{r['isa']}, {nodes}", flush=True)
    if args.json:
        print(json.dumps({"models": rows}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
