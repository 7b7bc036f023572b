#!/usr/bin/env python3
"""The operators' records against the schemas of the `onnx` package, and those of com.microsoft against
ONNX Runtime's: version, ports, element types and which of them are one, attributes, their kinds and defaults,
whether a node may be computed once for two, and that somebody looked at the older versions of each
that has several. What ONNX defines by other operators has a decomposition.

Prints each difference and, last, the counts. What differs on purpose is listed below with its
reason; an entry of these lists that is no longer needed fails too.

Example: tests/e2e/plugins/schemas.py --ge build/release/bin/ge
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "onnx", "onnxruntime")

import onnx  # noqa: E402
import onnx.defs  # noqa: E402
from onnxruntime.capi import onnxruntime_pybind11_state  # noqa: E402

MICROSOFT = "com.microsoft"
OPSET = {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1, MICROSOFT: 1}
OLDEST = 7  # opset that is loaded

NAMES = {"float": "f32", "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16",
         "int32": "i32", "int64": "i64", "string": "str", "bool": "bool", "float16": "f16",
         "double": "f64", "uint32": "u32", "uint64": "u64", "complex64": "c64",
         "complex128": "c128", "bfloat16": "bf16", "float8e4m3fn": "f8e4m3fn",
         "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2", "float8e5m2fnuz": "f8e5m2fnuz",
         "uint4": "u4", "int4": "i4", "float4e2m1": "f4e2m1", "float8e8m0": "f8e8m0",
         "uint2": "u2", "int2": "i2", "float6e2m3": "f6e2m3", "float6e3m2": "f6e3m2"}

# Operators that have no record.
MISSING = {
    "FlexAttention": "preview; not built yet",
    "Gradient": "of the preview of training; not built yet",
}

# Defaults that are stated in words alone, or by the kernels of ONNX Runtime.
IN_WORDS = {("SequenceEmpty", "dtype"): 1, ("StringSplit", "delimiter"): ""}
IN_WORDS_MICROSOFT = {
    ("QuantizeLinear", "axis"): 1, ("DequantizeLinear", "axis"): 1,
    ("FusedConv", "activation"): "", ("FusedGemm", "activation"): "",
    **{("RotaryEmbedding", a): 0
       for a in ("num_heads", "rotary_embedding_dim", "interleaved", "is_packed_batching")},
    **{("MRotaryEmbedding", a): 0
       for a in ("num_heads", "rotary_embedding_dim", "interleaved", "is_packed_batching", "mrope_layout")},
    **{(op, "scale"): 1.0 for op in ("RotaryEmbedding", "MRotaryEmbedding")},
    **{(op, "scale"): 0.0 for op in ("Attention", "QAttention", "MultiHeadAttention", "GroupQueryAttention",
                                     "SparseAttention", "DecoderMaskedMultiHeadAttention")},
    **{(op, "mask_filter_value"): -10000.0 for op in ("Attention", "QAttention", "MultiHeadAttention",
                                                      "DecoderMaskedMultiHeadAttention")},
    **{(op, a): 0 for op in ("Attention", "QAttention") for a in ("do_rotary", "past_present_share_buffer")},
    **{("GroupQueryAttention", a): 0 for a in ("do_rotary", "rotary_interleaved", "kv_cache_bit_width")},
    ("GroupQueryAttention", "softcap"): 0.0,
    **{("SparseAttention", a): 0 for a in ("do_rotary", "rotary_interleaved")},
    **{("DecoderMaskedMultiHeadAttention", a): 0 for a in ("output_qk", "past_present_share_buffer")},
}
# ONNX's default is for one value of another attribute, so that it is none of the record's.
DEPENDS = {("RNN", "activations"): "two names are for two directions, of which the default is one"}

# Element types beyond the schema's (+) and those that no port takes (-), where a port differs at all: floats that
# other operators take too, and sequences, of which any tensor may be an element.
SEQUENCES = "+bf16 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz u4 i4 f4e2m1 f8e8m0 u2 i2"
OTHER_TYPES = {
    **{("", op): SEQUENCES for op in ("SequenceConstruct", "SequenceInsert", "ConcatFromSequence")},
    ("", "SequenceAt"): SEQUENCES + " f6e2m3 f6e3m2",
    ("", "Scan"): "+f6e2m3 f6e3m2",
    **{("", op): "+i32 i64 u32 u64" for op in ("ReduceLogSum", "ReduceLogSumExp")},  # as until opset 27
    **{(MICROSOFT, op): "+bf16" for op in ("Inverse", "DequantizeLinear", "QuantizeLinear", "FusedConv", "Pad")},
    **{(MICROSOFT, op): "+f64" for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "Attention",
                                          "MultiHeadAttention", "MatMulNBits")},
    **{(MICROSOFT, op): "+bf16 f64" for op in ("GroupNorm", "BiasSplitGelu", "BiasAdd", "EmbedLayerNormalization")},
    **{(MICROSOFT, op): "+bf16 -c64 c128 str" for op in ("Unique", "ExpandDims")},
    (MICROSOFT, "GatherND"): "+bf16 -c64 c128",
    (MICROSOFT, "FusedGemm"): "+bf16 -i32 i64 u32 u64",  # its activations are of floats
    (MICROSOFT, "GatherBlockQuantized"): "-f4e2m1 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz",
    (MICROSOFT, "GroupQueryAttention"): "-i8 u8 f8e4m3fn",  # caches of codes: refused by name
    # Of one type variable: codes of floats, which ONNX Runtime's CPU kernels do not take either.
    (MICROSOFT, "QMoE", "T1"): "-f8e4m3fn",
    (MICROSOFT, "QMoE", "T2"): "-f8e4m3fn f8e8m0",
}
# Ports that are of one type here, by which another variable of the schema's they have, and why.
ONE_TYPE = {
    (MICROSOFT, "MultiHeadAttention", "QK"): "products come as their factors do",
    (MICROSOFT, "DecoderMaskedMultiHeadAttention", "QK"): "products come as their factors do",
    (MICROSOFT, "GroupQueryAttention", "T_CACHE"): "caches of codes are refused",
}
# ONNX's schema leaves open whether they are deterministic, as it does of all that have a body.
SETTLED = {"AffineGrid", "SequenceMap", "If", "Loop", "Scan"}
# Defined by other operators in ONNX, and whole here: ref has a kernel of each.
WHOLE = {"AffineGrid", "Attention", "Bernoulli", "BlackmanWindow", "CausalConvWithState", "CenterCropPad", "Clip",
         "DepthToSpace", "DynamicQuantizeLinear", "Elu", "HammingWindow", "HannWindow", "HardSigmoid", "LeakyRelu", "LinearAttention",
         "NegativeLogLikelihoodLoss", "PRelu", "Range", "ReduceL1", "ReduceL2", "ReduceLogSum",
         "ReduceLogSumExp", "ReduceSumSquare", "Relu", "RotaryEmbedding", "SequenceMap", "Shrink",
         "SoftmaxCrossEntropyLoss", "Softmax", "Softplus", "SpaceToDepth"}
# In parts here, and defined by words alone in ONNX.
IN_PARTS = {"Adagrad", "Adam", "Einsum", "Hardmax", "InstanceNormalization", "LinearRegressor", "Mean", "Momentum", "Scaler", "Sum"}
# Of com.microsoft everything has parts, but for these: no other operator does what they do.
WHOLE_MICROSOFT = {"CropAndResize", "GatedDeltaNet", "Inverse", "Tokenizer", "Unique"}


def dtypes_of(port):
    """Element types that the schema allows; None where values are no tensors."""
    out = set()
    for text in port.types:
        if not text.startswith("tensor("):
            return None
        out.add(NAMES[text[len("tensor("):-1]])
    return out


def other_types(schema, kind, wanted, found, differ):
    """Element types that a port lacks, or that it takes beyond its schema's."""
    dtypes, have = dtypes_of(wanted), set(found["dtypes"])
    if dtypes is None:
        return
    more, lacks = sorted(have - dtypes), sorted(dtypes - have)
    if kind == "output" and schema.name in ENCODED:
        more, lacks = [t for t in more if t != "str"], [t for t in lacks if t != "str"]
    listed = OTHER_TYPES.get((schema.domain, schema.name), "")
    listed = OTHER_TYPES.get((schema.domain, schema.name, variable_of(wanted)), listed)
    plus, _, minus = listed.partition("-")
    if (more or lacks) and (more, lacks) != (sorted(plus.strip(" +").split()), sorted(minus.split())):
        differ(f"{kind} {wanted.name} lacks {lacks} and takes {more} more, listed are '{listed}'")
    return bool(more or lacks)


def ports(kind, wanted, found, schema, differ):
    """Whether any of them has other types than its schema's."""
    if len(wanted) != len(found):
        return differ(f"{len(found)} {kind}s, wanted {len(wanted)}")
    others = False
    for w, f in zip(wanted, found):
        arity = {0: "one", 1: "optional", 2: "variadic"}[int(w.option.value)]
        # ONNX Runtime has one where it takes an omitted one, too.
        lenient = schema.domain == MICROSOFT and w.name.lower().endswith("zero_point") and f["arity"] == "optional"
        if f["arity"] != arity and not lenient:
            differ(f"{kind} {w.name} is {f['arity']}, wanted {arity}")
        same = str.lower if schema.domain == MICROSOFT else str
        if same(w.name) != same(f["name"]):
            differ(f"{kind} {w.name} is named {f['name']}")
        others |= bool(other_types(schema, kind, w, f, differ))
    return others


def variable_of(port):
    return port.type_str if hasattr(port, "type_str") else port.typeStr


def is_homogeneous(port):
    return port.is_homogeneous if hasattr(port, "is_homogeneous") else port.isHomogeneous


def one_type(schema, found, differ):
    """Ports that have one element type, whichever it is."""
    wanted = [*schema.inputs, *schema.outputs]
    if len(wanted) != len(found):
        return
    used = set()
    for j, (w, f) in enumerate(zip(wanted, found)):
        for v, g in zip(wanted[:j], found[:j]):
            tensors = dtypes_of(w) is not None and len(f["dtypes"]) > 1
            each = "(" not in variable_of(w) and is_homogeneous(w) and is_homogeneous(v)
            one = variable_of(w) == variable_of(v) and each
            here = f["type"] == g["type"] != ""
            if one and tensors and not here:
                differ(f"{w.name} need not have the type of {v.name}")
            listed = {(schema.domain, schema.name, variable_of(p)) for p in (w, v)} & set(ONE_TYPE)
            if here and not one and not listed:
                differ(f"{w.name} must have the type of {v.name}, which the schema does not ask for")
            used |= listed if here and not one else set()
    for key in ONE_TYPE:
        if key[:2] == (schema.domain, schema.name) and key not in used:
            differ(f"{key[2]} is listed as of another's type, and is not")


def defaults(schema, record, differ):
    """What the absence of each attribute means; bit for bit, as -0 is another number than 0."""
    found = {a["name"]: a.get("default") for a in record["attributes"]}
    in_words = IN_WORDS_MICROSOFT if schema.domain == MICROSOFT else IN_WORDS
    for name, attribute in schema.attributes.items():
        wanted, value = None, attribute_default(attribute)
        if value.type != onnx.AttributeProto.UNDEFINED:
            wanted = onnx.helper.get_attribute_value(value)
            wanted = wanted.decode() if isinstance(wanted, bytes) else wanted
        key = (schema.name, name)
        if key in in_words and wanted is None:
            wanted = in_words[key]
        elif key in DEPENDS and wanted is not None:
            wanted = None
        elif key in in_words or key in DEPENDS:
            differ(f"attribute {name} is listed, although the schema says now what it means")
        if repr(wanted) != repr(found.get(name)):
            differ(f"attribute {name} has the default {found.get(name)!r}, wanted {wanted!r}")


def attribute_default(attribute):
    if hasattr(attribute, "default_value"):
        return attribute.default_value
    value = onnx.AttributeProto()
    value.ParseFromString(attribute._default_value)
    return value


def attributes(schema, record, differ):
    """Their names, kinds and which must be given. Bodies are no attributes here."""
    wanted = {n: a for n, a in schema.attributes.items() if a.type.name not in ("GRAPH", "GRAPHS")}
    found = {a["name"]: a for a in record["attributes"] if a["name"] != "captures"}
    if set(wanted) - set(found):
        differ(f"lacks the attribute(s) {' '.join(sorted(set(wanted) - set(found)))}")
    if set(found) - set(wanted):
        differ(f"has the attribute(s) {' '.join(sorted(set(found) - set(wanted)))}, which the schema does not")
    for name in set(wanted) & set(found):
        kind = {"TYPE_PROTO": "type"}.get(wanted[name].type.name, wanted[name].type.name.lower())
        if found[name]["kind"] != kind:
            differ(f"attribute {name} is of the kind {found[name]['kind']}, wanted {kind}")
        if found[name]["required"] != wanted[name].required:
            differ(f"attribute {name} must{'' if found[name]['required'] else ' not'} be given, unlike the schema's")
    defaults(schema, record, differ)


def nature(schema, record, differ):
    """Whether it has parts, and whether two alike nodes have alike results."""
    name = schema.name
    if schema.domain == MICROSOFT or (schema.domain, name) in THEIR_OWN:
        parts, whole = True, WHOLE_MICROSOFT
    else:
        parts, whole = schema.has_function or schema.has_context_dependent_function, WHOLE
        if parts and name in IN_PARTS:
            differ("is listed as not defined by other operators, and is")
        parts = parts or name in IN_PARTS
        fixed = schema.node_determinism != onnx.defs.OpSchema.NodeDeterminism.NonDeterministic
        if record["deterministic"] != (fixed or name in SETTLED):
            differ(f"is {'' if record['deterministic'] else 'not '}deterministic, unlike the schema's")
        if fixed and name in SETTLED:
            differ("is listed as left open by ONNX, and is not")
    if parts and name not in whole and not record["decomposes"]:
        differ("has no decomposition")
    if record["decomposes"] and (name in whole or not parts):
        differ("has a decomposition, and is listed as whole or not listed as in parts")
    if record["effects"]:
        differ("has effects")


def compare(schema, record, ruled, differ):
    if record["since"] != schema.since_version:
        differ(f"since {record['since']}, wanted {schema.since_version}")
    # Captured values are inputs here.
    inputs = [p for p in record["inputs"] if p["name"] != "captures"]
    others = ports("input", schema.inputs, inputs, schema, differ)
    others = ports("output", schema.outputs, record["outputs"], schema, differ) or others
    if (schema.domain, schema.name) in OTHER_TYPES and not others:
        differ("is listed as of other types, and has its schema's")
    one_type(schema, inputs + record["outputs"], differ)
    attributes(schema, record, differ)
    nature(schema, record, differ)
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

# Of ONNX Runtime, in ONNX's domain.
THEIR_OWN = {("", "SimplifiedLayerNormalization")}

HISTORY = onnx.defs.get_all_schemas_with_history()


def newest():
    """The schemas that are in force at the opsets above, by domain and name; of ONNX Runtime's those that have a
    record here are compared."""
    out = {(s.domain, s.name): s for s in onnxruntime_pybind11_state.get_all_operator_schema()
           if s.domain == MICROSOFT or (s.domain, s.name) in THEIR_OWN}
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
    passed = failed = skipped = 0
    domains, schemas = {d for d, _ in records}, newest()
    for domain, name in sorted(set(records) - set(schemas)):
        if domain != "ge":
            print(f"FAILED  {domain or 'ai.onnx'}.{name}: has a record, and no schema")
            failed += 1
    for key, schema in sorted(schemas.items()):
        if schema.domain == MICROSOFT and key not in records:
            continue  # those of exporters are here, not all
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
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
