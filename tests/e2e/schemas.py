#!/usr/bin/env python3
"""The operators' records against the schemas of the `onnx` package: version, ports, element types,
attributes, their defaults, and that somebody looked at the older versions of each that has several.

Prints each difference and, last, the counts. What is missing on purpose is listed below with its
reason; an entry of that list that is no longer needed fails too.

Example: tests/e2e/schemas.py --ge build/release/bin/ge
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "onnx")

import onnx  # noqa: E402
import onnx.defs  # noqa: E402

OPSET = {"": 27, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1}
OLDEST = 7  # opset that is loaded

NAMES = {"float": "f32", "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16",
         "int32": "i32", "int64": "i64", "string": "str", "bool": "bool", "float16": "f16",
         "double": "f64", "uint32": "u32", "uint64": "u64", "complex64": "c64",
         "complex128": "c128", "bfloat16": "bf16", "float8e4m3fn": "f8e4m3fn",
         "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2", "float8e5m2fnuz": "f8e5m2fnuz",
         "uint4": "u4", "int4": "i4", "float4e2m1": "f4e2m1", "float8e8m0": "f8e8m0",
         "uint2": "u2", "int2": "i2"}

# Operators that have no record.
MISSING = {
    "FlexAttention": "preview; not built yet",
    "Gradient": "of the preview of training; not built yet",
}

# Defaults that ONNX states in words alone.
IN_WORDS = {("SequenceEmpty", "dtype"): 1, ("StringSplit", "delimiter"): ""}
# ONNX's default is for one value of another attribute, so that it is none of the record's.
DEPENDS = {("RNN", "activations"): "two names are for two directions, of which the default is one"}


def dtypes_of(schema, port):
    """Element types that the schema allows; None where values are no tensors."""
    out = set()
    for text in port.types:
        if not text.startswith("tensor("):
            return None
        out.add(NAMES[text[len("tensor("):-1]])
    return out


def ports(kind, wanted, found, schema, differ):
    if len(wanted) != len(found):
        return differ(f"{len(found)} {kind}s, wanted {len(wanted)}")
    for w, f in zip(wanted, found):
        arity = {0: "one", 1: "optional", 2: "variadic"}[int(w.option.value)]
        if f["arity"] != arity:
            differ(f"{kind} {w.name} is {f['arity']}, wanted {arity}")
        dtypes = dtypes_of(schema, w)
        lacks = sorted((dtypes or set()) - set(f["dtypes"]))
        if kind == "output" and schema.name in ENCODED:
            lacks = [t for t in lacks if t != "str"]
        if lacks:
            differ(f"{kind} {w.name} lacks {' '.join(lacks)}")
        if dtypes is not None and not dtypes and f["dtypes"]:
            differ(f"{kind} {w.name} takes types that ONNX does not name")


def defaults(schema, record, differ):
    """What the absence of each attribute means; bit for bit, as -0 is another number than 0."""
    found = {a["name"]: a.get("default") for a in record["attributes"]}
    for name, attribute in schema.attributes.items():
        wanted = None
        if attribute.default_value.type != onnx.AttributeProto.UNDEFINED:
            wanted = onnx.helper.get_attribute_value(attribute.default_value)
            wanted = wanted.decode() if isinstance(wanted, bytes) else wanted
        key = (schema.name, name)
        if key in IN_WORDS and wanted is None:
            wanted = IN_WORDS[key]
        elif key in DEPENDS and wanted is not None:
            wanted = None
        elif key in IN_WORDS or key in DEPENDS:
            differ(f"attribute {name} is listed, although ONNX's schema says now what it means")
        if repr(wanted) != repr(found.get(name)):
            differ(f"attribute {name} has the default {found.get(name)!r}, wanted {wanted!r}")


def compare(schema, record, ruled, differ):
    if record["since"] != schema.since_version:
        differ(f"since {record['since']}, wanted {schema.since_version}")
    # Captured values are inputs here.
    inputs = [p for p in record["inputs"] if p["name"] != "captures"]
    ports("input", schema.inputs, inputs, schema, differ)
    ports("output", schema.outputs, record["outputs"], schema, differ)
    graphs = {n for n, a in schema.attributes.items()
              if a.type in (onnx.defs.OpSchema.AttrType.GRAPH, onnx.defs.OpSchema.AttrType.GRAPHS)}
    wanted = set(schema.attributes) - graphs
    found = {a["name"] for a in record["attributes"]} - {"captures"}
    if wanted - found:
        differ(f"lacks the attribute(s) {' '.join(sorted(wanted - found))}")
    if found - wanted:
        differ(f"has the attribute(s) {' '.join(sorted(found - wanted))}, which ONNX does not")
    defaults(schema, record, differ)
    if schema.domain == "" and record["name"] not in ruled and len(versions(schema)) > 1:
        differ(f"has the versions {versions(schema)}, but frontend/onnx/adapt/rules.cc no row")


def versions(schema):
    """From the oldest opset that is loaded on."""
    all_of = sorted({s.since_version for s in HISTORY
                     if (s.domain, s.name) == (schema.domain, schema.name)})
    start = max([v for v in all_of if v <= OLDEST], default=0)
    return [v for v in all_of if start <= v <= OPSET[schema.domain]]


# Text labels become whole numbers and a LabelEncoder when a model is loaded.
ENCODED = {"LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"}
# Deprecated in the newest opset and still written by exporters.
KEPT = {("ai.onnx.ml", "TreeEnsembleClassifier"), ("ai.onnx.ml", "TreeEnsembleRegressor")}

HISTORY = onnx.defs.get_all_schemas_with_history()


def newest():
    """The schemas that are in force at the opsets above, by domain and name."""
    out = {}
    for s in HISTORY:
        if s.domain not in OPSET or s.since_version > OPSET[s.domain]:
            continue
        key = (s.domain, s.name)
        if s.deprecated and key in KEPT:
            continue
        if key not in out or out[key].since_version < s.since_version:
            out[key] = s
    return {k: s for k, s in out.items() if not s.deprecated}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ge", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "ge")
    args = parser.parse_args()
    done = subprocess.run([args.ge, "ops", "--json"], stdout=subprocess.PIPE, check=True)
    records = {(r["domain"], r["name"]): r for r in json.loads(done.stdout)["ops"]}
    rules = (ROOT / "frontend" / "onnx" / "adapt" / "rules.cc").read_text()
    ruled = set(re.findall(r'^    \{"(\w+)"', rules, re.M))
    passed = failed = 0
    domains = {d for d, _ in records}
    for key, schema in sorted(newest().items()):
        if schema.domain not in domains or schema.name == "Constant":  # never a node after loading
            continue
        faults = []
        if key in records:
            compare(schema, records[key], ruled, faults.append)
            if schema.name in MISSING:
                faults.append("is listed as missing")
        elif schema.name not in MISSING:
            faults.append("has no record")
        for fault in faults:
            print(f"FAILED  {schema.domain or 'ai.onnx'}.{schema.name}: {fault}")
        passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
