"""What each function of the array API standard is called with: arrays drawn by hypothesis.

CASES: name -> a function of `draw` that answers (arguments, keywords). Arrays are numpy's; strategies
keep to what the standard defines, so that array_api_strict has an answer.
"""
import math

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTS = SIGNED + UNSIGNED
FLOATS = ["float32", "float64"]
NUMBERS = INTS + FLOATS
ALL = ["bool"] + NUMBERS

CASES = {}


def case(*names):
    """Enters a function of draw for these names; with several it takes the name, too."""
    def enter(make):
        for name in names:
            CASES[name] = make if len(names) == 1 else (lambda draw, name=name: make(draw, name))
        return make
    return enter


def elements(dtype, low=None, high=None, special=True, whole=False):
    """Numbers of a type: all of it, or from low to high; whole ones, whose sums are exact in any order."""
    kind = numpy.dtype(dtype).kind
    if whole and kind == "f":
        return st.integers(low, high).map(float)
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        limits = numpy.iinfo(dtype)
        low, high = (limits.min if low is None else max(low, limits.min),
                     limits.max if high is None else min(high, limits.max))
        near = st.integers(max(low, -5), min(high, 5)) if low <= 5 and high >= -5 else st.integers(low, high)
        return st.one_of(near, st.integers(low, high))
    width = 8 * numpy.dtype(dtype).itemsize
    bounded = low is not None or high is not None
    wide = st.floats(low, high, width=width, allow_nan=special and not bounded,
                     allow_infinity=special and not bounded, allow_subnormal=False)
    near = st.floats(-4 if low is None else low, 4 if high is None else high, width=width, allow_subnormal=False)
    return st.one_of(near, wide)


def shapes(low=0, high=5, side=0, most=4):
    """Ranks from low to high; sizes from `side`."""
    return hnp.array_shapes(min_dims=low, max_dims=high, min_side=side, max_side=most)


def array(draw, dtypes, shape=None, low=None, high=None, special=True, whole=False):
    """An array of one of the types."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(shapes() if shape is None else shape if not isinstance(shape, tuple) else st.just(shape))
    return draw(hnp.arrays(dtype, shape, elements=elements(dtype, low, high, special, whole)))


def kin(dtype, dtypes):
    """Types that promote with this one, where the standard says how."""
    kind = numpy.dtype(dtype).kind
    if kind == "f":
        return [d for d in dtypes if numpy.dtype(d).kind == "f"]
    if kind == "b":
        return ["bool"]
    return [d for d in dtypes if numpy.dtype(d).kind in "iu" and numpy.result_type(d, dtype).kind in "iu"]


def pair(draw, dtypes, numbers=True, **options):
    """Two arrays that promote and broadcast, or one and a Python number."""
    found = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, min_side=0, max_side=3))
    first = array(draw, dtypes, found.input_shapes[0], **options)
    if numbers and first.dtype.kind in "if" and draw(st.integers(0, 4)) == 0:
        number = draw(st.integers(1, 5)) if first.dtype.kind == "i" else draw(st.floats(0.5, 4, width=16))
        return (first, number) if draw(st.booleans()) else (number, first)
    second = array(draw, kin(first.dtype, dtypes), found.input_shapes[1], **options)
    return first, second


def axis_of(draw, rank):
    return draw(st.integers(-rank, rank - 1))


def axes_of(draw, rank):
    """None, one axis or several."""
    if rank == 0 or draw(st.integers(0, 2)) == 0:
        return None
    if draw(st.booleans()):
        return axis_of(draw, rank)
    chosen = draw(st.lists(st.integers(0, rank - 1), unique=True, min_size=1, max_size=rank))
    return tuple(a - rank if draw(st.booleans()) else a for a in chosen)


@case("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log1p", "log2",
      "log10", "reciprocal", "signbit", "sin", "sinh", "sqrt", "tan", "tanh")
def _floats(draw, name):
    limit = 100 if name in ("cos", "sin", "tan") else None
    return (array(draw, FLOATS, low=None if limit is None else -limit, high=limit),), {}


@case("abs", "ceil", "conj", "floor", "isfinite", "isinf", "isnan", "positive", "real", "round", "sign", "square", "trunc")
def _numbers(draw, _):
    return (array(draw, NUMBERS),), {}


@case("negative")
def _negative(draw):
    return (array(draw, SIGNED + FLOATS),), {}


@case("bitwise_invert")
def _invert(draw):
    return (array(draw, ["bool"] + INTS),), {}


@case("logical_not")
def _not(draw):
    return (array(draw, ["bool"]),), {}


@case("add", "subtract", "multiply", "maximum", "minimum", "less", "less_equal", "greater", "greater_equal")
def _two_numbers(draw, _):
    return pair(draw, NUMBERS), {}


@case("equal", "not_equal")
def _two_any(draw, _):
    return pair(draw, ALL), {}


@case("divide", "atan2", "copysign", "hypot", "logaddexp", "nextafter")
def _two_floats(draw, name):
    return pair(draw, FLOATS, numbers=name == "divide"), {}


@case("bitwise_and", "bitwise_or", "bitwise_xor")
def _two_bits(draw, _):
    return pair(draw, ["bool"] + INTS, numbers=False), {}


@case("logical_and", "logical_or", "logical_xor")
def _two_bools(draw, _):
    return pair(draw, ["bool"], numbers=False), {}


@case("bitwise_left_shift", "bitwise_right_shift")
def _shifts(draw, _):
    first, second = pair(draw, INTS, numbers=False)
    return (first, numpy.asarray(numpy.abs(second.astype("int64") % 9), second.dtype)), {}


@case("remainder", "floor_divide")
def _quotients(draw, _):
    first, second = pair(draw, NUMBERS, numbers=False, special=False)
    if second.dtype.kind in "iu":
        second = numpy.where(second == 0, numpy.asarray(3, second.dtype), second)
        if first.dtype.kind == "i" or second.dtype.kind == "i":  # the least number by -1 overflows
            second = numpy.where(second == numpy.asarray(-1).astype(second.dtype),
                                 numpy.asarray(2, second.dtype), second)
    else:
        first, second = (numpy.asarray(numpy.clip(a, -1e4, 1e4)) for a in (first, second))
        second = numpy.where(numpy.abs(second) < 1e-2, numpy.asarray(0.5, second.dtype), second)
    return (first, second), {}


@case("pow")
def _powers(draw):
    first, second = pair(draw, NUMBERS, numbers=False)
    if second.dtype.kind == "i":
        second = numpy.asarray(numpy.abs(second % numpy.asarray(9, second.dtype)))
    return (first, second), {}


@case("clip")
def _clipped(draw):
    x = array(draw, NUMBERS, special=False)
    low, high = sorted(draw(st.tuples(st.integers(0, 9), st.integers(0, 9))))
    bounds = [low, high] if x.dtype.kind in "iu" else [float(low), float(high)]
    kind = draw(st.integers(0, 3))
    if kind == 1:
        bounds = [numpy.asarray(b, x.dtype) for b in bounds]
    return (x,), {} if kind == 2 else {"min": bounds[0]} if kind == 3 else {"min": bounds[0], "max": bounds[1]}


@case("where")
def _where(draw):
    found = draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=5, min_side=0, max_side=3))
    condition = array(draw, ["bool"], found.input_shapes[0])
    first = array(draw, ALL, found.input_shapes[1])
    return (condition, first, array(draw, kin(first.dtype, ALL), found.input_shapes[2])), {}


# Creation.


@case("asarray")
def _asarray(draw):
    x = array(draw, ALL)
    keywords = {"copy": True} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        return (x,), keywords
    return (draw(st.sampled_from([3, True, [1, 2, 3], [[True], [False]], [[1, -2]], []])),), {"dtype": draw(
        st.sampled_from(NUMBERS[:4]))} if draw(st.booleans()) else {"dtype": "float64"}


@case("from_dlpack")
def _from_dlpack(draw):
    return (array(draw, NUMBERS),), {}


@case("arange")
def _arange(draw):
    start, count, step = draw(st.integers(-9, 9)), draw(st.integers(0, 12)), draw(st.integers(-4, 4).filter(bool))
    dtype = draw(st.sampled_from(SIGNED + FLOATS))
    if draw(st.booleans()):
        return (count,), {"dtype": dtype}
    return (start, start + step * count), {"step": step, "dtype": dtype}


@case("linspace")
def _linspace(draw):
    ends = draw(st.tuples(*[st.floats(-100, 100, width=32)] * 2))
    return ends, {"num": draw(st.integers(0, 9)), "endpoint": draw(st.booleans()),
                  "dtype": draw(st.sampled_from(FLOATS))}


@case("eye")
def _eye(draw):
    sizes = draw(st.tuples(st.integers(0, 5), st.integers(0, 5)))
    return sizes[:draw(st.integers(1, 2))], {"k": draw(st.integers(-6, 6)), "dtype": draw(st.sampled_from(NUMBERS))}


@case("empty", "ones", "zeros")
def _made(draw, _):
    shape = draw(shapes())
    return (shape if draw(st.booleans()) else draw(st.integers(0, 5)),), {"dtype": draw(st.sampled_from(ALL))}


@case("empty_like", "ones_like", "zeros_like")
def _made_like(draw, _):
    return (array(draw, ALL),), {"dtype": draw(st.sampled_from([None] + ALL))}


@case("full")
def _full(draw):
    dtype = draw(st.sampled_from(ALL))
    return (draw(shapes()), draw(elements(dtype))), {"dtype": dtype}


@case("full_like")
def _full_like(draw):
    x = array(draw, ALL)
    return (x, draw(elements(x.dtype))), {}


@case("meshgrid")
def _meshgrid(draw):
    dtype = [draw(st.sampled_from(NUMBERS))]
    arrays = [array(draw, dtype, shapes(1, 1)) for _ in range(draw(st.integers(1, 4)))]
    return tuple(arrays), {"indexing": draw(st.sampled_from(["xy", "ij"]))}


@case("tril", "triu")
def _triangles(draw, _):
    return (array(draw, ALL, shapes(2)),), {"k": draw(st.integers(-5, 5))}


# Types.


@case("astype")
def _astype(draw):
    x = array(draw, ALL, low=0, high=100)
    return (x, draw(st.sampled_from(ALL))), {}


@case("can_cast")
def _can_cast(draw):
    return (draw(st.sampled_from(ALL)), draw(st.sampled_from(ALL))), {}


@case("result_type")
def _result_type(draw):
    x = array(draw, ALL, (2,))
    others = draw(st.lists(st.sampled_from(kin(x.dtype, ALL)), max_size=2))
    if x.dtype.kind == "u":
        others = [o for o in others if numpy.dtype(o).kind == "u"]
    return (x, *others), {}


@case("isdtype")
def _isdtype(draw):
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"]
    kind = draw(st.sampled_from(kinds + [tuple(kinds[:2])]))
    return (draw(st.sampled_from(ALL)), kind), {}


@case("finfo")
def _finfo(draw):
    return (draw(st.sampled_from(FLOATS)),), {}


@case("iinfo")
def _iinfo(draw):
    return (draw(st.sampled_from(INTS)),), {}


# Places.


@case("broadcast_arrays", "broadcast_shapes")
def _broadcast(draw, name):
    found = draw(hnp.mutually_broadcastable_shapes(num_shapes=draw(st.integers(1, 3)), max_dims=5, max_side=3))
    if name == "broadcast_shapes":
        return tuple(found.input_shapes), {}
    return tuple(array(draw, ALL, shape) for shape in found.input_shapes), {}


@case("broadcast_to")
def _broadcast_to(draw):
    found = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, min_side=0, max_side=3))
    return (array(draw, ALL, found.input_shapes[0]), found.result_shape), {}


@case("concat")
def _concat(draw):
    x = array(draw, NUMBERS, shapes(1))
    axis = draw(st.sampled_from([None, axis_of(draw, x.ndim)]))
    others = [array(draw, kin(x.dtype, NUMBERS), x.shape) for _ in range(draw(st.integers(0, 2)))]
    return ([x, *others],), {"axis": axis}


@case("stack")
def _stack(draw):
    x = array(draw, NUMBERS)
    others = [array(draw, kin(x.dtype, NUMBERS), x.shape) for _ in range(draw(st.integers(0, 2)))]
    return ([x, *others],), {"axis": draw(st.integers(-x.ndim - 1, x.ndim))}


@case("expand_dims")
def _expand_dims(draw):
    x = array(draw, ALL)
    return (x,), {"axis": draw(st.integers(-x.ndim - 1, x.ndim))}


@case("flip")
def _flip(draw):
    x = array(draw, ALL)
    return (x,), {"axis": axes_of(draw, x.ndim)}


@case("moveaxis")
def _moveaxis(draw):
    x = array(draw, ALL, shapes(1))
    order = draw(st.permutations(range(x.ndim)))
    count = draw(st.integers(1, x.ndim))
    if draw(st.booleans()):
        return (x, axis_of(draw, x.ndim), axis_of(draw, x.ndim)), {}
    return (x, tuple(order[:count]), tuple(draw(st.permutations(range(x.ndim)))[:count])), {}


@case("permute_dims")
def _permute_dims(draw):
    x = array(draw, ALL)
    return (x, tuple(draw(st.permutations(range(x.ndim))))), {}


@case("repeat")
def _repeat(draw):
    x = array(draw, ALL, shapes(1, side=1))
    axis = draw(st.sampled_from([None, axis_of(draw, x.ndim)]))
    count = x.size if axis is None else x.shape[axis]
    if draw(st.booleans()):
        return (x, draw(st.integers(0, 3))), {"axis": axis}
    return (x, draw(hnp.arrays("int64", count, elements=st.integers(0, 3)))), {"axis": axis}


@case("reshape")
def _reshape(draw):
    x = array(draw, ALL)
    sizes = [n for n in draw(st.permutations(x.shape))]
    if len(sizes) > 1 and draw(st.booleans()):
        sizes = [sizes[0] * sizes[1]] + sizes[2:]
    if sizes and x.size and draw(st.booleans()):
        sizes[draw(st.integers(0, len(sizes) - 1))] = -1
    return (x, tuple(sizes)), {}


@case("roll")
def _roll(draw):
    x = array(draw, ALL)
    if x.ndim and draw(st.booleans()):
        axes = draw(st.lists(st.integers(0, x.ndim - 1), unique=True, min_size=1))
        return (x, tuple(draw(st.integers(-7, 7)) for _ in axes)), {"axis": tuple(axes)}
    axis = axis_of(draw, x.ndim) if x.ndim and draw(st.booleans()) else None
    return (x, draw(st.integers(-7, 7))), {"axis": axis}


@case("squeeze")
def _squeeze(draw):
    x = array(draw, ALL, shapes(1))
    axis = axis_of(draw, x.ndim)
    shape = list(x.shape)
    shape[axis] = 1
    return (numpy.resize(x, shape).astype(x.dtype),), {"axis": axis}


@case("tile")
def _tile(draw):
    return (array(draw, ALL, shapes(most=3)), tuple(draw(st.lists(st.integers(0, 2), max_size=4)))), {}


@case("unstack")
def _unstack(draw):
    x = array(draw, ALL, shapes(1))
    return (x,), {"axis": axis_of(draw, x.ndim)}


@case("diff")
def _diff(draw):
    x = array(draw, NUMBERS, shapes(1), special=False)
    axis = axis_of(draw, x.ndim)
    more = {"prepend": x} if draw(st.booleans()) else {}
    return (x,), {"axis": axis, "n": draw(st.integers(0, min(2, x.shape[axis]))), **more}


# Places found.


@case("argmax", "argmin")
def _extreme_places(draw, _):
    x = array(draw, NUMBERS, shapes(side=1), special=False)
    axis = axis_of(draw, x.ndim) if x.ndim and draw(st.booleans()) else None
    return (x,), {"axis": axis, "keepdims": draw(st.booleans())}


@case("nonzero")
def _nonzero(draw):
    return (array(draw, ALL, shapes(1)),), {}


@case("count_nonzero", "all", "any")
def _counts(draw, _):
    x = array(draw, ALL)
    return (x,), {"axis": axes_of(draw, x.ndim), "keepdims": draw(st.booleans())}


@case("take")
def _take(draw):
    x = array(draw, ALL, shapes(1, side=1))
    axis = axis_of(draw, x.ndim)
    places = draw(hnp.arrays(draw(st.sampled_from(SIGNED)), draw(st.integers(0, 4)),
                             elements=st.integers(0, x.shape[axis] - 1)))
    return (x, places), {"axis": axis}


@case("take_along_axis")
def _take_along_axis(draw):
    x = array(draw, ALL, shapes(1, side=1))
    axis = axis_of(draw, x.ndim)
    shape = list(x.shape)
    shape[axis] = draw(st.integers(0, 4))
    return (x, draw(hnp.arrays("int64", tuple(shape), elements=st.integers(0, x.shape[axis] - 1)))), {"axis": axis}


@case("searchsorted")
def _searchsorted(draw):
    x = array(draw, NUMBERS, shapes(1, 1), special=False)
    values = array(draw, [str(x.dtype)], special=False)
    if draw(st.booleans()):
        return (x, values), {"sorter": numpy.argsort(x, kind="stable"), "side": "left"}
    return (numpy.sort(x), values), {"side": draw(st.sampled_from(["left", "right"]))}


@case("argsort", "sort")
def _sorted(draw, _):
    x = array(draw, NUMBERS, shapes(1), special=False)
    return (x + numpy.zeros((), x.dtype),), {"axis": axis_of(draw, x.ndim), "descending": draw(st.booleans())}


@case("unique_all", "unique_counts", "unique_inverse", "unique_values")
def _unique(draw, _):
    return (array(draw, ALL, special=False),), {}


@case("isin")
def _isin(draw):
    x = array(draw, INTS, low=0, high=6)
    return (x, array(draw, [str(x.dtype)], low=0, high=6)), {"invert": draw(st.booleans())}


# Sums and products.


@case("max", "min")
def _extremes(draw, _):
    x = array(draw, NUMBERS, shapes(side=1))
    return (x,), {"axis": axes_of(draw, x.ndim), "keepdims": draw(st.booleans())}


@case("sum", "prod")
def _totals(draw, _):
    x = array(draw, NUMBERS, low=-3, high=3, whole=True)
    dtype = {"dtype": "int64" if x.dtype.kind == "i" else "float64"} if x.dtype.kind in "if" else {}
    return (x,), {"axis": axes_of(draw, x.ndim), "keepdims": draw(st.booleans()),
                  **(dtype if draw(st.booleans()) else {})}


@case("mean", "std", "var")
def _means(draw, name):
    x = array(draw, FLOATS, shapes(side=1), low=-100, high=100, whole=True)
    correction = {} if name == "mean" else {"correction": draw(st.sampled_from([0.0, 1.0, 0.5]))}
    axis = axes_of(draw, x.ndim)
    count = x.size if axis is None else math.prod(numpy.take(x.shape, axis).reshape(-1).tolist())
    return (x,), {"axis": axis, "keepdims": draw(st.booleans()), **(correction if count > 1 else {})}


@case("cumulative_sum", "cumulative_prod")
def _running(draw, _):
    x = array(draw, NUMBERS, shapes(1), low=-3, high=3, whole=True)
    return (x,), {"axis": axis_of(draw, x.ndim), "include_initial": draw(st.booleans())}


@case("matmul")
def _matmul(draw):
    found = draw(hnp.mutually_broadcastable_shapes(signature="(m?,n),(n,p?)->(m?,p?)", max_dims=3, max_side=4,
                                                   min_side=0))
    first = array(draw, NUMBERS, found.input_shapes[0], low=-9, high=9, whole=True)
    return (first, array(draw, kin(first.dtype, NUMBERS), found.input_shapes[1], low=-9, high=9, whole=True)), {}


@case("matrix_transpose")
def _matrix_transpose(draw):
    return (array(draw, ALL, shapes(2)),), {}


@case("vecdot")
def _vecdot(draw):
    found = draw(hnp.mutually_broadcastable_shapes(signature="(n),(n)->()", max_dims=3, max_side=4, min_side=0))
    first = array(draw, NUMBERS, found.input_shapes[0], low=-9, high=9, whole=True)
    return (first, array(draw, kin(first.dtype, NUMBERS), found.input_shapes[1], low=-9, high=9, whole=True)), {"axis": -1}


@case("tensordot")
def _tensordot(draw):
    first = array(draw, NUMBERS, shapes(0, 3, most=3), low=-9, high=9, whole=True)
    count = draw(st.integers(0, first.ndim))
    more = draw(shapes(0, 2, most=3))
    if draw(st.booleans()):
        shape, axes = first.shape[first.ndim - count:] + more, count
    else:
        chosen = draw(st.permutations(range(first.ndim)))[:count]
        shape, axes = more + tuple(first.shape[i] for i in chosen), (
            tuple(chosen), tuple(range(len(more), len(more) + count)))
    return (first, array(draw, kin(first.dtype, NUMBERS), shape, low=-9, high=9, whole=True)), {"axes": axes}
