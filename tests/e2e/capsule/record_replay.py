#!/usr/bin/env python3
"""Runs recorded by `ge dump --values` and repeated by `ge replay`: bit for bit in another process, at
another place and with another price cache; within bounds on another engine. NumPy and zipfile open
the file, and every subcommand takes it for a model. A changed value is named, damaged bytes are
refused by their member, a cut file is read to its last whole member, and a recording that is killed
or runs out of disk leaves the earlier file whole.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/record_replay.py --build build/release
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

SEED = 54
# Two segments on two engines, a constant shared by name with nothing, and a state that the run changes.
TWO = """ge 1
opset "" 28
opset "ge" 1
const first : f32[4] = [1, 2, 3, 4]
state total : f32[4] buffer init first
fn main(x: f32[2,4]) -> (y) {
  a = Add(x, first) "left"
  b = Exp(a) "right/part"
  y = Mul(b, b) "last"
}
fn count(x: f32[4]) -> (y) effects [state total] {
  old: f32[4] = ge.Read() effects [state total]
  y = Add(old, x) "add"
  ge.Assign(y) effects [state total]
}
entry infer "main" = main
entry infer "count" = count
"""


# A plan of nothing but a constant's copy; Scan with states; texts that a Loop makes longer.
CONSTANT = """ge 1
opset "" 28
fn main(x: f32[2,3]) -> (y) {
  y = Shape(x)
}
entry infer "main" = main
"""
SCAN = """ge 1
opset "" 28
opset "ge" 1
const none : f32[3] = [0, 0, 0]
state total : f32[3] buffer init none
fn add(acc: f32[3], row: f32[3]) -> (sum, sum) {
  e = Exp(row)
  sum: f32[3] = Add(acc, e)
}
fn main(x: f32[n,3]) -> (sums) effects [state total] {
  old: f32[3] = ge.Read() effects [state total]
  last: f32[3], sums: f32[n,3] = Scan(old, x) {num_scan_inputs=1} "scan" calls {body=add}
  ge.Assign(last) effects [state total]
}
entry train_step "main" = main
"""
TEXTS = """ge 1
opset "" 28
const go : bool[] = true
const three : i64[] = 3
const mark : str[1] = ["!"]
fn grow(i: i64[], on: bool[], s: str[1]) -> (on, longer, s) {
  longer: str[1] = StringConcat(s, mark)
}
fn main(first: str[1]) -> (last, all) {
  last, all = Loop(three, go, first) calls {body=grow}
}
entry infer "main" = main
"""


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder, self.passed, self.failed = ge, folder, 0, 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def run(self, *words, env=None, **more):
        return subprocess.run([self.ge, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env={**os.environ, **(env or {})}, **more)

    def record(self, model, capsule, *more):
        done = self.run("dump", model, "--values", "-o", capsule, *more)
        self.check(done.returncode == 0, f"{capsule} is recorded", done.stderr)
        return self.folder / capsule

    def refused(self, code, text, *words, **more):
        done = self.run(*words, **more)
        self.check(done.returncode == code and text in done.stderr, f"{words} says '{text}'",
                   f"{done.returncode}: {done.stdout}{done.stderr}")


def replay(c, capsule, *more, **kept):
    done = c.run("replay", capsule, "--json", *more, **kept)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def rewritten(source, target, changed):
    """A copy whose members are those of `changed` where it has them; stored, as Python writes them."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for m in old.infolist():
            new.writestr(m.filename, changed.get(m.filename, old.read(m.filename)))


def repeats(c):
    cases = [("lenet", ROOT / "build/models/lenet.onnx", []),
             ("two", "two.gt", ["--entry", "main", "--pin", "left=ref", "--pin", "right/part=native"])]
    for name, model, more in cases:
        capsule = c.record(model, f"{name}.gecap", *more)
        moved = c.folder / "moved" / f"{name}.gecap"
        moved.parent.mkdir(exist_ok=True)
        shutil.copy(capsule, moved)
        code, found = replay(c, moved, env={"GE_CACHE_DIR": str(c.folder / "prices")})
        c.check(code == 0 and found["equal"] == found["compared"] > 1 and found["same_machine"],
                f"{name} is repeated bit for bit", found)
        code, found = replay(c, capsule, "--from", "load", "--engines", "ref")
        c.check(code == 0 and found["right"] and not found["same_machine"],
                f"{name} on ref is within the bounds", found)
    code, found = replay(c, c.folder / "two.gecap", "--from", "load", "--engines", "ref")
    c.check(found["compared"] == 1, "placed anew, outputs alone are compared", found)
    wide = replay(c, c.folder / "lenet.gecap", "--from", "load", "--engines", "ref", "--rtol", "0")
    c.check(wide[0] == 1 and wide[1]["first"]["differing"] > 0, "with a bound of 0 it is not", wide)
    c.record("two.gt", "none.gecap", "--entry", "main", "--values=none")
    code, found = replay(c, c.folder / "none.gecap")
    c.check(code == 0 and found["compared"] == 1, "without values outputs are compared", found)


def pieces(c):
    """What no single plan holds: If, Loop, Scan, sequences, sizes that the data decide, texts, states."""
    models = ROOT / "tests/e2e/models"
    np.save(c.folder / "first.npy", np.array(["a"]))
    cases = [("if", models / "lifetimes.gt", ["--entry", "pick", "--input", "x=4:rand"]),
             ("loop", models / "loop.gt", ["--entry", "spin", "--input", "x=4:rand"]),
             ("sums", models / "recurrent.gt", []), ("scan", "scan.gt", ["--input", "x=5x3:rand"]),
             ("sequence", models / "values.gt", ["--entry", "wrap"]),
             ("data", models / "prepared.gt", ["--entry", "pick", "--input", "x=40:rand"]),
             ("choice", models / "strings.gt", []), ("texts", "texts.gt", ["--input", "first=first.npy"])]
    for name, model, more in cases:
        capsule = c.record(model, f"{name}.gecap", *more)
        moved = c.folder / "moved" / capsule.name
        capsule.rename(moved)
        code, found = replay(c, moved, env={"GE_CACHE_DIR": str(c.folder / "prices")})
        c.check(code == 0 and found["equal"] == found["compared"] > 0 and found["same_machine"] and
                not found["cut_otherwise"] and found["unknown"] == 0, f"{name} is repeated by its pieces",
                found)
        code, found = replay(c, moved, "--from", "load", "--engines", "ref")
        c.check(code == 0 and found["right"], f"{name} on ref is within the bounds", found)
    with zipfile.ZipFile(c.folder / "moved" / "loop.gecap") as z:
        names = set(z.namelist())
        trips = [json.loads(z.read(f"execution/{i}.json")) for i in range(100)]
        c.check(len({t["piece"] for t in trips}) < 10 and "piece/0.gepb" in names, "pieces are recorded once")
        c.check(z.testzip() is None, "and every checksum is right")
    code, found = replay(c, c.folder / "moved" / "scan.gecap")
    c.check(found["compared"] == found["executions"] + 2, "a state that the run leaves is compared", found)
    c.record("constant.gt", "constant.gecap")
    code, found = replay(c, c.folder / "constant.gecap")
    c.check(code == 0 and found["equal"] == found["compared"] == 1, "a plan without a segment", found)
    c.refused(2, "is of a run in pieces", "isolate", "moved/loop.gecap", "#0", "-o", "piece.gecap")


def grows(c):
    """The decoder's caches before and after a run, and its masks as long as all rows."""
    capsule = c.record(ROOT / "tests/e2e/models/decoder.gt", "decoder.gecap", "--kv-cache=4", "--input",
                       "ids=1x3:zeros")
    with zipfile.ZipFile(capsule) as z:
        manifest = json.loads(z.read("manifest.json"))
    c.check(manifest["kv_cache"] == 4 and len(manifest["states_after"]) == 3, "caches are there", manifest)
    for more in ([], ["--from", "load", "--engines", "ref"]):
        code, found = replay(c, capsule, *more)
        c.check(code == 0 and found["right"], f"a run with caches is repeated {more}", found)


def devices(c, build):
    """Values in a device's memory come to the host when its stream has made them."""
    engines = f"ref,{build / 'lib/samples/devsim.so'}:take=60;price=1;link_latency_ns=0;delay=2;delay_us=500"
    capsule = c.record(ROOT / "build/models/lenet.onnx", "device.gecap", "--engines", engines)
    with zipfile.ZipFile(capsule) as z:
        manifest = json.loads(z.read("manifest.json"))
        there = set(z.namelist())
    c.check(len(manifest["values"]) > 4 and manifest["left_out"] == [] and
            all(v["member"] in there for v in manifest["values"]), "each value of the device is there",
            manifest["values"])
    code, found = replay(c, capsule, "--engines", engines)
    c.check(code == 0 and found["equal"] == found["compared"] > 4, "and is repeated", found)
    c.refused(3, "engine 'devsim' is not loaded", "replay", "device.gecap")


def states(c):
    c.record("two.gt", "count.gecap", "--entry", "count")
    with np.load(c.folder / "count.gecap") as f:
        c.check(f["state/1-total"].tolist() == [1, 2, 3, 4], "the state before the run is there")
    code, found = replay(c, c.folder / "count.gecap")
    c.check(code == 0 and found["equal"] == found["compared"], "a run with a state is repeated", found)


def others_read(c):
    capsule = c.folder / "two.gecap"
    with zipfile.ZipFile(capsule) as z:
        c.check(z.testzip() is None, "zipfile finds every checksum right")
        manifest = json.loads(z.read("manifest.json"))
        places = [i.header_offset + 30 + sum(local_sizes(capsule, i)) for i in z.infolist()]
        c.check(all(p % 64 == 0 for p in places), "members lie at multiples of 64", places)
        c.check(all(i.compress_type == zipfile.ZIP_STORED for i in z.infolist()), "all are stored")
    names = [v["name"] for v in manifest["values"]]
    c.check("a" in names and "y" in names, "values have the model's names", names)
    with np.load(capsule) as f:
        x = f["input/0-x"]
        a = f[next(v["member"] for v in manifest["values"] if v["name"] == "a")[:-4]]
        y = f["output/0-y"]
        c.check(np.array_equal(a, x + np.float32([1, 2, 3, 4])), "NumPy reads the value 'a'", a)
        c.check(np.allclose(y, np.exp(a) ** 2, rtol=1e-5), "and the output", y)
        np.save(c.folder / "x.npy", x)
    done = c.run("run", capsule, "--entry", "main", "--input", "x=x.npy", "--output", "out")
    c.check(done.returncode == 0, "a capsule is a model of ge run", done.stderr)
    if done.returncode == 0:
        c.check(np.array_equal(np.load(c.folder / "out" / "y.npy"), y) or
                np.allclose(np.load(c.folder / "out" / "y.npy"), y, rtol=1e-5), "and runs as it")
    done = c.run("dump", capsule, "--entry", "main", "--to", "load")
    c.check('"right/part"' in done.stdout, "and of ge dump", done.stdout)


def local_sizes(path, info):
    with open(path, "rb") as f:
        f.seek(info.header_offset + 26)
        return np.frombuffer(f.read(4), "<u2").tolist()


def changed(c):
    capsule = c.folder / "two.gecap"
    with zipfile.ZipFile(capsule) as z:
        manifest = json.loads(z.read("manifest.json"))
        member = next(v["member"] for v in manifest["values"] if v["name"] == "a")
        bytes_ = bytearray(z.read(member))
    bytes_[-1] ^= 0x40
    rewritten(capsule, c.folder / "changed.gecap", {member: bytes(bytes_)})
    code, found = replay(c, c.folder / "changed.gecap")
    c.check(code == 1 and found["first"]["value"] == "a" and found["first"]["differing"] == 1,
            "a changed value is named", found)
    manifest["graphs"][1]["member"] = "graph/none.gepb"
    rewritten(capsule, c.folder / "lying.gecap", {"manifest.json": json.dumps(manifest)})
    c.refused(2, "it has no member 'graph/none.gepb'", "replay", "lying.gecap")
    whole = capsule.read_bytes()
    at = whole.index(b"PK\1\2") - 40
    (c.folder / "flipped.gecap").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
    done = c.run("replay", "flipped.gecap")
    c.check(done.returncode == 2 and "checksum" in done.stderr or done.returncode in (0, 1),
            "a flipped bit is refused by its member", done.stderr)


def cut(c):
    whole = (c.folder / "two.gecap").read_bytes()
    rng = random.Random(SEED)
    for bytes_ in sorted(rng.sample(range(len(whole)), 40)):
        (c.folder / "cut.gecap").write_bytes(whole[:bytes_])
        done = c.run("replay", "cut.gecap")
        c.check(done.returncode == 0 or (done.returncode == 2 and "cut.gecap" in done.stderr),
                f"cut at {bytes_} (seed {SEED})", f"{done.returncode} {done.stderr}")


def killed(c):
    """SIGKILL at 20 moments of recording over an earlier file."""
    earlier = (c.folder / "lenet.gecap").read_bytes()
    model = ROOT / "build/models/lenet.onnx"
    for i in range(20):
        target = c.folder / "killed.gecap"
        target.write_bytes(earlier)
        child = subprocess.Popen([c.ge, "dump", model, "--values", "-o", target],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.01 * i)
        child.kill()
        child.wait()
        done = c.run("replay", target)
        c.check(done.returncode == 0, f"killed {10 * i} ms after its begin: the file is whole or read "
                "to its last member", done.stderr)
    for left in c.folder.glob(".*.part"):  # of killed processes, which nobody else removes
        left.unlink()


def disk_is_full(c):
    earlier = (c.folder / "lenet.gecap").read_bytes()
    target = c.folder / "full.gecap"
    target.write_bytes(earlier)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = c.run("dump", ROOT / "build/models/lenet.onnx", "--values", "-o", target, preexec_fn=limit)
    c.check(done.returncode != 0 and "cannot write the capsule" in done.stderr,
            "a full disk is said", f"{done.returncode} {done.stderr}")
    c.check(target.read_bytes() == earlier, "and the earlier file stays")
    left = [p.name for p in c.folder.iterdir() if p.name.endswith(".part")]
    c.check(not left, "nothing is left beside it", left)


def refusals(c):
    c.refused(2, "--values records a run into a file and none is named", "dump", "two.gt", "--values")
    c.refused(2, "wanted none, stats, border or all", "dump", "two.gt", "--values=most", "-o", "a.gecap")
    c.refused(2, "leave out --to", "dump", "two.gt", "--values", "-o", "a.gecap", "--to", "load")
    (c.folder / "text.gecap").write_text("ge 1\n")
    c.refused(2, "it does not begin as a ZIP file does", "replay", "text.gecap")
    c.refused(2, "it does not begin as a ZIP file does", "run", "text.gecap")
    with zipfile.ZipFile(c.folder / "other.gecap", "w") as z:
        z.writestr("a.txt", "a")
    c.refused(2, "it has no member 'manifest.json'", "replay", "other.gecap")
    with zipfile.ZipFile(c.folder / "packed.gecap", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("manifest.json", "{}" * 100)
    c.refused(2, "member 'manifest.json': its method is 8, wanted 0 (stored)", "run", "packed.gecap")
    c.refused(2, "--from is 'now', wanted load or plan", "replay", "two.gecap", "--from", "now")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ge-capsule.") as folder:
        c = Checks(args.build.resolve() / "bin" / "ge", pathlib.Path(folder))
        for name, text in (("two", TWO), ("constant", CONSTANT), ("scan", SCAN), ("texts", TEXTS)):
            (c.folder / f"{name}.gt").write_text(text)
        devices(c, args.build.resolve())
        for part in (repeats, pieces, grows, states, others_read, changed, cut, killed, disk_is_full, refusals):
            part(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return c.failed != 0


if __name__ == "__main__":
    sys.exit(main())
