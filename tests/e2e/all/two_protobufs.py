#!/usr/bin/env python3
"""Two plugins, each with a copy of libprotobuf.a inside and a message of the same file name, package
and name but of other fields, run in one process; the host has libprotobuf-lite.so. Where symbols of
one copy were seen by another, the second one's registration would end the process ("File already
exists in database").

Debian has one version of protobuf, so the two copies are of that one: what two versions would add is
that a mix-up crashes even where the messages are alike. Needs protoc and libprotobuf-dev.
Prints each fault and, last, the counts.

Example: tests/e2e/all/two_protobufs.py --build build/release
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import installed  # noqa: E402
from installed import ROOT, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "two_protobufs"
MODEL = ROOT / "tests/e2e/three_nodes.gt"  # Add, Mul, Add
PLUGINS = {"first": ("Add", 2), "second": ("Mul", 4)}


def build_plugin(name, operator, fields, folder):
    """folder/NAME.so, with protobuf and the C++ library inside."""
    own = folder / name
    own.mkdir()
    (own / "vendor.proto").write_text((HERE / f"{name}.proto").read_text())
    words = [["protoc", f"--cpp_out={own}", f"-I{own}", "vendor.proto"],
             ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
              f"-I{own}", f"-I{ROOT / 'sdk/include'}", f'-DGE_NAME="{name}"',
              f'-DGE_OP="{operator}"', f"-DGE_FIELDS={fields}", str(HERE / "engine.cc"),
              str(own / "vendor.pb.cc"), "-o", str(folder / f"{name}.so"), "-l:libprotobuf.a",
              "-static-libstdc++", "-static-libgcc", "-pthread",
              f"-Wl,--version-script={ROOT / 'sdk/ge_plugin.map'}"]]
    for command in words:
        done = subprocess.run(command, cwd=own, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    ge = parser.parse_args().build.resolve() / "bin/ge"
    c = installed.Checks()
    with tempfile.TemporaryDirectory(prefix="ge-protobufs.") as scratch:
        folder = pathlib.Path(scratch).resolve()
        for name, (operator, fields) in PLUGINS.items():
            fault = build_plugin(name, operator, fields, folder)
            if not c.check(not fault, f"{name}.so is built", fault):
                return c.end()
            installed.check_plugin(c, folder / f"{name}.so")
            size = (folder / f"{name}.so").stat().st_size
            c.check(size > 1 << 20, f"{name}.so holds a protobuf", size)
        written = []
        both = f"{folder}/first.so,{folder}/second.so,ref"
        for engines in (both, f"{folder}/second.so,{folder}/first.so,ref", "ref"):
            to = folder / f"out{len(written)}"
            code, text = run([ge, "run", MODEL, "--engines", engines, "--output", to], folder,
                             GE_CACHE_DIR="off", GE_PROBE="fixed")
            c.check(code == 0, f"a run with {engines}", text)
            written.append([f.read_bytes() for f in sorted(to.glob("*.npy"))])
        c.check(written[0] and written[0] == written[1] == written[2], "equal to ref alone")
        code, text = run([ge, "explain", MODEL, "--engines", both, "--json"], folder,
                         GE_CACHE_DIR="off", GE_PROBE="fixed")
        took = [n["chosen"]["device"] for n in json.loads(text)["nodes"]] if code == 0 else []
        c.check(took == ["first/cpu", "second/cpu", "first/cpu"], "both take their nodes", text)
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
