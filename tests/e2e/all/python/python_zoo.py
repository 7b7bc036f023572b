"""One network by the Python package against `ge run`: python_zoo.sh."""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

import feeds
import graphengine
from python_checks import Noted, OnlyDlpack, check, run_all

MODEL = sys.argv.pop(1)


def by_program(args, path, feed):
    """The outputs of `ge run`, by the names of their files."""
    folder, words = args.scratch / MODEL, []
    folder.mkdir()
    for i, (name, array) in enumerate(feed.items()):
        np.save(folder / f"in{i}.npy", array)
        words += ["--input", f"{name}={folder / f'in{i}.npy'}"]
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    subprocess.run([str(args.build / "bin/ge"), "run", path, *words, "--output",
                    str(folder / "out")], check=True, stdout=subprocess.DEVNULL, env=plain)
    return {p.stem: np.load(p) for p in (folder / "out").glob("*.npy")}


def one_network(args):
    path = pathlib.Path("build/models") / f"{MODEL}.onnx"
    feed = feeds.make(MODEL)
    theirs, noted = by_program(args, path, feed), Noted()
    session = graphengine.Session(path)
    names = [info.name for info in session.inputs()]

    def judge(what, outputs):
        for name, array in outputs.items():
            array = np.from_dlpack(array) if not isinstance(array, np.ndarray) else array
            file = re.sub(r"[^A-Za-z0-9._-]", "_", name)
            check(f"{what}: {name} is equal to the bit",
                  file in theirs and array.tobytes() == theirs[file].tobytes())
        for i, name in enumerate(names):
            check(f"{what}: {name} is not copied", noted.input(i) == feed[name].ctypes.data)

    def lie(what, outputs):
        for i, array in enumerate(outputs.values()):
            array = np.from_dlpack(array) if not isinstance(array, np.ndarray) else array
            check(f"{what}: output {i} is not copied", noted.output(i) == array.ctypes.data)
    outputs = session.run(feed)
    lie("numpy", outputs)
    judge("numpy", outputs)
    taken = session.run({n: OnlyDlpack(a) for n, a in feed.items()}, outputs="dlpack")
    lie("DLPack", taken)
    judge("DLPack", taken)
    mine = {name: np.zeros_like(array) for name, array in outputs.items()}
    written = session.run(feed, mine)
    lie("out", mine)
    judge("out", written)
    judge("async", session.run_async(feed).result())


if __name__ == "__main__":
    run_all([one_network])
