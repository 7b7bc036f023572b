"""Signatures of operators out of the records of `ge ops --json`, for calls and for stubs.

Imports nothing of the package: the wheel's build reads it, too.
"""
import inspect
import json
import keyword
import sys
from typing import Any, Dict, Iterable, List, NamedTuple, Optional

_TYPES = {"int": "int", "float": "float", "string": "str", "tensor": "Any", "ints": "Sequence[int]",
          "floats": "Sequence[float]", "strings": "Sequence[str]", "fn": "Any", "type": "Any"}

# Domains of operators and the words for them here; operators of "" are in the module itself.
DOMAINS = {"ge": "ge", "com.microsoft": "microsoft", "ai.onnx.ml": "ml", "ai.onnx.preview.training": "training"}


class Signature(NamedTuple):
    """What a call of an operator may have.

    inputs: names of inputs that are given one by one; required: how many of them have to be.
    rest: the name of inputs without a number, or "". outputs: None where the caller has to say.
    """

    domain: str
    name: str
    inputs: List[str]
    by_name: List[bool]
    required: int
    rest: str
    rest_first: bool
    attributes: Dict[str, Dict[str, Any]]
    outputs: Optional[int]
    most_outputs: Optional[int]
    record: Dict[str, Any]


def signature_of(record: Dict[str, Any]) -> Signature:
    """Of one operator."""
    attributes = {a["name"]: a for a in record["attributes"]}
    inputs, by_name, required, rest = [], [], 0, ""
    for port in record["inputs"]:
        if port["arity"] == "variadic":
            rest = port["name"]
            break
        name = port["name"]
        plain = name.isidentifier() and not keyword.iskeyword(name)
        inputs.append(name if plain else f"input{len(inputs)}")
        # Python has no parameter by name alone before one by place.
        by_name.append(plain and name not in attributes and name != "outputs")
        required = len(inputs) if port["arity"] == "one" else required
    ones = [p for p in record["outputs"] if p["arity"] == "one"]
    open_ = any(p["arity"] == "variadic" for p in record["outputs"])
    return Signature(record["domain"], record["name"], inputs, by_name, required, rest, False, attributes,
                     None if open_ else max(len(ones), 1), None if open_ else len(record["outputs"]), record)


def default_of(attribute: Dict[str, Any]) -> Any:
    """What a signature shows: None where there is no default."""
    found = attribute.get("default")
    return tuple(found) if isinstance(found, list) else found


def python_signature(of: Signature) -> inspect.Signature:
    """As inspect and help() show it."""
    kinds = inspect.Parameter
    found: List[inspect.Parameter] = []
    first_by_name = _first_by_name(of)
    for i, name in enumerate(of.inputs):
        kind = kinds.POSITIONAL_ONLY if i < first_by_name else kinds.POSITIONAL_OR_KEYWORD
        found.append(kinds(name, kind, default=kinds.empty if i < of.required else None))
    if of.rest:
        found.append(kinds(of.rest if of.rest.isidentifier() and of.rest not in of.inputs else "rest",
                           kinds.VAR_POSITIONAL))
    for name, attribute in of.attributes.items():
        default = kinds.empty if attribute["required"] else default_of(attribute)
        if name.isidentifier() and not keyword.iskeyword(name):
            found.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    if of.outputs is None or of.outputs != of.most_outputs:
        found.append(kinds("outputs", kinds.KEYWORD_ONLY, default=kinds.empty if of.outputs is None else of.outputs))
    return inspect.Signature(found)


def _first_by_name(of: Signature) -> int:
    """From which input on all may be given by name."""
    first = len(of.inputs)
    while first > 0 and of.by_name[first - 1] and not of.rest:
        first -= 1
    return first


def summary(of: Signature) -> str:
    """A docstring: inputs and outputs with their types."""
    def ports(kind: str) -> Iterable[str]:
        for p in of.record[kind]:
            many = {"one": "", "optional": ", may be omitted", "variadic": ", any number"}[p["arity"]]
            types = " ".join(p["dtypes"]) if len(p["dtypes"]) < 12 else f"{len(p['dtypes'])} types"
            yield f"  {p['name']}: {types}{many}"
    lines = [f"The operator {of.name} of {of.domain or 'ONNX'}, version {of.record['since']}.", "", "Inputs:"]
    lines += list(ports("inputs")) or ["  none"]
    return "\n".join([*lines, "Outputs:", *(list(ports("outputs")) or ["  none"])])


def _stub(of: Signature, indent: str) -> str:
    parts: List[str] = []
    known = python_signature(of).parameters.values()
    star = any(p.kind == p.VAR_POSITIONAL for p in known)
    last = None
    for p in known:
        if last == p.POSITIONAL_ONLY and p.kind != p.POSITIONAL_ONLY:
            parts.append("/")
        if p.kind == p.KEYWORD_ONLY and last != p.KEYWORD_ONLY and not star:
            parts.append("*")
        shown = "" if p.default is p.empty else " = ..."
        if p.kind == p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: Any")
        elif p.kind == p.KEYWORD_ONLY:
            kind = "int" if p.name == "outputs" else _TYPES[of.attributes[p.name]["kind"]]
            wanted = kind if p.default is p.empty or p.default is not None else f"Optional[{kind}]"
            parts.append(f"{p.name}: {wanted}{shown}")
        else:
            parts.append(f"{p.name}: Any{shown}")
        last = p.kind
    if last == inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    text = ", ".join(parts)
    return f"{indent}def {of.name}({text}) -> Any: ..."


def stubs(records: Iterable[Dict[str, Any]]) -> str:
    """The text of ops.pyi."""
    found = [signature_of(r) for r in records]
    lines = ["# Written by the wheel's build out of `ge ops --json`.", "from typing import Any, Optional, Sequence", ""]
    lines += [_stub(s, "") for s in found if s.domain == ""]
    for domain, word in DOMAINS.items():
        lines += ["", f"class _{word}:"]
        for s in found:
            if s.domain == domain:
                lines += ["    @staticmethod", _stub(s, "    ")]
        lines += ["    ...", "", f"{word}: _{word}"]
    lines += ["", "class Operators:", "    def __getattr__(self, name: str) -> Any: ...", "    def __dir__(self) -> list[str]: ...",
              "", "def plugin(path: Any) -> Operators: ..."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    # python _signatures.py ops.json ops.pyi
    with open(sys.argv[1], encoding="utf-8") as _records, open(sys.argv[2], "w", encoding="utf-8") as _stubs:
        _stubs.write(stubs(json.load(_records)["ops"]))
