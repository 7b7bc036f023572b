"""The package itself: it computes what `ge run` computes, its programs run, README's lines run."""
import ast
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

import graphengine
from python_checks import check, run_all

PROGRAM = pathlib.Path(sys.prefix) / "bin" / "ge"
MODELS = ["build/models/lenet.onnx", "tests/e2e/models/attention.gt", "tests/e2e/models/recurrent.gt",
          "tests/e2e/models/float_mode.gt", "tests/e2e/models/strings.gt", "tests/e2e/models/three_nodes.gt"]


def some_inputs(session):
    rng, feed = np.random.default_rng(1), {}
    for info in session.inputs():
        shape = tuple(3 if n is None else n for n in info.shape)
        if info.dtype.startswith("int"):
            feed[info.name] = np.full(shape, 2, info.dtype)
        else:
            feed[info.name] = rng.standard_normal(shape).astype(info.dtype)
    return feed


def by_program(command, model, feed, folder):
    """The outputs of `ge run`, by the names of their files."""
    folder.mkdir(parents=True)
    words = []
    for i, (name, array) in enumerate(feed.items()):
        np.save(folder / f"in{i}.npy", array)
        words += ["--input", f"{name}={folder / f'in{i}.npy'}"]
    done = subprocess.run([*command, "run", model, *words, "--output", str(folder / "out")],
                          capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr)
    return {path.stem: np.load(path) for path in (folder / "out").glob("*.npy")}


def equal_to_the_program(args):
    for model in MODELS:
        if not pathlib.Path(model).exists():
            check(f"{model} is there", False)
            continue
        session = graphengine.Session(model)
        feed = some_inputs(session)
        ours = session.run(feed)
        theirs = by_program([str(args.build / "bin/ge")], model, feed,
                            args.scratch / pathlib.Path(model).stem)
        names = {re.sub(r"[^A-Za-z0-9._-]", "_", name): name for name in ours}
        check(f"{model}: the same outputs", set(names) == set(theirs) and len(ours) > 0)
        for file, name in names.items():
            check(f"{model}: {name} is equal to the bit", file in theirs
                  and ours[name].tobytes() == theirs[file].tobytes())


def the_programs(args):
    model = "tests/e2e/models/three_nodes.gt"
    session = graphengine.Session(model)
    feed = some_inputs(session)
    y = session.run(feed)["y"]
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    os.environ.pop("LD_PRELOAD", None)
    for name, command in (("ge", [str(PROGRAM)]),
                          ("python -m graphengine", [sys.executable, "-m", "graphengine"])):
        got = by_program(command, model, feed, args.scratch / name.replace(" ", "_"))
        check(f"{name} run", np.array_equal(got.get("y"), y))
        bad = subprocess.run([*command, "run", "nowhere.onnx"], capture_output=True, text=True,
                             env=plain)
        check(f"{name} hands its exit code on", bad.returncode == 2
              and "nowhere.onnx" in bad.stderr)
    found = subprocess.run([str(PROGRAM), "plugins"], capture_output=True, text=True, env=plain)
    package = str(pathlib.Path(graphengine.__file__).parent)
    shipped = (args.build / "shipped_plugins.txt").read_text().split()
    check("plugins ship", {"grad", "native", "onednn", "openblas", "ref"} <= set(shipped))
    for plugin in shipped:
        path = pathlib.Path(package) / "lib" / "graphengine" / f"{plugin}.so"
        check(f"the package has {plugin}, and its program finds that one",
              path.exists() and str(path) in found.stdout)
    check("engines", {"native", "onednn", "openblas", "ref"} <= set(graphengine.engines())
          and "grad" not in graphengine.engines())
    maps = pathlib.Path("/proc/self/maps").read_text()
    ours = {line.split()[-1] for line in maps.splitlines()
            if re.search(r"(libgraphengine|libge_omp|lib/graphengine/)", line)}
    check("every library of ours in this process is the package's",
          ours and all(path.startswith(package) for path in ours))


def what_ships(_):
    package = pathlib.Path(graphengine.__file__).parent
    check("py.typed", (package / "py.typed").exists())
    check("the header for engines", (pathlib.Path(graphengine.get_include())
                                     / "ge/ge_plugin.h").exists())
    check("the CMake package of plugins",
          (package / "lib/cmake/GraphEngine/GraphEngineConfig.cmake").exists())
    check("the samples of docs/plugin-guide.md",
          (package / "share/graphengine/samples/minimal/minimal.c").exists())
    check("data", any((package / "share/graphengine/priors").glob("*.json")))
    stub = ast.parse((package / "_native.pyi").read_text())
    told = {n.name: {m.name for m in n.body if isinstance(m, ast.FunctionDef)}
            for n in stub.body if isinstance(n, ast.ClassDef)}
    for name in ("Session", "Run", "Runtime", "TensorInfo"):
        there = {m for m in dir(getattr(graphengine._native, name)) if not m.startswith("_")}
        check(f"stubs tell all of {name}", there and there <= told.get(name, set()))
    check("the version", graphengine.__version__ == re.search(
        r'version = "(.*)"', pathlib.Path("sdk/python/pyproject.toml").read_text()).group(1))


def lines_of_readme(args):
    model = pathlib.Path("build/models/lenet.onnx").resolve()
    for file in ("README.md", "sdk/python/README.md"):
        text = pathlib.Path(file).read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.S)
        check(f"{file} has lines for Python", blocks)
        folder = args.scratch / file.replace("/", "_")
        folder.mkdir()
        (folder / "lenet.onnx").symlink_to(model)
        for i, block in enumerate(blocks):
            check(f"block {i} of {file} is short", file != "README.md"
                  or len(block.splitlines()) == 5)
            if "sklearn" in block:  # typed by tests/e2e/install/wheel.sh, in an environment that has it
                continue
            typed = folder / f"block_{i}.py"
            typed.write_text(block)
            done = subprocess.run([sys.executable, typed], cwd=folder, capture_output=True,
                                  text=True)
            check(f"block {i} of {file}: {done.stderr[-500:]}",
                  done.returncode == 0 and done.stdout)


if __name__ == "__main__":
    run_all([equal_to_the_program, the_programs, what_ships, lines_of_readme])
