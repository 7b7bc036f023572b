"""Bombs of strings, sequences, control flow, functions, damaged bytes and our own text."""
import numpy as np
from onnx import TensorProto, helper

from bomb_making import B, F, I, S, bomb, body, const, model, node, of_filled

LOOP_IN = [("i", I, []), ("c", B, [])]


# ---- strings and sequences -----------------------------------------------------------------------

@bomb()
def regex():
    text = helper.make_tensor("t", S, [1], [b"a" * 2000 + b"b"])
    return model([node("RegexFullMatch", "t", "y", pattern="(a*)*(a|aa)+(a*)*c" * 20)], [text], (),
                 [("y", B, None)], opset=21)


@bomb()
def regex_repeats():
    text = helper.make_tensor("t", S, [1], [b"a" * 2000 + b"b"])
    return model([node("RegexFullMatch", "t", "y", pattern="((((a{1000}){1000}){1000}){1000})*")], [text],
                 (), [("y", B, None)], opset=21)


@bomb()
def strings_concat():
    texts = helper.make_tensor("t", S, [400, 1], [b"x" * 4] * 400)
    return model([node("StringConcat", "t f", "y")],
                 [texts, helper.make_tensor("f", S, [1, 400], [b"y"] * 400)], (), [("y", S, None)],
                 opset=21)


@bomb()
def strings_doubling():
    text = helper.make_tensor("t0", S, [1], [b"x" * 64])
    nodes = [node("StringConcat", f"t{i} t{i}", f"t{i + 1}") for i in range(60)]
    return model(nodes + [node("Identity", "t60", "y")], [text], (), [("y", S, None)], opset=21)


@bomb()
def strings_broadcast():
    text = helper.make_tensor("t0", S, [1], [b"x" * 64])
    nodes, last = [], "t0"
    for i in range(6):
        nodes += [node("StringConcat", f"{last} r{i}", f"t{i + 1}")]
        last = f"t{i + 1}"
    wide = [helper.make_tensor(f"r{i}", S, [12] + [1] * i, [b""] * 12) for i in range(6)]
    wide += [helper.make_tensor(f"w{i}", S, [60] + [1] * (6 + i), [b""] * 60) for i in range(6)]
    for i in range(6):
        nodes.append(node("StringConcat", f"{last} w{i}", f"u{i + 1}"))
        last = f"u{i + 1}"
    return model(nodes + [node("Identity", last, "y")], [text] + wide, (), [("y", S, None)], opset=21)


@bomb()
def string_split():
    text = helper.make_tensor("t0", S, [1], [b"x " * 64])
    nodes = [node("StringConcat", f"t{i} t{i}", f"t{i + 1}") for i in range(16)]
    return model(nodes + [node("StringSplit", "t16", "y n", delimiter=" ")], [text], (),
                 [("y", S, None)], opset=21)


@bomb()
def tf_idf():
    return model([node("Cast", "x", "i", to=I),
                  node("TfIdfVectorizer", "i", "y", max_gram_length=1 << 40, max_skip_count=1 << 40,
                       min_gram_length=1, mode="TF", ngram_counts=[0], ngram_indexes=[1 << 40],
                       pool_int64s=[1])], inputs=[("x", F, [1000])])


@bomb()
def split_to_sequence():
    return of_filled([[1 << 26]], [node("SplitToSequence", "a", "q", axis=0, keepdims=0),
                                   node("SequenceAt", "q z", "y")], [const("z", 5)])


@bomb()
def sequence_of_one_value():
    nodes = [node("SequenceConstruct", " ".join(["a"] * 2000), "q"),
             node("ConcatFromSequence", "q", "y", axis=0)]
    return of_filled([[1 << 22]], nodes)


# ---- control flow --------------------------------------------------------------------------------

def loop(trips, nodes, carried, results, constants=(), outer=(), outer_constants=(), more_inputs=""):
    inner = body(nodes, LOOP_IN + carried, [("go", B, [])] + results, constants)
    made = node("Loop", f"m {'cond' if trips is None else ''}".strip() + " " + more_inputs, "y", body=inner)
    made.input[1:1] = [""] if trips is not None else []
    if trips is None:
        made.input[0] = ""
    fixed = [const("cond", True, np.bool_)] if trips is None else [const("m", trips)]
    return model(list(outer) + [made], fixed + list(outer_constants))


@bomb(forever=True)
def loop_of_huge_trip_count():
    return loop((1 << 63) - 1, [node("Identity", "c", "go"), node("Add", "v v", "w")],
                [("v", F, [2])], [("w", F, [2])], more_inputs="x")


@bomb(forever=True)
def loop_without_end():
    return loop(None, [node("Identity", "c", "go"), node("Cos", "v", "w")], [("v", F, [2])],
                [("w", F, [2])], more_inputs="x")


@bomb(forever=True, short=False)
def loop_of_constants():
    return loop((1 << 62), [node("Identity", "c", "go"), node("Cos", "v", "w")], [("v", F, [2])],
                [("w", F, [2])], outer_constants=[const("k", [1, 2], np.float32)], more_inputs="k")


@bomb(forever=True, short=False)
def loops_in_loops():
    inner = None
    for depth in range(8):
        nodes = [node("Identity", "c", "go")]
        nodes.append(node("Cos", "v", "w") if inner is None else node("Loop", "n  v", "w", body=inner))
        if inner is not None:
            nodes[-1].input[1:1] = [""]
        inner = body(nodes, LOOP_IN + [("v", F, [2])], [("go", B, []), ("w", F, [2])],
                     [const("n", 1 << 20)] if depth else [])
    outer = node("Loop", "m x", "y", body=inner)
    outer.input[1:1] = [""]
    return model([outer], [const("m", 1 << 20)])


@bomb()
def loop_that_doubles():
    return loop(80, [node("Identity", "c", "go"), node("Concat", "v v", "w", axis=0)],
                [("v", F, [None])], [("w", F, [None])], more_inputs="x")


@bomb(forever=True, short=False)
def loop_that_grows():
    return loop(1 << 40, [node("Identity", "c", "go"), node("Concat", "v one", "w", axis=0)],
                [("v", F, [None])], [("w", F, [None])],
                [const("one", [1], np.float32)], more_inputs="x")


@bomb(forever=True, short=False)
def loop_stacks_outputs():
    made = body([node("Identity", "c", "go"), node("Cast", "i", "f", to=F), node("Expand", "f s", "w")],
                LOOP_IN, [("go", B, []), ("w", F, [1_000_000])], [const("s", [1_000_000])])
    outer = node("Loop", "m", "y", body=made)
    outer.input.append("")
    return model([outer], [const("m", 1 << 40)])


@bomb(forever=True, short=False)
def sequence_growing_in_a_loop():
    inner = helper.make_graph(
        [node("Identity", "c", "go"), node("Cast", "i", "f", to=F), node("Expand", "f s", "e"),
         node("SequenceInsert", "q e", "r")], "body",
        [helper.make_tensor_value_info(*v) for v in LOOP_IN] +
        [helper.make_tensor_sequence_value_info("q", F, None)],
        [helper.make_tensor_value_info("go", B, []), helper.make_tensor_sequence_value_info("r", F, None)],
        [const("s", [1_000_000])])
    outer = node("Loop", "m q0", "q1", body=inner)
    outer.input[1:1] = [""]
    return model([node("SequenceEmpty", "", "q0", dtype=F), outer, node("SequenceAt", "q1 z", "y")],
                 [const("m", 1 << 40), const("z", 0)])


@bomb(forever=True, short=False)
def scan():
    inner = body([node("Add", "s e", "t"), node("Identity", "t", "u")],
                 [("s", F, []), ("e", F, [])], [("t", F, []), ("u", F, [])])
    return of_filled([[1 << 26]], [node("Scan", "zero a", "t y", body=inner, num_scan_inputs=1)],
                     [const("zero", 0, np.float32)])


@bomb()
def ifs_in_ifs():
    inner = body([node("Relu", "x", "o")], [], [("o", F, None)])
    for _ in range(13):
        inner = body([node("If", "yes", "o", then_branch=inner, else_branch=body(
            [node("Relu", "x", "o")], [], [("o", F, None)]))], [], [("o", F, None)])
    return model([node("If", "yes", "y", then_branch=inner, else_branch=body(
        [node("Relu", "x", "o")], [], [("o", F, None)]))], [const("yes", True, np.bool_)])


# ---- functions -----------------------------------------------------------------------------------

def function(name, nodes):
    return helper.make_function("own", name, ["x"], ["y"], nodes,
                                [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)])


def chain(op, times):
    """`times` calls of op from x to y."""
    names = ["x"] + [f"v{i}" for i in range(times - 1)] + ["y"]
    domain = {} if op == "Relu" else {"domain": "own"}
    return [helper.make_node(op, [names[i]], [names[i + 1]], **domain) for i in range(times)]


@bomb()
def functions_exponential():
    made = [function(f"F{i}", chain(f"F{i + 1}" if i < 14 else "Relu", 2)) for i in range(15)]
    return model(chain("F0", 1), functions=made, domains=["own"])


@bomb()
def functions_wide():
    made = [function(f"F{i}", chain(f"F{i + 1}" if i < 3 else "Relu", 60)) for i in range(4)]
    return model(chain("F0", 1), functions=made, domains=["own"])


@bomb()
def functions_long_names():
    made = [function(f"F{i}", chain(f"F{i + 1}" if i < 11 else "Relu", 2)) for i in range(12)]
    for f in made:
        for n in f.node:
            n.name = "n" * 350
    return model(chain("F0", 1), functions=made, domains=["own"])


@bomb(large=True)
def function_with_a_big_constant():
    big = helper.make_tensor("b", F, [1_000_000], np.ones(1_000_000, np.float32))
    made = function("F", [node("Constant", "", "b", value=big), node("Add", "x b", "y")])
    return model(chain("F", 250), functions=[made], domains=["own"], inputs=[("x", F, [1_000_000])])


@bomb(large=True)
def function_with_a_big_list():
    made = function("F", [node("Constant", "", "b", value_ints=[1] * 1_000_000),
                          node("Cast", "b", "f", to=F), node("ReduceSum", "f", "s"),
                          node("Add", "x s", "y")])
    return model(chain("F", 250), functions=[made], domains=["own"])


# ---- bytes ---------------------------------------------------------------------------------------

@bomb(large=True)
def function_with_a_big_attribute():
    made = function("F", [helper.make_node("Odd", ["x"], ["y"], domain="own", list=[1] * 1_000_000)])
    return model(chain("F", 250), functions=[made], domains=["own"])


@bomb(large=True)
def a_million_ints():
    return model([node("Transpose", "x", "y", perm=[0] * 1_000_000)])


@bomb(large=True)
def a_million_strings():
    texts = helper.make_tensor("t", S, [300_000], [b"ab"] * 300_000)
    return model([node("Identity", "t", "y")], [texts], (), [("y", S, None)])


@bomb()
def initializer_without_data():
    t = TensorProto(name="w", data_type=F, dims=[1 << 20, 1 << 20])
    return model([node("Add", "x w", "y")], [t])


@bomb()
def initializer_of_overflowing_dims():
    t = TensorProto(name="w", data_type=F, dims=[1 << 62, 1 << 62], raw_data=b"1234")
    return model([node("Add", "x w", "y")], [t])


@bomb()
def initializer_of_negative_dims():
    t = TensorProto(name="w", data_type=F, dims=[-1, -4], raw_data=b"1234" * 4)
    return model([node("Add", "x w", "y")], [t])


def external(**entries):
    t = TensorProto(name="w", data_type=F, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        t.external_data.add(key=key, value=value)
    return model([node("Add", "x w", "y")], [t], inputs=[("x", F, [4])])


@bomb()
def external_huge_offset():
    return external(location="external_huge_offset.onnx", offset=str((1 << 63) - 8), length="16")


@bomb()
def external_negative_length():
    return external(location="external_negative_length.onnx", offset="0", length="-16")


@bomb()
def sparse_initializer():
    graph = helper.make_graph([node("Add", "x w", "y")], "bomb",
                              [helper.make_tensor_value_info("x", F, [2])],
                              [helper.make_tensor_value_info("y", F, None)])
    graph.sparse_initializer.append(helper.make_sparse_tensor(
        helper.make_tensor("w", F, [1], [1.0]), helper.make_tensor("w_i", I, [1], [3]), [1 << 40, 1 << 20]))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                             ir_version=9).SerializeToString()


@bomb()
def deep_messages():
    """A type of sequences of sequences, 3,000 deep; written by hand, since protobuf refuses it."""
    def field(number, payload):
        size, out = len(payload), bytearray([number << 3 | 2])
        while size > 127:
            out.append(size & 127 | 128)
            size >>= 7
        return bytes(out + bytes([size]) + payload)
    deep = b""
    for _ in range(1500):
        deep = field(4, field(1, deep))
    info = field(1, b"x") + field(2, deep)
    graph = field(2, b"g") + field(11, info) + field(12, field(1, b"x"))
    return b"\x08\x09" + field(7, graph) + field(8, b"\x10\x12")


@bomb()
def truncated_length():
    return b"\x08\x09\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + b"\0" * 64


@bomb(large=True, short=False)
def chain_of_100_000():
    names = ["x"] + [f"v{i}" for i in range(99_999)] + ["y"]
    return model([helper.make_node("Relu", [names[i]], [names[i + 1]]) for i in range(100_000)])


# ---- our own text --------------------------------------------------------------------------------

GT = """ge 1
opset "" 28
{above}fn main(x: f32[4]) -> (y) {{
  {nodes}
}}
entry infer "main" = main
"""


@bomb()
def gt_splat():
    return GT.format(above="const w : f32[1000000000000] = splat 0\n", nodes="t = ReduceSum(w)\n  y = Add(x, t)")


@bomb()
def gt_splats():
    above = "".join(f"const w{i} : f32[4,30000000] = splat 1\n" for i in range(40))
    nodes = "\n  ".join(f"t{i} = ReduceSum(w{i})\n  s{i} = Add({f's{i - 1}' if i else 'x'}, t{i})"
                        for i in range(40))
    return GT.format(above=above, nodes=nodes + "\n  y = Relu(s39)")


@bomb()
def gt_state():
    return GT.format(above="state s : f32[1000000000000] buffer\n",
                     nodes="r = ge.Read() effects [state s]\n  y = ReduceSum(r)")


@bomb()
def gt_deep_lists():
    return GT.format(above="const w : f32[1] = " + "[" * 4000 + "1" + "]" * 4000 + "\n",
                     nodes="y = Add(x, w)")


@bomb()
def gt_deep_dims():
    return GT.format(above="", nodes="y: f32[" + "(" * 4000 + "1" + ")" * 4000 + "] = Relu(x)")


@bomb()
def gt_node_ids():
    return GT.format(above="", nodes="t = Identity(x) id 4294967294\n  y = Relu(t)")


@bomb()
def gt_recursion():
    return ('ge 1\nopset "" 28\nfn f(x: f32[4]) -> (y) recursive {\n'
            "  a: f32[4] = ge.Call(x) calls {fn=f}\n"
            "  b: f32[4] = ge.Call(a) calls {fn=f}\n  y: f32[4] = Relu(b)\n}\n"
            'entry infer "main" = f\n')
