#!/usr/bin/env python3
"""Two plugins, each with a protobuf of another version inside (3.19.5 and 3.21.6, the whole library,
built from the sources that two releases of grpcio-tools carry), run in one process, whose host has a
third one (Debian's libprotobuf-lite.so). Both register the same files and have the same messages:
where a symbol of one were seen by another, protobuf itself would end the process.

Fetches the sources by pip into build/protobuf. Prints each fault and, last, the counts.

Example: tests/e2e/all/plugins/two_protobufs.py --build build/release
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "install"))

import installed  # noqa: E402
from installed import ROOT, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "two_protobufs"
MODEL = ROOT / "tests/e2e/models/three_nodes.gt"  # Add, Mul, Add
SOURCES = ROOT / "build/protobuf"
# Name of the plugin: release of grpcio-tools, its digest, and the protobuf in it.
RELEASES = {
    "first": ("1.46.5", "5d73045090e568e0f0bd96659f6e62b9fd7f9d9f7149900e9b455c361b108c7e",
              "3019005"),
    "second": ("1.49.1", "84cc64e5b46bad43d5d7bd2fd772b656eba0366961187a847e908e2cb735db91",
               "3021006"),
}


def fetch(release, digest):
    """The folder of the sources; raises CalledProcessError with pip's words."""
    folder = SOURCES / f"grpcio-tools-{release}"
    if not folder.exists():
        SOURCES.mkdir(parents=True, exist_ok=True)
        wanted = SOURCES / f"{release}.txt"
        wanted.write_text(f"grpcio-tools=={release} --hash=sha256:{digest}\n")
        subprocess.run([ROOT / "build/venv/bin/python", "-m", "pip", "download", "--quiet", "--no-deps",
                        "--no-binary", ":all:", "--no-build-isolation", "--require-hashes", "-r",
                        wanted, "-d", SOURCES], capture_output=True, text=True, check=True)
        with tempfile.TemporaryDirectory(dir=SOURCES) as scratch:
            shutil.unpack_archive(SOURCES / f"{folder.name}.tar.gz", scratch)
            (pathlib.Path(scratch) / folder.name).rename(folder)
    return folder / "third_party/protobuf/src"


def build_plugins(build):
    """The folder with first.so and second.so; raises CalledProcessError."""
    sources = {name.upper(): fetch(*RELEASES[name][:2]) for name in RELEASES}
    folder = SOURCES / "built"
    ccache = shutil.which("ccache")
    commands = [["cmake", "-G", "Ninja", "-S", HERE, "-B", folder, f"-DCMAKE_PREFIX_PATH={build}",
                 *(f"-D{k}={v}" for k, v in sources.items()),
                 *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"] if ccache else [])],
                ["cmake", "--build", folder]]
    for command in commands:
        subprocess.run(command, capture_output=True, text=True, check=True)
    return folder


def check_together(c, ge, plugins, folder):
    fixed = {"GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}
    both = f"{plugins['first']},{plugins['second']}"
    code, text = run([ge, "plugins", "--engines", both, "--json"], folder)
    found = {f["name"]: f["version"] for f in json.loads(text)["plugins"]} if code == 0 else {}
    c.check(found == {name: r[2] for name, r in RELEASES.items()}, "each has its own protobuf", text)
    written = []
    for engines in (f"{both},ref", f"{plugins['second']},{plugins['first']},ref", "ref"):
        to = folder / f"out{len(written)}"
        code, text = run([ge, "run", MODEL, "--engines", engines, "--output", to], folder, **fixed)
        c.check(code == 0, f"a run with {engines}", text)
        written.append([f.read_bytes() for f in sorted(to.glob("*.npy"))])
    c.check(written[0] and written[0] == written[1] == written[2], "equal to ref alone")
    code, text = run([ge, "explain", MODEL, "--engines", f"{both},ref", "--json"], folder, **fixed)
    plan = json.loads(text[text.index("{"):]) if code == 0 else {"nodes": []}  # behind the notes
    took = [n["chosen"]["device"] for n in plan["nodes"]]
    c.check(took == ["first/cpu", "second/cpu", "first/cpu"], "both take their nodes", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    c = installed.Checks()
    try:
        folder = build_plugins(build)
    except subprocess.CalledProcessError as fault:
        c.check(False, "the plugins are built", f"{fault.cmd}\n{fault.stdout}{fault.stderr}")
        return c.end()
    plugins = {name: folder / f"{name}.so" for name in RELEASES}
    for name, plugin in plugins.items():
        installed.check_plugin(c, plugin)
        c.check(plugin.stat().st_size > 1 << 20, f"{name}.so holds a protobuf")
    with tempfile.TemporaryDirectory(prefix="ge-protobufs.") as scratch:
        check_together(c, build / "bin/ge", plugins, pathlib.Path(scratch).resolve())
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
