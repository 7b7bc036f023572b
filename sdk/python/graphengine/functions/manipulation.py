"""Functions of places: shapes, axes, order, joining, types."""
import operator
from typing import Any, List, Optional, Sequence, Tuple

import numpy

from graphengine.functions.dtypes import INTEGRAL, NUMBERS, name_of, promoted
from graphengine.functions.elementwise import not_equal, subtract
from graphengine.functions.values import (Tensor, axes_of, axis_of, cast, elements, expanded, fixed, in_shape_of,
                                          ints, node, nodes, on_host, reshaped, same, scalar, shape_of,
                                          size_tensor, sizes, squeezed, tensor, type_of, unsqueezed, wanted,
                                          whole)


_FIRST, _LAST = -2**63, 2**63 - 1


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Elements as another type (ONNX Cast). Floats lose what is behind the point, integers wrap."""
    on_host(device, "astype")
    x = tensor(x)
    name = name_of(dtype)
    if type_of(x) == name:
        return same(x) if copy else x
    if name == "bool":
        return not_equal(x, 0)
    return node("Cast", x, to=NUMBERS[name])


def broadcast_shapes(*shapes: Any) -> Tuple[Any, ...]:
    """The shape of a result over arrays of these shapes."""
    given = [shape_of(s, "broadcast_shapes") if not isinstance(s, tuple) else s for s in shapes]
    rank = max((len(s) for s in given), default=0)
    found: List[Any] = [1] * rank
    for shape in given:
        for i, n in enumerate(shape, rank - len(shape)):
            found[i] = _joined(found[i], n, given)
    return tuple(found)


def _joined(a: Any, b: Any, shapes: Sequence[Any]) -> Any:
    if whole(a) and a == 1:
        return b
    if (whole(b) and b == 1) or a is b or (whole(a) and not whole(b)):
        return a
    if not whole(a):
        return b if whole(b) else a
    if a != b:
        raise ValueError(f"found the shapes {', '.join(map(str, shapes))}, which do not broadcast: "
                         f"{a} and {b} differ and neither is 1, wanted equal sizes; reshape one")
    return a


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """Repeated along axes of one element, to this shape (ONNX Expand)."""
    x = tensor(x)
    to = sizes(shape, "broadcast_to")
    try:
        fits = not fixed(to) or not fixed(x.shape) or broadcast_shapes(tuple(x.shape), to) == to
    except ValueError:
        fits = False
    if not fits or x.ndim > len(to):
        raise ValueError(f"broadcast_to: found the shape {tuple(x.shape)}, which does not broadcast to {to}, "
                         "wanted sizes of 1 or of these; reshape it, or repeat it by tile")
    found = expanded(x, to)
    return same(found) if found is x else found


def broadcast_arrays(*arrays: Any) -> List[Any]:
    """Each array in the shape of a result over all of them."""
    given = [tensor(a) for a in arrays]
    shape = broadcast_shapes(*(tuple(a.shape) for a in given))
    if fixed(shape):
        found = [expanded(a, shape) for a in given]
    else:
        data = [node("Shape", a) for a in given]
        found = []
        for i, a in enumerate(given):
            for j, other in enumerate(data):
                a = a if i == j else node("Expand", a, other)
            found.append(a)
    return [same(f) if f is a else f for f, a in zip(found, given)]


def _rows_along(rows: Any, axis: Optional[int]) -> Any:
    """What a loop of a graph has appended to a list, [rounds, ...], joined along an axis of its items."""
    if axis is None:
        return reshaped(rows, (-1,))
    place = axis_of(axis, rows.ndim - 1, "concat")
    moved = moveaxis(rows, 0, place)
    return reshape(moved, (*moved.shape[:place], -1, *moved.shape[place + 2:]))


def concat(arrays: Any, /, *, axis: Optional[int] = 0) -> Any:
    """Arrays behind one another along an axis; None joins them flat (ONNX Concat)."""
    given = [_rows_along(a.__ge_rows__, axis) if hasattr(a, "__ge_rows__") else tensor(a) for a in arrays]
    if not given:
        raise ValueError("concat: found no array, wanted one and more; give a list of them")
    name = type_of(given[0])
    for a in given[1:]:
        name = promoted(name, type_of(a))
    if axis is None:
        given, axis = [reshaped(a, (-1,)) for a in given], 0
    else:
        axis = axis_of(axis, given[0].ndim, "concat")
    return node("Concat", *(cast(a, name) for a in given), axis=axis)


def expand_dims(x: Any, /, axis: Any) -> Any:
    """With a new axis of one element, or several (ONNX Unsqueeze)."""
    x = tensor(x)
    several = isinstance(axis, (list, tuple))
    return unsqueezed(x, axes_of(axis, x.ndim + (len(axis) if several else 1), "expand_dims"))


def squeeze(x: Any, /, axis: Any) -> Any:
    """Without these axes of one element (ONNX Squeeze)."""
    x = tensor(x)
    axes = axes_of(axis, x.ndim, "squeeze")
    for a in axes:
        if whole(x.shape[a]) and x.shape[a] != 1:
            raise ValueError(f"squeeze: found axis {a} of {x.shape[a]} elements, wanted 1; take one by an "
                             "index, or a mean over the axis")
    return squeezed(x, axes) if axes else same(x)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """From the other end along these axes, or all (ONNX Slice)."""
    x = tensor(x)
    axes = axes_of(axis, x.ndim, "flip")
    if not axes:
        return same(x)
    count = len(axes)
    return node("Slice", x, ints([_LAST] * count), ints([_FIRST] * count), ints(axes), ints([-1] * count))


def permute_dims(x: Any, /, axes: Any) -> Any:
    """Axes in this order (ONNX Transpose)."""
    x = tensor(x)
    order = axes_of(tuple(axes), x.ndim, "permute_dims")
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: found {len(order)} axes, wanted all {x.ndim}; name each once")
    return node("Transpose", x, perm=list(order)) if order else same(x)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Axes at other places; the others stay in their order."""
    x = tensor(x)
    origin = axes_of(source, x.ndim, "moveaxis")
    to = axes_of(destination, x.ndim, "moveaxis")
    if len(origin) != len(to):
        raise ValueError(f"moveaxis: found {len(origin)} axes and {len(to)} places, wanted as many")
    order = [a for a in range(x.ndim) if a not in origin]
    for place, axis in sorted(zip(to, origin)):
        order.insert(place, axis)
    return permute_dims(x, order)


def reshape(x: Any, /, shape: Any, *, copy: Optional[bool] = None) -> Any:
    """The same elements in order, of another shape; one size may be -1 (ONNX Reshape)."""
    del copy  # a Tensor's value is never changed in place
    x = tensor(x)
    to = shape_of(shape, "reshape")
    count = elements(x)
    if fixed(to) and whole(count):
        to = _solved(to, count, tuple(x.shape))
    elif sum(whole(n) and n == -1 for n in to) > 1:
        raise ValueError(f"reshape: found the shape {to}, wanted one size of -1 at most; give the others as numbers")
    return reshaped(x, to)


def _solved(to: Tuple[int, ...], count: int, origin: Tuple[int, ...]) -> Tuple[int, ...]:
    """The shape without -1."""
    others = 1
    for n in to:
        others *= n if n != -1 else 1
    open_ = to.count(-1)
    if open_ > 1 or any(n < -1 for n in to):
        raise ValueError(f"reshape: found the shape {to}, wanted sizes of 0 and more, one of -1 at most; "
                         "give the others as numbers")
    fits = others == count if open_ == 0 else others != 0 and count % others == 0
    if not fits:
        raise ValueError(f"reshape: found {count} elements of shape {origin}, which do not fit {to}, wanted "
                         "as many elements; -1 stands for what is left")
    return tuple(count // others if n == -1 else n for n in to)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Moved along an axis; what leaves at one end comes in at the other."""
    x = tensor(x)
    if axis is None:
        if isinstance(shift, (list, tuple)):
            raise ValueError("roll: found several shifts without axes, wanted axis= with as many")
        flat = _rolled(reshaped(x, (-1,)), operator.index(shift), 0)
        return in_shape_of(flat, x)
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    shifts = tuple(shift) if isinstance(shift, (list, tuple)) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: found {len(shifts)} shifts for {len(axes)} axes, wanted as many")
    found = x
    for by, a in zip(shifts, axes):
        found = _rolled(found, operator.index(by), axis_of(a, x.ndim, "roll"))
    return same(found) if found is x else found


def _rolled(x: Any, by: int, axis: int) -> Any:
    count = x.shape[axis]
    if not whole(count):
        places = node("Range", scalar(0, "int64"), count.tensor(), scalar(1, "int64"))
        places = node("Mod", node("Sub", places, scalar(by, "int64")), count.tensor())
        return node("Gather", x, places, axis=axis)
    by = by % count if count else 0
    if by == 0:
        return x
    tail = node("Slice", x, ints([count - by]), ints([_LAST]), ints([axis]))
    head = node("Slice", x, ints([0]), ints([count - by]), ints([axis]))
    return node("Concat", tail, head, axis=axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Arrays of one shape along a new axis."""
    arrays = list(arrays)
    if any(hasattr(a, "__ge_rows__") for a in arrays):
        parts = [getattr(a, "__ge_rows__", None) for a in arrays]
        rows = [unsqueezed(tensor(a), (0,)) if p is None else p for a, p in zip(arrays, parts)]
        whole = node("Concat", *rows, axis=0) if len(rows) > 1 else rows[0]
        return moveaxis(whole, 0, axis_of(axis, whole.ndim, "stack"))
    given = [tensor(a) for a in arrays]
    if not given:
        raise ValueError("stack: found no array, wanted one and more; give a list of them")
    shapes = {tuple(a.shape) for a in given if fixed(a.shape)}
    if len(shapes) > 1:
        raise ValueError(f"stack: found the shapes {', '.join(map(str, sorted(shapes)))}, wanted one; "
                         "join arrays of several by concat")
    place = axis_of(axis, given[0].ndim + 1, "stack")
    return concat([unsqueezed(a, (place,)) for a in given], axis=place)


def unstack(x: Any, /, *, axis: int = 0) -> Tuple[Any, ...]:
    """The arrays along an axis, which needs a known size (ONNX Split)."""
    x = tensor(x)
    place = axis_of(axis, x.ndim, "unstack")
    count = x.shape[place]
    if not whole(count):
        raise ValueError(f"unstack: found axis {place} of free size, wanted a number; "
                         "index it, or go over it by a loop")
    if count == 0:
        return ()
    if count == 1:
        return (squeezed(x, (place,)),)
    parts = nodes("Split", count, x, ints([1] * count), axis=place)
    return tuple(squeezed(part, (place,)) for part in parts)


def tile(x: Any, repetitions: Any, /) -> Any:
    """The array so many times along each axis (ONNX Tile)."""
    x = tensor(x)
    times = sizes(repetitions, "tile")
    if len(times) > x.ndim:
        x = unsqueezed(x, range(len(times) - x.ndim))
    times = (1,) * (x.ndim - len(times)) + times
    return node("Tile", x, ints(times)) if times else same(x)


def repeat(x: Any, repeats: Any, /, *, axis: Optional[int] = None) -> Any:
    """Each element so many times, along an axis or flat."""
    x = tensor(x)
    if axis is None:
        x, axis = reshaped(x, (-1,)), 0
    place = axis_of(axis, x.ndim, "repeat")
    if isinstance(repeats, (list, tuple)):
        repeats = numpy.asarray(repeats, numpy.int64)
    if isinstance(repeats, (Tensor, numpy.ndarray)):
        return _repeated(x, tensor(repeats), place)
    times, = sizes(repeats, "repeat")
    shape = tuple(x.shape)
    wide = node("Unsqueeze", x, ints([place + 1]))
    wide = node("Expand", wide, ints((1,) * (place + 1) + (times,) + (1,) * (x.ndim - place - 1)))
    if whole(shape[place]) and whole(times):
        return reshaped(wide, shape[:place] + (shape[place] * times,) + shape[place + 1:])
    whole_axis = node("Mul", size_tensor(shape[place]), size_tensor(times))
    parts = [ints([n]) for n in shape]
    parts[place] = unsqueezed(whole_axis, (0,))
    return node("Reshape", wide, node("Concat", *parts, axis=0), allowzero=1)


def _repeated(x: Any, repeats: Any, axis: int) -> Any:
    wanted("repeat", repeats, INTEGRAL)
    if repeats.ndim > 1:
        raise ValueError(f"repeat: found repeats of {repeats.ndim} axes, wanted one axis")
    times = cast(repeats, "int64")
    times = node("Expand", times, ints([x.shape[axis]]))
    ends = node("CumSum", times, scalar(0, "int64"))
    total = node("ReduceSum", times, keepdims=0)
    places = node("Range", scalar(0, "int64"), total, scalar(1, "int64"))
    # The place of an element of the result: how many of the ends are not behind it.
    behind = node("GreaterOrEqual", unsqueezed(places, (1,)), unsqueezed(ends, (0,)))
    source = node("ReduceSum", node("Cast", behind, to=NUMBERS["int64"]), ints([1]), keepdims=0)
    return node("Gather", x, source, axis=axis)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis, taken n times; with n=0 the array itself."""
    x = tensor(x)
    place = axis_of(axis, x.ndim, "diff")
    if n < 0:
        raise ValueError(f"diff: found n={n}, wanted 0 and more")
    if n == 0:
        return same(x)
    parts = [tensor(p) for p in (prepend, x, append) if p is not None]
    found = concat(parts, axis=place) if len(parts) > 1 else x
    for _ in range(n):
        upper = node("Slice", found, ints([1]), ints([_LAST]), ints([place]))
        lower = node("Slice", found, ints([0]), ints([-1]), ints([place]))
        found = not_equal(upper, lower) if type_of(found) == "bool" else subtract(upper, lower)
    return found
