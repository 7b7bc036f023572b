#!/usr/bin/env python3
"""Makes the wheels of tools/wheel and uses them as a stranger does: an environment of Python that has
nothing but the wheel and scikit-learn, on a machine without the libraries that the engine was linked
with (in a mount namespace they are empty files). The first section of sdk/python/README.md is typed
there; then hidden_libraries.py looks at who bids, and at the threads.

Prints each fault and, last, the counts. Without PyPI, or without a Python for a wheel, it skips.

Example: tests/e2e/install/repaired_wheel.py --build build/release
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

from installed import ROOT, Checks, run

TOOL = ROOT / "tools/wheel/wheel.py"
README = ROOT / "sdk/python/README.md"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
MOST_BYTES, MOST_LINES, LEAST_ACCURACY = 40_000_000, 35, 0.97
NAMES = {"cp311": "graphengine-0.1.0-cp311-cp311-manylinux_2_35_x86_64.whl",
         "abi3": "graphengine-0.1.0-cp312-abi3-manylinux_2_35_x86_64.whl"}
# An OpenBLAS of Debian's and what it stands on: none of them is in a wheel.
OTHERS = ["openblas-openmp/libopenblas.so.0", "libopenblas.so.0", "libgfortran.so.5", "libquadmath.so.0"]
NO_PYPI = 3


def tool(*words):
    done = subprocess.run([sys.executable, TOOL, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def check_refusals(c, build, folder):
    for name, words, says in [
            ("a wheel that there is not", ["cp27"], "there is no wheel 'cp27', wanted cp311 or abi3"),
            ("no Python", ["cp311", "--python", "/bin/false"], "wanted CPython 3.11 or later"),
            ("an old Python", ["abi3", "--python", sys.executable], "wanted CPython 3.12 or later"),
            ("no engine", ["cp311", "--build", folder], "no engine is built in"),
            ("no OpenBLAS", ["--build", build, "--openblas", folder / "x.a", "cp311"], "libopenblas-openmp-dev")]:
        code, text = tool(*words)
        c.check(code == 2 and says in text, f"refused: {name}", text)


def elf_files(folder):
    return [f for f in folder.rglob("*") if f.is_file() and f.open("rb").read(4) == b"\x7fELF"]


def check_contents(c, kind, wheel, folder):
    """Of one wheel, unpacked into `folder`."""
    folder.mkdir()
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB")
    c.check(size <= MOST_BYTES, f"{kind}: at most 40 MB", size)
    inside = ROOT / "build/wheel" / kind / "venv/bin"
    code, text = run([inside / "python", "-m", "auditwheel", "show", wheel], folder,
                     path=f"{inside}:/usr/bin:/bin")
    said = re.search(r'tag:\s+"(\w+)"', text[text.find("This constrains"):] or text)
    c.check(code == 0 and 'platform tag to "manylinux_2_35_x86_64"' in " ".join(text.split()),
            f"{kind}: what auditwheel says of its needs", (said and said[1], text[-600:]))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    names = [f.name for f in elf_files(folder)]
    for one in ("libgraphengine.so.0", "libge_omp.so", "libopenblas.so.0"):
        c.check(names.count(one) == 1, f"{kind}: one {one}", names)
    shared = [n for n in names if n.startswith(("libgomp", "libtbb.", "libprotobuf"))]
    c.check(len(shared) == len({n.split("-")[0] for n in shared}), f"{kind}: one of each", shared)
    for file in elf_files(folder):
        _, text = run(["readelf", "-d", file], folder)
        paths = [line.split("[")[1].rstrip("]") for line in text.splitlines() if "PATH)" in line]
        c.check(all(p.startswith("$ORIGIN") for path in paths for p in path.split(":")),
                f"{kind}: {file.name} finds libraries in the wheel alone", paths)
    licences = {f.name for f in folder.glob("*.dist-info/licenses/*.txt")}
    c.check({"libdnnl2.txt", "libgomp1.txt", "libopenblas-openmp-dev.txt", "libprotobuf-lite32.txt"}
            <= licences, f"{kind}: licences of what it holds", licences)


def hidden(folder):
    """What is hidden: the files of Debian's that the wheel has its own of, and OpenBLAS."""
    taken = [re.sub(r"-[0-9a-f]{8}(?=\.so)", "", f.name) for f in folder.glob("graphengine.libs/*")]
    found = [p for p in (LIBRARIES / name for name in [*taken, *OTHERS]) if p.exists()]
    return sorted({p.resolve() for p in found})


def typed(command, cwd, files):
    """The same as run(), in a mount namespace where the files have no contents."""
    (cwd / "empty").touch()
    script = "\n".join(["set -e", *(f"mount --bind empty {f}" for f in files), 'exec "$@"'])
    space = ["unshare", "--mount"] if files else []
    return run([*space, "bash", "-c", script, "bash", *command], cwd)


def make_environment(c, python, wheel, packages, folder):
    """An environment with the wheel; None, with words, where PyPI cannot be reached."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    code, text = run([*pip, "--retries", "1", *packages], folder, timeout=600)
    if code:
        c.skip(f"PyPI cannot be reached for {' '.join(packages)}: {text.strip()[-200:]}")
        return None
    code, text = run([*pip, "--no-index", wheel], folder)
    return folder / "bin/python" if c.check(code == 0, f"pip install {wheel.name}", text) else None


def check_use(c, kind, python, files, build, folder):
    """README's program where `files` are hidden, and what hidden_libraries.py finds."""
    code, text = run("touch one two; unshare --mount mount --bind one two", folder)
    if code:
        c.skip(f"nothing can be hidden, no mount namespace can be made here: {text.strip()[:200]}")
        files = []
    else:
        code, text = typed([str(build / "bin/ge"), "--version"], folder, files)
        c.check(code == 127 and "too short" in text, f"{len(files)} libraries are hidden", text)
    section = README.read_text().split("\n## ")[1]
    program, = re.findall(r"```python\n(.*?)```", section, re.S)
    c.check(len(program.splitlines()) <= MOST_LINES, "README's first program is short")
    (folder / "digits.py").write_text(program)
    code, text = typed([str(python), "digits.py"], folder, files)
    found = re.search(r"'accuracy': ([0-9.]+)", text)
    if c.check(code == 0 and found, f"{kind}: README's first program", text):
        print(f"{kind}: accuracy {float(found[1]):.4f}")
        c.check(float(found[1]) >= LEAST_ACCURACY, f"{kind}: at least 97 %", text)
    code, text = typed([str(python), str(ROOT / "tests/e2e/install/hidden_libraries.py"), "digits.py"],
                       folder, files)
    print(text.strip())
    for verdict, name in re.findall(r"^(ok|FAILED) +(.*)$", text, re.M):
        c.check(verdict == "ok", f"{kind}: {name}")
    c.check(code == 0, f"{kind}: hidden_libraries.py", text)


def base_python(kind):
    """The interpreter that the wheel was built with, without its environment."""
    done = subprocess.run([ROOT / "build/wheel" / kind / "venv/bin/python", "-c",
                           "import sys; print(sys._base_executable)"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("GE_BUILD", "build/release")))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the wheels; those in it are not made again")
    args = parser.parse_args()
    build, c = args.build.resolve(), Checks()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        check_refusals(c, build, scratch)
        wheels = args.keep.resolve() if args.keep else scratch
        for kind, name in NAMES.items():
            code, text = (0, "") if (wheels / name).exists() else tool(kind, "--build", build, "--output", wheels)
            if code == NO_PYPI or (code == 2 and f"{kind}: no Python for it" in text):
                c.skip(text.strip()[-400:])
                continue
            if not c.check(code == 0 and (wheels / name).exists(), f"the wheel {name}", text):
                continue
            check_contents(c, kind, wheels / name, scratch / kind)
            home = scratch / f"home-{kind}"
            home.mkdir()
            python = make_environment(c, base_python(kind), wheels / name, ["scikit-learn"], home / "env")
            if python:
                check_use(c, kind, python, hidden(scratch / kind), build, home)
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
