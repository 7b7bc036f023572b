"""Tensors: what they share with arrays, what they show of themselves, and how long memory lives."""
import copy
import gc
import pickle
import sys
import threading
import weakref

import numpy as np

import graphengine
from graphengine import Tensor, _native
from python_checks import OnlyDlpack, check, refused, run_all

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
try:
    import torch
except ImportError:
    torch = None

NUMPY = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]
SHAPES = [(), (1,), (5,), (0,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 2, 3, 4), (2, 1, 2, 1, 3)]


def array_of(dtype, shape, seed=1):
    return np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def raises(name, kind, words, call):
    """`call` has to leave with this exception of Python's, and these words in it."""
    try:
        call()
    except kind as error:
        check(f"{name}: {error}", words in str(error))
        return
    check(f"{name}: was not refused", False)


def arrays_are_shared(_):
    for dtype in NUMPY:
        for shape in SHAPES:
            a, what = array_of(dtype, shape), f"{dtype}{list(shape)}"
            t = Tensor(a)
            check(f"{what}: its type", t.dtype == dtype and t.dtype == a.dtype and t.dtype.name == dtype)
            check(f"{what}: its sizes", t.shape == shape and t.ndim == len(shape) and t.size == a.size
                  and t.nbytes == a.nbytes)
            for way, b in (("numpy()", t.numpy()), ("asarray", np.asarray(t)), ("from_dlpack", np.from_dlpack(t))):
                check(f"{what}: {way} is equal", b.dtype == a.dtype and b.shape == shape and np.array_equal(a, b))
                check(f"{what}: {way} is the same memory", a.size == 0 or b.ctypes.data == a.ctypes.data)
                check(f"{what}: {way} is read-only", not b.flags.writeable)
            check(f"{what}: lists", t.tolist() == a.tolist())
            own = np.array(t)
            check(f"{what}: a copy may be written", own.flags.writeable and np.array_equal(own, a)
                  and (a.size == 0 or own.ctypes.data != a.ctypes.data))
            check(f"{what}: pickled", np.array_equal(pickle.loads(pickle.dumps(t)), a))
    a = np.zeros(3, np.float32)
    t, other = Tensor(a), Tensor(a, copy=True)
    a[0] = 5
    check("what is shared changes with the array, a copy does not",
          t.tolist() == [5, 0, 0] and other.tolist() == [0, 0, 0])
    check("a Tensor of a Tensor is itself", Tensor(t) is t and _native.tensor(t, "float32") is t)
    check("a copy of one is not", _native.tensor(t, copy=True).numpy().ctypes.data != t.numpy().ctypes.data)


def other_arrays_are_copied(_):
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for name, view in (("transposed", a.T), ("a step", a[:, ::2]), ("backwards", a[::-1]),
                       ("other bytes", a.astype(">i4")), ("broadcast", np.broadcast_to(a[:, :1], a.shape)),
                       ("Fortran's order", np.asfortranarray(a))):
        t = Tensor(view)
        check(f"{name}: equal", t.dtype == "int32" and t.shape == view.shape and np.array_equal(t, view))
        raises(f"{name}: copy=False", ValueError, "copy is False", lambda view=view: Tensor(view, copy=False))
    check("a dense array, copy=False", Tensor(a, copy=False).shape == (2, 3, 4))
    frozen = np.arange(3)
    frozen.flags.writeable = False
    check("a read-only one is shared", Tensor(frozen).numpy().ctypes.data == frozen.ctypes.data)
    check("DLPack alone", np.array_equal(Tensor(OnlyDlpack(a)), a))
    refused("texts", "UNSUPPORTED", "texts", lambda: Tensor(np.array(["a"])))
    refused("a text", "INVALID_ARGUMENT", "is a str", lambda: Tensor("abc"))
    refused("ragged lists", "INVALID_ARGUMENT", "numpy makes no array", lambda: Tensor([[1, 2], [3]]))
    refused("no type", "INVALID_ARGUMENT", "dtype is 'float33'", lambda: Tensor(1, "float33"))


def numbers_and_lists(_):
    for value, dtype in ((1.5, "float32"), (3, "int64"), (True, "bool"), (1 + 2j, "complex64"), ([1, 2], "int64"),
                         ([1.0, 2], "float32"), ([[True], [False]], "bool"), ([1j], "complex64"),
                         (np.float64(2.5), "float64"), (np.int8(3), "int8"), ([np.int16(1)], "int16"), ([], "float32")):
        t = Tensor(value)
        check(f"{value!r} is {dtype}: {t!r}", t.dtype == dtype and np.array_equal(t, value))
    for dtype in NUMPY:
        check(f"1 as {dtype}", Tensor(1, dtype).dtype == dtype and Tensor(1, dtype).item() == 1)
        check(f"[0, 1] as {dtype}", Tensor([0, 1], dtype).dtype == dtype)
    for dtype, value in (("uint64", 2**64 - 1), ("int64", -2**63), ("int8", -128), ("uint8", 255)):
        check(f"{value} as {dtype}", Tensor(value, dtype).item() == value)
    for dtype, value in (("uint8", 256), ("int8", -129), ("uint32", -1)):
        refused(f"{value} as {dtype}", "INVALID_ARGUMENT", "", lambda v=value, d=dtype: Tensor(v, d))
    check("float(), int(), bool(), complex()", (float(Tensor(2.5)), int(Tensor(3)), bool(Tensor(0)),
                                                complex(Tensor(2))) == (2.5, 3, False, 2))
    check("one element of more axes", float(Tensor([[4.0]])) == 4 and bool(Tensor([1])))
    check("an index", [10, 20, 30][Tensor(1)] == 20 and list(range(Tensor(2))) == [0, 1])
    raises("a float as an index", TypeError, "whole numbers", lambda: [1, 2][Tensor(1.0)])
    refused("bool of many", "INVALID_ARGUMENT", "bool() of a Tensor of shape [3], wanted one of one element", lambda: bool(Tensor([1, 2, 3])))
    refused("float of none", "INVALID_ARGUMENT", "float() of a Tensor of shape [0], wanted one of one", lambda: float(Tensor([])))
    check("len", len(Tensor([1, 2, 3])) == 3)
    raises("len without axes", TypeError, "without axes", lambda: len(Tensor(1)))
    check("rows", [row.tolist() for row in Tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]])
    check("a row from the end", Tensor([[1, 2], [3, 4]])[-1].tolist() == [3, 4])
    raises("a row outside", IndexError, "found the index 2, wanted -2 to 1 along axis 0 of 2 elements", lambda: Tensor([1, 2])[2])
    raises("rows without axes", TypeError, "without axes", lambda: list(Tensor(1)))
    check("formatted", f"{Tensor(1.25):.1f} {Tensor([1, 2])}" == "1.2 [1 2]")
    check("repr", repr(Tensor([[1.5, 2], [3, 4]])) == "Tensor([[1.5, 2. ],\n        [3. , 4. ]], dtype=float32)")


def types(_):
    f = _native.dtype("float32")
    check("one object each", _native.dtype(np.float32) is f and _native.dtype(np.dtype("float32")) is f
          and _native.dtype(1) is f and _native.dtype(float) is f and Tensor(1.0).dtype is f)
    check("equal to words and numpy's", f == "float32" and f == np.float32 and f == np.dtype("f4") and f != "int8"
          and f is not None and f != 3.5)
    check("a key", {f: 1}[_native.dtype("float32")] == 1 and hash(f) == hash("float32"))
    check("numpy takes it", np.zeros(2, f).dtype == np.float32 and np.dtype(_native.dtype("bool")) == np.bool_)
    check("its numbers", (f.name, f.itemsize, f.number, repr(f)) == ("float32", 4, 1, "graphengine.float32"))
    check("pickled and copied", pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f)
    for bad in ("string", "float", object(), 0, 8, 99, None):
        refused(f"dtype({bad!r})", "INVALID_ARGUMENT", "wanted a type of numbers", lambda bad=bad: _native.dtype(bad))


def types_that_numpy_lacks(_):
    if ml_dtypes:
        for dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"):
            a = np.array([0, 1, -1.5, 2, 0.25], getattr(ml_dtypes, dtype))
            t = Tensor(a)
            check(f"{dtype}: shared", t.dtype == dtype and t.numpy().ctypes.data == a.ctypes.data)
            check(f"{dtype}: equal", np.array_equal(np.asarray(t).astype("f4"), a.astype("f4")))
            check(f"{dtype}: its numbers", [float(x) for x in t] == a.astype("f4").tolist())
            check(f"{dtype}: shown", "-1.5" in repr(t) and dtype in repr(t))
            check(f"{dtype}: pickled", pickle.loads(pickle.dumps(t)).dtype == dtype)
        wide = np.array([np.inf, -np.inf, np.nan, 2.0**-130, 3e38], ml_dtypes.bfloat16)
        got = [float(x) for x in Tensor(wide)]
        check("bfloat16: infinities and small ones", np.array_equal(got, wide.astype("f4"), equal_nan=True))
    halves = np.array([np.inf, -np.inf, np.nan, 6e-8, 65504, -0.0], np.float16)
    got = [float(x) for x in Tensor(halves)]
    check("float16: infinities and small ones", np.array_equal(got, halves.astype("f8"), equal_nan=True))
    raises("bfloat16 has no buffer", BufferError, "no buffer",
           lambda: memoryview(_native.apply("", "Cast", (Tensor([1.0]),), {"to": _native.dtype("bfloat16")})))


def dlpack(_):
    a = np.arange(6, dtype=np.float32)
    t = Tensor(a)
    check("device", t.__dlpack_device__() == (1, 0) and t.device == "cpu" and t.to_device("cpu") is t)
    check("version 1 is read-only", not np.from_dlpack(t).flags.writeable)
    capsule = t.__dlpack__()
    check("version 0 is a capsule of a copy", "dltensor" in repr(capsule) and "versioned" not in repr(capsule))
    check("version 1", "dltensor_versioned" in repr(t.__dlpack__(max_version=(1, 0))))
    del capsule  # nobody took it
    copied = np.from_dlpack(t, copy=True)
    check("copy=True", copied.ctypes.data != a.ctypes.data and np.array_equal(copied, a))
    raises("another device", BufferError, "another device", lambda: t.__dlpack__(dl_device=(2, 0)))
    raises("a stream", BufferError, "stream is None", lambda: t.__dlpack__(stream=1))
    session = graphengine.Session(b'ge 1\nopset "" 28\nfn main(x: f32[6]) -> (y) {\n  y = Neg(x)\n}\n'
                                  b'entry infer "main" = main\n', format="text", engines="ref")
    y = session.run({"x": t})["y"]
    check("a Session takes a Tensor where it lies", np.array_equal(y, -a))
    given = session.run({"x": t}, outputs="dlpack")["y"]
    check("and gives one by DLPack", np.array_equal(Tensor(given), -a))
    if torch:
        for dtype in ("float32", "float64", "int64", "uint8", "bool", "bfloat16", "float16"):
            x = torch.arange(6).to(getattr(torch, dtype)).reshape(2, 3)
            t = Tensor(x)
            check(f"torch {dtype}: in", t.dtype == dtype and t.shape == (2, 3))
            check(f"torch {dtype}: out", torch.equal(torch.from_dlpack(t), x))


def memory_lives(_):
    a = np.arange(5, dtype=np.float32)
    gone = weakref.ref(a)
    t = Tensor(a)
    del a
    check("a Tensor holds its array", gone() is not None and t.tolist() == [0, 1, 2, 3, 4])
    view, packed, seen = t.numpy(), np.from_dlpack(t), memoryview(t)
    t.replace_value(Tensor([9]))
    check("another value", t.tolist() == [9] and t.dtype == "int64" and t.shape == (1,))
    check("views keep the former one", view.tolist() == packed.tolist() == seen.tolist() == [0, 1, 2, 3, 4])
    del view, packed
    check("a buffer alone holds it", gone() is not None)
    del seen
    gc.collect()
    check("and lets it go", gone() is None)
    other = _native.alias(t)
    check("an alias has the value", other is not t and other.tolist() == [9] and _native.same_memory(t, other))
    t.replace_value(Tensor([8]))
    check("and keeps it", other.tolist() == [9] and not _native.same_memory(t, other))
    wakeful = weakref.ref(t)
    del t
    check("Tensors may be watched", wakeful() is None)
    frozen = np.asarray(Tensor([1]))
    raises("arrays over one stay read-only", ValueError, "WRITEABLE", lambda: frozen.setflags(write=True))
    t = Tensor(np.zeros(1 << 20, np.uint8), copy=True)
    views = [np.asarray(t)[i:i + 4] for i in range(8)]
    threads = [threading.Thread(target=views.pop) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("let go by threads", not views and t.size == 1 << 20)


def traced(_):
    symbol = object()
    t = _native.traced(symbol, "float32", (2, "n"))
    check("it has a symbol", t.symbol is symbol and t.is_traced and isinstance(t, Tensor))
    check("its type and sizes", t.dtype == "float32" and t.shape == (2, "n") and t.ndim == 2 and len(t) == 2)
    check("an eager one has none", Tensor(1).symbol is None and not Tensor(1).is_traced)
    check("shown", repr(t) == "Tensor(traced float32[2, n])")
    refused("no hook", "FAILED_PRECONDITION", "has no numbers, and was asked for its bool", lambda: bool(t))
    sized = _native.traced(symbol, "int8", ())
    sized.set_shape([3, t])
    check("sizes given later", sized.shape == (3, t) and sized.ndim == 2)
    refused("sizes of an eager one", "INVALID_ARGUMENT", "of traced Tensors", lambda: Tensor(1).set_shape((1,)))
    refused("no symbol", "INVALID_ARGUMENT", "symbol is None", lambda: _native.traced(None, "int8", ()))
    refused("too many axes", "LIMIT_EXCEEDED", "at most 16", lambda: _native.traced(symbol, "int8", [1] * 17))
    eager = Tensor([1, 2])
    eager.replace_value(t)
    check("an eager one becomes traced", eager.symbol is symbol and eager.shape == (2, "n"))

    class Symbol:
        pass

    cycle = Symbol()
    cycle.tensor = _native.traced(cycle, "int8", ())
    gone = weakref.ref(cycle)
    del cycle
    gc.collect()
    check("cycles through symbols are collected", gone() is None)
    refused("a class of another size", "INVALID_ARGUMENT", "__slots__",
            lambda: _native.use_tensor_type(type("Wide", (_native.Tensor,), {})))


def traced_are_asked(_):
    t, asked = _native.traced(object(), "float32", (2, "n")), []

    def hook(tensor, wanted):
        asked.append(wanted)
        if wanted == "int":
            return 7
        raise KeyError(wanted)

    former = _native.set_traced_hook(hook)
    try:
        for wanted, call in (("bool", bool), ("float", float), ("index", [1].__getitem__), ("array", np.asarray),
                             ("item", Tensor.item), ("dlpack", np.from_dlpack)):
            raises(f"the hook: {wanted}", KeyError, wanted, lambda call=call: call(t))
        check("it may answer", int(t) == 7)
        raises("len of a size that is open", KeyError, "len", lambda: len(_native.traced(1, "int8", ("n", 2))))
        raises("apply outside of its trace", KeyError, "apply", lambda: _native.apply("", "Neg", (t,), {}))
        seen = []

        def trace(domain, op, inputs, attributes, outputs):
            seen.append((domain, op, inputs, attributes, outputs))
            return "traced"

        check("a trace", _native.set_trace(trace) is None)
        one = Tensor(1.0)
        check("takes what is applied", _native.apply("", "Add", (t, one), {"a": 1}, 2) == "traced"
              and seen == [("", "Add", (t, one), {"a": 1}, 2)])
        here = []
        other = threading.Thread(target=lambda: here.append(_native.apply("", "Neg", (one,), {}).item()))
        other.start()
        other.join()
        check("of its own thread", here == [-1.0])
    finally:
        _native.set_trace(None)
        _native.set_traced_hook(None if former is None else former)


def copies(_):
    t = Tensor([1, 2, 3])
    for name, other in (("copy", copy.copy(t)), ("deepcopy", copy.deepcopy(t)), ("copy()", t.copy())):
        check(name, other is not t and other.tolist() == [1, 2, 3])
    before = sys.getrefcount(np)
    for _ in range(1000):
        Tensor(np.zeros(3)).numpy()
    check("no reference is lost", sys.getrefcount(np) - before < 100)
    check("equal by identity in dicts", {t: 1}[t] == 1 and hash(t) == hash(t))


def names_of_others(_):
    """What torch and numpy call it is told, and the nearest name for a typing mistake."""
    x = graphengine.ones((2, 3))
    for call, words in ((lambda: x.view(6), "here it is x.reshape(shape)"), (lambda: x.reshap(6), "did you mean 'reshape'?"),
                        (lambda: graphengine.cat([x]), "here it is ge.concat"),
                        (lambda: graphengine.ones_lik(x), "did you mean 'ones_like'?"),
                        (lambda: x.nothing_like_it, "has no attribute 'nothing_like_it'")):
        try:
            call()
            check(f"{words}: no AttributeError", False)
        except AttributeError as error:
            check(f"{words}: {error}", str(error).endswith(words))


if __name__ == "__main__":
    run_all([arrays_are_shared, other_arrays_are_copied, numbers_and_lists, types, types_that_numpy_lacks, dlpack,
             memory_lives, traced, traced_are_asked, copies, names_of_others])
