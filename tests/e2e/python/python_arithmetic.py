"""Operators, items and methods of Tensors against numpy's."""
import operator
import traceback

import numpy as np

import graphengine
from graphengine import Tensor
from python_checks import check, refused, run_all

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "gt", "ge"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]


def near(got, want):
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind in "fc":
        return got.shape == want.shape and np.allclose(got, want, rtol=1e-5, atol=1e-6, equal_nan=True)
    return got.shape == want.shape and np.array_equal(got, want)


def with_each_other(_):
    generator = np.random.default_rng(5)
    for dtype in ("float32", "float64", "int8", "int32", "int64", "uint8", "uint32", "uint64"):
        for a, b in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), (4,)), ((0, 3), (3,)), ((2, 1, 2), (3, 1))):
            x, y = (generator.integers(1, 5, shape).astype(dtype) for shape in (a, b))
            for name in BINARY + (BITS if dtype[0] in "iu" else []):
                function = getattr(operator, name)
                if name == "truediv" and dtype[0] in "iu":
                    continue
                got = function(Tensor(x), Tensor(y))
                check(f"{name} of {dtype} {a} {b}", got.dtype == function(x, y).dtype and near(got, function(x, y)))
            check(f"unary of {dtype} {a}", near(+Tensor(x), x) and near(abs(Tensor(x)), x)
                  and (dtype[0] == "u" or near(-Tensor(x), -x)) and (dtype[0] == "f" or near(~Tensor(x), ~x)))
    x, y = np.array([True, False, True]), np.array([True, True, False])
    for name in ("and_", "or_", "xor", "eq", "ne"):
        function = getattr(operator, name)
        check(f"{name} of bool", near(function(Tensor(x), Tensor(y)), function(x, y)))
    check("not", near(~Tensor(x), ~x))
    for a, b in (((2, 3), (3, 4)), ((3,), (3,)), ((5, 2, 3), (3, 1)), ((3,), (4, 3, 2))):
        x, y = (generator.standard_normal(shape, dtype=np.float32) for shape in (a, b))
        check(f"@ {a} {b}", near(Tensor(x) @ Tensor(y), x @ y))


def with_numbers_and_arrays(_):
    x = np.array([[1.5, -2, 0.25]], np.float32)
    t = Tensor(x)
    for number in (2, 2.5, -1, 0.1):
        for name in ("add", "sub", "mul", "truediv", "lt", "ge", "eq"):
            function = getattr(operator, name)
            got, back = function(t, number), function(number, t)
            check(f"{name} {number}", near(got, function(x, number)) and got.dtype == function(x, number).dtype)
            check(f"{number} {name}", near(back, function(number, x)))
    check("a number keeps the type", (t + 1).dtype == "float32" and (Tensor([1]) + 1).dtype == "int64"
          and (Tensor(np.int8([1])) * 2).dtype == "int8" and (2 ** Tensor(np.float64(3))).dtype == "float64")
    for got in (t + x, x + t):
        check("an array of numpy", isinstance(got, Tensor) and near(got, x + x))
    check("numpy's scalars", isinstance(np.float32(2) * t, Tensor) and near(np.float32(2) * t, x * 2))
    check("no value is None", not (t == None) and t != None)  # pylint: disable=singleton-comparison
    for other in ("a", [1, 2, 3], object()):
        try:
            t + other  # pylint: disable=pointless-statement
            check(f"+ {other!r} was not refused", False)
        except TypeError as error:
            check(f"+ {other!r}: {error}", "unsupported operand" in str(error))


def in_place(_):
    for name, function in (("iadd", operator.add), ("isub", operator.sub), ("imul", operator.mul),
                           ("itruediv", operator.truediv), ("ifloordiv", operator.floordiv), ("imod", operator.mod),
                           ("ipow", operator.pow)):
        x = np.array([3.0, 5.0], np.float32)
        t = Tensor(x, copy=True)
        was, view = t, t.numpy()
        t = getattr(operator, name)(t, Tensor(np.float32(2)))
        check(f"{name}: the object stays", t is was and near(t, function(x, np.float32(2))))
        check(f"{name}: what was given out stays", near(view, x))
    t = Tensor(np.ones(3, np.float32))
    refused("another shape", "INVALID_ARGUMENT", "write x = x ... instead",
            lambda: operator.iadd(t, np.ones((2, 3), np.float32)))
    refused("another type", "INVALID_ARGUMENT", "write x = x ... instead", lambda: operator.iadd(t, np.ones(3)))
    check("and nothing changed", t.tolist() == [1, 1, 1])


def items(_):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    t = Tensor(x)
    keys = [0, -1, (0, 1), (slice(None), 1), (Ellipsis, 2), (None, 0), slice(1, None), (slice(None), slice(None, None, 2)),
            (0, 1, 2), (slice(None), slice(2, 0, -1)), Ellipsis, x > 5, (0, np.array([2, 0]))]
    for key in keys:
        check(f"x[{key}]", near(t[key if not isinstance(key, np.ndarray) else Tensor(key)], x[key]))
    for key, value in (((0, 1), 7.0), ((slice(None), 0, 0), np.array([8, 9], np.float32)), (1, 0.5)):
        y, u = x.copy(), Tensor(x, copy=True)
        part, same = u[0], u
        y[key] = value
        u[key] = value
        check(f"x[{key}] = v", near(u, y) and u is same)
        check(f"x[{key}] = v: slices stay", near(part, x[0]))
    check("in", 5 in t and 99 not in t)
    try:
        del t[0]
        check("del was not refused", False)
    except TypeError as error:
        check("del", "wanted an assignment" in str(error))


def methods(_):
    x = np.array([[3, 1, 2], [6, 5, 4]], np.float32)
    t = Tensor(x)
    for name, got, want in (
            ("sum", t.sum(), x.sum()), ("sum(0)", t.sum(0), x.sum(0)), ("prod", t.prod(axis=1), x.prod(1)),
            ("mean", t.mean(axis=(0, 1)), x.mean()), ("std", t.std(correction=1), x.std(ddof=1)),
            ("var", t.var(0), x.var(0)), ("max", t.max(axis=1, keepdims=True), x.max(1, keepdims=True)),
            ("min", t.min(), x.min()), ("argmax", t.argmax(1), x.argmax(1)), ("argmin", t.argmin(), x.argmin()),
            ("all", t.all(), x.all()), ("any", t.any(axis=0), x.any(0)), ("cumsum", t.cumsum(), x.cumsum()),
            ("cumsum(1)", t.cumsum(1), x.cumsum(1)), ("clip", t.clip(2, 4), x.clip(2, 4)),
            ("round", (t / 4).round(), (x / 4).round()), ("dot", t.dot(t.T), x.dot(x.T)), ("T", t.T, x.T),
            ("mT", t.mT, x.T), ("transpose", t.transpose(), x.T), ("transpose(1, 0)", t.transpose(1, 0), x.T),
            ("reshape", t.reshape(3, 2), x.reshape(3, 2)), ("reshape(-1)", t.reshape((-1,)), x.ravel()),
            ("flatten", t.flatten(), x.ravel()), ("ravel", t.ravel(), x.ravel()),
            ("squeeze", t.reshape(1, 2, 3, 1).squeeze(), x), ("take", t.take(Tensor([2, 0]), axis=1), x[:, [2, 0]]),
            ("take of all", t.take(Tensor([5])), x.take([5])), ("astype", t.astype("int32"), x.astype("int32"))):
        check(name, near(got, want))
    check("the namespace", t.__array_namespace__().add is graphengine.functions.add
          and t.__array_namespace__(api_version="2024.12") is graphengine.functions)
    for name, call in (("another version", lambda: t.__array_namespace__(api_version="1999.1")),
                       ("T of three axes", lambda: t.reshape(1, 2, 3).T), ("a device", lambda: t.to_device("gpu"))):
        try:
            call()
            check(f"{name} was not refused", False)
        except ValueError as error:
            check(f"{name}: {error}", True)


def where_it_fails(_):
    t = Tensor(np.ones(3, np.float32))
    for name, call in (("floor_divide", lambda: t // Tensor(np.ones(4, np.float32))), ("index", lambda: t[0, 0]),
                       ("mixed types", lambda: t + Tensor(np.ones((4,), np.float64)))):
        try:
            call()
            check(f"{name} was not refused", False)
        except Exception as error:  # pylint: disable=broad-except
            last = traceback.extract_tb(error.__traceback__)[-1]
            check(f"{name}: the last frame is here: {last}", last.filename == __file__)


if __name__ == "__main__":
    run_all([with_each_other, with_numbers_and_arrays, in_place, items, methods, where_it_fails])
