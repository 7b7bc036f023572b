#!/usr/bin/env python3
"""Capsules that are cut, flipped or lie, through the subcommands that read them.

Seeds are recordings of a model with a state, of LeNet, of a run in pieces and, where ge compile
writes them, compiled models. Each file is one of them after one mutation: cut; bytes flipped
anywhere, in headers and in the directory; sizes, offsets and methods that lie; members that
overlap, are compressed, named twice or of a million; a manifest, a plan, a graph, an array or a
pack with another content under a right checksum. Wanted of each: an exit code below 4 with a
message, within ten seconds and 1 GB, and nothing of a sanitizer.

Prints each fault with the file that shows it and, last, the counts.

Example: tests/e2e/all/hostile/capsules.py --build build/release --count 2000
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
MOST_SECONDS, MOST_BYTES = 10, 1 << 30
STATE = """ge 1
opset "" 28
opset "ge" 1
const first : f32[4] = [1, 2, 3, 4]
state total : f32[4] buffer init first
fn main(x: f32[4,4]) -> (y) effects [state total] {
  old: f32[4] = ge.Read() effects [state total]
  a = MatMul(x, old) "product"
  b = Exp(a) "curve"
  y = Add(b, old) "sum"
  ge.Assign(y) effects [state total]
}
entry infer "main" = main
"""
LOOP = """ge 1
opset "" 28
const three : i64[] = 3
const yes : bool[] = true
fn step(i: i64[], on: bool[], x: f32[4]) -> (on, y) {
  y: f32[4] = Add(x, x) "twice"
}
fn main(x: f32[4]) -> (y) {
  y = Loop(three, yes, x) calls {body=step}
}
entry infer "main" = main
"""


def seeds(ge, folder):
    """Capsules as they should be, and the words behind each in a model's place."""
    made = []
    for name, text in (("state", STATE), ("loop", LOOP)):
        (folder / f"{name}.gt").write_text(text)
    models = [folder / "state.gt", folder / "loop.gt", ROOT / "build" / "models" / "lenet.onnx"]
    for model in models:
        for words in (["dump", model, "--values"], ["compile", model]):
            out = folder / f"{words[0]}_{model.stem}.gecap"
            done = subprocess.run([ge, *map(str, words), "-o", str(out)], capture_output=True, text=True)
            if done.returncode == 0 and out.exists():
                made.append(out)
            else:
                print(f"note: no seed {out.name}: {done.stderr.strip()[:160]}")
    return made


# ---- mutations: bytes -> bytes -------------------------------------------------------------------


def cut(rng, whole):
    return whole[: rng.randrange(len(whole))]


def flip(rng, whole):
    out = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def headers(whole, mark):
    return [m.start() for m in re.finditer(re.escape(mark), whole)]


def lie(rng, whole):
    """A field of a local header, of the directory or of its end has another value."""
    mark, span = rng.choice(((b"PK\x03\x04", 30), (b"PK\x01\x02", 46), (b"PK\x05\x06", 22)))
    found = headers(whole, mark)
    if not found:
        return flip(rng, whole)
    at = rng.choice(found) + rng.randrange(4, span - 1)
    width = rng.choice((2, 4))
    value = rng.choice((0, 1, 8, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, len(whole), rng.getrandbits(32)))
    out = bytearray(whole)
    out[at : at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    return bytes(out)


def overlap(rng, whole):
    """Two entries of the directory share one place."""
    found = headers(whole, b"PK\x01\x02")
    if len(found) < 2:
        return flip(rng, whole)
    one, other = rng.sample(found, 2)
    out = bytearray(whole)
    out[one + 42 : one + 46] = out[other + 42 : other + 46]
    return bytes(out)


def zipped(members, method=zipfile.ZIP_STORED, twice=None):
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", method) as z:
            for name, data in members:
                z.writestr(name, data)
            if twice:
                z.writestr(*twice)
        file.seek(0)
        return file.read()


def spoil_json(rng, data):
    try:
        root = json.loads(data)
    except ValueError:
        return data[: rng.randrange(len(data) + 1)]
    holders = []

    def walk(v):
        items = v.items() if isinstance(v, dict) else enumerate(v) if isinstance(v, list) else ()
        for key, inner in items:
            holders.append((v, key))
            walk(inner)

    walk(root)
    for _ in range(rng.choice((1, 1, 3))):
        holder, key = rng.choice(holders)
        holder[key] = rng.choice((None, -1, 0, 7, 2**31, 2**63, 2**64, 1e300, "", "../x", "f16", [], {}, [2**62, 2**62],
                                  ["x"] * 3, True, "value/0-a.npy", "plan/run.plan", "manifest.json"))
    return json.dumps(root).encode()


def spoil_text(rng, data):
    lines = data.decode(errors="replace").split("\n")
    i = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(i, rng.choice(lines))
    else:
        number = str(rng.choice((0, 1, 5, 99, 2**31, 2**32 - 1, 2**63, -1)))
        found = list(re.finditer(r"\d+", lines[i]))
        if found:
            m = rng.choice(found)
            lines[i] = lines[i][: m.start()] + number + lines[i][m.end() :]
    return "\n".join(lines).encode()


def content(rng, whole):
    """A member has another content, its checksum and sizes are right."""
    from io import BytesIO

    with zipfile.ZipFile(BytesIO(whole)) as z:
        members = [(n, z.read(n)) for n in z.namelist()]
    kinds = sorted({n.split("/")[0] for n, _ in members})
    kind = rng.choice(kinds)
    i = rng.choice([k for k, (n, _) in enumerate(members) if n.split("/")[0] == kind])
    name, data = members[i]
    if rng.random() < 0.1:
        return zipped(members[:i] + members[i + 1 :])
    if name.endswith(".json"):
        data = spoil_json(rng, data)
    elif name.endswith(".plan"):
        data = spoil_text(rng, data)
    elif kind == "pack":
        data = rng.randbytes(len(data))
    else:
        data = flip(rng, data) if rng.random() < 0.8 and data else rng.randbytes(rng.randrange(200))
    members[i] = (name, data)
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.05 else zipfile.ZIP_STORED
    return zipped(members, method, members[0] if rng.random() < 0.05 else None)


def million(rng, whole):
    """A directory that says a million members."""
    name, n = b"a", 1_000_000
    head = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + name
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + name
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(entry) * n & 0xFFFFFFFF, len(head), 0)
    return head + entry * n + end


# Lies of one member each: seed, member, what it says, what it says then, words, and what the refusal
# names. Random changes hit upon them rarely.
LIES = (
    ("dump_state", "plan/run.plan", r"device=\d+ inputs", "device=4294967295 inputs", ("replay",), "is on device 4294967295"),
    ("dump_state", "plan/run.plan", r"device=\d+ inputs", "device=99 inputs", ("replay", "--engines", "ref"), "is on device 99"),
    ("dump_state", "plan/run.plan", r"nodes=\[\d+\]", "nodes=[]", ("bisect", "--seconds", "5"), "an offer has no nodes"),
    ("dump_state", "plan/run.plan", r"nodes=\[\d+\]", "nodes=[]", ("isolate", "#0", "-o", "{}.out.gecap"), "an offer has no nodes"),
    ("dump_state", "plan/run.plan", r"(?s)function 0.*\n}\n", "", ("replay",), "the plan has no function"),
    ("dump_state", "plan/run.plan", r'engine 1 "[a-z]*"', 'engine 1 "{}.so"', ("bisect", "--seconds", "5"), "is named"),
    ("dump_state", "manifest.json", r'"name": "ref"', '"name": "{}.so"', ("replay",), "field 'engines["),
    ("dump_state", "manifest.json", r'(?s)"engines": \[.*?\]', '"engines": [' + ", ".join(['{"name": "ref"}'] * 3000) + "]",
     ("replay",), "'engines' has 3000 items"),
    ("dump_loop", "piece/0.plan", r"(segment 0 .*)device=\d+", "segment 0 device=99", ("replay",), "is on device 99"),
    ("compile_state", "compiled.json", r'"inputs":\[.*?\}\]', '"inputs":[]', ("run", "--strict"), "has 0 inputs"),
)


def directed(ge, env, folder, made, limits):
    """The faults of LIES: each is refused, and the message has the words."""
    faults = []
    for seed, member, old, new, words, wanted in LIES:
        path = folder / "directed.gecap"
        whole = [p for p in made if p.stem == seed]
        if not whole:
            faults.append(f"no seed {seed} for a lie of {member}")
            continue
        with zipfile.ZipFile(whole[0]) as z:
            members = [(n, z.read(n)) for n in z.namelist()]
        text = dict(members)[member].decode()
        lying = re.sub(old, lambda _: new.replace("{}", str(path)), text, count=1)
        assert lying != text, f"{member} of {seed} has no {old}"
        path.write_bytes(zipped([(n, lying.encode() if n == member else d) for n, d in members]))
        command = [words[0], str(path), *(w.replace("{}", str(path)) for w in words[1:])]
        fault = judge(ge, command, env, limits)
        said = subprocess.run([ge, *command], capture_output=True, text=True, env=env)
        if not fault and (said.returncode != 2 or wanted not in said.stderr):
            fault = f"exit {said.returncode}, wanted 2 and '{wanted}': {said.stderr[-300:]}"
        if fault:
            faults.append(f"{member} of {seed} with {new[:60]}: {words[0]}: {fault}")
    return faults


MUTATIONS = ((cut, 10), (flip, 20), (lie, 25), (overlap, 3), (content, 42))


def words_for(rng, path):
    return rng.choice((["replay", path], ["replay", path], ["replay", path, "--from", "load"], ["run", path],
                       ["bisect", path, "--seconds", "5"], ["isolate", path, "#0", "-o", path + ".out.gecap"]))


def judge(ge, words, env, limit_memory):
    """None, or what is wrong."""

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))

    begin = time.monotonic()
    process = subprocess.Popen([ge, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, preexec_fn=limits)
    try:
        text = process.communicate(timeout=12 * MOST_SECONDS)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"still runs after {12 * MOST_SECONDS} s"
    seconds = time.monotonic() - begin
    if "Sanitizer" in text or "runtime error:" in text:
        return "sanitizer: " + text[:1500]
    if process.returncode not in (0, 1, 2, 3):
        return f"exit {process.returncode}: {text[-300:]}"
    if process.returncode > 1 and "ge: " not in text:
        return f"exit {process.returncode} without a message: {text[-300:]}"
    if limit_memory and seconds > MOST_SECONDS:
        return f"took {seconds:.1f} s"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=54)
    parser.add_argument("--keep", help="folder for files that show a fault")
    args = parser.parse_args()
    ge = str(ROOT / args.build / "bin" / "ge")
    plain = not re.search("asan|fuzz", args.build)  # sanitizers take time and memory
    env = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed", ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:intercept_tls_get_addr=0")
    print(f"seed {args.seed}")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = seeds(ge, folder)
        rng = random.Random(args.seed)
        wholes = [p.read_bytes() for p in made]

        def one(i):
            own = random.Random(f"{args.seed} {i}")
            at = own.randrange(len(wholes))
            mutation = million if i == 0 else own.choices([m for m, _ in MUTATIONS], [w for _, w in MUTATIONS])[0]
            path = folder / f"{i}.gecap"
            path.write_bytes(mutation(own, wholes[at]))
            words = words_for(own, str(path))
            fault = judge(ge, words, env, plain)
            if fault:
                fault = f"{i} ({mutation.__name__} of {made[at].name}): {' '.join(words[:1] + words[2:])}: {fault}"
                if args.keep:
                    pathlib.Path(args.keep).mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, args.keep)
            path.unlink()
            for extra in folder.glob(f"{i}.gecap.*"):
                extra.unlink()
            return fault

        lies = directed(ge, env, folder, made, plain)
        passed, failed = len(LIES) - len(lies), len(lies)
        for fault in lies:
            print("FAILED  " + fault)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for fault in pool.map(one, range(args.count)):
                passed += fault is None
                if fault:
                    failed += 1
                    print("FAILED  " + fault)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"the largest process had {most / 1024:.0f} MB")
    if plain and most * 1024 > MOST_BYTES:
        failed += 1
        print(f"FAILED  a process had more than {MOST_BYTES >> 20} MB")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
