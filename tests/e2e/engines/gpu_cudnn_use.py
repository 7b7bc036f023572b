#!/usr/bin/env python3
"""Calls of cuDNN's backend interface, right and wrong, on the simulated library: descriptors of the
wrong type, unfinished or unfit ones, packs that lack a tensor or a workspace.

Where the real library is installed the same descriptors are made with it: what needs no device must
answer the same statuses. So the simulator is no stricter or laxer than it says.

Example: tests/e2e/engines/gpu_cudnn_use.py --build build/release
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
Pointer, Int, Long, Float, Double, Bool = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_float,
                                           ctypes.c_double, ctypes.c_bool)


def values():
    """Names of vendor/cudnn.h -> numbers, without the k; names of two enums are those of the first."""
    text = (ROOT / "plugins/gpu/vendor/cudnn.h").read_text()
    return {name: int(n) for name, n in reversed(re.findall(r"\bk(\w+) = (\d+)[, ]", text))}


V = values()
TYPES = {V["TypeInt64"]: Long, V["TypeFloat"]: Float, V["TypeDouble"]: Double, V["TypeBoolean"]: Bool,
         V["TypeDescriptor"]: Pointer, V["TypeVoidPtr"]: Pointer, V["TypeHandle"]: Pointer}


class Library:
    """One cuDNN, by ctypes."""

    def __init__(self, name):
        self.f = ctypes.CDLL(name)
        self.f.cudnnGetVersion.restype = ctypes.c_size_t

    def make(self, kind):
        made = Pointer()
        status = self.f.cudnnBackendCreateDescriptor(kind, ctypes.byref(made))
        assert status == 0, status
        return made

    def set(self, descriptor, attribute, kind, *given, count=None):
        array = (TYPES.get(kind, Int) * len(given))(*given)
        return self.f.cudnnBackendSetAttribute(descriptor, V[attribute], kind,
                                               Long(len(given) if count is None else count), array)

    def finish(self, descriptor):
        return self.f.cudnnBackendFinalize(descriptor)

    def tensor(self, uid, dims, virtual=False, align=16):
        made = self.make(V["Tensor"])
        strides = [1] * len(dims)
        for k in range(len(dims) - 1, 0, -1):
            strides[k - 1] = strides[k] * dims[k]
        self.set(made, "TensorDataType", V["TypeDataType"], 0)
        self.set(made, "TensorDimensions", V["TypeInt64"], *dims)
        self.set(made, "TensorStrides", V["TypeInt64"], *strides)
        self.set(made, "TensorUniqueId", V["TypeInt64"], uid)
        self.set(made, "TensorByteAlignment", V["TypeInt64"], align)
        self.set(made, "TensorIsVirtual", V["TypeBoolean"], virtual)
        return made

    def finished(self, *args, **named):
        made = self.tensor(*args, **named)
        assert self.finish(made) == 0
        return made

    def shape(self, before=(1, 1), behind=(1, 1), axes=2):
        made = self.make(V["Convolution"])
        self.set(made, "ConvolutionSpatialDims", V["TypeInt64"], axes)
        self.set(made, "ConvolutionCompType", V["TypeDataType"], 0)
        self.set(made, "ConvolutionConvMode", V["TypeConvolutionMode"], 1)
        self.set(made, "ConvolutionDilations", V["TypeInt64"], 1, 1)
        self.set(made, "ConvolutionFilterStrides", V["TypeInt64"], 1, 1)
        self.set(made, "ConvolutionPrePaddings", V["TypeInt64"], *before)
        self.set(made, "ConvolutionPostPaddings", V["TypeInt64"], *behind)
        return made

    def convolution(self, x, w, y, shape=None):
        if shape is None:
            shape = self.shape()
            assert self.finish(shape) == 0
        made = self.make(V["OperationForward"])
        for name, part in [("ConvDesc", shape), ("X", x), ("W", w), ("Y", y)]:
            self.set(made, f"Forward{name}", V["TypeDescriptor"], part)
        self.set(made, "ForwardAlpha", V["TypeFloat"], 1.0)
        self.set(made, "ForwardBeta", V["TypeFloat"], 0.0)
        return made

    def pointwise(self, mode, x, b, y, *more):
        function = self.make(0)
        self.set(function, "PointwiseMode", V["TypePointwiseMode"], mode)
        self.set(function, "PointwiseMathPrec", V["TypeDataType"], 0)
        for attribute, kind, value in more:
            assert self.set(function, attribute, kind, value) == 0
        assert self.finish(function) == 0
        made = self.make(V["OperationPointwise"])
        self.set(made, "OperationPointwisePwDescriptor", V["TypeDescriptor"], function)
        self.set(made, "OperationPointwiseX", V["TypeDescriptor"], x)
        if b is not None:
            self.set(made, "OperationPointwiseB", V["TypeDescriptor"], b)
        self.set(made, "OperationPointwiseY", V["TypeDescriptor"], y)
        return made


def without_device(lib):
    """{what is done: status}, of calls that no device is needed for."""
    d = {}
    x, w = lib.finished(1, [2, 4, 9, 7]), lib.finished(2, [6, 4, 3, 3])
    y, inner = lib.finished(3, [2, 6, 9, 7]), lib.finished(4, [2, 6, 9, 7], virtual=True)
    bias = lib.finished(5, [1, 6, 1, 1])
    d["a convolution"] = lib.finish(lib.convolution(x, w, inner))
    d["a bias"] = lib.finish(lib.pointwise(0, inner, bias, y))
    d["a residual"] = lib.finish(lib.pointwise(0, inner, y, lib.finished(6, [2, 6, 9, 7], virtual=True)))
    relu = [("PointwiseNanPropagation", V["TypeNanPropagation"], 1),
            ("PointwiseReluUpperClip", V["TypeDouble"], 6.0),
            ("PointwiseReluLowerClipSlope", V["TypeDouble"], 0.1)]
    d["a ReLU"] = lib.finish(lib.pointwise(V["ReluForward"], inner, None, y, *relu))
    d["an ELU"] = lib.finish(lib.pointwise(V["EluForward"], inner, None, y,
                                           ("PointwiseEluAlpha", V["TypeDouble"], 1.5)))
    for mode in ["Tanh", "Sigmoid", "Gelu", "Swish", "GeluTanh"]:
        d[mode] = lib.finish(lib.pointwise(V[f"{mode}Forward"], inner, None, y))
    for kind, name in [("BackwardData", "Dx W Dy"), ("BackwardFilter", "X Dw Dy")]:
        made, shape = lib.make(V[f"Operation{kind}"]), lib.shape()
        lib.finish(shape)
        lib.set(made, f"{kind}ConvDesc", V["TypeDescriptor"], shape)
        for part, tensor in zip(name.split(), [x, w, y]):
            lib.set(made, f"{kind}{part}", V["TypeDescriptor"], tensor)
        lib.set(made, f"{kind}Alpha", V["TypeFloat"], 1.0)
        lib.set(made, f"{kind}Beta", V["TypeFloat"], 0.0)
        d[kind] = lib.finish(made)
    fresh = lib.make(V["Tensor"])
    d["an attribute of another type"] = lib.set(fresh, "TensorDimensions", V["TypeFloat"], 1.0)
    d["an attribute of another descriptor"] = lib.set(fresh, "ForwardAlpha", V["TypeFloat"], 1.0)
    d["no values"] = lib.f.cudnnBackendSetAttribute(fresh, V["TensorDimensions"], V["TypeInt64"], Long(4),
                                                    None)
    d["a tensor of nothing"] = lib.finish(fresh)
    d["set behind finalize"] = lib.set(x, "TensorDimensions", V["TypeInt64"], 1, 1, 1, 1)
    d["finalized twice"] = lib.finish(x)
    room = (Long * 8)()
    d["read before finalize"] = lib.f.cudnnBackendGetAttribute(
        fresh, V["TensorDimensions"], V["TypeInt64"], Long(8), ctypes.byref(Long()), room)
    d["windows that do not fit"] = lib.finish(lib.convolution(x, w, lib.finished(7, [2, 6, 5, 5])))
    d["channels that do not fit"] = lib.finish(lib.convolution(x, lib.finished(8, [6, 3, 3, 3]), y))
    d["pads of another number"] = lib.finish(lib.shape(before=(1,)))
    pack = lib.make(V["VariantPack"])
    lib.set(pack, "VariantPackUniqueIds", V["TypeInt64"], 1, 2)
    lib.set(pack, "VariantPackDataPointers", V["TypeVoidPtr"], 256)
    d["fewer addresses than ids"] = lib.finish(pack)
    d["heuristics of nothing"] = lib.finish(lib.make(V["EngineHeur"]))
    return d


# Where no status of success is wanted.
WRONG = {"an attribute of another type": V["AttributeType"], "read before finalize": V["NotInitialized"]}
WRONG.update({name: V["BadParam"] for name in [
    "an attribute of another descriptor", "no values", "a tensor of nothing", "set behind finalize",
    "finalized twice", "windows that do not fit", "channels that do not fit", "pads of another number",
    "fewer addresses than ids", "heuristics of nothing"]})


class Machine:
    """The simulated driver: a context, a stream, memory."""

    def __init__(self, folder):
        self.f = ctypes.CDLL(str(folder / "libcuda.so.1"), ctypes.RTLD_GLOBAL)
        context, self.stream = Pointer(), Pointer()
        for status in [self.f.cuInit(0), self.f.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                       self.f.cuCtxPushCurrent_v2(context),
                       self.f.cuStreamCreate(ctypes.byref(self.stream), 1)]:
            assert status == 0, status

    def block(self, count, fill=0x3F):
        """Of `count` floats, all written."""
        made = ctypes.c_uint64()
        assert self.f.cuMemAlloc_v2(ctypes.byref(made), ctypes.c_size_t(4 * count)) == 0
        assert self.f.cuMemsetD8Async(made, fill, ctypes.c_size_t(4 * count), self.stream) == 0
        return made.value


class OnDevice:
    """A graph of one convolution with a bias, its plan, and packs of addresses."""

    def __init__(self, lib, machine):
        self.lib, self.machine, self.handle = lib, machine, Pointer()
        assert lib.f.cudnnCreate(ctypes.byref(self.handle)) == 0
        assert lib.f.cudnnSetStream(self.handle, machine.stream) == 0
        self.dims = {1: [2, 4, 9, 7], 2: [6, 4, 3, 3], 3: [2, 6, 9, 7], 5: [1, 6, 1, 1]}
        t = {uid: lib.finished(uid, dims) for uid, dims in self.dims.items()}
        inner = lib.finished(4, self.dims[3], virtual=True)
        operations = [lib.pointwise(0, inner, t[5], t[3]), lib.convolution(t[1], t[2], inner)]
        for operation in operations:
            assert lib.finish(operation) == 0
        self.graph = self.graph_of(operations)
        assert lib.finish(self.graph) == 0
        self.configs = self.heuristics(self.graph)

    def graph_of(self, operations):
        made = self.lib.make(V["OperationGraph"])
        self.lib.set(made, "OperationGraphHandle", V["TypeHandle"], self.handle)
        self.lib.set(made, "OperationGraphOps", V["TypeDescriptor"], *operations)
        return made

    def heuristics(self, graph):
        made = self.lib.make(V["EngineHeur"])
        self.lib.set(made, "EngineHeurOperationGraph", V["TypeDescriptor"], graph)
        self.lib.set(made, "EngineHeurMode", V["TypeHeurMode"], V["ModeA"])
        assert self.lib.finish(made) == 0
        count = Long()
        get = self.lib.f.cudnnBackendGetAttribute
        get(made, V["EngineHeurResults"], V["TypeDescriptor"], Long(0), ctypes.byref(count), None)
        configs = (Pointer * count.value)(*[self.lib.make(V["EngineConfig"]) for _ in range(count.value)])
        get(made, V["EngineHeurResults"], V["TypeDescriptor"], count, ctypes.byref(count), configs)
        return list(configs)

    def plan(self, config):
        """(status, plan)"""
        made = self.lib.make(V["ExecutionPlan"])
        self.lib.set(made, "ExecutionPlanHandle", V["TypeHandle"], self.handle)
        self.lib.set(made, "ExecutionPlanEngineConfig", V["TypeDescriptor"], config)
        return self.lib.finish(made), made

    def workspace(self, plan):
        size, count = Long(), Long()
        status = self.lib.f.cudnnBackendGetAttribute(plan, V["ExecutionPlanWorkspaceSize"], V["TypeInt64"],
                                                     Long(1), ctypes.byref(count), ctypes.byref(size))
        assert status == 0
        return size.value

    def pack(self, at, workspace):
        made = self.lib.make(V["VariantPack"])
        self.lib.set(made, "VariantPackUniqueIds", V["TypeInt64"], *at)
        self.lib.set(made, "VariantPackDataPointers", V["TypeVoidPtr"], *at.values())
        if workspace:
            self.lib.set(made, "VariantPackWorkspace", V["TypeVoidPtr"], workspace)
        assert self.lib.finish(made) == 0
        return made

    def run(self, plan, at, workspace):
        return self.lib.f.cudnnBackendExecute(self.handle, plan, self.pack(at, workspace))


def with_device(lib, machine, check):
    on = OnDevice(lib, machine)
    statuses = [on.plan(config) for config in on.configs]
    check([s for s, _ in statuses].count(0) >= 2 and V["NotSupported"] in [s for s, _ in statuses],
          "some engines finalize, and one refuses", statuses)
    plan = [p for s, p in statuses if s == 0][-1]
    size = on.workspace(plan)

    def count(dims):
        return dims[0] * dims[1] * dims[2] * dims[3]

    at = {uid: machine.block(count(dims)) for uid, dims in on.dims.items()}
    room = machine.block(size // 4)
    check(size > 0 and on.run(plan, at, room) == 0, "a launch", size)
    check(on.run(plan, {k: v for k, v in at.items() if k != 5}, room) == V["BadParam"], "a tensor is missing")
    check(on.run(plan, {**at, 1: 0}, room) == V["NullPointer"], "a tensor without an address")
    check(on.run(plan, {**at, 1: at[1] + 4}, room) == V["MisalignedPointer"], "an address that is not aligned")
    check(on.run(plan, at, 0) == V["NullPointer"], "a launch without its workspace")
    unfinished = lib.make(V["VariantPack"])
    check(lib.f.cudnnBackendExecute(on.handle, plan, unfinished) == V["NotFinalized"], "an unfinished pack")
    graph = on.graph_of([lib.pointwise(0, lib.finished(9, [2, 6, 9, 7], virtual=True),
                                       lib.finished(5, [1, 6, 1, 1]), lib.finished(3, [2, 6, 9, 7]))])
    check(lib.finish(graph) != 0, "a graph of an operation that is not finalized")
    check(plans_of_ends(lib, on) == {V["NotSupported"], V["UnsupportedPadding"]},
          "pads that differ at the two ends have no plan")
    # What is too small is found by the device's simulator: every call fails from then on.
    small = machine.block(2)
    check(on.run(plan, at, small) == V["ExecutionFailed"], "a workspace that is too small")
    lib.f.cudnnDestroy(on.handle)
    check(lib.f.cudnnSetStream(on.handle, machine.stream) == V["BadParam"], "a handle that is gone")


def plans_of_ends(lib, on):
    shape = lib.shape(before=(1, 1), behind=(0, 1))
    assert lib.finish(shape) == 0
    operation = lib.convolution(lib.finished(1, [2, 4, 9, 7]), lib.finished(2, [6, 4, 3, 3]),
                                lib.finished(3, [2, 6, 8, 7]), shape)
    assert lib.finish(operation) == 0
    graph = on.graph_of([operation])
    assert lib.finish(graph) == 0
    return {on.plan(config)[0] for config in on.heuristics(graph)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--real", help="only this library: prints its answers")
    args = parser.parse_args()
    if args.real:
        print(json.dumps(without_device(Library(args.real))))
        return 0
    folder = args.build.resolve() / "lib/sim/cuda"
    if os.environ.get("LD_LIBRARY_PATH") != str(folder):  # it is read when a process begins
        return subprocess.run([sys.executable, *sys.argv], check=False,
                              env={**os.environ, "LD_LIBRARY_PATH": str(folder)}).returncode
    counts = {True: 0, False: 0}

    def check(good, name, detail=""):
        counts[bool(good)] += 1
        if not good:
            print(f"FAILED  {name}\n    {detail}")

    machine = Machine(folder)
    simulated = Library(str(folder / "libcudnn.so.9"))
    answers = without_device(simulated)
    for name, status in answers.items():
        check(status == WRONG.get(name, 0), f"simulated: {name}", status)
    with_device(simulated, machine, check)
    real = re.search(r"libcudnn\.so\.9 .*=> (\S+)",
                     subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout)
    skipped = 0 if real else len(answers)
    if real:
        # Beside the libraries that belong to it, not the simulated ones.
        done = subprocess.run([sys.executable, sys.argv[0], "--real", real[1]], check=False, text=True,
                              capture_output=True, env={**os.environ, "LD_LIBRARY_PATH": ""})
        check(done.returncode == 0, "the real library", done.stdout + done.stderr)
        for name, status in (json.loads(done.stdout) if done.returncode == 0 else {}).items():
            check(status == answers[name], f"the real library: {name}", (status, answers[name]))
    print(f"{counts[True]} passed, {counts[False]} failed, {skipped} skipped")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
