#!/usr/bin/env python3
"""Damaged files: every run ends with exit code 0 or 2, within limits, with one message.

  tests/e2e/hostile/bad_input.py [--count N] [--every BYTES] [--ge PATH]

Takes lenet as ONNX and as our own protobuf, truncates it at every BYTES-th byte (at most N cuts,
spread evenly) and flips one random bit N times (seed printed); and, each a fifth as often, the small models of
bad_input_models.py (control flow, strings, functions, quantized operators, weights in a file of their
own, and that file) and the price cache, of which a damaged one must never fail a run. Each run gets
20 s of CPU time and 4 GiB of address space. Last line: N passed, N failed, N skipped.
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx")

import onnx  # noqa: E402

import bad_input_models  # noqa: E402

LENET = ROOT / "build/models/lenet.onnx"
SEED = 20261121
CPU_SECONDS = 20
ADDRESS_BYTES = 4 << 30
# A damaged number of trips may be any: a run that ends by this limit says so and counts as refused.
TIME_LIMIT_SECONDS = 5
SHARE_OF_KIND = 5


def limit(address_bytes):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        if address_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (address_bytes, address_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def judge(ge, path, address_bytes, feed="x=2x3:rand", cache=None):
    """None when the run behaved, else what was wrong with it. With a price cache, only 0 is right."""
    command = [ge, "run", str(path), "--engines", "ref", "--threads", "1", "--input", feed,
               "--time-limit", str(TIME_LIMIT_SECONDS)]
    env = os.environ if cache is None else {**os.environ, "GE_CACHE_DIR": str(cache)}
    try:
        done = subprocess.run(command, capture_output=True, timeout=120, env=env,
                              preexec_fn=limit(address_bytes))
    except subprocess.TimeoutExpired:
        return "it was still going after 120 s"
    text = done.stderr.decode("utf-8", "replace")
    messages = [line for line in text.splitlines() if line.startswith("ge: ")]
    if done.returncode == 3 and "time limit" in text and cache is None:
        return None
    if done.returncode not in ((0, 2) if cache is None else (0,)):
        return f"exit code {done.returncode}: {text.strip()[-300:]}"
    if done.returncode == 2 and len(messages) != 1:
        return f"exit code 2 with {len(messages)} messages: {text.strip()[-300:]}"
    return None


def arrays(folder):
    """Hostile .npy files: (path, what is wrong with it)."""
    def file(name, shape, descr="'<f4'", length=None):
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        size = (len(header) if length is None else length).to_bytes(2, "little")
        path = folder / f"{name}.npy"
        path.write_bytes(b"\x93NUMPY\x01\x00" + size + header + bytes(16))
        return path
    yield file("ranks", "(" + "1," * 32_000 + ")"), "a shape of 32,000 sizes"
    yield file("huge", "(4611686018427387904, 4)"), "a shape beyond 2^63"
    yield file("beyond", "(99999999999999999999,)"), "a size beyond 2^63"
    yield file("much", "(1000000000000,)"), "more elements than bytes"
    yield file("open", "(1, 1, 28, 28"), "a shape without an end"
    yield file("words", "(one,)"), "a shape of words"
    yield file("type", "(4,)", "'" + "x" * 60_000 + "'"), "a descr of 60,000 letters"
    yield file("none", "(4,)", "''"), "no descr"
    yield file("short", "(4,)", length=65_535), "a header beyond the file"


def variants(data, suffix, count, every, folder):
    cuts = list(range(0, len(data), every))
    cuts = cuts[:: max(1, len(cuts) // count)][:count]
    for at in cuts:
        path = folder / f"cut_{at}{suffix}"
        path.write_bytes(data[:at])
        yield path, f"cut at byte {at}"
    rng = random.Random(SEED)
    for i in range(count):
        bit = rng.randrange(len(data) * 8)
        # Half of the flips go into the head and tail, where structure is denser than weights.
        if i % 2:
            edge = min(len(data), 4096) * 8
            bit = rng.randrange(edge) if i % 4 == 1 else len(data) * 8 - 1 - rng.randrange(edge)
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << (bit % 8)
        path = folder / f"flip_{i}{suffix}"
        path.write_bytes(damaged)
        yield path, f"bit {bit} flipped"


def lenet_jobs(args, folder):
    """(what, arguments of judge) of the models that are damaged most, and of hostile arrays."""
    if not LENET.exists():
        subprocess.run([sys.executable, str(ROOT / "tools/bench/models.py"), "lenet"], check=True)
    proto = proto_of(args.ge, LENET, folder / "lenet.gepb", "rewrite")
    for model, suffix in ((LENET, ".onnx"), (proto, ".gepb")):
        data = model.read_bytes()
        print(f"{model.name}: {len(data)} bytes")
        for path, what in variants(data, suffix, args.count, args.every, folder):
            yield f"lenet{suffix} {what}", {"path": path, "feed": "x=1x1x28x28:rand"}
    for path, what in arrays(folder):
        yield f"array: {what}", {"path": LENET, "feed": f"x={path}"}


def proto_of(ge, model, path, stage):
    subprocess.run([ge, "dump", str(model), "--to", stage, "--format", "proto", "-o", str(path),
                    "--engines", "ref"], check=True)
    return path


def kind_jobs(args, folder):
    count = max(1, args.count // SHARE_OF_KIND)
    for kind, make in bad_input_models.KINDS.items():
        inside = folder / kind
        inside.mkdir()
        whole = inside / "whole.onnx"
        onnx.save(make(), whole)
        for model in (whole, proto_of(args.ge, whole, inside / "whole.gepb", "load")):
            yield f"{kind} as it is", {"path": model}
            for path, what in variants(model.read_bytes(), model.suffix, count, 1, inside):
                yield f"{kind}{path.suffix} {what}", {"path": path}


def external_jobs(args, folder):
    """The model beside its weights, and the weights beside their model."""
    count = max(1, args.count // SHARE_OF_KIND)
    inside = folder / "external"
    inside.mkdir()
    model, weights = bad_input_models.external(inside)
    yield "external data as it is", {"path": model}
    for path, what in variants(model.read_bytes(), ".onnx", count, 1, inside):
        yield f"external.onnx {what}", {"path": path}
    data = weights.read_bytes()
    for i, (path, what) in enumerate(variants(data, ".bin", count, max(1, len(data) // count), inside)):
        own = inside / f"own_{i}"
        own.mkdir()
        (own / "external.onnx").write_bytes(model.read_bytes())
        path.rename(own / "external.bin")
        yield f"external.bin {what}", {"path": own / "external.onnx"}


def cache_jobs(args, folder):
    """The files of a price cache that a run on measured prices has filled, each damaged."""
    count = max(1, args.count // SHARE_OF_KIND)
    model = folder / "cached.onnx"
    onnx.save(bad_input_models.quantized(), model)
    cache = folder / "cache"
    subprocess.run([args.ge, "run", str(model), "--prices", "measure", "--measure-budget", "200",
                    "--input", "x=2x3:rand"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "GE_CACHE_DIR": str(cache)})
    inside = folder / "damaged"
    inside.mkdir()
    for file in sorted([*cache.glob("*.json"), *cache.glob("*.rows")]):
        for i, (path, what) in enumerate(variants(file.read_bytes(), file.suffix, count, 1, inside)):
            own = folder / f"cache_{file.stem}_{i}"
            own.mkdir()
            path.rename(own / file.name)
            yield f"{file.name} {what}", {"path": model, "cache": own}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--every", type=int, default=97)
    parser.add_argument("--ge", default=str(ROOT / "build/release/bin/ge"))
    parser.add_argument("--no-address-limit", action="store_true", help="for builds with AddressSanitizer")
    args = parser.parse_args()
    print(f"seed {SEED}")
    passed, failed = 0, 0
    address = 0 if args.no_address_limit else ADDRESS_BYTES
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        jobs = [job for make in (lenet_jobs, kind_jobs, external_jobs, cache_jobs)
                for job in make(args, folder)]
        run = functools.partial(judge, args.ge, address_bytes=address)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for (what, _), wrong in zip(jobs, pool.map(lambda job: run(**job[1]), jobs)):
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if wrong is not None:
                    print(f"FAILED  {what}: {wrong}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
