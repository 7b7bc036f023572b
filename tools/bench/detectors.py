#!/usr/bin/env python3
"""Writes torchvision's Faster R-CNN and Mask R-CNN (ResNet-50, FPN) as ONNX, with seeded weights.

Needs PyTorch, which is some gigabytes, in a virtual environment of its own: --setup makes it in
build/venv-detectors; without --setup the script runs itself there. Nothing is downloaded but
packages. Random weights find nothing, so the heads are scaled until some tens of boxes survive on
seeded images, each with a score of its own: the class logits by bisection, the rest to a spread
that is written below. Images are 3x320x320, and the model's own resizing leaves them so.

Examples:
  tools/bench/detectors.py --setup
  tools/bench/detectors.py build/models            # fasterrcnn.onnx and maskrcnn.onnx
  tools/bench/detectors.py build/models maskrcnn
"""
import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv-detectors"
PACKAGES = ["torch==2.4.1", "torchvision==0.19.1", "onnx==1.22.0", "numpy"]
NAMES = ["fasterrcnn", "maskrcnn"]
SIZE = 320
WANTED = (30, 60)  # boxes in the mean of the calibration images; single ones have 20 to 80
OBJECTNESS, DELTAS = 2.0, 0.2  # spread of the region proposals' logits and offsets


def image(seed):
    """A seeded image: a few coarse patterns and some noise, float32 in [0, 1]."""
    import numpy as np
    rng = np.random.default_rng(seed)
    out = 0.1 * rng.standard_normal((3, SIZE, SIZE))
    for cells in (4, 10, 32):
        coarse = rng.standard_normal((3, cells, cells))
        at = np.arange(SIZE) * cells // SIZE
        out += coarse[:, at][:, :, at]
    low, high = out.min(), out.max()
    return ((out - low) / (high - low)).astype("float32")


def spread_of(module, run):
    """The standard deviation of what a module gives while `run` runs."""
    import torch
    seen = []
    hook = module.register_forward_hook(lambda _m, _i, out: seen.append(out.detach().flatten()))
    run()
    hook.remove()
    return float(torch.cat(seen).std())


def set_spread(module, wanted, run):
    factor = wanted / spread_of(module, run)
    module.weight.data *= factor


def made(name):
    """The model, calibrated."""
    import torch
    import torchvision
    torch.manual_seed(7)
    torch.set_num_threads(2)
    build = getattr(torchvision.models.detection, f"{name}_resnet50_fpn")
    model = build(weights=None, weights_backbone=None, min_size=SIZE, max_size=SIZE,
                  rpn_post_nms_top_n_test=300).eval()
    images = [torch.from_numpy(image(seed)) for seed in range(4)]

    def run():
        with torch.no_grad():
            return model(images)
    head = model.rpn.head
    set_spread(head.cls_logits, OBJECTNESS, run)
    set_spread(head.bbox_pred, DELTAS, run)
    box = model.roi_heads.box_predictor
    set_spread(box.bbox_pred, DELTAS, run)
    set_spread(box.cls_score, 1.0, run)
    if name == "maskrcnn":
        set_spread(model.roi_heads.mask_predictor.mask_fcn_logits, 2.0, run)
    unit, low, high = box.cls_score.weight.data.clone(), 0.1, 20.0
    for _ in range(16):
        middle = (low * high) ** 0.5
        box.cls_score.weight.data = unit * middle
        counts = [len(found["scores"]) for found in run()]
        mean = sum(counts) / len(counts)
        if WANTED[0] <= mean <= WANTED[1]:
            break
        low, high = (middle, high) if mean < WANTED[0] else (low, middle)
    print(f"{name}: {counts} boxes survive on the calibration images", file=sys.stderr)
    return model


def write(name, folder):
    import torch
    model = made(name)
    path = pathlib.Path(folder) / f"{name}.onnx"
    partial = path.with_suffix(".partial")
    # The exporter by tracing: the other, since PyTorch 2.9 the default, refuses sizes of data.
    torch.onnx.export(model, ([torch.from_numpy(image(0))],), str(partial), opset_version=16,
                      dynamo=False, input_names=["image"])
    partial.rename(path)
    print(path)


def set_up():
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    subprocess.run([str(VENV / "bin" / "pip"), "install", "-q", *PACKAGES], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=str(ROOT / "build" / "models"))
    parser.add_argument("name", nargs="*", help=" ".join(NAMES))
    parser.add_argument("--setup", action="store_true", help="install PyTorch and torchvision")
    args = parser.parse_args()
    if args.setup:
        set_up()
        return
    python = VENV / "bin" / "python"
    if not python.exists():
        sys.exit("detectors.py: PyTorch is not installed; run: tools/bench/detectors.py --setup")
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [str(python), *sys.argv])
    pathlib.Path(args.folder).mkdir(parents=True, exist_ok=True)
    for name in args.name or NAMES:
        if name not in NAMES:
            parser.error(f"no detector '{name}'; there are {' '.join(NAMES)}")
        write(name, args.folder)


if __name__ == "__main__":
    main()
