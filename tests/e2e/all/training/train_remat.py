#!/usr/bin/env python3
"""The pass `train` with remat=bytes:400M on ResNet-50, eight images, in float32: after three steps
every weight and every statistic has the same bits as without it where placement is pinned, engines and
layouts, and the plan takes less memory. Operators are pinned to where most of their nodes are in the
plan that nobody pinned, so that what is pinned is what a user's plan nearly is."""
import argparse
import collections
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tools/bench"), str(ROOT / "tools/bench/training")]
import train_large  # noqa: E402
from ge_session import GeSession  # noqa: E402

# What rounds nothing has the same bits anywhere; transposes may be gone with the parts they were in.
EXACT = {"ArgMax", "Cast", "Equal", "Expand", "Flatten", "MaxPool", "ReduceMax", "Relu", "ReluGrad",
         "Reshape", "Transpose", "Unsqueeze", "Where"}
STEPS = 3


def session(model, remat, threads, pins=""):
    options = f"train:loss=softmax-ce;optimizer={train_large.OPTIMIZERS['resnet50']};remat={remat}"
    return GeSession(model, plugins="grad", entry="train_step", threads=threads, passes=options,
                     pins=pins)


def pins_of(explained):
    """Each operator to the engine that most of its nodes are on, of those that take all of them;
    convolutions and their gradients to the layout of most of these, too, since it decides the order
    of their sums. Elsewhere it does not, but the engine does: native's chains round once where ref
    rounds twice."""
    nodes = collections.defaultdict(list)
    for node in explained["nodes"]:
        if node["chosen"] and node["op"] not in EXACT:
            nodes[node["op"]].append(node)
    pins = []
    for op, all_of_it in sorted(nodes.items()):
        take = set.intersection(*({b["device"].split("/")[0] for b in n["bids"] if not b["pattern"]}
                                  for n in all_of_it))
        engines = collections.Counter(n["chosen"]["device"].split("/")[0] for n in all_of_it)
        engine = max(take, key=lambda e: engines[e])
        layouts = collections.Counter(n["layout"] for n in all_of_it
                                      if n["chosen"]["device"].startswith(engine))
        layout = f"@{layouts.most_common(1)[0][0]}" if op.startswith("Conv") else ""
        pins.append(f"{op}={engine}{layout}")
    return ";".join(pins)


def trained(model, remat, threads, pins):
    import onnx
    x, y = train_large.data(argparse.Namespace(net="resnet50", batch=8))
    s = session(model, remat, threads, pins)
    losses = [dict(zip(s.outputs, s.run({"x": x, "label": y})))["loss"].tobytes().hex()
              for _ in range(STEPS)]
    weights = [i.name for i in onnx.load(model, load_external_data=False).graph.initializer]
    states = {name: s.state(name) for name in weights}
    report = s.report()
    s.close()
    print(f"remat={remat}: losses {' '.join(losses)}, arena {report['arena_bytes'] / 1e6:.0f} MB",
          flush=True)
    return states, losses, report["arena_bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--remat", default="bytes:400M")
    parser.add_argument("--threads", type=int, default=2)
    a = parser.parse_args()
    passed = failed = 0

    def check(name, good, detail):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED  {name}: {detail}")
    with tempfile.TemporaryDirectory() as scratch:
        model = pathlib.Path(scratch) / "resnet50.onnx"
        train_large.export(argparse.Namespace(net="resnet50", layers=0, batch=8), model)
        x, y = train_large.data(argparse.Namespace(net="resnet50", batch=8))
        free = session(model, "none", a.threads)
        free.run({"x": x, "label": y})
        pins = pins_of(free.explain())
        free.close()
        print(f"pins {pins}")
        kept, losses, most = trained(model, "none", a.threads, pins)
        again, same, least = trained(model, a.remat, a.threads, pins)
        for name in kept:
            check(f"{name}: the same bits", np.array_equal(kept[name], again[name]),
                  np.abs(kept[name] - again[name]).max())
        check("the same losses", losses == same, (losses, same))
        check("less memory", least < .9 * most, (least, most))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
