"""DLPack in the Python package: tensors that change numbers as they are read, capsules that were taken
before, memory that is given back, and what a producer may get wrong."""
import ctypes
import gc
import pathlib
import sys

import numpy as np

import graphengine
from python_checks import Noted, OnlyDlpack, check, identity, refused, run_all


class LikeTorch(OnlyDlpack):
    """A view whose numbers are conjugated or negated when they are read, as PyTorch's: its memory
    holds the others, which is what DLPack shows."""

    def __init__(self, array, conj=False, neg=False, grad=False):
        super().__init__(array)
        self._raw, self._conj, self._neg, self.requires_grad = array, conj, neg, grad

    def __dlpack__(self, **arguments):
        if self.requires_grad:
            raise BufferError("call detach() first")
        return super().__dlpack__(**arguments)

    def is_conj(self):
        return self._conj

    def is_neg(self):
        return self._neg

    def resolve_conj(self):
        return LikeTorch(self._raw.conj() if self._conj else self._raw, False, self._neg,
                         self.requires_grad)

    def resolve_neg(self):
        return LikeTorch(-self._raw if self._neg else self._raw, self._conj, False, self.requires_grad)

    def detach(self):
        return LikeTorch(self._raw, self._conj, self._neg)


def what_a_view_changes(_):
    z = np.array([1 + 2j, 3 - 4j, 0, -1j], np.complex64)
    y = identity("c64").run(LikeTorch(z, conj=True))["y"]
    check(f"a conjugated view: {y}", np.array_equal(y, z.conj()))
    y = identity("c64").run(LikeTorch(z, conj=True, neg=True))["y"]
    check(f"a conjugated and negated view: {y}", np.array_equal(y, -z.conj()))
    x = np.array([1, -2, 3, 0.5], np.float32)
    y = identity("f32").run(LikeTorch(x, neg=True, grad=True))["y"]
    check(f"a negated view: {y}", np.array_equal(y, -x))
    noted = Noted()
    y = identity("f32").run(LikeTorch(x, grad=True))["y"]
    check("a parameter is read where it lies", np.array_equal(y, x)
          and noted.input() == x.ctypes.data)
    for kind, array, bits in (("c64", z, {"conj": True}), ("f32", x, {"neg": True})):
        refused(f"out that is such a view, {bits}", "INVALID_ARGUMENT", "changes numbers as they are read",
                lambda k=kind, a=array, b=bits: identity(k).run(a, {"y": LikeTorch(a.copy(), **b)}))
    run = identity("f32").run_async(LikeTorch(x, neg=True))
    gc.collect()
    check("a negated view of a run that goes on", np.array_equal(run.result()["y"], -x))


class Gives:
    """An object whose __dlpack__ gives what it was made with."""

    def __init__(self, given, device=(1, 0)):
        self._given, self._device = given, device

    def __dlpack__(self, **_):
        if isinstance(self._given, Exception):
            raise self._given
        return self._given

    def __dlpack_device__(self):
        if self._device is None:
            raise ValueError("no device")
        return self._device


def capsules_are_taken_once(_):
    session, x = identity("f32"), np.arange(4, dtype=np.float32)
    for versioned in (False, True):
        words = {"max_version": (1, 0)} if versioned else {}
        given = Gives(x.__dlpack__(**words))
        check(f"a capsule, {words}", np.array_equal(session.run(given)["y"], x))
        refused(f"the same capsule again, {words}", "INVALID_ARGUMENT", "taken before",
                lambda g=given: session.run(g))
    text = (b'ge 1\nopset "" 28\nfn main(a: f32[4], b: f32[4]) -> (y) {\n  y = Add(a, b)\n}\n'
            b'entry infer "main" = main\n')
    both, given = graphengine.Session(text, engines="ref"), Gives(x.__dlpack__())
    refused("one capsule for two inputs", "INVALID_ARGUMENT", "input 'b'", lambda: both.run([given, given]))
    refused("one capsule for an input and an output", "INVALID_ARGUMENT", "out['y']",
            lambda g=Gives(x.__dlpack__()): session.run(g, {"y": g}))
    del given
    gc.collect()
    before = sys.getrefcount(x)
    for _ in range(50):
        session.run(Gives(x.__dlpack__()))
        session.run(Gives(x.__dlpack__(max_version=(1, 0))))
        session.run_async(OnlyDlpack(x)).result()
    gc.collect()
    check(f"memory is given back, {before} to {sys.getrefcount(x)}", sys.getrefcount(x) == before)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


READ_ONLY, COPIED, PADDED = 1, 2, 4


class Made:
    """Gives tensors of version 1 as they are described."""

    def __init__(self, array, bits=32, code=2, **words):
        self._keep = [array, (ctypes.c_int64 * array.ndim)(*array.shape)]
        flags, major = words.pop("flags", 0), words.pop("major", 1)
        t = Tensor(array.ctypes.data, 1, 0, array.ndim, code, bits, 1, ctypes.addressof(self._keep[1]))
        for name, value in words.items():
            setattr(t, name, value)
        self._managed = Managed(major, 0, None, None, flags, t)

    def strided(self, *strides):
        self._keep.append((ctypes.c_int64 * len(strides))(*strides))
        self._managed.tensor.strides = ctypes.addressof(self._keep[-1])
        return self

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._managed), b"dltensor_versioned", None)


def what_a_producer_may_do(_):
    session, x = identity("f32"), np.arange(4, dtype=np.float32)
    check("version 1 by hand", np.array_equal(session.run(Made(x))["y"], x))
    wide = np.arange(8, dtype=np.float32)
    check("an offset in bytes", np.array_equal(
        session.run(Made(wide[:4], byte_offset=16))["y"], wide[4:]))
    check("strides in elements", np.array_equal(session.run(Made(wide[:4]).strided(2))["y"], wide[::2]))
    check("no elements, no memory", identity("f32", "0").run(Made(x[:0], data=None))["y"].size == 0)
    out = np.zeros(4, np.float32)
    session.run(x, {"y": Made(out)})
    check("out by hand", np.array_equal(out, x))
    bad = "INVALID_ARGUMENT"
    for name, code, words, given in (
            ("a later version", "UNSUPPORTED", "version 2", Made(x, major=2)),
            ("no memory", bad, "no memory", Made(x, data=None)),
            ("no shape", bad, "no shape", Made(x, shape=None)),
            ("axes beyond count", "LIMIT_EXCEEDED", "rank 17", Made(np.zeros([1] * 17, np.float32))),
            ("less than no axes", "LIMIT_EXCEEDED", "rank -1", Made(x, ndim=-1)),
            ("lanes", "UNSUPPORTED", "has elements of", Made(x, lanes=2)),
            ("an unknown type", "UNSUPPORTED", "has elements of", Made(x, code=77)),
            ("a device", "UNSUPPORTED", "DLPack's type 2", Made(x, device=2)),
            ("a device that it tells first", "UNSUPPORTED", "type 2", Gives(RuntimeError(), (2, 0))),
            ("a device that it does not know", "UNSUPPORTED", "no device", Gives(x.__dlpack__(), None)),
            ("another capsule", bad, "wanted a capsule named dltensor", Gives(7)),
            ("a failure of its own", "UNSUPPORTED", "said so", Gives(BufferError("said so")))):
        refused(name, code, words, lambda g=given: session.run(g))
    for name, words, flags in (("read-only", "read-only", READ_ONLY), ("a copy", "a copy", COPIED)):
        refused(f"out that is {name}", bad, words,
                lambda f=flags: session.run(x, {"y": Made(out, flags=f)}))
        check(f"an input that is {name}", np.array_equal(session.run(Made(x, flags=flags))["y"], x))


def elements_below_a_byte(_):
    text = ('ge 1\nopset "" 28\nfn main(x: KIND[5]) -> (y) {\n  y = Cast(x) {to=1}\n}\n'
            'entry infer "main" = main\n')

    def values(kind, given):
        return graphengine.Session(text.replace("KIND", kind).encode(), engines="ref").run(given)["y"].tolist()
    one_each = np.array([1, 15, 7, 8, 0], np.uint8)
    packed = np.array([0xf1, 0x87, 0x00, 0, 0], np.uint8)
    check("one to a byte", values("i4", Made(one_each, 4, 0, flags=PADDED)) == [1, -1, 7, -8, 0])
    check("two to a byte", values("i4", Made(packed, 4, 0)) == [1, -1, 7, -8, 0])
    spread = np.array([1, 9, 15, 9, 7, 9, 8, 9, 0], np.uint8)
    check("one to a byte, strided", values(
        "u4", Made(spread[:5], 4, 1, flags=PADDED).strided(2)) == [1, 15, 7, 8, 0])
    refused("two to a byte, strided", "INVALID_ARGUMENT", "not dense",
            lambda: values("u4", Made(packed, 4, 1).strided(2)))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    sys.path.append(str(pathlib.Path("build/venv/lib") / version / "site-packages"))
    try:
        import ml_dtypes  # pylint: disable=import-outside-toplevel
    finally:
        sys.path.pop()
    given = np.array([1, -1, 7, -8, 0])
    check("ml_dtypes.int4", values("i4", given.astype(ml_dtypes.int4)) == given.tolist())
    check("ml_dtypes.int4 from its end", values(
        "i4", given.astype(ml_dtypes.int4)[::-1]) == given.tolist()[::-1])
    check("ml_dtypes.uint2", values("u2", np.array([0, 1, 2, 3, 1], ml_dtypes.uint2)) == [0, 1, 2, 3, 1])
    six = np.array([0.125, -7.5, 1, 3.5, 0.5], ml_dtypes.float6_e2m3fn)
    check("ml_dtypes.float6_e2m3fn", values("f6e2m3", six) == [0.125, -7.5, 1, 3.5, 0.5])


if __name__ == "__main__":
    run_all([what_a_view_changes, capsules_are_taken_once, what_a_producer_may_do, elements_below_a_byte])
