"""Every operator as a function over Tensors: graphengine.ops.Conv(x, w, pads=[1, 1, 1, 1]).

Inputs come by place, or by ONNX's names; attributes by name. Numbers and arrays are made Tensors: a
number has the type of an array beside it where both are of one type variable. What an operator
defines as optional may be None. outputs= asks for more, or fewer, of several results.

Operators of ONNX are here; those of other domains are in ops.ge, ops.microsoft, ops.ml and
ops.training; those of a plugin are what plugin(path) answers.
"""
import difflib
import json
import os
import pathlib
import subprocess
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy

from graphengine import _native
from graphengine._program import PROGRAM
from graphengine._signatures import DOMAINS, Signature, python_signature, signature_of, summary
from graphengine.functions import dtypes
from graphengine.functions.values import cast, scalar, tensor, type_of
from graphengine.jit import plugins

_RECORDS = pathlib.Path(__file__).resolve().parent / "ops.json"

# The records' words of types.
_TYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "bool": "bool",
          **{f"{letter}{bits}": f"{word}{bits}" for letter, word in (("i", "int"), ("u", "uint"))
             for bits in (8, 16, 32, 64)}}

# What these have beside inputs and attributes, and what says it in Python.
_GRAPHS = "functions; write if, for and while of Python under graphengine.jit"
_STATES = "states; graphengine.Variable has them"
_BEYOND = {"If": _GRAPHS, "Loop": _GRAPHS, "Scan": _GRAPHS, "SequenceMap": _GRAPHS, "Call": _GRAPHS,
           "CallIndirect": _GRAPHS, "Partial": _GRAPHS, "Assign": _STATES, "Read": _STATES, "KvAppend": _STATES}


def _number_type(port: Dict[str, Any], beside: Optional[str], value: Any) -> str:
    """The type of a Python number at this input."""
    known = [_TYPES[name] for name in port["dtypes"] if name in _TYPES]
    natural = str(dtypes.result_type(value).name)
    for name in (dtypes.weak(beside, value) if beside else natural, natural, "float32", "float64"):
        if name in known and (not isinstance(value, float) or name in dtypes.FLOATING):
            return name
    return known[0] if known else natural


def _inputs(of: Signature, given: Sequence[Any]) -> Tuple[Any, ...]:
    """Tensors of what was given; None stays."""
    ports = of.record["inputs"]
    types: Dict[str, str] = {}
    made: List[Any] = []
    pairs = [(value, ports[min(i, len(ports) - 1)]) for i, value in enumerate(given)]
    for value, port in pairs:
        if value is None or dtypes.is_number(value):
            made.append(value)
            continue
        found = tensor(value)
        if isinstance(value, (list, tuple)) and len(port["dtypes"]) == 1:
            found = cast(found, _TYPES[port["dtypes"][0]])
        made.append(found)
        if port["type"]:
            types.setdefault(port["type"], type_of(found))
    return tuple(scalar(value, _number_type(port, types.get(port["type"]), value)) if dtypes.is_number(value) else value
                 for value, (_, port) in zip(made, pairs))


def _attribute(of: Signature, name: str, value: Any) -> Any:
    """An attribute's value as the door takes it."""
    kind = of.attributes[name]["kind"]
    if kind in ("fn", "type"):
        raise TypeError(f"{of.name}: found the attribute {name!r}, which holds a graph; write Python's if, for and "
                        "while under graphengine.jit")
    try:
        if kind == "int":
            if isinstance(value, (str, _native.DType, numpy.dtype, type)):
                return dtypes.NUMBERS[dtypes.name_of(value)]
            return int(value) if not isinstance(value, float) else _refuse_float(value)
        if kind == "float":
            return float(value)
        if kind == "ints":
            return [int(v) for v in value]
        if kind == "floats":
            return [float(v) for v in value]
        if kind == "strings":
            return [str(v) for v in value]
    except (TypeError, ValueError):
        raise TypeError(f"{of.name}: found {name}={value!r:.60}, wanted {kind}; the signature is "
                        f"{of.name}{python_signature(of)}") from None
    if kind == "string" and not isinstance(value, (str, bytes)):
        raise TypeError(f"{of.name}: found {name}={value!r:.60}, wanted a str; write it in quotes")
    return numpy.asarray(value) if kind == "tensor" else value


def _refuse_float(value: float) -> int:
    raise TypeError(value)


def _split(of: Signature, args: Sequence[Any], words: Dict[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
    """What was given as inputs by place, and as attributes."""
    if len(args) > len(of.inputs) and not of.rest:
        raise TypeError(f"{of.name}: found {len(args)} inputs, wanted {len(of.inputs)} and fewer: "
                        f"{', '.join(of.inputs) or 'none'}; attributes go by name")
    given = list(args)
    attributes = {}
    for name, value in words.items():
        if name in of.attributes:
            if value is not None:
                attributes[name] = _attribute(of, name, value)
        elif name in of.inputs and not of.rest:
            place = of.inputs.index(name)
            if place < len(args):
                raise TypeError(f"{of.name}: found the input {name!r} by place and by name, wanted it once; leave one out")
            given += [None] * (place + 1 - len(given))
            given[place] = value
        else:
            known = [*of.inputs, *of.attributes]
            raise TypeError(f"{of.name}: found the argument {name!r}, wanted "
                            f"{dtypes.listed(known) if known else 'none'}; inputs go by place, attributes by name")
    missing = [name for i, name in enumerate(of.inputs[:of.required]) if i >= len(given) or given[i] is None]
    missing += [name for name, a in of.attributes.items() if a["required"] and name not in attributes]
    if missing:
        raise TypeError(f"{of.name}: found no {missing[0]!r}, wanted it; the signature is "
                        f"{of.name}{python_signature(of)}")
    while given and given[-1] is None and len(given) > of.required:
        given.pop()
    return given, attributes


def _function(of: Signature) -> Callable[..., Any]:
    """The operator as a function."""
    def call(*args: Any, outputs: Optional[int] = None, **words: Any) -> Any:
        if of.domain in ("", "ge") and of.name in _BEYOND:
            raise TypeError(f"{of.name} has {_BEYOND[of.name]}")
        given, attributes = _split(of, args, words)
        count = outputs if outputs is not None else of.outputs
        if count is None:
            count = attributes.get("num_outputs")
        if count is None:
            raise TypeError(f"{of.name}: found no outputs=, wanted the number of results; give it by name")
        return _native.apply(of.domain, of.name, _inputs(of, given), attributes, int(count))
    call.__name__ = call.__qualname__ = of.name
    call.__doc__ = summary(of)
    call.__module__ = __name__
    setattr(call, "__signature__", python_signature(of))
    return _native.Door(call)


def _near(name: str, names: Any) -> str:
    """What was meant, as far as spelling says."""
    lower = {n.lower(): n for n in names}
    found = difflib.get_close_matches(name.lower(), lower, 3, 0.5)
    return f", as {dtypes.listed([lower[n] for n in found])}" if found else ""


class Operators:
    """Operators of a domain, or of a plugin, as functions by their names."""

    def __init__(self, what: str, records: Sequence[Dict[str, Any]]) -> None:
        self._what = what
        self._records = {r["name"]: r for r in records}

    @_native.Door
    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        record = self._records.get(name)
        if record is None:
            raise AttributeError(f"{self._what} has no operator {name!r}, wanted one of its {len(self._records)}"
                                 f"{_near(name, self._records)}; dir() lists them")
        made = _function(signature_of(record))
        setattr(self, name, made)
        return made

    def __dir__(self) -> List[str]:
        return sorted(self._records)

    def __repr__(self) -> str:
        return f"<{len(self._records)} operators of {self._what}>"


def _read() -> Dict[str, Operators]:
    """The operators by domains, out of the file that the wheel's build wrote."""
    try:
        records = json.loads(_RECORDS.read_text(encoding="utf-8"))["ops"]
    except FileNotFoundError:
        raise ImportError(f"{_RECORDS} is not there, which the wheel's build writes out of `ge ops --json`; "
                          "install the package again") from None
    found = {}
    for domain, word in {"": "", **DOMAINS}.items():
        found[word] = Operators(domain or "ONNX", [r for r in records if r["domain"] == domain])
    return found


_BY_WORD: Dict[str, Operators] = {}


@_native.Door
def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if not _BY_WORD:
        _BY_WORD.update(_read())
    return _BY_WORD[name] if name and name in _BY_WORD else getattr(_BY_WORD[""], name)


def __dir__() -> List[str]:
    if not _BY_WORD:
        _BY_WORD.update(_read())
    return sorted([*dir(_BY_WORD[""]), *DOMAINS.values(), "plugin"])


@_native.Door
def plugin(path: Any) -> Operators:
    """The operators of a plugin, by its file or name: graphengine.plugin("./acme.so").Swish(x)."""
    where = os.fspath(path)
    if os.path.exists(where):  # this file, wherever the program goes on
        where = os.path.abspath(where)
    done = subprocess.run([str(PROGRAM), "ops", "--plugins", where, "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        text = done.stderr.strip().removeprefix("ge: ")
        raise ValueError(f"plugin: found {where!r}, which does not open: {text}")
    known = {"", *DOMAINS}  # no plugin may bring operators of these
    records = [r for r in json.loads(done.stdout)["ops"] if r["domain"] not in known]
    if not records:
        raise ValueError(f"plugin: found {where!r}, which brings no operator; engines are named by "
                         "Session(engines=...), passes by Session(plugins=...)")
    _native.add_plugin(where)
    for domain in {r["domain"] for r in records}:
        plugins.bring(domain, where)
    return Operators(where, records)
