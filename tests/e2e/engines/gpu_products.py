#!/usr/bin/env python3
"""Matrix products of the engine gpu by cuBLASLt, on the simulated vendor.

Graphs of products and of what follows them give what ref gives, each in as many launches as it
should take; without the library, or a function of it, the engine's own kernel stands in; each call
of the library fails once; schedules change no bit. Wrong arguments are answered by the simulated
library itself: those calls are made here, by ctypes.

Example: tests/e2e/engines/gpu_products.py --build build/release
"""
import argparse
import ctypes
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gpu  # noqa: E402

DTYPES = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
HEADER = gpu.ROOT / "plugins/gpu/vendor/cublaslt.h"


def shape(dims):
    return ",".join(map(str, dims))


class Graph:
    """A text of nodes; inputs are random, constants too."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.inputs, self.constants, self.nodes, self.outputs = [], [], [], []

    def value(self, dtype, dims, constant=False):
        name = f"v{len(self.inputs) + len(self.constants)}"
        if constant:
            numbers = ", ".join(f"{self.random.randint(-16, 16) / 16}" for _ in range(int(np.prod(dims))))
            self.constants.append(f"const {name} : {dtype}[{shape(dims)}] = [{numbers}]")
        else:
            self.inputs.append(f"{name}: {dtype}[{shape(dims)}]")
        return name

    def node(self, text):
        name = f"n{len(self.nodes)}"
        self.nodes.append(f"  {name} = {text}")
        return name

    def text(self):
        return "\n".join(["ge 1", 'opset "" 28', *self.constants,
                          f"fn main({', '.join(self.inputs)}) -> ({', '.join(self.outputs)}) {{",
                          *self.nodes, "}", 'entry infer "main" = main', ""])


def product(g, dtype, case):
    """A MatMul or Gemm of a random shape; (its name, its dims)."""
    pick = g.random.choice
    m, n, k = (pick([1, 2, 3, 7, 8, 16, 33, 65]) for _ in range(3))
    k = pick([k, 128, 640])
    if case % 3 == 0:  # Gemm, of any transposes
        ta, tb = pick([0, 1]), pick([0, 1])
        a = g.value(dtype, (k, m) if ta else (m, k))
        b = g.value(dtype, (n, k) if tb else (k, n), constant=pick([True, False]))
        alpha = pick([1, 0.5])
        return g.node(f"Gemm({a}, {b}) {{alpha={float(alpha)}, transA={ta}, transB={tb}}}"), (m, n)
    batch = pick([(), (1,), (3,), (2, 3)])
    left, right = pick([(batch, batch), (batch, ()), ((), batch), (batch, (1,) * len(batch))])
    a, b = g.value(dtype, (*left, m, k)), g.value(dtype, (*right, k, n))
    whole = left if np.prod(left, initial=1) >= np.prod(right, initial=1) and len(left) >= len(right) else right
    return g.node(f"MatMul({a}, {b})"), (*whole, m, n)


def follow(g, dtype, name, dims, how):
    """What follows a product; `how` is a word of EPILOGUES."""
    n = dims[-1]
    for part in how.split():
        if part == "bias":
            name = g.node(f"Add({name}, {g.value(dtype, (n,), constant=True)})")
        elif part == "vector":
            name = g.node(f"Add({g.value(dtype, (n,))}, {name})")
        elif part == "residual":
            name = g.node(f"Add({name}, {g.value(dtype, dims)})")
        elif part == "column":
            name = g.node(f"Add({name}, {g.value(dtype, (dims[-2], 1))})")
        elif part == "relu":
            name = g.node(f"Relu({name})")
        elif part == "tanh_gelu":
            name = g.node(f'Gelu({name}) {{approximate="tanh"}}')
        elif part == "gelu":
            name = g.node(f"Gelu({name})")
    return name


# What follows a product, and the kernels of our own that it leaves, of float32 and of 16 bits.
EPILOGUES = {
    "": (0, 0), "bias": (0, 0), "vector": (0, 0), "residual": (0, 0), "relu": (0, 0),
    "bias relu": (0, 0), "bias residual": (0, 0), "residual bias relu": (0, 0),
    "tanh_gelu": (1, 0), "bias tanh_gelu": (1, 0), "gelu": (1, 1), "bias gelu": (1, 1),
    "column": (1, 1), "column relu": (1, 1), "bias vector": (1, 1), "residual residual": (1, 1),
    "relu bias": (1, 1),
}


def read(path):
    """Of bfloat16 a .npy file has the bits."""
    array = np.load(path)
    return array.view(ml_dtypes.bfloat16) if array.dtype in (np.uint16, np.dtype("V2")) else array


def run(c, text, **how):
    """(process, report, arrays by name, calls by kind) of a graph on the simulator."""
    files = [c.folder / name for name in ("driver_calls", "library_calls")]
    for f in files:
        f.unlink(missing_ok=True)
    fail = how.pop("fail", "")
    reports = c.folder / ("reports_of_failures" if fail else "reports")
    env = {"GE_SIM_CUDA": f"calls={files[0]};reports={reports};" + how.pop("sim", ""),
           "GE_SIM_LIBRARIES": f"calls={files[1]};" + fail}
    engines = how.pop("engines", "gpu,ref")
    words = how.pop("words", [])
    (c.folder / "graph.gt").write_text(text)
    with tempfile.TemporaryDirectory(dir=c.folder) as out:
        done = c.run("ge", "run", c.folder / "graph.gt", "--engines", engines, "--seed", 5, "--json", "-v",
                     "--output", out, "--policy", "priority", *words, libraries=c.sim, **env, **how)
        report = json.loads(done.stdout) if done.returncode == 0 else {}
        found = {f.stem: read(f) for f in sorted(pathlib.Path(out).iterdir())}
    calls = {}
    for f in files:
        for line in f.read_text().splitlines()[1:] if f.exists() else []:
            kind, n = line.rsplit(" ", 1)
            calls[kind] = int(n)
    return done, report, found, calls


def differ(found, wanted, eps):
    """A sentence about the first output that is further off than a few of its roundings."""
    if found.keys() != wanted.keys():
        return f"outputs {found.keys()}, wanted {wanted.keys()}"
    for name, want in wanted.items():
        got, want = found[name].astype(np.float64), want.astype(np.float64)
        bound = eps * (4 + 8 * np.abs(want).max(initial=1))
        off = np.abs(got - want).max(initial=0)
        if not np.isfinite(got).all() or off > bound:
            return f"{name}: off by {off}, at most {bound}"
    return ""


def shapes(c):
    for dtype, eps in DTYPES.items():
        for seed in range(6):
            g = Graph(seed)
            for case in range(40):
                name, dims = product(g, dtype, case)
                g.outputs.append(follow(g, dtype, name, dims, g.random.choice(list(EPILOGUES))))
            _, _, wanted, _ = run(c, g.text(), engines="ref")
            done, report, found, calls = run(c, g.text())
            c.check(len(wanted) == 40 and not differ(found, wanted, eps), f"{dtype}, seed {seed}",
                    differ(found, wanted, eps) + done.stderr[-500:])
            c.check(calls.get("cublasLtMatmul") == 40 and report.get("engines", {}).get("ref", 0) == 0,
                    f"{dtype}, seed {seed}: all by the library", f"{calls} {report.get('engines')}")


def empty(c):
    """No rows, no columns, no depth: zeros, or nothing at all, and no call of the library."""
    for dtype in DTYPES:
        g = Graph(7)
        for left, right in [((0, 8), (8, 4)), ((4, 8), (8, 0)), ((4, 0), (0, 5)), ((0, 2, 3), (3, 4)),
                            ((2, 3, 0), (2, 0, 4))]:
            g.outputs.append(g.node(f"MatMul({g.value(dtype, left)}, {g.value(dtype, right)})"))
        _, _, wanted, _ = run(c, g.text(), engines="ref")
        done, _, found, calls = run(c, g.text())
        c.check(len(wanted) == 5 and not differ(found, wanted, 0) and "cublasLtMatmul" not in calls and
                all(found[n].shape == wanted[n].shape for n in wanted), f"{dtype}: empty matrices",
                f"{differ(found, wanted, 0)} {calls} {done.stderr[-500:]}")


def epilogues(c):
    for dtype in DTYPES:
        for how, left in EPILOGUES.items():
            g = Graph(1)
            a, b = g.value(dtype, (2, 5, 16)), g.value(dtype, (16, 6), constant=True)
            g.outputs.append(follow(g, dtype, g.node(f"MatMul({a}, {b})"), (2, 5, 6), how))
            done, _, found, calls = run(c, g.text())
            own = left[0 if dtype == "f32" else 1]
            c.check(found and calls.get("cublasLtMatmul") == 1 and calls.get("launch", 0) == 1 + own,
                    f"{dtype}: launches of a product, {how or 'alone'}", f"{calls} {done.stderr[-500:]}")


def gemm(c):
    """A Gemm's alpha, and a beta that no call has a place for, in all dtypes."""
    for dtype, eps in DTYPES.items():
        g = Graph(2)
        for alpha, beta, dims in [(0.25, 1.0, (6,)), (1.0, 0.5, (6,)), (2.0, 1.0, (5, 6)), (1.0, 1.0, (5, 1)),
                                  (1.0, 1.0, (1,)), (-1.0, 1.0, ())]:
            parts = [g.value(dtype, (16, 5)), g.value(dtype, (6, 16)),
                     g.value(dtype, dims, constant=beta != 1.0)]
            g.outputs.append(g.node(f"Gemm({', '.join(parts)}) {{alpha={alpha}, beta={beta}, transA=1, transB=1}}"))
        _, _, wanted, _ = run(c, g.text(), engines="ref")
        done, _, found, calls = run(c, g.text())
        c.check(calls.get("cublasLtMatmul") == 6 and not differ(found, wanted, eps), f"{dtype}: Gemm",
                differ(found, wanted, eps) + f"{calls}" + done.stderr[-500:])


def turned(c):
    """Transposes of matrices are read as they lie; one of other axes stays a kernel."""
    for dtype, eps in DTYPES.items():
        for batch in [(), (3,), (2, 3)]:
            swap = [*range(len(batch)), len(batch) + 1, len(batch)]
            for how in ["left", "right", "both", "result", "all", "twice"]:
                g = Graph(6)
                a = g.value(dtype, (*batch, 16, 5) if how in ("left", "both", "all") else (*batch, 5, 16))
                b = g.value(dtype, (*batch, 6, 16) if how in ("right", "both", "all") else (*batch, 16, 6))
                a = g.node(f"Transpose({a}) {{perm={swap}}}") if how in ("left", "both", "all") else a
                b = g.node(f"Transpose({b}) {{perm={swap}}}") if how in ("right", "both", "all") else b
                y = g.node(f"MatMul({a}, {b})")
                if how in ("result", "all", "twice"):
                    y = g.node(f"Transpose({y}) {{perm={swap}}}")
                if how == "twice" and batch:
                    y = g.node(f"Transpose({y}) {{perm={[1, 0, *range(2, len(batch) + 2)]}}}")
                g.outputs.append(y)
                _, _, wanted, _ = run(c, g.text(), engines="ref")
                done, _, found, calls = run(c, g.text())
                launches = 2 if how == "twice" and batch else 1
                c.check(calls.get("launch") == launches and not differ(found, wanted, eps),
                        f"{dtype}, transposed {how}, batch {batch}",
                        differ(found, wanted, eps) + f" {calls} {done.stderr[-500:]}")


def small_graph(dtype="f32"):
    g = Graph(3)
    a, b = g.value(dtype, (3, 16)), g.value(dtype, (16, 8), constant=True)
    h = follow(g, dtype, g.node(f"MatMul({a}, {b})"), (3, 8), "bias relu")
    deep = g.node(f"MatMul({g.value(dtype, (4, 640))}, {g.value(dtype, (640, 8))})")
    g.outputs += [g.node(f"MatMul({h}, {g.value(dtype, (8, 4))})"), deep]
    return g.text()


def rounding(c):
    """float32 is rounded where --precision bf16 permits it, and nowhere else."""
    text = small_graph()
    _, _, wanted, _ = run(c, text, engines="ref")
    for precision, eps, least in [("f32", DTYPES["f32"], 0), ("bf16", 2.0**-8, 1)]:
        done, report, found, _ = run(c, text, words=["--precision", precision])
        c.check(not differ(found, wanted, eps) and bool(report.get("rounded_nodes", 0)) == bool(least),
                f"--precision {precision}", differ(found, wanted, eps) + str(report) + done.stderr[-500:])
        c.check(bool(differ(found, wanted, DTYPES["f32"])) == bool(least),
                f"--precision {precision}: digits", report)


def without(c):
    """No library, one that is none, and one that lacks a function: the own kernel stands in."""
    empty, broken, partial = (c.folder / name for name in ("empty", "broken", "partial"))
    for folder in (empty, broken, partial):
        folder.mkdir()
    (broken / "libcublasLt.so.13").write_text("no library")
    names = re.findall(r"\bF\((cublasLt\w+)", HEADER.read_text())
    rest = "".join(f"int {f}(void) {{ return 1; }}\n" for f in names if f != "cublasLtMatmul")
    (partial / "fake.c").write_text(rest)
    subprocess.run(["cc", "-shared", "-fPIC", partial / "fake.c", "-o", partial / "libcublasLt.so.13"], check=True)
    for dtype in DTYPES:
        text = small_graph(dtype)
        _, _, wanted, _ = run(c, text, engines="ref")
        for folder, words in [(empty, "there is no cuBLASLt"), (broken, "there is no cuBLASLt"),
                              (partial, "libcublasLt.so.13 has no cublasLtMatmul")]:
            done, report, found, calls = run(c, text, engines=f"gpu:libraries={folder},ref")
            c.check(words in done.stderr and "products stay with the engine's own kernel" in done.stderr,
                    f"{dtype}, library '{folder.name}': -v", done.stderr)
            c.check("cublasLtMatmul" not in calls and not differ(found, wanted, DTYPES[dtype])
                    and set(report.get("engines", {})) == {"gpu"},
                    f"{dtype}, library '{folder.name}': results", f"{calls} {report.get('engines')}")


def prices(c):
    """A large product is cheapest in 16 bits by the library, dearest by the own kernel."""
    empty = c.folder / "empty"
    price = {}
    for dtype in DTYPES:
        g = Graph(4)
        a, b = g.value(dtype, (4096, 4096)), g.value(dtype, (4096, 4096))
        g.outputs.append(g.node(f"MatMul({a}, {b})"))
        (c.folder / "large.gt").write_text(g.text())
        for library, engines in [(True, "gpu"), (False, f"gpu:libraries={empty}")]:
            done = c.run("ge", "explain", c.folder / "large.gt", "--engines", engines, "--json",
                         "--prices", "analytic", libraries=c.sim)
            found = json.loads(done.stdout) if done.returncode == 0 else {}
            price[dtype, library] = found.get("nodes", [{}])[0].get("price_ns", 0)
    ratio = price["f32", True] / max(price["f16", True], 1e-9)
    c.check(10 < ratio < 16 and price["f16", True] == price["bf16", True], "float16 by the library", price)
    c.check(all(price[d, False] > 5 * price[d, True] > 0 for d in DTYPES), "the own kernel's price", price)


def schedules(c):
    g = Graph(5)
    h = g.value("f32", (8, 8))
    for _ in range(16):  # so many calls in a row are captured
        h = g.node(f"MatMul({h}, {g.value('f32', (8, 8), constant=True)})")
        h = g.node(f"Tanh({h})")
    g.outputs.append(h)
    wanted = None
    for schedule in ["eager", "lazy", "adversarial", *(f"seeded;seed={k}" for k in range(1, 6))]:
        done, report, found, calls = run(c, g.text(), words=["--no-fuse", "--repeat", 6], sim=f"schedule={schedule}")
        wanted = wanted or found
        same = found and all((found[k] == wanted[k]).all() for k in wanted)
        c.check(same and not report.get("lost_devices"), f"schedule {schedule}", done.stderr)
    captures = report.get("captures", {})
    c.check(captures.get("made", 0) > 0 and calls.get("cublasLtMatmul", 0) < 6 * 16,
            "captured calls are not made again", f"{captures} {calls}")


def failing(c):
    """Each call of the library fails in turn, with each status."""
    text = small_graph()
    _, _, wanted, _ = run(c, text, engines="ref")
    run(c, text)
    total = int((c.folder / "library_calls").read_text().splitlines()[0])
    kept = 0
    for k in range(1, total + 1):
        status = [1, 3, 7, 8, 11, 13, 14, 15][k % 8]
        done, _, found, _ = run(c, text, fail=f"fail=any:{k}:{status}")
        named = "gpu" in done.stderr and done.returncode == 3
        whole = done.returncode == 0 and not differ(found, wanted, DTYPES["f32"])
        kept += whole
        c.check(named or whole, f"call {k} of {total}: {status}", done.stderr)
    c.check(total >= 30 and kept > total // 2, "calls, and those without which the run ends well",
            f"{total} {kept}")
    # No algorithm with what follows, one without: a chain of our own does the rest.
    launches = []
    for k in (1, 2, 3):
        done, _, found, calls = run(c, text, fail=f"fail=cublasLtMatmulAlgoGetHeuristic:{k}:15")
        launches.append(calls.get("launch"))
        c.check(not differ(found, wanted, DTYPES["f32"]) and calls.get("cublasLtMatmul") == 3,
                f"no algorithm of product {k}", f"{calls} {done.stderr}")
    c.check(sorted(launches) == [3, 3, 4], "an epilogue that the library has not", launches)
    print(f"{total} failing calls of the library, {kept} of them kept the run")


# ---- wrong arguments, in a process of their own --------------------------------------------------

class Vendor:
    """The simulated libraries by ctypes, with one product in float32: 8 x 4 of depth 600."""
    ROWS, COLUMNS, DEPTH = 8, 4, 600

    def __init__(self):
        values = dict(re.findall(r"\b(k\w+) = (\d+)", HEADER.read_text()))
        self.v = {name: int(text) for name, text in values.items()}
        self.cu, self.lt = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcublasLt.so.13")
        self.cu.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.cu.cuMemsetD8Async.argtypes = [ctypes.c_ulonglong, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]
        self.context, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.cu.cuInit(0) == 0
        assert self.cu.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0) == 0
        self.early = self.create()  # before a context is current
        assert self.cu.cuCtxPushCurrent_v2(self.context) == 0
        assert self.cu.cuStreamCreate(ctypes.byref(self.stream), 0) == 0
        assert self.create() == 0
        self.blocks = {name: self.block(1 << 16) for name in ("a", "b", "c", "d", "bias", "workspace")}

    def create(self):
        self.handle = ctypes.c_void_p()
        return self.lt.cublasLtCreate(ctypes.byref(self.handle))

    def block(self, size):
        address = ctypes.c_ulonglong()
        assert self.cu.cuMemAlloc_v2(ctypes.byref(address), size) == 0
        assert self.cu.cuMemsetD8Async(address, 0, size, self.stream) == 0
        return address.value

    def call(self, **change):
        """(where it stopped, the status) of the product with some of it changed."""
        p = dict(compute=self.v["kComputeF32"], scale=0, trans_a=0, trans_b=0, epilogue=4, alpha=1.0, beta=1.0,
                 handle=self.handle.value, most=1 << 20, schemes=2, wanted=1, size=1 << 20, algo=None,
                 stream=self.stream.value, init=True, **self.blocks)
        for name, rows, columns in [("A", self.ROWS, self.DEPTH), ("B", self.DEPTH, self.COLUMNS),
                                    ("C", self.ROWS, self.COLUMNS), ("D", self.ROWS, self.COLUMNS)]:
            p[name] = dict(type=0, rows=rows, columns=columns, lead=rows, batch=1, stride=0)
        for key, value in change.items():
            p[key] = {**p[key], **value} if isinstance(value, dict) else value
        room = {name: (ctypes.c_uint64 * 32)() for name in ("A", "B", "C", "D", "desc", "prefer")}
        lt, v = self.lt, self.v
        for name in "ABCD" if p["init"] else "":
            one = p[name]
            lt.cublasLtMatrixLayoutInit_internal(room[name], 64, one["type"], ctypes.c_uint64(one["rows"]),
                                                 ctypes.c_uint64(one["columns"]), ctypes.c_int64(one["lead"]))
            for key, what, of in [("batch", "kLayoutBatchCount", ctypes.c_int32),
                                  ("stride", "kLayoutBatchStride", ctypes.c_int64)]:
                value = of(one[key])
                lt.cublasLtMatrixLayoutSetAttribute(room[name], v[what], ctypes.byref(value),
                                                    ctypes.c_size_t(ctypes.sizeof(value)))
        lt.cublasLtMatmulDescInit_internal(room["desc"], 256, p["compute"], p["scale"])
        for key, what, of in [("trans_a", "kMatmulTransA", ctypes.c_int32),
                              ("trans_b", "kMatmulTransB", ctypes.c_int32),
                              ("epilogue", "kMatmulEpilogue", ctypes.c_uint32),
                              ("bias", "kMatmulBiasPointer", ctypes.c_void_p)]:
            value = of(p[key])
            lt.cublasLtMatmulDescSetAttribute(room["desc"], v[what], ctypes.byref(value),
                                              ctypes.c_size_t(ctypes.sizeof(value)))
        lt.cublasLtMatmulPreferenceInit_internal(room["prefer"], 64)
        for key, what, of in [("most", "kPreferWorkspaceBytes", ctypes.c_uint64),
                              ("schemes", "kPreferReductionMask", ctypes.c_uint32)]:
            value = of(p[key])
            lt.cublasLtMatmulPreferenceSetAttribute(room["prefer"], v[what], ctypes.byref(value),
                                                    ctypes.c_size_t(ctypes.sizeof(value)))
        result, count = (ctypes.c_uint64 * 16)(), ctypes.c_int()
        status = lt.cublasLtMatmulAlgoGetHeuristic(ctypes.c_void_p(p["handle"]), room["desc"],
                                                   *(room[n] for n in "ABCD"), room["prefer"], p["wanted"], result,
                                                   ctypes.byref(count))
        if status != 0:
            return "choice", status
        alpha, beta = ctypes.c_float(p["alpha"]), ctypes.c_float(p["beta"])
        at = {name: ctypes.c_void_p(p[name]) for name in ("a", "b", "c", "d", "workspace", "stream")}
        status = lt.cublasLtMatmul(ctypes.c_void_p(p["handle"]), room["desc"], ctypes.byref(alpha), at["a"],
                                   room["A"], at["b"], room["B"], ctypes.byref(beta), at["c"], room["C"], at["d"],
                                   room["D"], result if p["algo"] is None else p["algo"], at["workspace"],
                                   ctypes.c_size_t(p["size"]), at["stream"])
        return "call", status

    def cases(self):
        wrong, never = self.v["kInvalidValue"], self.v["kNotSupported"]
        yield "right", {}, ("call", 0)
        yield "in place", dict(c=self.blocks["d"]), ("call", 0)
        yield "no handle", dict(handle=None), ("choice", wrong)
        yield "another's handle", dict(handle=4096), ("choice", wrong)
        yield "layouts that nobody made", dict(init=False), ("choice", wrong)
        for name in "ABCD":
            yield f"{name} of no rows", {name: dict(rows=0)}, ("choice", wrong)
            yield f"{name} of no columns", {name: dict(columns=0)}, ("choice", wrong)
            yield f"{name} of other rows", {name: dict(rows=5)}, ("choice", wrong)
            yield f"{name} of other columns", {name: dict(columns=5)}, ("choice", wrong)
            yield f"{name} closer than its columns", {name: dict(lead=2)}, ("choice", wrong)
            yield f"{name} of another batch", {name: dict(batch=2)}, ("choice", wrong)
            yield f"{name} of a negative stride", {name: dict(stride=-1)}, ("choice", wrong)
            yield f"{name} of another type", {name: dict(type=2)}, ("choice", never)
            yield f"{name} of no type", {name: dict(type=999)}, ("choice", never)
        batch = {name: dict(batch=2) for name in "ABCD"}
        yield "results on top of each other", batch, ("choice", wrong)
        yield "no such operation", dict(trans_a=5), ("choice", wrong)
        yield "a transposed matrix of other sizes", dict(trans_b=1), ("choice", wrong)
        yield "no such epilogue", dict(epilogue=3), ("choice", wrong)
        yield "two activations", dict(epilogue=34), ("choice", wrong)
        yield "no such sums", dict(compute=64), ("choice", never)
        yield "factors of another type", dict(scale=2), ("choice", never)
        half = {name: dict(type=2) for name in "ABCD"}
        yield "TF32 of float16", dict(compute=self.v["kComputeFastTf32"], **half), ("choice", never)
        yield "no room for an answer", dict(wanted=0), ("choice", wrong)
        yield "an algorithm of nobody's", dict(algo=(ctypes.c_uint64 * 8)()), ("call", wrong)
        for name in ("a", "b", "c", "d", "bias", "workspace"):
            yield f"no {name}", {name: None}, ("call", wrong)
            yield f"{name} between two elements", {name: self.blocks[name] + 2}, ("call", wrong)
        yield "a small workspace", dict(size=64), ("call", wrong)
        yield "the result over A", dict(d=self.blocks["a"]), ("call", wrong)
        yield "the result over the bias", dict(bias=self.blocks["d"]), ("call", wrong)
        yield "the result over the workspace", dict(workspace=self.blocks["d"]), ("call", wrong)
        yield "C in a part of the result", dict(c=self.blocks["d"] + 256, C=dict(lead=64), D=dict(lead=64)), \
            ("call", wrong)

    def endings(self):
        """What the simulator of the device finds; each ends the process's work."""
        failed = self.v["kExecutionFailed"]
        yield "host memory", dict(b=256 * 4096), failed
        yield "a block's end", dict(a=self.blocks["a"] + (1 << 16) - 512), failed
        yield "bytes that nobody wrote", dict(c=self.fresh()), failed

    def fresh(self):
        address = ctypes.c_ulonglong()
        self.cu.cuMemAlloc_v2(ctypes.byref(address), 4096)
        return address.value


def vendor_child(ending):
    """Prints a JSON list of [name, found, wanted]."""
    vendor = Vendor()
    rows = []
    if ending is None:
        rows.append(["a handle without a context", vendor.early, vendor.v["kNotInitialized"]])
        for name, change, wanted in vendor.cases():
            rows.append([name, list(vendor.call(**change)), list(wanted)])
        good = vendor.handle.value
        lt = vendor.lt
        rows.append(["the end of a handle", lt.cublasLtDestroy(ctypes.c_void_p(good)), 0])
        rows.append(["its second end", lt.cublasLtDestroy(ctypes.c_void_p(good)), vendor.v["kInvalidValue"]])
        rows.append(["its use afterwards", list(vendor.call()), ["choice", vendor.v["kInvalidValue"]]])
        one, word = (ctypes.c_uint64 * 32)(), ctypes.c_uint64(1)
        for f, least in [("MatrixLayout", 5), ("MatmulDesc", 3), ("MatmulPreference", 1)]:
            rows.append([f"{f} that nobody made", getattr(lt, f"cublasLt{f}SetAttribute")(
                one, least, ctypes.byref(word), ctypes.c_size_t(8)), vendor.v["kInvalidValue"]])
        lt.cublasLtMatrixLayoutInit_internal(one, 64, 0, *(ctypes.c_uint64(4),) * 3)
        for name, attribute, value, size in [("no such attribute", 77, ctypes.byref(word), 8),
                                             ("a size", 5, ctypes.byref(word), 8), ("no value", 5, None, 4)]:
            rows.append([name, lt.cublasLtMatrixLayoutSetAttribute(one, attribute, value, ctypes.c_size_t(size)),
                         vendor.v["kInvalidValue"]])
        rows.append(["little room", lt.cublasLtMatmulDescInit_internal(one, 8, 68, 0), vendor.v["kAllocFailed"]])
    else:
        name, change, wanted = list(vendor.endings())[ending]
        rows.append([name, list(vendor.call(**change)), ["call", wanted]])
    print(json.dumps(rows))


def wrong_arguments(c):
    for ending in [None, 0, 1, 2]:
        words = [] if ending is None else [str(ending)]
        done = subprocess.run([sys.executable, __file__, "--vendor", *words], capture_output=True, text=True,
                              timeout=120, check=False, env={**os.environ, "LD_LIBRARY_PATH": str(c.sim)})
        rows = json.loads(done.stdout) if done.returncode == 0 else []
        c.check(rows, f"calls of the simulated library, {ending}", done.stderr)
        for name, found, wanted in rows:
            c.check(found == wanted, f"an argument: {name}", f"answers {found}, wanted {wanted}")


def beside_the_vendors(c):
    """The vendor's own library, where it is: descriptors need no device. It takes each attribute in the
    size that ours are written in, and in no other."""
    try:
        lt = ctypes.CDLL("libcublasLt.so.13")
    except OSError:
        print("skipped: this machine has no cuBLASLt")
        c.skipped += 1
        return
    v = {name: int(text) for name, text in re.findall(r"\b(k\w+) = (\d+)", HEADER.read_text())}
    room = (ctypes.c_uint64 * 32)()
    made = {"MatrixLayout": lambda size: lt.cublasLtMatrixLayoutInit_internal(
                room, ctypes.c_size_t(size), v["kF16"], ctypes.c_uint64(6), ctypes.c_uint64(5), ctypes.c_int64(6)),
            "MatmulDesc": lambda size: lt.cublasLtMatmulDescInit_internal(
                room, ctypes.c_size_t(size), v["kComputeF32"], v["kF32"]),
            "MatmulPreference": lambda size: lt.cublasLtMatmulPreferenceInit_internal(room, ctypes.c_size_t(size))}
    sizes = {"MatrixLayout": 64, "MatmulDesc": 256, "MatmulPreference": 64}
    attributes = {"MatrixLayout": [("kLayoutBatchCount", 4), ("kLayoutBatchStride", 8)],
                  "MatmulDesc": [("kMatmulTransA", 4), ("kMatmulTransB", 4), ("kMatmulEpilogue", 4),
                                 ("kMatmulBiasPointer", 8)],
                  "MatmulPreference": [("kPreferWorkspaceBytes", 8), ("kPreferReductionMask", 4)]}
    for name, make in made.items():
        c.check(make(8) == v["kAllocFailed"] and make(sizes[name]) == 0, f"the vendor's {name}")
        for attribute, size in attributes[name]:
            value, back, written = ctypes.c_uint64(4), ctypes.c_uint64(0), ctypes.c_size_t(0)
            status = getattr(lt, f"cublasLt{name}SetAttribute")(
                room, v[attribute], ctypes.byref(value), ctypes.c_size_t(size))
            getattr(lt, f"cublasLt{name}GetAttribute")(room, v[attribute], ctypes.byref(back),
                                                       ctypes.c_size_t(size), ctypes.byref(written))
            other = getattr(lt, f"cublasLt{name}SetAttribute")(
                room, v[attribute], ctypes.byref(value), ctypes.c_size_t(12 - size))
            c.check((status, back.value, written.value, other) == (0, 4, size, v["kInvalidValue"]),
                    f"the vendor's {attribute}", (status, back.value, written.value, other))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=gpu.ROOT / "build/release")
    parser.add_argument("--vendor", nargs="*", type=int, help="for its own use: makes wrong calls")
    args = parser.parse_args()
    if args.vendor is not None:
        vendor_child(args.vendor[0] if args.vendor else None)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        c = gpu.Checks(args.build.resolve(), pathlib.Path(folder))
        for part in (shapes, empty, epilogues, gemm, turned, rounding, without, prices, schedules, failing,
                     wrong_arguments, beside_the_vendors):
            part(c)
        reports = c.folder / "reports"
        c.check(not reports.exists() or not reports.read_text(), "findings of the simulator",
                reports.read_text() if reports.exists() else "")
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
