#!/usr/bin/env python3
"""Installs the build into a temporary folder, moves it, and uses it as a stranger does: programs,
engines and data from there, with an empty environment; a client by pkg-config and by CMake; each
scaffold of `ge plugin new` by the three commands that it prints.

Prints each fault and, last, the counts.

Example: tests/e2e/install/install.py --build build/release
"""
import argparse
import json
import pathlib
import sys
import tempfile

import numpy

import installed
from installed import ROOT, SYSTEM, run

HEADERS = ["ge.h", "ge.hpp", "ge_mock_host.hpp", "ge_plugin.h", "ge_plugin.hpp", "ge_plugin_op.h",
           "ge_plugin_pass.h"]
FILES = ["bin/ge", "lib/libgraphengine.so", "lib/libgraphengine.so.0", "lib/libge_omp.so",
         "lib/libgraphengine_image.so", *(f"include/ge/{h}" for h in HEADERS),
         *(f"lib/graphengine/{e}.so" for e in ("ascend", "data", "gpu", "grad", "native",
                                             "onednn", "openblas", "parallel", "ref")),
         *(f"lib/graphengine/{e}.geplugin.json" for e in ("ascend", "gpu")),
         "lib/cmake/GraphEngine/GraphEngineConfig.cmake",
         "lib/cmake/GraphEngine/GraphEngineConfigVersion.cmake",
         "lib/cmake/GraphEngine/ge_plugin.map", "lib/pkgconfig/graphengine.pc",
         "lib/pkgconfig/graphengine-plugin.pc", "share/graphengine/machines.json",
         "share/graphengine/priors/avx2-one.json", "share/graphengine/samples/minimal/minimal.c",
         "share/graphengine/samples/null/null.c", "share/graphengine/samples/op/op.c",
         "share/graphengine/samples/pass/square.c", "share/graphengine/samples/pass/observe.c",
         "share/graphengine/scaffold/device/cpp/device.cc",
         "share/doc/graphengine/LICENSE", "share/doc/graphengine/docs/plugin-guide.md",
         "share/doc/graphengine/docs/training.md", "share/doc/graphengine/examples/train/main.cc",
         "share/doc/graphengine/examples/ocr/page.png"]
NOT_FILES = ["bin/ge-test", "bin/ge-unit", "lib/samples", "lib/libge_core.a",
             "share/graphengine/scaffold/CMakeLists.txt",
             "share/graphengine/samples/minimal/CMakeLists.txt"]
CLIENT = """#include <ge/ge.h>
#include <stdio.h>
int main(void) {
  ge_session* session;
  ge_error error = {sizeof error};
  if (ge_session_create(NULL, &session, &error)) return puts(error.message), 1;
  ge_session_destroy(session);
  return puts(ge_version()), 0;
}
"""
CLIENT_CMAKE = """cmake_minimum_required(VERSION 3.21)
project(client LANGUAGES C)
find_package(GraphEngine 0.1 REQUIRED)
add_executable(client client.c)
target_link_libraries(client PRIVATE GraphEngine::graphengine)
"""
# A square of a weight: what `ge train` needs of a model.
SMALL_NET = """ge 1
opset "" 28
const w : f32[4,2] = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8]
fn main(x: f32[N,4]) -> (y) {
  y: f32[N,2] = MatMul(x, w) "product"
}
entry infer "main" = main
"""
WRONG_NAMES = ["", "Upper", "a-b", "a/b", "../a", "a" * 65, "test", "é"]


def check_tree(c, prefix, build):
    for file in FILES:
        c.check((prefix / file).exists(), f"{file} is installed")
    # One list: what the build makes in the folder that `ge` looks into is what ships.
    listed = {f"{name}.so" for name in (build / "shipped_plugins.txt").read_text().split()}
    made = {f.name for f in (build / "lib/graphengine").glob("*.so")}
    there = {f.name for f in (prefix / "lib/graphengine").glob("*.so")}
    c.check(listed == made == there, "the plugins of the build, of its list and of the tree",
            f"{made} {listed} {there}")
    for file in NOT_FILES:
        c.check(not (prefix / file).exists(), f"{file} is not installed")
    library = prefix / "lib/libgraphengine.so"
    c.check(library.is_symlink() and library.resolve().name.count(".") > 3,
            "libgraphengine.so is a link to a version", library.resolve())
    for binary in [prefix / "bin/ge", library, *sorted((prefix / "lib").glob("**/*.so"))]:
        _, text = run(["readelf", "-d", binary], prefix)
        if binary == library:
            c.check("[libgraphengine.so.0]" in text, "its SONAME", text)
        paths = [line.split("[")[1] for line in text.splitlines() if "PATH" in line]
        c.check(all(p.startswith("$ORIGIN") for p in paths), f"{binary.name}: run path", paths)


def check_programs(c, prefix, build, folder):
    """With nothing in the environment: engines and data of this tree, results of the build's."""
    code, text = run([prefix / "bin/ge", "plugins", "--json"], folder)
    found = json.loads(text)["plugins"] if code == 0 else []
    names = {f["name"] for f in found if f["state"] == "found"}
    wanted = {"data", "grad", "native", "onednn", "openblas", "parallel", "ref"}
    c.check(names == wanted, "plugins of the installed tree", text)
    c.check(all(f["path"].startswith(str(prefix)) for f in found), "and of no other", text)
    # Those with manifests are not opened to be listed, and bring what these say.
    code, text = run([prefix / "bin/ge", "plugins", "--json", "--open"], folder)
    opened = {f["name"]: f for f in json.loads(text)["plugins"]} if code == 0 else {}
    c.check({n for n, f in opened.items() if f["loaded"]} == wanted, "all of them open", text)
    for f in (f for f in found if f["state"] == "found" and not f["loaded"]):
        same = all(sorted(f[k]) == sorted(opened[f["name"]][k]) for k in ("passes", "ops"))
        c.check(same and f["passes"], f"the manifest of {f['name']}", [f, opened[f["name"]]])
    models = [ROOT / "build/models" / m for m in ("lenet.onnx", "squeezenet.onnx")]
    for model in [m for m in models if m.exists()] or [ROOT / "tests/e2e/models/three_nodes.gt"]:
        written = []
        for ge in (prefix / "bin/ge", build / "bin/ge"):
            to = folder / f"{model.stem}.{len(written)}"
            code, text = run([ge, "run", model, "--output", to], folder, GE_CACHE_DIR="off",
                             GE_PROBE="fixed")
            c.check(code == 0, f"{ge}: {model.name}", text)
            written.append({f.name: f.read_bytes() for f in to.glob("*.npy")})
        c.check(written[0] and written[0] == written[1], f"{model.name}: as the build's ge")


def check_training(c, prefix, folder):
    """`ge train` needs the plugin grad, which is no engine."""
    (folder / "net.gt").write_text(SMALL_NET)
    numpy.savez(folder / "data.npz", x=numpy.eye(4, dtype="f4").repeat(2, 0),
                y=numpy.tile([0, 1], 4))
    code, text = run([prefix / "bin/ge", "train", "net.gt", "--data", "data.npz", "--batch", "4",
                      "--no-test", "--export", "out.onnx"], folder)
    c.check(code == 0 and (folder / "out.onnx").exists(), "ge train", text)
    code, text = run([prefix / "bin/ge", "run", "net.gt", "--plugins", "grad", "--pass",
                      "grad:of=y;wrt=*weights", "--entry", "grad", "--input", "x=2x4:rand"], folder)
    c.check(code == 0 and "w" in text, "ge run --plugins grad", text)


def check_client(c, prefix, folder):
    (folder / "client.c").write_text(CLIENT)
    (folder / "CMakeLists.txt").write_text(CLIENT_CMAKE)
    by_hand = ("cc client.c -o client $(pkg-config --cflags --libs graphengine) "
               f"-Wl,-rpath,{prefix}/lib && ./client")
    code, text = run(by_hand, folder, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    c.check(code == 0 and text.strip() == "0.1.0", "a client by pkg-config", text)
    by_cmake = "cmake -S . -B build >log 2>&1 && cmake --build build >>log && build/client || cat log"
    code, text = run(by_cmake, folder, path=f"{prefix}/bin:{SYSTEM}")
    c.check(code == 0 and text.strip() == "0.1.0", "a client by CMake", text)


def new_plugin(prefix, folder, *words, **more):
    return run([prefix / "bin/ge", "plugin", "new", *words], folder, **more)


def check_refusals(c, prefix, folder):
    for name in WRONG_NAMES:
        code, text = new_plugin(prefix, folder, "engine", name)
        c.check(code == 2 and f"name is '{name}'" in text, f"the name '{name}' is refused", text)
    (folder / "taken").mkdir()
    code, text = new_plugin(prefix, folder, "engine", "taken")
    c.check(code == 2 and "is there already" in text, "a folder that exists is left alone", text)
    code, text = new_plugin(prefix, folder, "engine", "mine", "--dir", "nowhere")
    c.check(code == 2 and "--dir is 'nowhere', which is no folder" in text, "no such --dir", text)
    code, text = new_plugin(prefix, folder, "module", "mine")
    c.check(code == 2 and "engine" in text, "a kind that there is not", text)
    code, text = new_plugin(prefix, folder, "op", "mine", "--language", "ada")
    c.check(code == 2 and "ada not in {c,cpp}" in text, "a language that there is not", text)
    code, text = new_plugin(prefix, folder, "device", "mine", "--language", "c")
    c.check(code == 2 and "--language is 'c', but of this kind there are templates in: cpp" in text,
            "no device in C", text)
    templates = prefix / "share/graphengine/scaffold/op"
    (templates / "cpp").rename(templates / ".cpp")
    code, text = new_plugin(prefix, folder, "op", "mine", "--language", "cpp")
    c.check(code == 2 and "of this kind there are templates in: " in text, "no templates of it",
            text)
    (templates / ".cpp").rename(templates / "cpp")
    code, text = run(f"trap '' XFSZ; ulimit -f 0; {prefix}/bin/ge plugin new engine mine | cat",
                     folder)
    c.check("cannot be written" in text and "mine/" not in text.split("cannot")[1],
            "a disk that is full", text)
    c.check([f.name for f in folder.iterdir()] == ["taken"], "nothing is left behind",
            list(folder.iterdir()))


def check_scaffold(c, prefix, folder, kind, language, on_path):
    """The three commands that were printed, and what they made."""
    name = f"{language}_{kind}"
    path = f"{prefix}/bin:{SYSTEM}" if on_path else SYSTEM
    code, text = run([prefix / "bin/ge", "plugin", "new", kind, name, "--language", language],
                     folder, path=path)
    commands = [line.strip() for line in text.splitlines() if line.startswith("  ")]
    if not c.check(code == 0 and len(commands) == 4, f"ge plugin new {kind} {name}", text):
        return
    c.check((str(prefix) in text) != on_path, f"{name}: commands for this PATH", text)
    all_text = "".join(f.read_text() + f.name for f in (folder / name).iterdir())
    c.check("my_plugin" not in all_text and "my-plugin" not in all_text,
            f"{name}: its own name everywhere")
    for command in commands[1:]:
        code, text = run(f"{commands[0]}; {command}", folder, path=path)
        if not c.check(code == 0, f"{name}: {command}", text):
            return
    installed.check_plugin(c, folder / name / "build" / f"{name}.so")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    c = installed.Checks()
    with tempfile.TemporaryDirectory(prefix="ge-install.") as scratch:
        scratch = pathlib.Path(scratch).resolve()
        if not installed.install(c, build, scratch / "first"):
            return c.end()
        prefix = (scratch / "first").rename(scratch / "moved tree")
        folders = {}
        for name in ("programs", "training", "client", "refusals", "scaffolds"):
            folders[name] = scratch / name
            folders[name].mkdir()
        check_tree(c, prefix, build)
        check_programs(c, prefix, build, folders["programs"])
        check_training(c, prefix, folders["training"])
        check_client(c, prefix.rename(scratch / "moved"), folders["client"])
        prefix = scratch / "moved"
        check_refusals(c, prefix, folders["refusals"])
        for i, found in enumerate(sorted((prefix / "share/graphengine/scaffold").glob("*/*/"))):
            check_scaffold(c, prefix, folders["scaffolds"], found.parent.name, found.name,
                           on_path=i % 2 == 0)
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
