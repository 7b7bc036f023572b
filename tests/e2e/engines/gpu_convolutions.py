#!/usr/bin/env python3
"""Convolutions of the engine gpu and their gradients by the simulated cuDNN, against ref.

Shapes (named ones and random ones) x float32, float16, bfloat16 x what follows the convolution; then
a library that is missing, old or lacks a function; prices with and without it; each of its calls
failing; orders of the device and captures. Wrong use of the simulated library is in
gpu_cudnn_use.py.

Example: tests/e2e/engines/gpu_convolutions.py --build build/release --seed 3
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Units in the last place of the largest number that a sum and what follows it may be off.
EPSILON = {"f32": 2.0 ** -24 * 64, "f16": 2.0 ** -11 * 4, "bf16": 2.0 ** -8 * 4}
# images, channels of a group, results of a group, groups, kernel, size, stride, dilation, pads
NAMED = {
    "one pixel": (1, 1, 1, 1, [1], [1], [1], [1], [0, 0]),
    "1x1": (2, 8, 5, 1, [1, 1], [7, 5], [1, 1], [1, 1], [0, 0, 0, 0]),
    "odd": (1, 3, 7, 1, [3, 5], [11, 13], [2, 3], [1, 1], [1, 2, 1, 2]),
    "depthwise": (2, 1, 1, 6, [3, 3], [8, 9], [1, 1], [1, 1], [1, 1, 1, 1]),
    "depthwise x 3": (1, 1, 3, 4, [3, 3], [8, 9], [2, 2], [1, 1], [1, 1, 1, 1]),
    "grouped": (2, 4, 3, 2, [3, 3], [6, 6], [1, 1], [1, 1], [1, 1, 1, 1]),
    "dilated": (1, 4, 4, 1, [3, 3], [12, 10], [1, 1], [2, 3], [2, 3, 2, 3]),
    "ends differ": (1, 3, 4, 1, [3, 3], [8, 8], [2, 2], [1, 1], [0, 0, 1, 1]),
    "starts differ": (2, 3, 4, 1, [2, 4], [5, 6], [1, 1], [1, 1], [1, 3, 0, 1]),
    "1-d": (3, 4, 6, 1, [5], [17], [2], [1], [2, 2]),
    "1-d, ends differ": (1, 4, 6, 2, [4], [9], [3], [2], [0, 3]),
    "3-d": (1, 2, 3, 1, [3, 2, 3], [5, 6, 4], [1, 2, 1], [1, 1, 1], [1, 0, 1, 1, 0, 1]),
    "3-d, grouped, ends differ": (2, 2, 2, 2, [2, 3, 1], [4, 5, 3], [1, 1, 2], [2, 1, 1],
                                  [1, 1, 0, 0, 2, 1]),
    "window is the image": (2, 5, 3, 1, [4, 6], [4, 6], [1, 1], [1, 1], [0, 0, 0, 0]),
    "no image": (0, 3, 4, 1, [3, 3], [6, 6], [1, 1], [1, 1], [1, 1, 1, 1]),
}
# What follows, over r, which is the convolution's result: text of nodes that end in `y`.
TAILS = {
    "plain": "", "bias": "", "residual": "y = Add(r, z)", "relu": "y = Relu(r)",
    "residual, relu": "a = Add(r, z)\n  y = Relu(a)", "leaky": "y = LeakyRelu(r) {alpha=0.1}",
    "relu6": "y = Clip(r, low, high)", "clip to 0": "y = Clip(r, under, low)", "sigmoid": "y = Sigmoid(r)", "gelu": "y = Gelu(r)",
    "swish": "s = Sigmoid(r)\n  y = Mul(r, s)", "relu, residual": "a = Relu(r)\n  y = Add(a, z)",
    "norm, relu": "a = BatchNormalization(r, ns, nb, nm, nv)\n  y = Relu(a)",
    "scaled": "y = Mul(r, z)", "tanh, scaled": "a = Tanh(r)\n  y = Mul(a, z)",
}
BIASED = {"bias", "residual, relu", "relu6", "gelu", "relu, residual", "tanh, scaled"}
# A libcudnn.so.9 with no more than that.
OLD = "#include <stddef.h>\n#define GIVES(f, v) size_t f(void) { return v; }\n"


def floor_dims(size, kernel, stride, dilation, pads):
    axes = len(size)
    return [(size[k] + pads[k] + pads[k + axes] - dilation[k] * (kernel[k] - 1) - 1) // stride[k] + 1
            for k in range(axes)]


def some_shape(r):
    """A random geometry with at least one window."""
    while True:
        axes = r.choice([1, 2, 2, 2, 3])
        kernel = [r.randint(1, 4) for _ in range(axes)]
        shape = (r.randint(1, 3), r.randint(1, 6), r.randint(1, 6), r.choice([1, 1, 1, 2, 3]), kernel,
                 [r.randint(1, 10) for _ in range(axes)], [r.randint(1, 3) for _ in range(axes)],
                 [r.randint(1, 2) for _ in range(axes)], [r.randint(0, k - 1) for k in kernel * 2])
        windows = floor_dims(shape[5], shape[4], *shape[6:])
        # ConvTranspose has no empty images.
        back = [(n - 1) * s + d * (k - 1) + 1 - before - behind for n, s, d, k, before, behind
                in zip(windows, shape[6], shape[7], kernel, shape[8], shape[8][axes:])]
        if min(windows + back) > 0:
            return shape


def text(dims):
    return ",".join(str(d) for d in dims)


def model(shape, dtype, tail, constant, r):
    """A graph of four convolutions of one geometry: Conv with what follows, ConvTranspose, and both
    gradients. Results of 16 bits are cast at the end."""
    images, fan_in, fan_out, group, kernel, size, stride, dilation, pads = shape
    x = [images, fan_in * group, *size]
    w = [fan_out * group, fan_in, *kernel]
    y = [images, fan_out * group, *floor_dims(size, kernel, stride, dilation, pads)]
    axes = f"strides=[{text(stride)}], dilations=[{text(dilation)}], pads=[{text(pads)}], group={group}"
    numbers = [f"{r.uniform(-1, 1):.4f}" for _ in range(w[0])]
    biases = [f"const b : {dtype}[{w[0]}] = [{', '.join(numbers)}]"] if constant else []
    inputs = [f"x: {dtype}[{text(x)}]", f"w: {dtype}[{text(w)}]", f"dy: {dtype}[{text(y)}]",
              f"z: {dtype}[{text(y)}]"] + ([] if constant else [f"b: {dtype}[{w[0]}]"])
    lines = [f"r = Conv(x, w{', b' if tail in BIASED else ''}) {{{axes}}}", *TAILS[tail].split("\n  ")]
    made = ["y" if TAILS[tail] else "r"]
    lines += [f"dx = ge.ConvGradInput(dy, w, xs) {{{axes}}}",
              f"dw = ge.ConvGradWeight(x, dy, ws) {{{axes}}}",
              f"t = ConvTranspose(dy, w, c) {{{axes}, output_padding=[{text([0] * len(size))}]}}",
              "tr = Relu(t)"]
    made += ["dx", "dw", "tr"]
    if images == 0:
        made.remove("dw")
        lines = [line for line in lines if not line.startswith("dw")]
    if dtype != "f32":
        lines += [f"o{k} = Cast({v}) {{to=1}}" for k, v in enumerate(made)]
        made = [f"o{k}" for k in range(len(made))]
    body = "\n  ".join(line for line in lines if line)
    norm = [f"const {v} : {dtype}[{w[0]}] = [{', '.join(f'{r.uniform(0.2, 2):.4f}' for _ in range(w[0]))}]"
            for v in ("ns", "nb", "nm", "nv")]
    scalars = [f"const low : {dtype}[] = [0.0]", f"const high : {dtype}[] = [0.5]", f"const under : {dtype}[] = [-0.5]",
               f"const c : {dtype}[{x[1]}] = splat 0.25",
               f"const xs : i64[{len(x)}] = [{text(x)}]", f"const ws : i64[{len(w)}] = [{text(w)}]"]
    return (f'ge 1\nopset "" 28\n' + "\n".join(biases + norm + scalars) +
            f"\nfn main({', '.join(inputs)}) -> ({', '.join(made)}) {{\n  {body}\n}}\n"
            'entry infer "main" = main\n')


class Checks:
    def __init__(self, build, folder, seed):
        self.build, self.folder, self.seed = build, folder, seed
        self.sim = build / "lib/sim/cuda"
        self.passed = self.failed = 0

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-2000:]}")

    def ge(self, *args, libraries=None, **env):
        whole = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **env}
        whole["LD_LIBRARY_PATH"] = str(libraries or self.sim)
        return subprocess.run([self.build / "bin/ge", *map(str, args)], cwd=ROOT, capture_output=True,
                              text=True, timeout=600, check=False, env=whole)

    def ran(self, path, *args, engines="gpu,ref", **env):
        """(result, report, {name: array}) of a run."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = self.ge("run", path, "--engines", engines, "--seed", 5, "--json", "--output", out,
                           "--policy", "priority", *args, **env)
            report = json.loads(done.stdout) if done.returncode == 0 else {}
            return done, report, {f.stem: numpy.load(f) for f in sorted(pathlib.Path(out).iterdir())}

    def write(self, name, words):
        path = self.folder / f"{name}.gt"
        path.write_text(words)
        return path


def near(found, wanted, dtype):
    """Whether the arrays agree within the dtype's bound; else words of the first that does not."""
    if found.keys() != wanted.keys():
        return False, f"{found.keys()} in place of {wanted.keys()}"
    for name, want in wanted.items():
        if want.size == 0:
            continue
        bound = EPSILON[dtype] * max(1.0, float(numpy.abs(want).max()))
        off = float(numpy.abs(found[name] - want).max())
        if not off <= bound:
            return False, f"{name} is off by {off}, may be by {bound}"
    return True, ""


def shapes(c, count):
    """Every tail with every dtype, over named and random geometries; all of it on the device."""
    r = random.Random(c.seed)
    tails, dtypes = sorted(TAILS), ["f32", "f16", "bf16"]
    cases = [(name, shape, dtype, tails[(k + j) % len(tails)])
             for k, (name, shape) in enumerate(sorted(NAMED.items())) for j, dtype in enumerate(dtypes)]
    cases += [(f"random {k}", some_shape(r), dtypes[k % 3], tails[k // 3 % len(tails)])
              for k in range(count)]
    for k, (name, shape, dtype, tail) in enumerate(cases):
        words = model(shape, dtype, tail, k % 2 == 0, r)
        path = c.write("case", words)
        _, _, wanted = c.ran(path, engines="ref")
        done, _, found = c.ran(path, engines="gpu")  # beside ref small gradients are taken apart
        good, why = near(found, wanted, dtype) if wanted else (False, "ref gives nothing")
        c.check(good, f"{name}, {dtype}, {tail}", f"{why}\n{done.stderr}\n{words}")
    print(f"{len(cases)} geometries, each by Conv, ConvTranspose and both gradients")


def case_of(c, name, dtype="f32", tail="residual, relu", shape="odd"):
    return c.write(name, model(NAMED[shape], dtype, tail, True, random.Random(1)))


def folder_with(c, name, library):
    """A folder with the simulated driver and this libcudnn.so.9: C, or bytes that are no library."""
    folder = c.folder / name
    folder.mkdir()
    (folder / "libcuda.so.1").symlink_to(c.sim / "libcuda.so.1")
    if library.startswith("#"):
        (folder / "fake.c").write_text(library)
        subprocess.run(["cc", "-shared", "-fPIC", folder / "fake.c", "-o", folder / "libcudnn.so.9"],
                       check=True)
    else:
        (folder / "libcudnn.so.9").write_text(library)
    return folder


def functions():
    words = (ROOT / "plugins/gpu/vendor/cudnn.h").read_text()
    return re.findall(r"\bF\([\w\s*]+, (cudnn\w+)", words)


def without_library(c):
    """Missing, without a function, of another version: a sentence, and our own kernel."""
    path = case_of(c, "states")
    whole = "".join(f"GIVES({f}, {80900 if f == 'cudnnGetVersion' else 0})\n" for f in functions())
    states = {"none": ("none", "there is no cuDNN: "),
              "functions": (OLD + "GIVES(cudnnGetVersion, 90000)\n", "libcudnn.so.9 has no cudnn"),
              "version": (OLD + whole, "cuDNN's version is 80900; wanted one of 9")}
    _, _, wanted = c.ran(path, engines="ref")
    for name, (library, words) in states.items():
        folder = folder_with(c, name, library)
        done, report, found = c.ran(path, "-v", libraries=folder)
        good, why = near(found, wanted, "f32")
        c.check(good and report["engines"].get("gpu", 0) >= 3, f"library '{name}'", f"{why} {done.stderr}")
        said = [line for line in done.stderr.splitlines() if words in line]
        c.check(len(said) == 1 and "convolutions stay with the engine's own kernel" in said[0],
                f"-v says once: {words}", done.stderr)
    folder = c.sim  # the option names it where the linker has another one
    done, _, found = c.ran(path, engines=f"gpu:libraries={folder},ref", libraries=c.folder / "version")
    _, _, usual = c.ran(path)
    c.check(found and all(numpy.array_equal(found[k], usual[k]) for k in usual), "libraries=", done.stderr)


def prices(c):
    """A price is the library's where it is there, and our own kernel's where it is not."""
    shape = (8, 64, 64, 1, [3, 3], [56, 56], [1, 1], [1, 1], [1, 1, 1, 1])
    path = c.write("prices", model(shape, "f32", "plain", True, random.Random(1)))
    half = c.write("halves", model(shape, "f16", "plain", True, random.Random(1)))

    def price(of, libraries):
        done = c.ge("explain", of, "--engines", "gpu,ref", "--policy", "priority", "--json",
                    libraries=libraries)
        bids = json.loads(done.stdout)["nodes"][0]["bids"]
        return next(b["analytic_ns"] for b in bids if b["device"] == "gpu/sim:0")

    own = folder_with(c, "own", "none")
    with_it, without, halves = price(path, c.sim), price(path, own), price(half, c.sim)
    c.check(with_it > 0 and without > 8 * with_it, "our own kernel costs more", (with_it, without))
    c.check(0 < halves < with_it, "numbers of 16 bits cost less", (with_it, halves))


def faults(c):
    """Each call of the library fails once: words of it, or the right numbers."""
    path = case_of(c, "faults")
    _, _, wanted = c.ran(path, engines="ref")
    counted = c.folder / "counted"
    c.ran(path, GE_SIM_LIBRARIES=f"calls={counted}")
    calls = int(counted.read_text().split()[0])
    statuses = [3000, 5000, 2000, 4000, 4004, 1001]
    kept = 0
    for k in range(1, calls + 1, 3):
        status = statuses[k // 3 % len(statuses)]
        done, _, found = c.ran(path, GE_SIM_LIBRARIES=f"fail=any:{k}:{status}")
        named = done.returncode == 3 and "cuDNN" in done.stderr
        right = done.returncode == 0 and near(found, wanted, "f32")[0]
        kept += right
        c.check(named or right, f"call {k} of {calls}: {status}", done.stderr)
    c.check(calls > 100 and kept > 0, "calls of the library", (calls, kept))
    # While it runs, not while it is compiled.
    for status in [2000, 4004, 5000]:
        done, report, found = c.ran(path, GE_SIM_LIBRARIES=f"fail=cudnnBackendExecute:1:{status}")
        c.check(done.returncode == 3 and f"cuDNN answers {status}" in done.stderr
                or near(found, wanted, "f32")[0] and report, f"a launch that answers {status}",
                done.stderr)
    print(f"{calls} calls of the library, {kept} failures without a loss")


def rounding(c):
    """Engines that round what they read are taken where the user permits it, and nowhere else."""
    path = case_of(c, "rounding", tail="bias")
    _, _, wanted = c.ran(path, engines="ref")
    _, exact, found = c.ran(path)
    c.check(near(found, wanted, "f32")[0] and exact["rounded_nodes"] == 0, "no rounding", exact)
    done, report, found = c.ran(path, "--precision", "bf16")
    c.check(found and near(found, wanted, "bf16")[0] and not near(found, wanted, "f32")[0]
            and report["rounded_nodes"] > 0, "rounding", (report.get("rounded_nodes"), done.stderr))


def second_device(c):
    """A device has a handle of its own."""
    path = case_of(c, "second")
    _, _, wanted = c.ran(path)
    for engines in ["gpu:device=1,ref", "gpu:device=all,ref"]:
        done, _, found = c.ran(path, engines=engines, GE_SIM_CUDA="devices=2")
        c.check(found and all(numpy.array_equal(found[k], wanted[k]) for k in wanted), engines, done.stderr)


def training(c):
    """Steps of a net with two convolutions: five launches of the library each, losses as on the CPU."""
    r = numpy.random.default_rng(1)
    data = c.folder / "data.npz"
    numpy.savez(data, x=r.normal(size=(96, 3, 12, 12)).astype("float32"), y=r.integers(0, 5, 96))
    weights = {"w1": [8, 3, 3, 3], "b1": [8], "w2": [8, 8, 3, 3], "b2": [8], "w3": [288, 5], "b3": [5]}
    consts = [f"const {name} : f32[{text(dims)}] = "
              f"[{', '.join(f'{v:.4f}' for v in r.uniform(-0.2, 0.2, numpy.prod(dims)))}]"
              for name, dims in weights.items()]
    path = c.write("net", 'ge 1\nopset "" 28\n' + "\n".join(consts) + """
fn main(x: f32["N",3,12,12]) -> (y) {
  a = Conv(x, w1, b1) {pads=[1,1,1,1], strides=[2,2]}
  r = Relu(a)
  k = Conv(r, w2, b2) {pads=[1,1,1,1]}
  d = Add(k, r)
  e = Relu(d)
  f = Flatten(e)
  y = Gemm(f, w3, b3)
}
entry infer "main" = main
""")

    def loss(engines, **env):
        done = c.ge("train", path, "--data", data, "--batch", 16, "--steps", 6, "--no-test", "--engines",
                    engines, "--json", **env)
        return json.loads(done.stdout.splitlines()[-1])["train_loss"] if done.returncode == 0 else done.stderr

    counted = c.folder / "launches"
    wanted, found = loss("ref"), loss("gpu", GE_SIM_LIBRARIES=f"calls={counted}")
    c.check(isinstance(found, float) and abs(found - wanted) < 1e-5 * wanted, "losses", (found, wanted))
    launches = re.search(r"cudnnBackendExecute (\d+)", counted.read_text() if counted.exists() else "")
    # Two convolutions, the gradients of their weights, that of the second's image.
    c.check(launches and int(launches[1]) == 6 * 5, "launches", launches)


def schedules(c):
    """Orders of the device's work change no bit; captured launches neither; no findings."""
    reports, counted = c.folder / "reports", c.folder / "driver_calls"
    path = case_of(c, "schedules")
    for form in [[], ["--no-fuse"]]:
        wanted = None
        for schedule in ["eager", "lazy", "adversarial", *(f"seeded;seed={k}" for k in range(1, 6))]:
            done, _, found = c.ran(path, "--repeat", 6, *form, GE_SIM_CUDA=f"schedule={schedule};"
                                   f"reports={reports};calls={counted}")
            wanted = wanted or found
            same = found and all(numpy.array_equal(found[k], wanted[k]) for k in wanted)
            c.check(same, f"{form} schedule {schedule}", done.stderr)
            captured = re.search(r"graph_launch (\d+)", counted.read_text())
            counted.unlink()
            c.check(not form or (captured and int(captured[1]) > 0), "launches of captures", captured)
    c.check(not reports.exists() or not reports.read_text(), "findings of the simulator",
            reports.read_text() if reports.exists() else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=120, help="random geometries")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(args.build.resolve(), pathlib.Path(folder), args.seed)
        for part in [lambda c: shapes(c, args.count), without_library, prices, rounding, second_device,
                     training, faults, schedules]:
            part(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
