"""Eager mode: operators that run at once, the cache of their sessions, threads, refusals."""
import gc
import os
import sys
import threading

import numpy as np

import graphengine
from graphengine import Tensor, _native
from python_checks import check, refused, run_all

FLOATS, INTS = ["float16", "float32", "float64"], ["int8", "int32", "int64", "uint8", "uint32", "uint64"]


def apply(op, *inputs, outputs=1, domain="", **attributes):
    return _native.apply(domain, op, inputs, attributes, outputs)


def array_of(dtype, shape, seed=1):
    return np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype)


def equal_to_numpy(_):
    pairs = [((), ()), ((3,), (3,)), ((0,), (0,)), ((2, 3), (3,)), ((4, 1), (1, 5)), ((2, 0, 3), (1, 1, 3)),
             ((2, 3, 4), (1, 3, 1)), ((1, 2, 3, 4), ()), ((2, 1, 2, 1, 3), (2, 1, 2, 3))]
    for dtype in FLOATS + INTS:
        for a, b in pairs:
            x, y = array_of(dtype, a, 1), array_of(dtype, b, 2)
            for op, function in (("Add", np.add), ("Mul", np.multiply), ("Equal", np.equal), ("Less", np.less)):
                want = function(x, y)
                for again in range(3):  # alone, prepared, prepared before
                    got = apply(op, Tensor(x), Tensor(y))
                    check(f"{op} {dtype} {a} {b} {again}", got.dtype == want.dtype and got.shape == want.shape
                          and np.array_equal(got.numpy(), want))
    for shape in ((), (3,), (2, 0)):
        x, y = array_of("bool", shape, 1), array_of("bool", shape, 2)
        check(f"And {shape}", np.array_equal(apply("And", Tensor(x), Tensor(y)).numpy(), x & y))
    x = Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    check("ReduceSum by an input", np.array_equal(apply("ReduceSum", x, Tensor([1]), keepdims=0), x.numpy().sum(1)))
    check("Reshape", apply("Reshape", x, Tensor([4, -1])).shape == (4, 6))
    check("Slice", np.array_equal(apply("Slice", x, Tensor([1]), Tensor([3]), Tensor([1])), x.numpy()[:, 1:3]))
    check("an omitted input", np.array_equal(apply("Clip", x, None, Tensor(5.0)), np.minimum(x, 5)))
    parts = apply("Split", x, outputs=2, axis=2, num_outputs=2)
    check("several outputs", isinstance(parts, tuple) and [p.shape for p in parts] == [(2, 3, 2)] * 2)
    many = [Tensor(np.full(3, i, np.float32)) for i in range(40)]
    for _ in range(2):
        joined = apply("Concat", *many, axis=0)
        check("forty inputs", np.array_equal(joined, np.repeat(np.arange(40), 3)))
    check("a tensor attribute", apply("Constant", value=np.arange(3)).tolist() == [0, 1, 2]
          and apply("Constant", value=Tensor([1.5])).tolist() == [1.5])
    check("lists and texts", apply("Constant", value_floats=[1.0, 2.5]).tolist() == [1, 2.5]
          and apply("Conv", Tensor(np.ones((1, 1, 3), "f4")), Tensor(np.ones((1, 1, 3), "f4")),
                    auto_pad="SAME_UPPER").shape == (1, 1, 3))
    check("None: not given", apply("Gather", x, Tensor([1]), axis=None).shape == (1, 3, 4))
    check("numbers of numpy", apply("Gather", x, Tensor([1]), axis=np.int64(2)).shape == (2, 3, 1)
          and apply("Constant", value_floats=[np.float32(1), 2.0]).tolist() == [1, 2])
    check("a DType is its number", apply("Cast", x, to=_native.dtype("int32")).dtype == "int32")
    for value in (0.1, 1e-30, float("inf"), -2.0, 3e38):
        got = apply("Constant", value_float=value).item()
        check(f"{value} as an attribute", got == np.float32(value))
    big = Tensor(np.random.default_rng(3).standard_normal((300, 400), dtype=np.float32))
    for _ in range(3):
        check("large ones", np.array_equal(apply("Add", big, big), big.numpy() * 2))


def results_go_on(_):
    x, y = Tensor(np.ones(256, "f4")), Tensor(np.ones(256, "f4"))
    for i in range(50):  # what was a result is an input, and what was an input is memory of the next result
        x = apply("Add", x, y)
        check("a chain", x.numpy().min() == x.numpy().max() == i + 2)
    x = Tensor(np.ones(8, "f4"))
    for _ in range(5):
        kept = [apply("Add", x, x), apply("Add", x, x)]
        check("two results", kept[0].tolist() == kept[1].tolist() == [2] * 8)
    for n in (3, 0, 2, 3, 1):  # their sizes are in the data
        flags = Tensor(np.array([1] * n + [0] * (3 - n), "f4"))
        check(f"NonZero gives {n}", apply("NonZero", flags).shape == (1, n))
    x = Tensor([1, 2, 3])
    y = apply("Identity", x)
    x.replace_value(Tensor([0, 0, 0]))
    check("a result is nobody else's", y.tolist() == [1, 2, 3])


def the_cache(_):
    _native.clear_cache()
    before = _native.cache_info()
    x = Tensor(np.ones((2, 3), "f4"))
    made = lambda: _native.cache_info()["made"] - before["made"]
    for shape in ((2, 3), (4, 5), (1, 1), (0, 7)):
        apply("Relu", Tensor(np.ones(shape, "f4")))
    check("one session for all shapes", made() == 1)
    apply("Relu", Tensor(np.ones(3, "f4")))
    check("another for another rank", made() == 2)
    apply("Relu", Tensor(np.ones(3, "f8")))
    check("another for another type", made() == 3)
    apply("LeakyRelu", x, alpha=0.5)
    apply("LeakyRelu", x, alpha=0.25)
    apply("LeakyRelu", x, alpha=0.5)
    check("by attributes", made() == 5)
    apply("Reshape", x, Tensor([3, 2]))
    apply("Reshape", x, Tensor([6]))
    apply("Reshape", x, Tensor([3, 2]))
    check("by the numbers that decide shapes", made() == 7)
    check("what there is", _native.cache_info()["sessions"] == 7)
    for i in range(1100):
        apply("LeakyRelu", x, alpha=float(i))
    info = _native.cache_info()
    check(f"at most 1,024: {info}", info["sessions"] == info["limit"] == 1024
          and info["dropped"] - before["dropped"] == 1107 - 1024)
    at = made()
    apply("LeakyRelu", x, alpha=1099.0)
    check("the latest are there", made() == at)
    apply("LeakyRelu", x, alpha=0.0)
    check("the oldest are not", made() == at + 1)
    _native.clear_cache()
    check("cleared", _native.cache_info()["sessions"] == 0)


def resident_kib():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def memory_is_flat(_):
    grown, seed = [], np.random.default_rng(7)
    for i in range(6000):
        shape = tuple(int(n) for n in seed.integers(1, 40, 2))
        x = Tensor(np.ones(shape, "f4"))
        apply("Add", x, x)
        if i in (2000, 5999):
            gc.collect()
            grown.append(resident_kib())
    check(f"many shapes: {grown} KiB", grown[1] - grown[0] < 8 << 10)
    x, y, grown = Tensor(np.ones(1000, "f4")), Tensor(np.ones(1000, "f4")), []
    for i in range(30000):
        apply("Add", x, y)
        if i in (5000, 29999):
            grown.append(resident_kib())
    check(f"many calls: {grown} KiB", grown[1] - grown[0] < 1 << 10)


def threads(_):
    _native.clear_cache()
    wrong, ended = [], []

    def work(number):
        generator = np.random.default_rng(number)
        for i in range(60):
            n = int(generator.integers(1, 5))
            a = generator.standard_normal((n, 7), dtype=np.float32)
            x = Tensor(a)
            if not np.array_equal(apply("Add", x, x).numpy(), a + a):
                wrong.append((number, i))
            if apply("Relu", x).numpy().min() < 0 or apply("LeakyRelu", x, alpha=float(i)).shape != (n, 7):
                wrong.append((number, i))
        ended.append(number)

    many = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in many:
        thread.start()
    for thread in many:
        thread.join(120)
    check(f"eight threads: {wrong[:5]} {ended}", not wrong and len(ended) == 8)
    check("one session each", _native.cache_info()["sessions"] == 62)


def refusals(_):
    x = Tensor(np.ones(3, "f4"))
    refused("shapes", "INVALID_GRAPH", "Add: shapes [3] and [4] do not broadcast", lambda: apply("Add", x, Tensor(np.ones(4, "f4"))))
    refused("types", "INVALID_GRAPH", "dtype f64, wanted f32", lambda: apply("Add", x, Tensor(np.ones(3))))
    refused("an operator", "UNSUPPORTED", "'Foo'", lambda: apply("Foo", x))
    refused("an attribute", "INVALID_GRAPH", "wanted float", lambda: apply("LeakyRelu", x, alpha="a"))
    refused("a number as an input", "INVALID_ARGUMENT", "input 1 of Add is a float", lambda: apply("Add", x, 1.0))
    refused("an object as an attribute", "INVALID_ARGUMENT", "attribute alpha of LeakyRelu is a object",
            lambda: apply("LeakyRelu", x, alpha=object()))
    refused("outputs", "INVALID_ARGUMENT", "outputs is 0", lambda: apply("Add", x, x, outputs=0))
    refused("functions", "UNSUPPORTED", "in a graph alone",
            lambda: _native.apply("", "If", (Tensor(True),), {}, 1, {"then_branch": 1}))
    for call in (lambda: _native.apply(), lambda: _native.apply("", "Add", (), {}, 1, None, 3),
                 lambda: _native.apply("", "Add", (), {}, output=1)):
        try:
            call()
            check("wrong arguments were not refused", False)
        except TypeError as error:
            check(f"wrong arguments: {error}", "apply() " in str(error))
    size = _native.cache_info()["sessions"]
    for _ in range(20):
        try:
            apply("Foo", x)
        except graphengine.Error:
            pass
    check("what fails is not kept", _native.cache_info()["sessions"] == size)
    check("the next call is right", apply("Add", x, x).tolist() == [2, 2, 2])


def options(_):
    x = Tensor(np.array([-1, 2], "f4"))
    _native.eager_options(engines="ref")
    check("options", apply("Relu", x).tolist() == [0, 2])
    refused("an engine", "FAILED_PRECONDITION", "nobody", lambda: _native.eager_options(engines="nobody"))
    try:
        _native.eager_options(engins="ref")
        check("a word was not refused", False)
    except TypeError as error:
        check(f"a word: {error}", "engines" in str(error))
    _native.eager_options()
    check("and none", apply("Relu", x).tolist() == [0, 2])
    plugin = "build/release/lib/samples/bad.so"
    refused("a plugin", "IO_ERROR", plugin, lambda: _native.add_plugin("./" + plugin))


if __name__ == "__main__":
    os.environ.setdefault("GE_CACHE_DIR", "off")
    sys.setswitchinterval(1e-4)
    run_all([equal_to_numpy, results_go_on, the_cache, memory_is_flat, threads, refusals, options])
