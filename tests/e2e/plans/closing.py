#!/usr/bin/env python3
"""What a session takes when it ends, where it times what its plan holds.

Offers of a segment are timed alone then, with weights as cold as in a run: other memory is read in
between. That has to be memory which is there already: a process that closes a model must not need
another one's room. Twenty-four weights of 4 MiB; the process may grow by a third of them.

Prints each fault and, last, the counts.

Example: tests/e2e/plans/closing.py --build build/release
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
WIDTH, LAYERS = 1024, 24
WEIGHTS_MB = WIDTH * WIDTH * 4 * LAYERS / 2**20


def write_chain(path):
    import numpy
    import onnx
    rng = numpy.random.default_rng(7)
    nodes, weights, value = [], [], "x"
    for i in range(LAYERS):
        w = rng.standard_normal((WIDTH, WIDTH), dtype=numpy.float32) * 0.02
        weights.append(onnx.numpy_helper.from_array(w, f"w{i}"))
        nodes.append(onnx.helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"]))
        value = "y" if i == LAYERS - 1 else f"r{i}"
        nodes.append(onnx.helper.make_node("Relu", [f"m{i}"], [value]))
    ports = [[onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4, WIDTH])]
             for name in ("x", "y")]
    graph = onnx.helper.make_graph(nodes, "chain", *ports, weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)],
                                     ir_version=10), path)


def run(build, model, *args):
    """What `ge run` reports, its peak in MB when it reports, and that of the whole process."""
    env = {**os.environ, "GE_CACHE_DIR": "off"}
    env.pop("GE_PROBE", None)  # a machine that is not measured learns nothing of runs
    with subprocess.Popen([build / "bin/ge", "run", model, "--json", "--repeat", "100", *args],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as child:
        said = json.loads(child.stdout.read())
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"exit {child.returncode}")
    return said, said["peak_rss_mb"], usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--write", type=pathlib.Path, help="only write the model there")
    args = parser.parse_args()
    if args.write:
        return write_chain(args.write)
    build = args.build.resolve()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "chain.onnx"
        # By another process: a child's peak begins with that of who started it.
        subprocess.run([ROOT / "build/venv/bin/python", __file__, "--write", model], check=True)
        for engines in ("native,ref", "onednn,openblas,native,ref"):
            said, before, whole = run(build, model, "--engines", engines, "--threads", "1")
            packed = said["filled_bytes"] / 2**20
            good = packed > 0.9 * WEIGHTS_MB and whole - before < WEIGHTS_MB / 3
            passed, failed = passed + good, failed + (not good)
            print(f"{'ok    ' if good else 'FAILED'} {engines}: {packed:.0f} MB packed, {before:.0f} MB "
                  f"before the end, {whole:.0f} MB with it")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
