#!/usr/bin/env python3
"""The encoded pictures of ONNX's node tests, damaged: the image codecs refuse or decode them.

Calls libgraphengine_image.so in a process of its own for each format, with a limit of memory and of
time: whole streams give the stored pixels, in every order of channels; streams that are cut and
streams with changed bytes give an answer that is known, and a reason unless they decode. A process
that crashes, hangs or prints fails. The seed is fixed.

Examples:
  tests/e2e/all/hostile/images.py
  tests/e2e/all/hostile/images.py --count 20000 --only jpeg2k
"""
import argparse
import ctypes
import pathlib
import random
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402

MODULE = ROOT / "build" / "release" / "lib" / "libgraphengine_image.so"
TESTS = ROOT / "build" / "node-tests" / "node"
MEMORY = 4 << 30
MOST_BYTES = 1 << 24  # of a damaged picture that claims to be large
ORDERS = {"RGB": 0, "BGR": 1, "Grayscale": 2}
ANSWERS = range(7)  # the next is a bug
SECONDS = 900

RESERVE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                           ctypes.c_int64)


class Request(ctypes.Structure):
    """ge_image_request of sdk/include/ge/ge_image.h."""
    _fields_ = [("bytes", ctypes.c_char_p), ("size", ctypes.c_uint64), ("order", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("reserve", RESERVE), ("self", ctypes.c_void_p),
                ("choose", ctypes.c_void_p), ("line", ctypes.c_void_p), ("stop", ctypes.c_void_p),
                ("why", ctypes.c_char * 320)]


class Codecs:
    def __init__(self, module):
        self.decode_fn = ctypes.CDLL(str(module)).ge_image_decode_3
        self.pixels = None
        self.reserve = RESERVE(self.make)

    def make(self, _, height, width, channels):
        if height * width * channels > MOST_BYTES:
            return None
        self.pixels = np.empty((height, width, channels), np.uint8)
        return self.pixels.ctypes.data

    def decode(self, stream, order):
        """(answer, why, pixels)."""
        self.pixels = None
        request = Request(stream, len(stream), order, 0, self.reserve, None, None, None, None, b"")
        answer = self.decode_fn(ctypes.byref(request))
        return answer, request.why.decode(errors="replace"), self.pixels


def tensor(path):
    made = onnx.TensorProto()
    made.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(made)


def whole(codecs, stream, folder, order):
    """Faults of the stream as it is stored."""
    answer, why, pixels = codecs.decode(stream, ORDERS[order])
    if answer != 0:
        return [f"the whole stream is refused: {why}"]
    if not np.array_equal(pixels, tensor(folder / "output_0.pb")):
        return ["the whole stream gives other pixels"]
    rgb = codecs.decode(stream, 0)[2].astype(np.uint32)
    light = (rgb @ np.array([19595, 38470, 7471], np.uint32) + 0x8000) >> 16
    wanted = {"RGB": rgb, "BGR": rgb[:, :, ::-1], "Grayscale": light[:, :, None]}
    return [f"{name} differs from RGB" for name, number in ORDERS.items()
            if not np.array_equal(codecs.decode(stream, number)[2], wanted[name])]


def damaged(stream, count, rng):
    """Every tenth length, then `count` changes of some bytes, half of them in the first 200."""
    for n in range(0, len(stream), 10):
        yield stream[:n]
    for _ in range(count):
        s = bytearray(stream)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(min(len(s), 200) if rng.random() < 0.5 else len(s))
            s[at] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256), s[at] ^ 1 << rng.randrange(8)])
        if rng.random() < 0.2:
            del s[rng.randrange(len(s)):]
        if rng.random() < 0.1:
            at = rng.randrange(len(s) + 1)
            s[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 40)))
        yield bytes(s)


def inside(args, folder):
    """What the process of one test does; prints faults and, last, what came out."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not args.no_address_limit:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    model = onnx.load(folder / "model.onnx")
    order = next((a.s.decode() for a in model.graph.node[0].attribute), "RGB")
    data = folder / "test_data_set_0"
    stream, codecs = tensor(data / "input_0.pb").tobytes(), Codecs(args.module)
    faults, seen = whole(codecs, stream, data, order), {}
    for s in damaged(stream, args.count, random.Random(folder.name)):
        answer, why, _ = codecs.decode(s, ORDERS[order])
        seen[answer] = seen.get(answer, 0) + 1
        if answer not in ANSWERS or (answer != 0 and len(why) < 5):
            faults.append(f"answer {answer}, reason '{why}' for {s[:40].hex()}...")
    for fault in faults[:5]:
        print(f"  {fault}")
    print("answers " + " ".join(f"{k}:{v}" for k, v in sorted(seen.items())))
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=4000, help="changed streams of each (4000)")
    parser.add_argument("--only", default="", help="tests whose name contains this")
    parser.add_argument("--module", type=pathlib.Path, default=MODULE, help="the codecs")
    parser.add_argument("--no-address-limit", action="store_true", help="for a sanitizer's build")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        return inside(args, TESTS / args.inside)
    folders = sorted(p for p in TESTS.glob("test_image_decoder_*") if args.only in p.name)
    if not folders:
        sys.stderr.write(f"images.py: no test of ImageDecoder in {TESTS}; run ./test first\n")
        return 2
    passed = failed = 0
    for folder in folders:
        command = [sys.executable, __file__, *sys.argv[1:], "--inside", folder.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, err = -1, "", f"not done after {SECONDS} s"
        good = code == 0 and not err
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok' if good else 'FAILED'}  {folder.name}: {out.strip()}", flush=True)
        if not good:
            print(f"  exit code {code}, stderr: {err.strip()[-1500:]}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
