"""x[key] and x[key] = v of Tensors against numpy: whole numbers, slices of any step, ..., None, masks,
arrays of places, all mixed; and refusals.

--examples N: keys drawn by hypothesis without randomness.
"""
import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy
from functions_checks import check, ended, examples_asked, no_numbers_differ
from graphengine import functions
from graphengine.functions.indexing import getitem, setitem

TYPES = ["bool", "int8", "uint16", "int64", "float32", "float64"]


def bound(draw):
    return draw(st.sampled_from([None, -7, -3, -2, -1, 0, 1, 2, 3, 7]))


def one_slice(draw):
    return slice(bound(draw), bound(draw), draw(st.sampled_from([None, 1, 2, 3, -1, -2, -3])))


def part(draw, size, arrays):
    """One entry for an axis of this size."""
    kind = draw(st.integers(0, 5))
    if kind == 0 and size:
        return draw(st.integers(-size, size - 1))
    if kind in (1, 2) and size and arrays is not None:
        found = draw(hnp.arrays(draw(st.sampled_from(["int64", "int32", "uint8"])), arrays,
                                elements=st.integers(0, size - 1)))
        signs = draw(st.booleans()) and found.dtype.kind == "i"
        return found - numpy.asarray(size, found.dtype) if signs else found
    if kind == 3 and arrays is not None and len(arrays) == 1:
        # As many are true as the other arrays have elements.
        places = draw(st.permutations(range(size)))[:arrays[0]]
        mask = numpy.zeros(size, bool)
        mask[list(places)] = True
        return mask if mask.sum() == arrays[0] else slice(None)
    return one_slice(draw)


def keys(draw, shape, arrays):
    """A key for an array of this shape; `arrays` is the shape of its arrays of places, None without."""
    count = draw(st.integers(0, len(shape)))
    front = draw(st.integers(0, count))
    cut = count < len(shape) or draw(st.booleans())
    axes = list(range(front)) + list(range(len(shape) - (count - front), len(shape)))
    found = [part(draw, shape[a], arrays) for a in axes]
    if cut:
        found.insert(front, ...)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        found.insert(draw(st.integers(0, len(found))), None)
    return found[0] if len(found) == 1 and draw(st.booleans()) else tuple(found)


def tensors(draw, key):
    """The arrays of a key as Tensors, at times."""
    def one(p):
        return functions.asarray(p) if isinstance(p, numpy.ndarray) and draw(st.booleans()) else p
    return tuple(map(one, key)) if isinstance(key, tuple) else one(key)


def drawn(draw, arrays):
    x = draw(hnp.arrays(draw(st.sampled_from(TYPES)), hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4),
                        elements=st.integers(0, 1)))
    x = numpy.asarray(numpy.arange(x.size).reshape(x.shape) % 127, x.dtype)
    return x, keys(draw, x.shape, arrays)


def given(test):
    hypothesis.settings(max_examples=examples_asked(), deadline=None, derandomize=True, database=None,
                        print_blob=False, suppress_health_check=list(hypothesis.HealthCheck))(
                            hypothesis.given(st.data())(test))()


def places(data):
    return data.draw(st.sampled_from([None, (), (2,), (1,), (3, 1), (0,)]))


def gets():
    def test(data):
        x, key = drawn(data.draw, places(data))
        no_numbers_differ(getitem(functions.asarray(x), tensors(data.draw, key)), x[key], key)
    given(test)


def masks():
    def test(data):
        x, _ = drawn(data.draw, None)
        rank = data.draw(st.integers(0, x.ndim))
        mask = data.draw(hnp.arrays("bool", x.shape[:rank]))
        no_numbers_differ(getitem(functions.asarray(x), tensors(data.draw, mask)), x[mask], mask)
        changed = x.copy()
        changed[mask] = 1
        no_numbers_differ(setitem(functions.asarray(x), tensors(data.draw, mask), 1), changed, mask)
    given(test)


def sets():
    def test(data):
        x, key = drawn(data.draw, data.draw(st.sampled_from([None, None, (), (1,)])))
        chosen = x[key]
        value = numpy.arange(chosen.size).reshape(chosen.shape).astype(data.draw(st.sampled_from(["int64", "float32"])))
        if data.draw(st.booleans()):
            value = value[..., :1] if value.ndim else value
        if data.draw(st.integers(0, 3)) == 0 or value.size != chosen.size and value.shape[-1:] != (1,):
            value = 5
        changed = x.copy()
        changed[key] = value
        found = setitem(functions.asarray(x), tensors(data.draw, key), value)
        no_numbers_differ(found, changed, key)
    given(test)


def refusals():
    x = functions.asarray(numpy.arange(12.0).reshape(3, 4))
    for key, error, words in [
            (3, IndexError, "found the index 3, wanted -3 to 2 along axis 0 of 3 elements"),
            ((0, -5), IndexError, "found the index -5, wanted -4 to 3 along axis 1"),
            ((0, 0, 0), IndexError, "found 3 indices, wanted 2 and fewer for the shape (3, 4)"),
            ((..., ...), IndexError, "found ... twice"),
            (1.5, TypeError, "found the index 1.5, wanted whole numbers"),
            ("a", TypeError, "found the index 'a'"),
            (slice(None, None, 0), ValueError, "found a slice of step 0"),
            (slice(1.5), TypeError, "found the slice's bound 1.5"),
            (numpy.array([True, False]), IndexError, "found a mask of shape (2,), wanted 3 along axis 0"),
            (numpy.array([0.5]), IndexError, "found an index of float64"),
            ((numpy.array([0, 1]), numpy.array([0, 1, 2])), IndexError, "2 and 3 differ")]:
        for name, call in (("get", lambda k: getitem(x, k)), ("set", lambda k: setitem(x, k, 0))):
            try:
                call(key)
            except error as found:
                check(f"{name} {key}: {found}", words in str(found) or name == "set")
            except Exception as found:  # pylint: disable=broad-except
                check(f"{name} {key}: {type(found).__name__}: {found}", name == "set")
            else:
                check(f"{name} {key} was not refused", False)
    try:
        setitem(x, 0, numpy.zeros(3))
    except ValueError as found:
        check(str(found), "found a value of shape (3,), wanted one that broadcasts to the shape (4,)" in str(found))
    else:
        check("a value of another shape was not refused", False)


ended(gets, masks, sets, refusals)
