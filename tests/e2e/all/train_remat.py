#!/usr/bin/env python3
"""The pass `train` with remat=bytes:400M on ResNet-50, eight images, in float32: after three steps
every weight and every statistic has the same bits as without it where placement is pinned, engines and
layouts, and the plan takes less memory. Convolutions and their gradients are pinned to where most of
them are in the plan that nobody pinned, so that what is pinned is what a user's plan nearly is."""
import argparse
import collections
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
import train_large  # noqa: E402
from ge_session import GeSession  # noqa: E402

SUMS = ("Conv", "ConvGradInput", "ConvGradWeight", "Gemm", "ChannelMoments",
        "BatchNormalizationGrad")
STEPS = 3


def session(model, remat, threads, pins=""):
    options = f"train:loss=softmax-ce;optimizer={train_large.OPTIMIZERS['resnet50']};remat={remat}"
    return GeSession(model, plugins="grad", entry="train_step", threads=threads, passes=options,
                     pins=pins)


def pins_of(explained):
    """What adds up, each operator where most of its nodes are."""
    places = collections.defaultdict(collections.Counter)
    for node in explained["nodes"]:
        if node["op"] in SUMS and node["chosen"]:
            engine = node["chosen"]["device"].split("/")[0]
            # Sums of a normalisation are in one order whatever the layout is.
            layout = "@" + node["layout"] if "Conv" in node["op"] else ""
            places[node["op"]][engine + layout] += 1
    return ";".join(f"{op}={most.most_common(1)[0][0]}" for op, most in sorted(places.items()))


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
