#!/usr/bin/env python3
"""Damaged model files: every run ends with exit code 0 or 2, within limits, with one message.

  tests/e2e/bad_input.py [--count N] [--every BYTES] [--ge PATH]

Takes lenet as ONNX and as our own protobuf, truncates it at every BYTES-th byte (at most N cuts,
spread evenly) and flips one random bit N times (seed printed). Each run gets 20 s of CPU time and
4 GiB of address space. Last line: N passed, N failed, N skipped.
"""
import argparse
import concurrent.futures
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENET = ROOT / "build/models/lenet.onnx"
SEED = 20261121
CPU_SECONDS = 20
ADDRESS_BYTES = 4 << 30


def limit(address_bytes):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        if address_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (address_bytes, address_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def judge(ge, path, address_bytes):
    """None when the run behaved, else what was wrong with it."""
    model, feed = (LENET, str(path)) if path.suffix == ".npy" else (path, "1x1x28x28:rand")
    command = [ge, "run", str(model), "--engines", "ref", "--threads", "1", "--input", f"x={feed}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=120, preexec_fn=limit(address_bytes))
    except subprocess.TimeoutExpired:
        return "it was still going after 120 s"
    text = done.stderr.decode("utf-8", "replace")
    messages = [line for line in text.splitlines() if line.startswith("ge: ")]
    if done.returncode not in (0, 2):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--every", type=int, default=97)
    parser.add_argument("--ge", default=str(ROOT / "build/release/bin/ge"))
    parser.add_argument("--no-address-limit", action="store_true", help="for builds with AddressSanitizer")
    args = parser.parse_args()
    onnx = LENET
    if not onnx.exists():
        subprocess.run([sys.executable, str(ROOT / "tools/bench/models.py"), "lenet"], check=True)
    print(f"seed {SEED}")
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        proto = folder / "lenet.gepb"
        subprocess.run([args.ge, "dump", str(onnx), "--to", "rewrite", "--format", "proto", "-o", str(proto), "--engines", "ref"], check=True)
        jobs = []
        for model, suffix in ((onnx, ".onnx"), (proto, ".gepb")):
            data = model.read_bytes()
            print(f"{model.name}: {len(data)} bytes")
            jobs += list(variants(data, suffix, args.count, args.every, folder))
        jobs += list(arrays(folder))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            address = 0 if args.no_address_limit else ADDRESS_BYTES
            for (path, what), wrong in zip(jobs, pool.map(lambda job: judge(args.ge, job[0], address), jobs)):
                if wrong is None:
                    passed += 1
                else:
                    failed += 1
                    print(f"{path.suffix} {what}: {wrong}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
