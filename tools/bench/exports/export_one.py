#!/usr/bin/env python3
"""Exports one model of exports.py, or draws the names of those that a seed picks.

ROW is a JSON object as exports_fixed.ROWS or `--draw` have them. Writes FOLDER/NAME.onnx and
FOLDER/NAME/ with the inputs as .npy and reference.json, and prints one JSON line. Runs in
build/venv-exports (tools/bench/exports/exports.py --setup makes it), a process a model.

Examples:
  export_one.py --draw 22 --count 20
  export_one.py build/exports '{"name": "dcgan_op11", "kind": "net", "model": "dcgan", ...}'
"""
import argparse
import json
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import exports_drawn  # noqa: E402
import exports_fixed  # noqa: E402


def torch_model(row):
    """(module, inputs) of a row that PyTorch's exporters write."""
    import torch
    torch.manual_seed(11)
    if row["kind"] == "drawn":
        return exports_drawn.build(row)
    if row["kind"] == "detector":
        import detectors
        return detectors.made(row["model"]), ([torch.from_numpy(detectors.image(0))],)
    if row["kind"] == "net" or row["library"] == "net":
        import exports_nets
        return exports_nets.NETS[row["model"]]()
    return exports_drawn.vision(row["library"], row["model"])


def flat(inputs):
    return [t for part in inputs for t in (part if isinstance(part, list) else [part])]


def settle(module):
    """Random weights with running statistics of 0 and 1 let magnitudes grow and vanish; a spread like
    a trained net's keeps outputs apart."""
    import torch
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_var is not None:
            torch.nn.init.uniform_(part.running_var, 0.8, 1.2)
            torch.nn.init.normal_(part.running_mean, 0, 0.05)


def write_torch(row, path):
    """Writes the file; returns the inputs by name."""
    import torch
    module, inputs = torch_model(row)
    settle(module)
    module.eval()
    size = sum(p.numel() for p in module.parameters())
    if row["kind"] == "drawn" and size > exports_drawn.MOST_PARAMETERS:
        raise ValueError(f"{size / 1e6:.0f} million parameters are too many here")
    names = [f"in{i}" for i in range(len(flat(inputs)))]
    extra = {"dynamo": row["dynamo"], "opset_version": row["opset"], "input_names": names}
    if row["dynamo"]:
        extra["external_data"] = False
    elif row["batch"]:
        extra["dynamic_axes"] = {name: {0: "N"} for name in names}
    with torch.no_grad():
        torch.onnx.export(module, inputs, str(path), **extra)
    return {name: t.numpy() for name, t in zip(names, flat(inputs))}


def write(row, path):
    if row["kind"] == "learned":
        return exports_fixed.write_learned(row, path)
    if row["kind"] != "quantized":
        return write_torch(row, path)
    source = path.with_suffix(".float")
    feeds = write_torch(row, source)
    exports_fixed.quantize(source, path, row["how"], feeds)
    source.unlink()
    return feeds


def make(row, folder):
    import numpy as np
    import onnx
    import reference
    partial = folder / f"{row['name']}.partial"
    feeds = write(row, partial)
    model = onnx.load(str(partial), load_external_data=False)
    initial = {t.name for t in model.graph.initializer}
    known = {"inputs": {}, "outputs": [o.name for o in model.graph.output], "row": row,
             "nodes": len(model.graph.node)}
    taken = [i.name for i in model.graph.input if i.name not in initial]
    inside = folder / row["name"]
    inside.mkdir(exist_ok=True)
    for name, array in feeds.items():
        if name in taken:  # an exporter drops what the outputs do not hang on
            known["inputs"][name] = "input_" + reference.file_name(name)
            np.save(inside / known["inputs"][name], array)
    (inside / "reference.json").write_text(json.dumps(known) + "\n")
    partial.rename(folder / f"{row['name']}.onnx")
    return {"name": row["name"], "nodes": known["nodes"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("row", nargs="?", type=json.loads)
    parser.add_argument("--draw", type=int, metavar="SEED")
    parser.add_argument("--count", type=int, default=20, help="of each library (default 20)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.draw is not None:
        print(json.dumps(exports_drawn.candidates(args.draw, args.count)))
        return
    if args.row is None:
        parser.error("wanted FOLDER and ROW, or --draw SEED")
    print(json.dumps(make(args.row, args.folder)))


if __name__ == "__main__":
    sys.exit(main())
