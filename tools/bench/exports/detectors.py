#!/usr/bin/env python3
"""Writes torchvision's detectors as ONNX, with seeded weights: Faster, Mask and Keypoint R-CNN, RetinaNet
and FCOS (ResNet-50, FPN), SSDlite (MobileNetV3).

Needs PyTorch, which is some gigabytes, in a virtual environment of its own: --setup makes it in
build/venv-detectors; without --setup the script runs itself there. Nothing is downloaded but
packages. Random weights find nothing, so the heads are scaled until some tens of boxes survive on
seeded images, each with a score of its own: the class logits by bisection (where there are few classes
or a sigmoid each, their bias against the background), the rest to a spread that is written below.
Images are 3x320x320, and the model's own resizing leaves them so. Beside NAME.onnx,
NAME.images.json has the seeds of 20 images, none of those, on which 20 to 80 boxes survive.

Examples:
  tools/bench/exports/detectors.py --setup
  tools/bench/exports/detectors.py build/models            # all six: fasterrcnn.onnx ...
  tools/bench/exports/detectors.py build/models maskrcnn
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
VENV = ROOT / "build" / "venv-detectors"
PACKAGES = ["torch==2.4.1", "torchvision==0.19.1", "onnx==1.22.0", "numpy"]
TWO_STAGES = ["fasterrcnn", "maskrcnn", "keypointrcnn"]
NAMES = [*TWO_STAGES, "retinanet", "fcos", "ssdlite"]
SIZE = 320
WANTED = (30, 60)  # boxes in the mean of the calibration images
IMAGES, EACH, FIRST_SEED, LAST_SEED = 20, (20, 80), 100, 1000  # how many, boxes of each, seeds to try
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


def spread_of(module, run, each):
    """The standard deviation of what a module gives while `run` runs; with `each`, about each channel's
    mean, so that what is alike at all places counts for nothing."""
    import torch
    seen = []

    def keep(_module, _inputs, out):
        out = out.detach()
        seen.append((out - out.mean((0, 2, 3), keepdim=True) if each else out).flatten())
    hook = module.register_forward_hook(keep)
    run()
    hook.remove()
    return float(torch.cat(seen).std())


def set_spread(module, wanted, run, each=False):
    factor = wanted / spread_of(module, run, each)
    module.weight.data *= factor


def bisected(run, set_to, low, high, middle_of):
    """Calls set_to() until WANTED boxes survive, more of them with a greater value; the last counts."""
    for _ in range(16):
        middle = middle_of(low, high)
        set_to(middle)
        counts = [len(found["scores"]) for found in run()]
        mean = sum(counts) / len(counts)
        if WANTED[0] <= mean <= WANTED[1]:
            break
        low, high = (middle, high) if mean < WANTED[0] else (low, middle)
    return counts


def shifted(run, set_to):
    """bisected() for a bias of logits."""
    return bisected(run, set_to, -20.0, 10.0, lambda low, high: (low + high) / 2)


def two_stages(name, run, model):
    """Scales the heads of an R-CNN; returns how many boxes survive on each image."""
    head, box = model.rpn.head, model.roi_heads.box_predictor
    set_spread(head.cls_logits, OBJECTNESS, run)
    set_spread(head.bbox_pred, DELTAS, run)
    set_spread(box.bbox_pred, DELTAS, run)
    if name == "keypointrcnn":  # one class: half of its logits are above the background's
        set_spread(box.cls_score, OBJECTNESS, run)
        set_spread(model.roi_heads.keypoint_predictor.kps_score_lowres, OBJECTNESS, run)

        def set_to(value):
            box.cls_score.bias.data[0] = -value
        return shifted(run, set_to)
    set_spread(box.cls_score, 1.0, run)
    if name == "maskrcnn":
        set_spread(model.roi_heads.mask_predictor.mask_fcn_logits, 2.0, run)
    unit = box.cls_score.weight.data.clone()

    def scale_to(value):
        box.cls_score.weight.data = unit * value
    return bisected(run, scale_to, 0.1, 20.0, lambda low, high: (low * high) ** 0.5)


def one_stage(name, run, model):
    """Scales the heads of a detector without proposals; returns how many boxes survive on each image."""
    scores, boxes = model.head.classification_head, model.head.regression_head
    if name == "ssdlite":  # a pair of heads for each of six maps; the first class is the background
        logits = [part[-1] for part in scores.module_list]
        for head, wanted in [*((part, OBJECTNESS) for part in logits),
                             *((part[-1], DELTAS) for part in boxes.module_list)]:
            set_spread(head, wanted, run, each=True)

        def set_to(value):
            for part in logits:
                part.bias.data.view(-1, scores.num_columns)[:, 0] = -value
        return shifted(run, set_to)
    set_spread(scores.cls_logits, OBJECTNESS, run, each=True)
    if name == "fcos":  # distances to the sides in strides, 0 where negative
        set_spread(boxes.bbox_reg, 1.0, run, each=True)
        boxes.bbox_reg.bias.data[:] = 3.0
        set_spread(boxes.bbox_ctrness, 1.0, run, each=True)
    else:
        set_spread(boxes.bbox_reg, DELTAS, run, each=True)

    def set_bias(value):
        scores.cls_logits.bias.data[:] = value
    return shifted(run, set_bias)


def settle_norms(model, run):
    """Gives each BatchNormalization the statistics of the calibration images: those of fresh weights let
    what a place differs by vanish on the way."""
    import torch
    norms = [part for part in model.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    for part in norms:
        part.train()
        part.momentum = None  # the mean over images
    run()
    for part in norms:
        part.eval()


def made(name):
    """The model, calibrated."""
    import torch
    import torchvision
    torch.manual_seed(7)
    torch.set_num_threads(2)
    nets = torchvision.models.detection
    if name == "ssdlite":
        build, options = nets.ssdlite320_mobilenet_v3_large, {}  # takes images of 320 alone
    else:
        build = getattr(nets, f"{name}_resnet50_fpn")
        options = {"min_size": SIZE, "max_size": SIZE}
    if name in TWO_STAGES:
        options["rpn_post_nms_top_n_test"] = 300
    model = build(weights=None, weights_backbone=None, **options).eval()
    images = [torch.from_numpy(image(seed)) for seed in range(4)]

    def run():
        with torch.no_grad():
            return model(images)
    if name not in ("fasterrcnn", "maskrcnn"):
        settle_norms(model, run)
    counts = (two_stages if name in TWO_STAGES else one_stage)(name, run, model)
    print(f"{name}: {counts} boxes survive on the calibration images", file=sys.stderr)
    return model


def seeds_of(model):
    """Seeds of IMAGES images on which as many boxes survive as EACH says."""
    import torch
    seeds = []
    for seed in range(FIRST_SEED, LAST_SEED):
        with torch.no_grad():
            found = len(model([torch.from_numpy(image(seed))])[0]["scores"])
        if EACH[0] <= found <= EACH[1]:
            seeds.append(seed)
        if len(seeds) == IMAGES:
            return seeds
    sys.exit(f"detectors.py: only {len(seeds)} images have {EACH[0]} to {EACH[1]} boxes")


def images_file(path):
    return pathlib.Path(path).with_suffix(".images.json")


def write(name, folder):
    import torch
    model = made(name)
    path = pathlib.Path(folder) / f"{name}.onnx"
    partial = path.with_suffix(".partial")
    images_file(path).write_text(json.dumps(seeds_of(model)) + "\n")
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
        sys.exit("detectors.py: PyTorch is not installed; run: tools/bench/exports/detectors.py --setup")
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [str(python), *sys.argv])
    pathlib.Path(args.folder).mkdir(parents=True, exist_ok=True)
    for name in args.name or NAMES:
        if name not in NAMES:
            parser.error(f"no detector '{name}'; there are {' '.join(NAMES)}")
        write(name, args.folder)


if __name__ == "__main__":
    main()
