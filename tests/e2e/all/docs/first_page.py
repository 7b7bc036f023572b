#!/usr/bin/env python3
"""Types README's commands of a clone, in their order, in a fresh clone of what git holds: ./quickstart,
whose end has the lines that the page shows, ./test (its lint alone: whoever runs this runs the rest), the
whole build, the two installations and the wheel, in a virtual environment.

Networks of build/models are not fetched again, compiled files come from the compiler cache where that has
them, and --cold turns it off. Says what processor time ./quickstart took. Prints each fault and, last,
the counts.

Examples:
  tests/e2e/all/docs/first_page.py
  tests/e2e/all/docs/first_page.py --cold
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / name) for name in ("docs", "install")]

import installed  # noqa: E402
import pages  # noqa: E402
from installed import ROOT  # noqa: E402

# What stands for the page's words, and what makes a command short.
FILLED = {"FOLDER": "installed", "./test": "./test --only lint"}
NETWORKS = ("ppocr_det.onnx", "ppocr_rec.onnx")
# A score's last digit is the machine's.
SCORE = 0.02


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def typed(command, clone, env):
    """(exit code, what it printed, processor seconds)."""
    before = processor_seconds()
    done = subprocess.run(["bash", "-euc", command], cwd=clone, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return done.returncode, done.stdout, processor_seconds() - before


def of_a_clone(text):
    """The commands that pages.py cannot type, since an installed tree does not have them."""
    return [line for line in pages.block_lines(text) if not line.startswith("ge ")]


def same_line(wanted, found):
    score, words = wanted.split(None, 1)
    match = re.fullmatch(r"([\d.]+)\s+(.*)", found.strip())
    return match and match[2] == words.strip() and abs(float(match[1]) - float(score)) <= SCORE


def shows(text, said):
    """Whether what ./quickstart said has the page's lines, one behind the other."""
    wanted = next(c for language, word, c in pages.blocks(text) if language == "text" and not word)
    wanted, found = wanted.strip().splitlines(), said.splitlines()
    return any(all(same_line(w, f) for w, f in zip(wanted, found[i:]))
               for i in range(len(found) - len(wanted) + 1))


def make_clone(folder):
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(folder)], check=True)
    models = folder / "build/models"
    models.mkdir(parents=True)
    for name in NETWORKS:
        if (ROOT / "build/models" / name).exists():
            shutil.copy(ROOT / "build/models" / name, models)


def check_results(c, clone):
    c.check((clone / "installed/bin/ge").exists(), "cmake --install has written ge")
    c.check(list((clone / "build/release").glob("*.deb")), "cpack has written a package")
    code, said, _ = typed("cd installed && ../environment/bin/python -c "
                          "'import graphengine; print(graphengine.__version__)'", clone, os.environ)
    c.check(code == 0, "the wheel is used", said)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cold", action="store_true", help="without the compiler cache")
    args = parser.parse_args()
    c, text = installed.Checks(), (ROOT / "README.md").read_text()
    with tempfile.TemporaryDirectory(prefix="ge-clone.") as scratch:
        clone = pathlib.Path(scratch).resolve() / "clone"
        make_clone(clone)
        subprocess.run([sys.executable, "-m", "venv", str(clone / "environment")], check=True)
        env = {**os.environ, "GE_CACHE_DIR": "off",
               "PATH": f"{clone}/environment/bin:{os.environ['PATH']}"}
        if args.cold:
            env["CCACHE_DISABLE"] = "1"
        commands = of_a_clone(text)
        c.check(commands[:1] == ["./quickstart"], "README begins with ./quickstart", commands)
        for command in commands:
            for word, filled in FILLED.items():
                command = re.sub(rf"{re.escape(word)}(?!\w)", filled, command)
            code, said, seconds = typed(command, clone, env)
            print(f"{command}: {seconds:.0f} s of processor time", flush=True)
            c.check(code == 0, command, said)
            if command == "./quickstart":
                c.check(shows(text, said), "./quickstart ends as README shows", said)
        check_results(c, clone)
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
