"""Runs README's first program (its file is the argument) and looks into the process that did: which
engines bid for its nodes, whether its libraries are the wheel's, how many threads computed. Lines `ok` or
`FAILED` and a name. Run by repaired_wheel.py in the environment that has the wheel.
"""
import os
import pathlib
import re
import runpy
import sys

import numpy

import graphengine as ge

FOUR = {"native", "onednn", "openblas", "ref"}
PRODUCT = b"""ge 1
opset "" 28
fn main(x: f32[384,384], y: f32[384,384]) -> (z) {
  z: f32[384,384] = MatMul(x, y) "product"
}
entry infer "main" = main
"""


def check(good, name, found=""):
    print(f"{'ok' if good else 'FAILED':<6} {name}{'' if good else f': {found}'}")


def tasks():
    return set(os.listdir("/proc/self/task"))


def one_pool():
    """Two threads for all engines: the caller and one more, whoever computes."""
    before = tasks()
    runtime = ge.Runtime(threads=2)
    x, y = numpy.random.default_rng(1).standard_normal((2, 384, 384)).astype("float32")
    for engine in sorted(FOUR):
        session = ge.Session(PRODUCT, engines=engine if engine == "ref" else f"{engine},ref", runtime=runtime)
        for _ in range(3):
            z = session.run({"x": x, "y": y})["z"]
        check(session.report()["engines"] == {engine: 1}, f"{engine} computes a product", session.report())
        check(numpy.abs(z - x @ y).max() < 1e-3, f"{engine} computes it right")
    check(len(tasks() - before) == 1, "one thread more for the four engines", tasks() - before)


def who_bids(program):
    names = runpy.run_path(program)
    predict = ge.jit(lambda x: names["net"](x))
    predict(names["x_test"])
    nodes = predict.explain()["nodes"]
    bids = {b["device"].split("/")[0] for n in nodes for b in n["bids"]}
    check(FOUR <= bids, f"of {len(nodes)} nodes bids of {' '.join(sorted(bids))}")


def whose_libraries():
    """Those of glibc, of the C++ library and of Python's own modules may be the machine's."""
    package = str(pathlib.Path(ge.__file__).parent)
    maps = pathlib.Path("/proc/self/maps").read_text()
    files = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
    ours = {f for f in files if f.startswith(package)}
    theirs = {f for f in files if re.search(r"lib(protobuf|dnnl|openblas|gfortran|fmt|re2|md|OpenCL)[-.]", f)
              and not re.search(r"(numpy|scipy)\.libs/", f)} - ours
    check(any(f.endswith("lib/graphengine/libopenblas.so.0") for f in ours), "OpenBLAS is the wheel's", ours)
    check(not theirs, "so are the other libraries", theirs)


one_pool()
who_bids(sys.argv[1])
whose_libraries()
