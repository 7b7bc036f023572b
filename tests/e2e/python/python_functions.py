"""The functions of the array API standard: signatures and values against array_api_strict.

--examples N: of each function, drawn by hypothesis without randomness. --only NAME: one function.
"""
import dataclasses
import inspect
import warnings

import array_api_strict as strict
import graphengine.functions as functions
import hypothesis
import hypothesis.strategies as st
import numpy
from functions_cases import CASES
from functions_checks import asked, check, counted, ended
from graphengine import _native
from graphengine.jit import jit

# No operator takes complex numbers, and it takes no others.
REFUSED = {"imag"}
SETTINGS = {"set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags"}
NO_NUMBERS = {"empty", "empty_like"}
# What is asked for numbers, types or memory alone has no graph.
NO_GRAPH = set()
# Differences of numbers that were rounded: what is near zero has the error of the numbers.
DIFFERENCES = {"logaddexp", "std", "var"}


# Sums of products begin with +0, theirs with the first product.
SIGNLESS_ZEROS = {"tensordot", "vecdot", "matmul"}


def theirs(value, name=""):
    """What array_api_strict takes for numpy's arrays and names of types."""
    if isinstance(value, numpy.ndarray):
        return strict.asarray(value)
    if isinstance(value, str) and hasattr(strict, value):
        return getattr(strict, value)
    if isinstance(value, list) and any(isinstance(v, numpy.ndarray) for v in value):
        return [theirs(v) for v in value]
    return value


def ours(value):
    if isinstance(value, numpy.ndarray):
        return functions.asarray(value)
    if isinstance(value, list) and any(isinstance(v, numpy.ndarray) for v in value):
        return [ours(v) for v in value]
    return value


def near(found, wanted, least, signs):
    """Equal, or of floats within a few units of the last places; zeros and NaN as they are."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if found.dtype.kind != "f":
        return bool((found == wanted).all())
    info = numpy.finfo(found.dtype)
    with numpy.errstate(all="ignore"):
        good = numpy.isclose(found, wanted, rtol=16 * info.eps, atol=least or info.smallest_normal, equal_nan=True)
    zeros = (found == 0) & (wanted == 0) & (numpy.signbit(found) != numpy.signbit(wanted))
    return bool(good.all()) and not (signs and zeros.any())


def numbers(value):
    if isinstance(value, _native.Tensor):
        return numpy.asarray(value)
    return numpy.asarray(value._array) if hasattr(value, "_array") else value


def compare(name, found, wanted):
    if isinstance(wanted, (tuple, list)) and not (wanted and isinstance(wanted[0], int)):
        assert len(found) == len(wanted), f"{len(found)} results, wanted {len(wanted)}"
        assert getattr(type(found), "_fields", None) == getattr(type(wanted), "_fields", None) or not hasattr(
            type(wanted), "_fields"), "names of results differ"
        for f, w in zip(found, wanted):
            compare(name, f, w)
        return
    if name in ("finfo", "iinfo"):
        for field in dataclasses.fields(wanted):
            f, w = getattr(found, field.name), getattr(wanted, field.name)
            assert f == w or str(f.name if hasattr(f, "name") else f) in str(w), f"{field.name}: {f}, wanted {w}"
        return
    if name == "result_type":
        assert found.name in str(wanted), f"{found}, wanted {wanted}"
        return
    if not hasattr(wanted, "_array"):
        assert found == wanted, f"{found}, wanted {wanted}"
        return
    assert isinstance(found, _native.Tensor), f"found {type(found)}"
    found, wanted = numbers(found), numbers(wanted)
    if name in NO_NUMBERS:
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        return
    least = 64 * numpy.finfo(found.dtype).eps if name in DIFFERENCES else 0
    assert near(found, wanted, least, name not in SIGNLESS_ZEROS), f"found {found.dtype}{found.shape}\n{found}\nwanted {wanted.dtype}{wanted.shape}\n{wanted}"


def same_bits(graph, found):
    """What a graph answers, beside what runs at once."""
    if isinstance(found, (tuple, list)):
        assert type(graph) is type(found) and len(graph) == len(found), f"a graph answers {graph}, at once {found}"
        for g, f in zip(graph, found):
            same_bits(g, f)
    elif isinstance(found, _native.Tensor):
        g, f = numbers(graph), numbers(found)
        assert (g.dtype, g.shape, g.tobytes()) == (f.dtype, f.shape, f.tobytes()), f"a graph answers\n{g}\nat once\n{f}"
    else:
        assert graph == found, f"a graph answers {graph}, at once {found}"


def values(name, examples):
    @hypothesis.settings(max_examples=examples, deadline=None, derandomize=True, database=None,
                         print_blob=False, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(st.data())
    def one(data):
        arguments, keywords = CASES[name](data.draw)
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            wanted = getattr(strict, name)(*map(theirs, arguments),
                                           **{k: theirs(v) for k, v in keywords.items()})
            if name == "isin" and keywords["invert"]:  # array_api_strict 2.6.1 takes no notice of it
                wanted = strict.logical_not(wanted)
        arguments, keywords = list(map(ours, arguments)), {k: ours(v) for k, v in keywords.items()}
        found = getattr(functions, name)(*arguments, **keywords)
        compare(name, found, wanted)
        if name not in NO_GRAPH:
            same_bits(jit(getattr(functions, name))(*arguments, **keywords), found)
    one()


def signature(place, wanted_place, name):
    """Names, kinds and defaults of parameters, those of array_api_strict."""
    def of(function):
        found = []
        for p in inspect.signature(function).parameters.values():
            default = p.default
            if default is not inspect.Parameter.empty and "Undef" in type(default).__name__:
                default = None
            found.append((p.name, p.kind, default))
        return found
    found, wanted = of(getattr(place, name)), of(getattr(wanted_place, name))
    assert found == wanted, f"signature {found}, wanted {wanted}"


def main():
    strict.set_array_api_strict_flags(api_version="2025.12")
    names = sorted(n for n in strict.__all__ if inspect.isfunction(getattr(strict, n)) and n not in SETTINGS
                   and not n.startswith("__"))
    check(f"there are {len(names)} functions, wanted 135", len(names) == 135)
    for name in names:
        if asked().only not in ("", name):
            continue
        counted(f"signature of {name}", lambda name=name: signature(functions, strict, name))
        if name not in REFUSED:
            counted(f"values of {name}", lambda name=name: values(name, asked().examples))
    for part in ("linalg", "fft"):
        for name in getattr(strict, part).__all__:
            counted(f"signature of {part}.{name}", lambda part=part, name=name: signature(
                getattr(functions, part), getattr(strict, part), name))
    ended()


if __name__ == "__main__":
    main()
