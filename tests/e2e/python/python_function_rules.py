"""What functions over Tensors do beyond single values: mixed types and numbers, the standard's special
cases, linear algebra, Fourier's helpers, fresh results, refusals with words.
"""
import itertools
import math

import numpy
from functions_checks import check, ended, no_numbers_differ
from graphengine import functions as xp
from graphengine.functions.indexing import setitem

F32 = numpy.float32


def near(name, found, wanted, digits=1e-5):
    found, wanted = numpy.asarray(found), numpy.asarray(wanted)
    check(f"{name}: found {found.dtype}{found.shape} {found}, wanted {wanted.dtype}{wanted.shape} {wanted}",
          found.shape == wanted.shape and numpy.allclose(found, wanted, rtol=digits, atol=digits, equal_nan=True))


def refused(name, error, words, call):
    try:
        call()
    except error as found:
        check(f"{name}: {found}", words in str(found))
    except Exception as found:  # pylint: disable=broad-except
        check(f"{name}: {type(found).__name__}: {found}", False)
    else:
        check(f"{name}: was not refused", False)


def promotion():
    """The standard's table, and what it leaves open."""
    names = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
    for a, b in itertools.product(names, names):
        kinds = {numpy.dtype(n).kind for n in (a, b)}
        if kinds <= {"i", "u"} and "uint64" in (a, b) and "i" in kinds:
            refused(f"{a} with {b}", TypeError, "which no integer type holds both", lambda: xp.result_type(a, b))
            continue
        mixed = "f" in kinds and len(kinds) > 1
        wanted = (a if a.startswith("float") else b) if mixed else numpy.result_type(a, b).name
        check(f"{a} with {b}: {xp.result_type(a, b)}, wanted {wanted}", xp.result_type(a, b).name == wanted)
        check(f"can_cast {a} {b}", xp.can_cast(a, b) == (len(kinds | {"u", "i"}) < 4 and not mixed and (
            ("b" in kinds) == (kinds == {"b"})) and numpy.result_type(a, b).name == b))
    check("float16 with bfloat16", xp.result_type("float16", "bfloat16") == "float32")
    x = xp.asarray([1, 2, 3], dtype="int32")
    for other, wanted in [(2, "int32"), (True, "int32"), (2.5, "float32"), (numpy.int64(2), "int64"),
                          (numpy.float64(2.5), "float32"), (numpy.zeros(3), "float64"),
                          (numpy.ones(3, bool), "int32"), (xp.asarray([1.0] * 3), "float32")]:
        for found in (xp.add(x, other), xp.add(other, x)):
            check(f"int32 with {other!r}: {found.dtype}, wanted {wanted}", found.dtype == wanted)
    check("float64 with a number", xp.multiply(xp.asarray([1.5], dtype="float64"), 0.1).dtype == "float64")
    check("float16 with a number", xp.multiply(xp.asarray([1.5], dtype="float16"), 3).dtype == "float16")
    check("integers divided", xp.divide(x, 2).dtype == "float32" and xp.sqrt(x).dtype == "float32")
    check("two numbers", xp.add(1, 2.5).dtype == "float32" and xp.add(1, 2).dtype == "int64")
    check("numbers of Python", [xp.asarray(v).dtype.name for v in (1, 1.0, True)] == ["int64", "float32", "bool"])
    check("lists", xp.asarray([[1, 2.5]]).dtype == "float32" and xp.asarray([numpy.float64(1)]).dtype == "float32")
    check("lists of Tensors", numpy.array_equal(numpy.asarray(xp.asarray([x, [7, 8, 9]])), [[1, 2, 3], [7, 8, 9]]))
    refused("a number that does not fit", ValueError, "found the number 300, wanted one of int8, -128 to 127",
            lambda: xp.add(xp.asarray([1], dtype="int8"), 300))
    small = xp.asarray([-100, 100], dtype="int8")
    for compare, wanted in ((xp.less, True), (xp.less_equal, True), (xp.greater, False), (xp.equal, False)):
        check(f"{compare.__name__} with a number out of range", bool(numpy.asarray(compare(small, 300)).all()) == wanted
              and bool(numpy.asarray(compare(-300, small)).all()) == wanted)


def special_cases():
    """Signs of zeros, infinities and NaN, as the standard has them."""
    inf, nan = math.inf, math.nan
    for function, arguments in [
            ("atan2", [(0.0, 0.0), (0.0, -0.0), (-0.0, -0.0), (-0.0, 0.0), (1.0, 0.0), (-1.0, -0.0), (inf, inf),
                       (inf, -inf), (-inf, inf), (-inf, -inf), (2.0, inf), (2.0, -inf), (nan, 1.0), (1.0, nan),
                       (0.0, -3.0), (-0.0, -3.0)]),
            ("hypot", [(inf, nan), (nan, -inf), (nan, 1.0), (3e38, 3e38), (1e-30, 1e-30), (0.0, -0.0), (3.0, 4.0)]),
            ("logaddexp", [(inf, inf), (-inf, -inf), (-inf, 1.0), (inf, nan), (nan, 1.0), (1000.0, 1000.0), (-inf, inf)]),
            ("floor_divide", [(7.0, 2.0), (-7.0, 2.0), (7.0, -2.0), (1.0, 0.1), (0.0, -1.0), (-0.0, 1.0), (1.0, 0.0),
                              (-1.0, inf), (1.0, inf), (0.0, 0.0)]),
            ("remainder", [(7.0, -2.0), (-7.0, 2.0), (5.0, inf), (-5.0, inf), (-0.0, 1.0), (0.0, -1.0), (1.0, 0.0),
                           (inf, 1.0)]),
            ("copysign", [(0.0, -1.0), (nan, -1.0), (-3.0, 0.0), (3.0, -0.0)]),
            ("nextafter", [(0.0, 1.0), (0.0, -1.0), (1.0, 1.0), (0.0, -0.0), (1.0, inf), (inf, 0.0), (nan, 1.0)]),
            ("pow", [(0.0, 0.0), (nan, 0.0), (1.0, nan), (-8.0, 1 / 3), (-inf, 3.0), (0.0, -1.0), (2.0, -inf)]),
            ("maximum", [(nan, 1.0), (1.0, nan)]), ("minimum", [(nan, 1.0), (1.0, nan)])]:
        a, b = (numpy.array(column, F32) for column in zip(*arguments))
        near_signed(function, getattr(xp, function)(a, b), two(function, a, b))
    x = numpy.array([-2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, inf, -inf, nan, 1e-10, -1e-10], F32)
    for function in ("round", "trunc", "ceil", "floor", "sign", "expm1", "log1p", "isnan", "isinf", "isfinite",
                     "signbit", "exp", "tanh", "sqrt", "reciprocal"):
        with numpy.errstate(all="ignore"):
            near_signed(function, getattr(xp, function)(x), getattr(numpy, function)(x))


def two(function, a, b):
    with numpy.errstate(all="ignore"):
        return getattr(numpy, {"atan2": "arctan2", "pow": "power"}.get(function, function))(a, b)


def near_signed(name, found, wanted):
    found = numpy.asarray(found)
    good = found.dtype == wanted.dtype and numpy.allclose(found, wanted, rtol=1e-6, atol=0, equal_nan=True)
    numbers = ~numpy.isnan(wanted)
    check(f"{name}: {found}, wanted {wanted}", good and (numpy.signbit(found) == numpy.signbit(wanted))[numbers].all()
          if wanted.dtype.kind == "f" else good)


def more_types():
    """float16 and bfloat16, which the standard has not, and integers through wider ones."""
    for name in ("float16", "bfloat16"):
        x = xp.astype(xp.asarray([1.5, -2.0, 0.25]), name)
        for function in (xp.exp, xp.sqrt, xp.negative, xp.square, xp.expm1, xp.sort, xp.sum, xp.mean, xp.signbit):
            found = function(x)
            check(f"{function.__name__} of {name} is {found.dtype}", found.dtype in (name, "bool"))
        near(f"sums of {name}", xp.astype(xp.sum(x), "float32"), numpy.float32(-0.25))
    for name in ("int8", "uint8", "int16", "uint16", "uint32", "uint64"):
        x = numpy.array([3, 7, 250 if name[0] == "u" else 100], name)
        with numpy.errstate(all="ignore"):
            no_numbers_differ(xp.pow(x, xp.asarray(x)), x**x, f"pow of {name}")
            no_numbers_differ(xp.matmul(x, x), x @ x, f"matmul of {name}")
        no_numbers_differ(xp.max(x), x.max(), f"max of {name}")
        no_numbers_differ(xp.negative(x), numpy.negative(x), f"negative of {name}")
    high = numpy.array([2**63, 2**64 - 1, 5], "uint64")
    no_numbers_differ(xp.sort(high), numpy.sort(high), "sort of uint64")
    no_numbers_differ(xp.floor_divide(high, high), high // high, "floor_divide of uint64")


def linear_algebra():
    rng = numpy.random.default_rng(3)
    x = rng.normal(size=(2, 4, 4)) + 3 * numpy.eye(4)
    y = rng.normal(size=(2, 4, 3))
    la = xp.linalg
    near("det", la.det(x), numpy.linalg.det(x))
    for found, wanted in zip(la.slogdet(x), numpy.linalg.slogdet(x)):
        near("slogdet", found, wanted)
    near("inv", la.inv(x), numpy.linalg.inv(x))
    near("solve", la.solve(x, y), numpy.linalg.solve(x, y))
    near("solve of a vector", la.solve(x, y[0, :, 0]), numpy.linalg.solve(x, y[0, :, 0]))
    for n in (-2, -1, 0, 1, 2, 5):
        near(f"matrix_power {n}", la.matrix_power(x, n), numpy.linalg.matrix_power(x, n), 1e-4)
    for offset in (-5, -2, 0, 1, 4):
        near(f"diagonal {offset}", la.diagonal(y, offset=offset), numpy.diagonal(y, offset, -2, -1))
        near(f"trace {offset}", la.trace(y, offset=offset), numpy.trace(y, offset, -2, -1))
    near("outer", la.outer(x[0, 0], y[0, 0]), numpy.outer(x[0, 0], y[0, 0]))
    a, b = rng.normal(size=(2, 3, 5)), rng.normal(size=(3, 5))
    near("cross", la.cross(a, b, axis=-2), numpy.cross(a, b, axis=-2))
    for order in ("fro", 1, -1, math.inf, -math.inf):
        for keep in (False, True):
            near(f"matrix_norm {order}", la.matrix_norm(y, ord=order, keepdims=keep),
                 numpy.linalg.norm(y, order, (-2, -1), keep))
    for order in (0, 1, 2, 3, 0.5, -1, math.inf, -math.inf):
        near(f"vector_norm {order}", la.vector_norm(y, axis=1, ord=order), numpy.linalg.vector_norm(y, axis=1, ord=order))
    near("vector_norm of all", la.vector_norm(y, axis=(0, 2), keepdims=True),
         numpy.linalg.vector_norm(y, axis=(0, 2), keepdims=True))
    near("vector_norm without axes", la.vector_norm(numpy.float32(-3)), numpy.float32(3))
    for name in ("cholesky", "eigh", "eigvalsh", "matrix_rank", "pinv", "qr", "svd", "svdvals"):
        refused(name, NotImplementedError, f"{name} needs a factorization, which no operator has",
                lambda name=name: getattr(la, name)(x))
    refused("matrix_norm 2", NotImplementedError, "needs singular values", lambda: la.matrix_norm(x, ord=2))
    refused("det", ValueError, "found the shape (2, 4, 3), wanted square matrices", lambda: la.det(y))


def transforms():
    for n in (1, 4, 5):
        near("fftfreq", xp.fft.fftfreq(n, d=0.5), numpy.fft.fftfreq(n, 0.5))
        near("rfftfreq", xp.fft.rfftfreq(n, d=0.5), numpy.fft.rfftfreq(n, 0.5))
        x = numpy.arange(3 * n).reshape(3, n)
        for axes in (None, 0, (0, 1)):
            near("fftshift", xp.fft.fftshift(x, axes=axes), numpy.fft.fftshift(x, axes))
            near("ifftshift", xp.fft.ifftshift(x, axes=axes), numpy.fft.ifftshift(x, axes))
    for name in ("fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft"):
        refused(name, NotImplementedError, f"{name} has complex numbers, which a Tensor does not hold",
                lambda name=name: getattr(xp.fft, name)(xp.asarray([1.0])))


def fresh_results():
    """A result is never the argument itself: x[i] = v gives one Tensor another value, not two."""
    x = xp.asarray([[1.0, 2.0]])
    for name, call in [("reshape", lambda: xp.reshape(x, (1, 2))), ("floor", lambda: xp.floor(xp.asarray([1]))),
                       ("positive", lambda: xp.positive(x)), ("flip", lambda: xp.flip(x, axis=())),
                       ("broadcast_to", lambda: xp.broadcast_to(x, (1, 2))), ("roll", lambda: xp.roll(x, 0, axis=0)),
                       ("astype", lambda: xp.astype(x, "float32")), ("clip", lambda: xp.clip(x)),
                       ("diff", lambda: xp.diff(x, n=0)), ("full", lambda: xp.full((1, 2), x)),
                       ("sum", lambda: xp.sum(x, axis=())), ("tile", lambda: xp.tile(x, ())),
                       ("asarray", lambda: xp.asarray(x, copy=True)), ("power", lambda: xp.linalg.matrix_power(
                           xp.asarray([[1.0]]), 1))]:
        check(f"{name} answers its argument", call() is not x)
    check("asarray without a copy", xp.asarray(x) is x and xp.astype(x, "float32", copy=False) is x)
    array = numpy.zeros(3, F32)
    taken = xp.asarray(array, copy=True)
    array[0] = 1
    check("a copy of an array", numpy.asarray(taken)[0] == 0)
    changed = setitem(x, (0, 0), 9)
    check("setitem leaves its argument", numpy.asarray(x)[0, 0] == 1 and numpy.asarray(changed)[0, 0] == 9)


def namespace():
    info = xp.__array_namespace_info__()
    check("default types", info.default_dtypes()["real floating"] == "float32" and info.default_device() == "cpu")
    check("types by kind", list(info.dtypes(kind="unsigned integer")) == ["uint8", "uint16", "uint32", "uint64"])
    check("all types", len(info.dtypes()) == 11 and info.devices() == ["cpu"])
    check("names are all there", all(hasattr(xp, name) for name in xp.__all__))


def refusals():
    x = xp.asarray(numpy.zeros((2, 3), F32))
    flags = xp.asarray([True, False])
    for name, error, words, call in [
            ("imag", TypeError, "imag: found float32, wanted complex numbers", lambda: xp.imag(x)),
            ("bool added", TypeError, "add: found bool, wanted int8", lambda: xp.add(flags, flags)),
            ("logic of numbers", TypeError, "logical_and: found float32, wanted bool", lambda: xp.logical_and(x, x)),
            ("bits of floats", TypeError, "bitwise_or: found float32, wanted bool, int8",
             lambda: xp.bitwise_or(x, x)),
            ("an axis", ValueError, "sum: found axis 2, wanted -2 to 1 for 2 axes", lambda: xp.sum(x, axis=2)),
            ("an axis twice", ValueError, "sum: found the axes (0, -2), which name one twice",
             lambda: xp.sum(x, axis=(0, -2))),
            ("no axis", TypeError, "found the axis 'a', wanted a whole number", lambda: xp.sum(x, axis="a")),
            ("reshape", ValueError, "reshape: found 6 elements of shape (2, 3), which do not fit (4, 2)",
             lambda: xp.reshape(x, (4, 2))),
            ("two open sizes", ValueError, "one of -1 at most", lambda: xp.reshape(x, (-1, -1))),
            ("broadcast", ValueError, "found the shape (2, 3), which does not broadcast to (3, 2)",
             lambda: xp.broadcast_to(x, (3, 2))),
            ("shapes", ValueError, "2 and 3 differ and neither is 1", lambda: xp.broadcast_shapes((2,), (3,))),
            ("matmul", ValueError, "whose inner sizes 3 and 2 differ", lambda: xp.matmul(x, x)),
            ("squeeze", ValueError, "squeeze: found axis 1 of 3 elements, wanted 1", lambda: xp.squeeze(x, axis=1)),
            ("max of nothing", ValueError, "max: found no element", lambda: xp.max(xp.zeros((0, 3)), axis=0)),
            ("a running sum without axis", ValueError, "cumulative_sum: found 2 axes and no axis=",
             lambda: xp.cumulative_sum(x)),
            ("a text", TypeError, "found str, wanted a Tensor, an array or a number", lambda: xp.sin("a")),
            ("a list of texts", TypeError, "wanted an array, a number or lists of them", lambda: xp.asarray(["a"])),
            ("a type", TypeError, "found the type 'float31'", lambda: xp.zeros(3, dtype="float31")),
            ("a size", ValueError, "zeros: found the shape (-1,), wanted sizes of 0 and more", lambda: xp.zeros(-1)),
            ("a size of another kind", TypeError, "zeros: found 1.5, wanted a whole number", lambda: xp.zeros(1.5)),
            ("a device", ValueError, "zeros: found the device 'gpu', wanted \"cpu\"", lambda: xp.zeros(3, device="gpu")),
            ("a copy that has to be", ValueError, "becomes float64 by a copy alone",
             lambda: xp.asarray(x, dtype="float64", copy=False)),
            ("a step", ValueError, "arange: found the step 0", lambda: xp.arange(0, 3, 0)),
            ("side", ValueError, "searchsorted: found side='middle'",
             lambda: xp.searchsorted(x, x, side="middle")),
            ("no arrays", ValueError, "concat: found no array", lambda: xp.concat([])),
            ("finfo", TypeError, "finfo: found int32, wanted float16", lambda: xp.finfo("int32")),
            ("kind", ValueError, "isdtype: found the kind 'whole'", lambda: xp.isdtype("int8", "whole")),
            ("clip", TypeError, "clip: found the bound 0.5 for int64", lambda: xp.clip(xp.asarray([1]), 0.5))]:
        refused(name, error, words, call)


ended(promotion, special_cases, more_types, linear_algebra, transforms, fresh_results, namespace, refusals)
