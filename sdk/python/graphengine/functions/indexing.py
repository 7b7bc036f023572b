"""x[key], and the value that x[key] = v gives x: numpy's rules, results are copies.

A key has whole numbers, slices, `...`, None, masks and arrays of whole numbers. Its arrays go
together: their axes stand where the first of them stood, or in front where others lie between.
"""
import operator
from typing import Any, List, Optional, Sequence, Tuple

import numpy

from graphengine.functions.dtypes import INTEGRAL
from graphengine.functions.manipulation import broadcast_shapes
from graphengine.functions.values import (Tensor, cast, elements, expanded, fixed, in_shape_of, ints, node, reshaped,
                                          same, scalar, squeezed, tensor, type_of, unsqueezed, whole)

_FIRST, _LAST = -2**63, 2**63 - 1


def _is_array(entry: Any) -> bool:
    return isinstance(entry, (numpy.ndarray, numpy.bool_, list, tuple, bool))


def _entry(entry: Any) -> Any:
    """One part of a key as None, ..., a slice, an int or a Tensor."""
    if entry is None or entry is Ellipsis or isinstance(entry, (slice, Tensor)):
        return entry
    if isinstance(entry, list) and not entry:
        return tensor(numpy.zeros(0, numpy.int64))
    if _is_array(entry):
        return tensor(numpy.asarray(entry) if isinstance(entry, (bool, numpy.bool_)) else entry)
    if hasattr(entry, "tensor"):
        return entry.tensor()
    try:
        return operator.index(entry)
    except TypeError:
        raise TypeError(f"found the index {entry!r:.60}, wanted whole numbers, slices, ..., None, masks or "
                        "arrays of whole numbers; convert it by int() or asarray(x)") from None


def _axes_taken(entry: Any) -> int:
    if entry is None:
        return 0
    return entry.ndim if isinstance(entry, Tensor) and type_of(entry) == "bool" else 1


def _whole_key(x: Any, key: Any) -> List[Any]:
    """The parts of a key, without ... and with an entry for each axis."""
    parts = [_entry(part) for part in (key if isinstance(key, tuple) else (key,))]
    taken = sum(_axes_taken(part) for part in parts if part is not Ellipsis)
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("found ... twice in an index, wanted it once; write : in place of the other")
    if taken > x.ndim:
        raise IndexError(f"found {taken} indices, wanted {x.ndim} and fewer for the shape {tuple(x.shape)}; "
                         "leave some out, or give it axes by None or reshape")
    place = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    return parts[:place] + [slice(None)] * (x.ndim - taken) + parts[place + 1:]


def _mask_places(x: Any, mask: Any, axis: int) -> List[Any]:
    """Where a mask is true, an array for each of its axes."""
    for i, n in enumerate(mask.shape):
        size = x.shape[axis + i]
        if whole(n) and whole(size) and n != size:
            raise IndexError(f"found a mask of shape {tuple(mask.shape)}, wanted {size} along axis {axis + i}; "
                             "make the mask of a comparison of the array itself")
    places = node("NonZero", mask)
    return [node("Gather", places, scalar(i, "int64"), axis=0) for i in range(mask.ndim)]


def _checked(x: Any, index: int, axis: int) -> int:
    size = x.shape[axis]
    if whole(size) and not -size <= index < size:
        raise IndexError(f"found the index {index}, wanted {-size} to {size - 1} along axis {axis} of "
                         f"{size} elements; take an index inside it, or a slice")
    return index


def _planned(x: Any, parts: Sequence[Any]) -> Tuple[List[Any], bool]:
    """An entry for each axis of x, a slice, an int or a Tensor of places; whether arrays stand apart."""
    entries: List[Any] = []
    for part in parts:
        if isinstance(part, Tensor):
            masked = type_of(part) == "bool"
            entries.extend(_mask_places(x, part, len(entries)) if masked else [_places(part)])
        elif part is not None:
            entries.append(part if isinstance(part, slice) else _checked(x, part, len(entries)))
    # Numbers count as arrays of places where there are some.
    between = "".join("-" if part is None or isinstance(part, slice) else "a" for part in parts).strip("-")
    return entries, "-" in between and any(isinstance(e, Tensor) for e in entries)


def _places(index: Any) -> Any:
    if type_of(index) not in INTEGRAL:
        raise IndexError(f"found an index of {type_of(index)}, wanted whole numbers or a mask; "
                         "cast it with astype(x, \"int64\")")
    return cast(index, "int64")


def _bound(value: Any, otherwise: int) -> Any:
    if value is None:
        return otherwise
    if isinstance(value, Tensor):
        if value.ndim != 0 or type_of(value) not in INTEGRAL:
            raise TypeError("found a Tensor as a slice's bound, wanted one whole number; take one element of it")
        return _Bound(value)
    if hasattr(value, "tensor"):
        return value
    try:
        return min(max(operator.index(value), _FIRST), _LAST)
    except TypeError:
        raise TypeError(f"found the slice's bound {value!r:.60}, wanted a whole number; round it with int()") from None


class _Bound:
    """A bound whose number is a Tensor's."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def tensor(self) -> Any:
        """The number, an int64 scalar."""
        return cast(self._value, "int64")


def _cut_behind(x: Any, axis: int, start: int, stop: Any) -> Tuple[Any, int, Any]:
    """Without what is behind a start that is counted from the end of a free axis, for a step backwards.

    Of an axis that ends before it nothing is taken, where Slice would take the first element.
    """
    cut = node("Slice", x, ints([0]), ints([start + 1 or _LAST]), ints([axis]))
    if whole(stop) and _FIRST < stop < 0:  # counted from the end, too, which is another now
        stop = stop - start - 1 if stop < start else _LAST
    return cut, _LAST, stop


def _sliced(x: Any, entries: Sequence[Any]) -> Any:
    """The slices and numbers among the entries; an axis of a number stays, with one element."""
    starts, ends, axes, steps = [], [], [], []
    for axis, entry in enumerate(entries):
        if isinstance(entry, int):
            entry = slice(entry, entry + 1 if entry != -1 else _LAST)
        if not isinstance(entry, slice) or (entry.start, entry.stop, entry.step) == (None, None, None):
            continue
        step = 1 if entry.step is None else operator.index(entry.step)
        if step == 0:
            raise ValueError("found a slice of step 0, wanted another number; leave it out for 1")
        start = _bound(entry.start, 0 if step > 0 else _LAST)
        stop = _bound(entry.stop, _LAST if step > 0 else _FIRST)
        size = x.shape[axis]
        if step < 0 and whole(start) and start < 0 and not whole(size):
            x, start, stop = _cut_behind(x, axis, start, stop)
        if whole(size) and whole(start) and whole(stop):
            start, stop, step = slice(entry.start, entry.stop, step).indices(size)
            if (start, stop, step) == (0, size, 1):
                continue
            if not range(start, stop, step):
                start, stop = 0, 0  # a negative start would count from the end
            stop = _FIRST if step < 0 and stop < 0 else stop
        starts.append(start)
        ends.append(stop)
        axes.append(axis)
        steps.append(step)
    if not axes:
        return x
    return node("Slice", x, ints(starts), ints(ends), ints(axes), ints(steps))


def _gathered(x: Any, entries: Sequence[Any], apart: bool) -> Any:
    """The numbers and arrays of places among the entries, of an x whose slices are done."""
    taken = [a for a, e in enumerate(entries) if not isinstance(e, slice)]
    arrays = [a for a in taken if isinstance(entries[a], Tensor)]
    numbers = [a for a in taken if a not in arrays]
    if len(arrays) == 1 and not apart:
        found = node("Gather", x, entries[arrays[0]], axis=arrays[0])
        wide = entries[arrays[0]].ndim - 1
        dropped = [a if a < arrays[0] else a + wide for a in numbers]
        return squeezed(found, dropped) if dropped else found
    given = [entries[a] for a in arrays]
    shape = _joined_shape(given)
    columns = [unsqueezed(node("Expand", p, shape), (-1,)) for p in given]
    rest = [a for a in range(x.ndim) if a not in taken]
    front = node("Transpose", x, perm=arrays + numbers + rest)
    if numbers:
        front = squeezed(front, range(len(arrays), len(taken)))
    found = node("GatherND", front, node("Concat", *columns, axis=-1) if len(columns) > 1 else columns[0])
    if apart or not rest:
        return found
    rank = max(p.ndim for p in given)
    before = len([a for a in rest if a < taken[0]])
    order = list(range(rank, rank + before)) + list(range(rank)) + list(range(rank + before, found.ndim))
    return node("Transpose", found, perm=order)


def _joined_shape(given: Sequence[Any]) -> Any:
    """The shape of arrays of places together, as data."""
    shapes = [tuple(p.shape) for p in given]
    if all(fixed(s) for s in shapes):
        try:
            return ints(broadcast_shapes(*shapes))
        except ValueError as error:
            raise IndexError(f"indices: {error}") from None
    total = node("Sub", given[0], given[0])
    for p in given[1:]:
        total = node("Add", total, node("Sub", p, p))
    return node("Shape", total)


def getitem(x: Any, key: Any) -> Any:
    """x[key], a copy."""
    x = tensor(x)
    parts = _whole_key(x, key)
    scalar_mask = _scalar_masks(x, parts)
    if scalar_mask is not None:
        return scalar_mask
    if None in [p for p in parts if not isinstance(p, Tensor)] and any(isinstance(p, Tensor) for p in parts):
        return _with_new_axes(x, parts)
    entries, apart = _planned(x, parts)
    found = _sliced(x, entries)
    if any(isinstance(e, Tensor) for e in entries):
        found = _gathered(found, entries, apart)
    else:
        dropped = [a for a, e in enumerate(entries) if isinstance(e, int)]
        found = squeezed(found, dropped) if dropped else found
        new = _new_places(parts)
        found = unsqueezed(found, new) if new else found
    return same(found) if found is x else found


def _new_places(parts: Sequence[Any]) -> List[int]:
    """Where the new axes of a key without arrays stand in the result."""
    kept = [part for part in parts if part is None or isinstance(part, slice)]
    return [i for i, part in enumerate(kept) if part is None]


def _with_new_axes(x: Any, parts: Sequence[Any]) -> Any:
    """A key with arrays and None: the new axes come first, and are kept whole."""
    axes, key, axis, out = [], [], 0, 0
    for part in parts:
        if part is None:
            axes.append(out)
            key.append(slice(None))
            out += 1
        else:
            key.append(part)
            taken = _axes_taken(part)
            axis, out = axis + taken, out + taken
    return getitem(unsqueezed(x, axes), tuple(key))


def _scalar_masks(x: Any, parts: Sequence[Any]) -> Optional[Any]:
    """A mask without axes adds one, of one element or none."""
    masks = [i for i, p in enumerate(parts) if isinstance(p, Tensor) and type_of(p) == "bool" and p.ndim == 0]
    if not masks:
        return None
    if len(masks) > 1 or any(isinstance(p, Tensor) for i, p in enumerate(parts) if i not in masks):
        raise IndexError("found a mask without axes beside other arrays, wanted it alone; give it axes by reshape")
    at = masks[0]
    key = tuple(parts[:at]) + (unsqueezed(parts[at], (0,)),) + tuple(parts[at + 1:])
    axis = sum(_axes_taken(p) for p in parts[:at])
    return getitem(unsqueezed(x, (axis,)), key)


def setitem(x: Any, key: Any, value: Any) -> Any:
    """The value of x after x[key] = value, which is broadcast and cast to the type of x."""
    x = tensor(x)
    name = type_of(x)
    value = cast(tensor(value, name), name)
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if isinstance(mask, (numpy.ndarray, Tensor)) and mask.dtype == "bool" and 0 < mask.ndim <= x.ndim:
        mask = tensor(mask)
        if value.ndim == 0:
            return _masked(x, mask, value)
    chosen = _chosen(x, key)
    value = _broadcast_value(value, chosen)
    flat = node("ScatterElements", reshaped(x, (-1,)), reshaped(chosen, (-1,)), reshaped(value, (-1,)), axis=0)
    return in_shape_of(flat, x)


def _known(part: Any) -> bool:
    """Whether a part of a key holds numbers alone."""
    if isinstance(part, slice):
        return all(b is None or isinstance(b, (int, numpy.integer)) for b in (part.start, part.stop, part.step))
    return part is None or part is Ellipsis or isinstance(part, (int, numpy.ndarray, numpy.generic))


def _chosen(x: Any, key: Any) -> Any:
    """The places, in x laid out flat, of the elements that a key chooses, in the shape of x[key]."""
    count = elements(x)
    if whole(count):
        places = numpy.arange(count, dtype=numpy.int64)
        if all(_known(part) for part in (key if isinstance(key, tuple) else (key,))):
            return tensor(numpy.ascontiguousarray(places.reshape(x.shape)[key]))
        return getitem(reshaped(tensor(places), x.shape), key)
    return getitem(in_shape_of(node("Range", scalar(0, "int64"), count, scalar(1, "int64")), x), key)


def _broadcast_value(value: Any, chosen: Any) -> Any:
    while value.ndim > chosen.ndim and whole(value.shape[0]) and value.shape[0] == 1:
        value = squeezed(value, (0,))
    if fixed(chosen.shape) and fixed(value.shape):
        shape = tuple(chosen.shape)
        try:
            fits = value.ndim <= len(shape) and broadcast_shapes(tuple(value.shape), shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"found a value of shape {tuple(value.shape)}, wanted one that broadcasts to the "
                             f"shape {shape} of the elements that it goes to; reshape or index it")
        return expanded(value, shape)
    return node("Expand", value, node("Shape", chosen))


def _masked(x: Any, mask: Any, value: Any) -> Any:
    """One value where a mask over the leading axes is true: no places are needed."""
    for i, n in enumerate(mask.shape):
        if whole(n) and whole(x.shape[i]) and n != x.shape[i]:
            raise IndexError(f"found a mask of shape {tuple(mask.shape)}, wanted {x.shape[i]} along axis {i}; "
                             "make the mask of a comparison of the array itself")
    if mask.ndim < x.ndim:
        mask = unsqueezed(mask, range(mask.ndim, x.ndim))
    return node("Where", mask, value, x)

