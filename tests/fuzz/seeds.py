#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: small files of the tests, in each format.

  tests/fuzz/seeds.py FOLDER [--ge PATH]

FOLDER/onnx and so on get one file a seed. The graphs are those of tests/text and tests/e2e/models; `ge`
writes them as ONNX, as our own form and as plans. Pictures are those of ONNX's node tests. What
earlier runs found (keep_corpus.sh) is unpacked beside them. Prints how many there are of each.
"""
import argparse
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "bench"), str(ROOT / "tools" / "bench" / "plans"),
                str(ROOT / "tests/e2e/data")]

import project_venv  # noqa: E402

project_venv.enter("onnx")

import onnx  # noqa: E402
import data_run  # noqa: E402
import price_rows  # noqa: E402
import sources_mutated  # noqa: E402

MOST_BYTES = 8192  # of a seed: small ones are mutated faster
OLD_OPSETS = (1, 6, 7, 8, 9, 10, 11, 12, 13, 17, 18, 19, 20, 21)
PRICES = ('{"format": 2, "cpu": "fuzz", "isa": 1, "threads": 1, "engines": [{"plugin": "hash", '
          '"device": "cpu", "rows": {"MatMul|10": ["MatMul", 10.5, 20000, 100.5, 90.5, 3, 50.5, '
          '40.5, 2, 1]}}]}')
ROW = {"plugin": "hash", "device": "cpu", "signature": "MatMul(f32)", "shape": "10", "family": "MatMul", "size": 10.5,
       "asked_ns": 100.5, "alone": [90.5, 3], "asked_inside_ns": 50.5, "inside": [40.5, 2], "day": 20000, "doubts": 1}
MACHINE = ('{"probe": 1, "cpu": "fuzz", "isa_mask": 3, "isa": 1, "threads": 1, "flops_per_ns": [0, 20.5, '
           '0, 0], "copy": [[0, 0, 0], [60.5, 30.5, 9.5], [0, 0, 0], [0, 0, 0]], "thread_gain": [1, 1], '
           '"call_ns": 2.5, "fork_ns": 0, "cache_bytes": [1048576, 16777216], "doubtful": false')


def graphs():
    """The graphs of all text cases, and whole files that are one."""
    for path in sorted((ROOT / "tests/e2e/models").glob("*.gt")):
        yield path.read_text()
    for path in sorted((ROOT / "tests/text").rglob("*.gt")):
        for part in path.read_text().split("\n--- "):
            head, _, text = part.partition("\n")
            if head.strip() == "graph":
                yield text + "\n"


def dumped(ge, text, arguments):
    """What `ge dump` makes of a graph; nothing where it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        model, out = pathlib.Path(folder, "m.gt"), pathlib.Path(folder, "out")
        model.write_text(text)
        command = [ge, "dump", str(model), "--engines", "ref", *arguments, "-o", str(out)]
        subprocess.run(command, capture_output=True, timeout=60)
        return out.read_bytes() if out.exists() else b""


def pictures():
    """The encoded bytes of the tests of ImageDecoder: a TensorProto of uint8s, raw."""
    for path in sorted((ROOT / "build/node-tests/node").glob("*image_decoder*/*/input_0.pb")):
        yield onnx.TensorProto.FromString(path.read_bytes()).raw_data


def aged(models):
    """Models that say they are of old opsets, for the adapters; what no longer fits is refused."""
    for i, data in enumerate(models):
        model = onnx.ModelProto.FromString(data)
        for opset in model.opset_import:
            if opset.domain == "":
                opset.version = OLD_OPSETS[i % len(OLD_OPSETS)]
        yield model.SerializeToString()


def found(name):
    """The inputs that earlier runs of a target added."""
    path = ROOT / "tests/fuzz/corpus" / f"{name}.tar.xz"
    if path.exists():
        with tarfile.open(path) as archive:
            yield from (archive.extractfile(member).read() for member in archive.getmembers())


def framings(models):
    yield from models
    yield b"\x3a\x00"  # an empty graph
    yield b"\x3a\x06\x2a\x04\x4a\x02ab"  # with an initializer of two bytes


def capsule(graph):
    """Of one graph, as ge/capsule writes it."""
    manifest = {"format": "graphengine capsule", "version": 1, "entry": "",
                "graphs": [{"stage": "load", "member": "graph/00-load.gepb"}]}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("graph/00-load.gepb", graph)
        z.writestr("manifest.json", json.dumps(manifest))
    return file.getvalue()


def data_files():
    """{target: files} of the kinds of data, each with the good file of tests/e2e/data."""
    run = data_run.DataRun()
    out = {f"data/{name}": [data] for name, data in sources_mutated.samples(run).items()}
    shutil.rmtree(run.here)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ge", default=str(ROOT / "build/release/bin/ge"))
    args = parser.parse_args()
    texts = [text for text in graphs() if len(text) <= MOST_BYTES]
    proto = [dumped(args.ge, t, ["--to", "load", "--format", "proto"]) for t in texts]
    nodes = sorted((ROOT / "build/node-tests/node").glob("*/model.onnx"))
    models = [path.read_bytes() for path in nodes[::4]]
    seeds = {
        "gt": [t.encode() for t in texts],
        "gepb": proto,
        "capsule": [capsule(graph) for graph in proto[::4] if graph],
        "onnx": models + list(aged([path.read_bytes() for path in nodes[1::2]])),
        "plan": [dumped(args.ge, t, ["--to", "memory"]) for t in texts[::4]],
        "price_cache": [*(text.encode() for text in (
            PRICES, MACHINE + "}", "[" + MACHINE + ', "vendor": "fuzz"}]')), 2 * price_rows.record(ROW)],
        "weight_scanner": list(framings(models[::10] + proto[::10])),
        "images": list(pictures()),
        **data_files(),
    }
    for name, files in seeds.items():
        folder = args.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        kept = [data for data in files if 0 < len(data) <= (1 << 20 if name.startswith(("images", "data")) else MOST_BYTES)]
        for i, data in enumerate(kept):
            (folder / f"seed_{i:04}").write_bytes(data)
        earlier = list(found(name))
        for i, data in enumerate(earlier):
            (folder / f"kept_{i:04}").write_bytes(data)
        print(f"{name}: {len(kept)} seeds, {len(earlier)} found earlier")
        if not kept:
            sys.exit(f"there are no seeds for {name}; are build/node-tests and build/release there?")


if __name__ == "__main__":
    main()
