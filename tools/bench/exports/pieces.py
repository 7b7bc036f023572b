#!/usr/bin/env python3
"""What a fresh image costs a detector, whose sizes the data decide, and which plans it takes.

torchvision's detectors (detectors.py writes them) run 20 seeded images that the session has not seen;
each image is run once more at once, which finds every plan made. ONNX Runtime runs the same images in
a process of its own. Default options and threads, our cache empty.

An image's row: boxes, ms of the first and of the repeated run, their ratio, ONNX Runtime's ms, and
the plans that the first run made: by a search, by a cover of the class that engines were asked
about, shaped like another; cuts, structures of control flow.
Below: plans after the fifth image, the median and the interval of fresh / repeated of images 6 to 20, and
how our boxes match ONNX Runtime's (same class, overlap over 0.9, score within 1e-3).

Examples:
  tools/bench/exports/pieces.py
  tools/bench/exports/pieces.py fasterrcnn --images 10
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import detectors  # noqa: E402
import models  # noqa: E402
import peer_bench  # noqa: E402
import speed  # noqa: E402

COUNTS = ["plans_searched", "plans_by_class", "plans_shaped", "flow_cuts", "flow_programs"]
SETTLED = 5  # images after which nothing is to be planned


def ours(path, library):
    import ge_session
    session = ge_session.GeSession(path, library or ge_session.LIBRARY)

    def call(image):
        feed = session.feed({session.inputs[0]: image})
        return lambda: session.run_feed(feed), lambda: session.run({session.inputs[0]: image})
    return call, session.report


def onnx_runtime(path, _library):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name

    def call(image):
        run = lambda: session.run(None, {name: image})  # noqa: E731
        return run, run
    return call, lambda: {}


def side(path, which, images, save, library):
    call, report = {"ours": ours, "ort": onnx_runtime}[which](path, library)
    rows, outputs, before = [], {}, {}
    seeds = json.loads(detectors.images_file(path).read_text())[:images]
    for i, seed in enumerate(seeds):
        run, answer = call(detectors.image(seed))
        first = peer_bench.milliseconds(run)[1]
        now = report()
        again = min(peer_bench.milliseconds(run)[1] for _ in range(2))
        made = {k: now.get(k, 0) - before.get(k, 0) for k in COUNTS}
        rows.append({"first": first, "again": again, "made": made})
        before = now
        for k, array in enumerate(answer()[:3]):
            outputs[f"{i}:{k}"] = np.asarray(array)
    np.savez(save, **outputs)
    print(json.dumps(rows))


def start_side(path, which, args, save):
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, GE_CACHE_DIR=cache)
        env.pop("OPENBLAS_CORETYPE", None)
        command = [sys.executable, __file__, "--side", which, "--model", str(path), "--images",
                   str(args.images), "--save", save, "--library", args.library]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"pieces.py: {which} failed on {path}")
    return json.loads(done.stdout.splitlines()[-1])


def overlap(a, boxes):
    """Share of the union that both cover; boxes without an area are the same at the same corners."""
    low, high = np.maximum(a[:2], boxes[:, :2]), np.minimum(a[2:], boxes[:, 2:])
    both = np.clip(high - low, 0, None).prod(axis=1)
    union = (a[2:] - a[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - both
    same = (np.abs(boxes - a).max(axis=1) < 0.01).astype(float)
    return np.where(union > 0, both / np.where(union > 0, union, 1), same)


def parts(saved, i):
    """Boxes, classes and scores of image i, whatever their order."""
    arrays = [saved[f"{i}:{k}"] for k in range(3)]
    boxes = next(a for a in arrays if a.ndim == 2)
    labels = next(a for a in arrays if a.dtype == np.int64)
    scores = next(a for a in arrays if a.ndim == 1 and a.dtype != np.int64)
    return boxes, labels, scores


def matched(a, b):
    """How many of the boxes of `a` have one in `b`."""
    count = 0
    for box, label, score in zip(*a):
        same = (b[1] == label) & (np.abs(b[2] - score) < 1e-3)
        count += bool(same.any() and (overlap(box, b[0][same]) > 0.9).any())
    return count


def compare(images, one, two):
    """Boxes in all of `one`, of `two`, and how many of `two` are in `one`."""
    found = []
    with np.load(one) as a, np.load(two) as b:
        for i in range(images):
            x, y = parts(a, i), parts(b, i)
            found.append((len(x[0]), len(y[0]), matched(y, x)))
    return found


def show(name, mine, peer, found):
    print(f"{name}: image, boxes, fresh ms, again ms, ratio, ONNX Runtime ms; searched, by class, "
          "shaped, cuts")
    for i, (a, b, f) in enumerate(zip(mine, peer, found)):
        print(f"  {i + 1:>3} {f[0]:>4} {a['first']:9.1f} {a['again']:9.1f} {a['first'] / a['again']:6.2f}"
              f" {b['again']:9.1f}  " + " ".join(f"{a['made'][k]:>4}" for k in COUNTS))
    late = mine[SETTLED:]
    if late:
        ratios = [a["first"] / a["again"] for a in late]
        low, high = speed.interval(ratios)
        made = {k: sum(a["made"][k] for a in late) for k in COUNTS}
        print(f"  after image {SETTLED}: {made['plans_searched']} searched, {made['plans_by_class']} by class, "
              f"{made['plans_shaped']} shaped, {made['flow_cuts']} cuts; fresh / again "
              f"{np.median(ratios):.2f} [{low:.2f}, {high:.2f}]")
        print(f"  fresh, ours / ONNX Runtime: "
              f"{np.median([a['first'] / b['first'] for a, b in zip(late, peer[SETTLED:])]):.2f}")
    total = [sum(f[k] for f in found) for k in range(3)]
    print(f"  boxes: {total[0]} ours, {total[1]} of ONNX Runtime, {total[2]} of these match", flush=True)


def ensure(name):
    path = models.DEFAULT_DIR / f"{name}.onnx"
    if not (path.is_file() and detectors.images_file(path).is_file()):
        script = pathlib.Path(detectors.__file__)
        if subprocess.run([sys.executable, str(script), str(models.DEFAULT_DIR), name]).returncode:
            sys.exit(2)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help=f"of {' '.join(detectors.NAMES)}; default: all")
    parser.add_argument("--images", type=int, default=detectors.IMAGES, metavar="N",
                        help=f"at most {detectors.IMAGES}, the default")
    parser.add_argument("--library", default="", metavar="FILE",
                        help="libgraphengine.so of another build")
    parser.add_argument("--side", choices=["ours", "ort"], help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--save", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        side(args.model, args.side, args.images, args.save, args.library)
        return
    for name in args.name or detectors.NAMES:
        path = ensure(name)
        with tempfile.TemporaryDirectory() as folder:
            saves = {which: f"{folder}/{which}.npz" for which in ("ours", "ort")}
            both = {which: start_side(path, which, args, saves[which]) for which in saves}
            show(name, both["ours"], both["ort"], compare(args.images, saves["ours"], saves["ort"]))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
