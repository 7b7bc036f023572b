#!/usr/bin/env python3
"""Makes wheels of sdk/python that need nothing of the machine but glibc, libstdc++ and Python: the
built engine, stripped; Debian's libraries that it is linked with; an OpenBLAS of the routines that the
engine calls, beside the engines.

  cp311   for CPython 3.11
  abi3    for CPython 3.12 and every later version, by the stable ABI

auditwheel writes the tag: manylinux_2_35, for glibc 2.35 and later. Exit code 0: all are made; 1: one
is too large, or is not for that glibc; 2: an argument, a built engine, a Python or a library is missing;
3: pip cannot install the tools.

examples:
  tools/wheel/wheel.py                          # both, from build/release into build/wheels
  tools/wheel/wheel.py cp311 --output dist
  tools/wheel/wheel.py abi3 --python /opt/python3.13/bin/python3
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tools/setup/requirements-wheel.txt"
ROUTINES = ROOT / "plugins/cpu/openblas/routines.map"
OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.a"
PLATFORM = "manylinux_2_35_x86_64"
MOST_BYTES = 40_000_000
# Which versions of CPython a wheel can be built with.
WHEELS = {"cp311": lambda v: v == (3, 11), "abi3": lambda v: v >= (3, 12)}
WANTED = {"cp311": "CPython 3.11", "abi3": "CPython 3.12 or later"}
# Every Linux of that glibc has theirs.
SYSTEM = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}


class Refusal(Exception):
    """A message for the user, and the exit code."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


def run(words, code=1, **more):
    """What a command prints; where it fails, the end of that is the refusal."""
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **more)
    if done.returncode:
        end = "\n".join(done.stdout.splitlines()[-30:])
        raise Refusal(f"{pathlib.Path(words[0]).name} failed with {done.returncode}:\n{end}", code)
    return done.stdout


def version_of(python):
    """(3, 11) of a CPython with headers and threads of one GIL, None of anything else."""
    ask = ("import os, sys, sysconfig as s; h = os.path.join(s.get_path('include'), 'Python.h'); "
           "ok = os.path.exists(h) and sys.implementation.name == 'cpython' "
           "and not s.get_config_var('Py_GIL_DISABLED'); print(ok, *sys.version_info[:2])")
    try:
        done = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return None
    words = done.stdout.split()
    return (int(words[1]), int(words[2])) if len(words) == 3 and words[0] == "True" else None


def pythons():
    """Interpreters of this machine: this one's, those on PATH, those of pyenv."""
    yield getattr(sys, "_base_executable", sys.executable)
    names = ["python3", *(f"python3.{n}" for n in range(11, 21))]
    for name in names:
        if (found := shutil.which(name)) is not None:
            yield found
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/3.*/bin/python3"))


def choose(kinds, named):
    """{kind: interpreter}."""
    found = {}
    for python in named or pythons():
        version = version_of(python)
        if named and version is None:
            raise Refusal(f"--python {python}: no CPython with headers, wanted {WANTED['cp311']} or "
                          "later with Python.h (Debian: python3-dev)")
        for kind in kinds:
            if version is not None and WHEELS[kind](version):
                found.setdefault(kind, python)
    for kind in (k for k in kinds if k not in found):
        looked = ", ".join(map(str, named)) if named else "PATH and pyenv's folder"
        others = [k for k in kinds if k in found]
        rest = f", or make {' '.join(others)} alone" if others else ""
        raise Refusal(f"{kind}: no Python for it in {looked}, wanted {WANTED[kind]} with its headers; "
                      f"name one with --python{rest}")
    return found


def environment(python, folder):
    """Its interpreter with what makes wheels."""
    inside, stamp = folder / "bin/python", folder / "installed.txt"
    if inside.exists() and stamp.exists() and stamp.read_bytes() == REQUIREMENTS.read_bytes():
        return inside
    run([python, "-m", "venv", "--clear", folder], code=2)
    run([inside, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--retries", "1",
         "--requirement", REQUIREMENTS], code=3)
    shutil.copy(REQUIREMENTS, stamp)
    return inside


def link_openblas(archive, to):
    """A library of the routines that the engine asks for: a quarter of Debian's, kernels of all
    processors, no Fortran."""
    if not archive.exists():
        raise Refusal(f"'{archive}' is not there, which OpenBLAS is linked from; install Debian's "
                      "libopenblas-openmp-dev, or name the archive with --openblas")
    names = re.findall(r"\b(\w+);", ROUTINES.read_text().split("local:")[0])
    run(["cc", "-shared", "-fopenmp", "-s", "-o", to, "-Wl,-soname,libopenblas.so.0", "-Wl,-z,defs",
         "-Wl,-z,relro", "-Wl,--gc-sections", f"-Wl,--version-script={ROUTINES}", "-Wl,--as-needed",
         *(f"-Wl,-u,{name}" for name in names), archive, "-lm"])


def needed(binary):
    """The files that the loader takes for it."""
    return {os.path.realpath(m) for m in re.findall(r"=> (/\S+)", run(["ldd", binary]))}


def package_of(file):
    """Debian's package of a library. What lay in /lib before /usr was merged is known by that name."""
    for name in (file, file.removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise Refusal(f"'{file}' is of no package of Debian, and a wheel with it has to hold its licence; "
                  "build the engine with Debian's libraries")


def collect_licenses(stage, to):
    """Debian's licence files of the libraries that a wheel takes in, one a package."""
    to.mkdir()
    binaries = [stage / "bin/ge", *stage.glob("lib/**/*.so*")]
    files = {f for b in binaries for f in needed(b) if not f.startswith(str(stage))}
    for file in sorted(files):
        owner = package_of(file)
        text = pathlib.Path("/usr/share/doc", owner, "copyright")
        if owner in SYSTEM:
            continue
        if not text.exists():
            raise Refusal(f"'{text}' is not there, and a wheel with {file} has to hold its licence; "
                          f"install {owner} with its documentation")
        shutil.copy(text, to / f"{owner}.txt")
    shutil.copy("/usr/share/doc/libopenblas-openmp-dev/copyright", to / "libopenblas-openmp-dev.txt")


def stage_engine(build, archive, stage):
    """The installed tree of the engine, stripped, as the wheel's CMakeLists.txt takes it."""
    if not (build / "lib/libgraphengine.so.0").exists():
        raise Refusal(f"no engine is built in '{build}'; run ./quickstart, or name one with --build")
    shutil.rmtree(stage, ignore_errors=True)
    run(["cmake", "--install", build, "--prefix", stage, "--strip"])
    shutil.copy(build / "shipped_plugins.txt", stage)
    link_openblas(archive, stage / "lib/graphengine/libopenblas.so.0")
    collect_licenses(stage, stage / "licenses")


def make(kind, python, args, work):
    """The file of one wheel."""
    inside = environment(python, work / kind / "venv")
    raw, fixed = work / kind / "raw", work / kind / "fixed"
    for folder in (raw, fixed):
        shutil.rmtree(folder, ignore_errors=True)
    run([inside, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-index", "--no-deps",
         "--no-build-isolation", "--wheel-dir", raw,
         "--config-settings", f"build-dir={work / kind / 'cmake'}",
         "--config-settings", f"cmake.define.GE_BUILD={work / 'engine'}", ROOT / "sdk/python"])
    found, = raw.glob("*.whl")
    # The tools' programs lie beside the interpreter.
    path = {**os.environ, "PATH": f"{inside.parent}:{os.environ['PATH']}"}
    run([inside, "-m", "auditwheel", "repair", "--plat", PLATFORM, "--strip", "--zip-compression-level", "9",
         "--wheel-dir", fixed, found], env=path)
    made, = fixed.glob("*.whl")
    size = made.stat().st_size
    if size > MOST_BYTES:
        raise Refusal(f"{made.name} has {size / 1e6:.1f} MB, wanted at most {MOST_BYTES / 1e6:.0f}", 1)
    args.output.mkdir(parents=True, exist_ok=True)
    shutil.copy(made, args.output)
    print(f"{args.output / made.name}  {size / 1e6:.1f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="cp311|abi3", help="which wheels (default: both)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release",
                        help="the engine's build folder (default: build/release)")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/wheels",
                        help="where the wheels go (default: build/wheels)")
    parser.add_argument("--python", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="an interpreter to build with; may be repeated (default: those found)")
    parser.add_argument("--openblas", type=pathlib.Path, default=pathlib.Path(OPENBLAS), metavar="FILE.a",
                        help="the archive of OpenBLAS (default: that of Debian's "
                             "libopenblas-openmp-dev)")
    args = parser.parse_args()
    work = ROOT / "build/wheel"
    try:
        kinds = list(dict.fromkeys(args.kinds)) or list(WHEELS)
        if unknown := [k for k in kinds if k not in WHEELS]:
            raise Refusal(f"there is no wheel '{unknown[0]}', wanted {' or '.join(WHEELS)}")
        chosen = choose(kinds, args.python)
        stage_engine(args.build.resolve(), args.openblas, work / "engine")
        for kind in kinds:
            make(kind, chosen[kind], args, work)
    except Refusal as refusal:
        print(f"wheel.py: {refusal}", file=sys.stderr)
        return refusal.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
