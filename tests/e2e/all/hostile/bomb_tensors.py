"""Bombs of folding, shapes, operators and layers."""
import numpy as np
from onnx import helper

from bomb_making import B, F, I, bomb, const, filled, model, node, of_filled

DOUBLE = 11

# ---- folding -------------------------------------------------------------------------------------

@bomb()
def fold_sum_of_64():
    pairs = [filled(f"v{i}", [16_000_000 + i // 64], float(i)) for i in range(64)]
    names = " ".join(f"v{i}" for i in range(64))
    return model([p[0] for p in pairs] + [node("Sum", names, "y")], [p[1] for p in pairs])


@bomb()
def fold_chain_of_64():
    nodes, constants = [], []
    for i in range(64):
        made = filled(f"v{i}", [16_700_000], float(i))
        nodes.append(made[0])
        constants.append(made[1])
        nodes.append(node("Add" if i else "Identity", f"s{i - 1} v{i}" if i else "v0", f"s{i}"))
    return model(nodes + [node("Identity", "s63", "y")], constants)


@bomb(short=False)
def fold_conv():
    return of_filled([[1, 1, 4096, 4096], [1, 1, 2048, 2048]], [node("Conv", "a b", "y")])


@bomb(short=False)
def fold_matmul():
    return of_filled([[1, 4096, 4096], [4096, 1, 4096, 4096]], [node("MatMul", "a b", "m"),
                                                              node("ReduceMax", "m", "y")])


@bomb()
def fold_expands():
    nodes = [node("Expand", f"x{i}" if i else "one", f"x{i + 1}") for i in range(8)]
    for i, n in enumerate(nodes):
        n.input.append(f"s{i}")
    sizes = [const(f"s{i}", [1 << (3 * i + 2)]) for i in range(8)]
    return model(nodes + [node("ReduceSum", "x8", "y")], sizes + [const("one", [1.0], np.float32)])


# ---- shapes --------------------------------------------------------------------------------------

@bomb(sizes=(15_000, 100_000))
def expand(n):
    return model([node("Expand", "x s", "e"), node("ReduceSum", "e", "y")],
                 [const("s", [n, n, 2])])


@bomb()
def expand_twice():
    return model([node("Expand", "x s", "e"), node("Expand", "e t", "y")],
                 [const("s", [10_000, 2]), const("t", [1_000_000, 10_000, 2])])


@bomb(sizes=(300_000_000, 10**10))
def tile(n):
    return model([node("Tile", "x s", "y")], [const("s", [n])])


@bomb()
def tile_overflow():
    return model([node("Tile", "x s", "y")], [const("s", [1 << 62])])


@bomb(sizes=(300_000_000, 10**12))
def range_of_constants(n):
    return model([node("Range", "a b d", "r"), node("ReduceMax", "r", "y")],
                 [const("a", 0), const("b", n), const("d", 1)], outputs=[("y", I, None)])


@bomb(sizes=(3e8, 1e12))
def range_of_data(n):
    return model([node("Mul", "x zero", "z"), node("ReduceSum", "z", "s", keepdims=0),
                  node("Add", "s big", "limit"), node("Range", "from limit step", "y")],
                 [const("zero", 0, np.float32), const("big", n, np.float32),
                  const("from", 0, np.float32), const("step", 1, np.float32)])


@bomb()
def range_of_a_tiny_step():
    return model([node("Range", "a b d", "y")],
                 [const("a", 0, np.float64), const("b", 1, np.float64), const("d", 1e-300, np.float64)],
                 outputs=[("y", DOUBLE, None)])


@bomb(sizes=(2e4, 1e6))
def resize(n):
    return model([helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear")],
                 [const("s", [1, 1, n, n], np.float32)], inputs=[("x", F, [1, 1, 2, 2])])


@bomb(sizes=(30_000, 1_000_000))
def resize_to_sizes(n):
    return model([helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="cubic")],
                 [const("s", [1, 1, n, n])], inputs=[("x", F, [1, 1, 2, 2])])


@bomb(sizes=(300_000_000, 5 * 10**9))
def pad(n):
    return model([node("Pad", "x p", "y")], [const("p", [n, n])])


@bomb()
def pad_negative():
    return model([node("Pad", "x p", "y")], [const("p", [-(1 << 62), 1 << 62])])


@bomb(sizes=(1 << 30, 1 << 40))
def input_declared(n):
    return model([node("Relu", "x", "y")], inputs=[("x", F, [n])])


@bomb()
def dims_near_2_63():
    return model([node("Relu", "x", "y")], inputs=[("x", F, [1 << 62, 4])])


@bomb()
def dims_overflow_with_zero():
    return model([node("Transpose", "x", "t"), node("Relu", "t", "y")],
                 inputs=[("x", F, [1 << 40, 0, 1 << 40])])


@bomb()
def reshape_overflow():
    return model([node("Reshape", "x s", "y")], [const("s", [1 << 32, 1 << 32, -1])])


@bomb()
def concat_of_one_value():
    return model([node("Concat", " ".join(["x"] * 1000), "a", axis=0),
                  node("Concat", " ".join(["a"] * 1000), "b", axis=0),
                  node("Concat", " ".join(["b"] * 1000), "y", axis=0)])


@bomb(large=True, short=False)
def concat_of_100_000():
    return model([node("Concat", " ".join(["x"] * 100_000), "y", axis=0)])


@bomb(large=True, short=False)
def split_into_a_million():
    names = " ".join(f"o{i}" for i in range(100_000))
    return of_filled([[100_000]], [node("Split", "a", names, num_outputs=100_000, axis=0),
                                   node("Relu", "o7", "y")])


@bomb()
def split_says_a_million():
    return model([node("Split", "x", "y", num_outputs=1 << 40, axis=0)])


@bomb(sizes=(1 << 28, 1 << 40))
def one_hot(n):
    return model([node("Cast", "x", "i", to=I), node("OneHot", "i d v", "y")],
                 [const("d", n), const("v", [0, 1], np.float32)])


@bomb(sizes=(30_000, 1 << 20))
def eye_like(n):
    return of_filled([[n, n]], [node("EyeLike", "a", "y")])


@bomb(sizes=(30_000, 1 << 20))
def random_normal(n):
    return model([node("RandomNormal", "", "r", shape=[n, n]), node("ReduceSum", "r", "y")])


@bomb(sizes=(4, 1 << 31))
def depth_to_space(n):
    return model([node("DepthToSpace", "x", "y", blocksize=n)], inputs=[("x", F, [1, 4, 2, 2])])


@bomb()
def space_to_depth():
    return model([node("SpaceToDepth", "x", "y", blocksize=1 << 31)], inputs=[("x", F, [1, 4, 0, 0])])


# ---- operators whose data decide -----------------------------------------------------------------

@bomb(sizes=(1 << 29, 1 << 40))
def scatter_nd(n):
    return of_filled([[n]], [node("ScatterND", "a i u", "y")],
                     [const("i", [[5]]), const("u", [1], np.float32)])


@bomb()
def scatter_elements():
    return of_filled([[30_000, 30_000]], [node("Cast", "a", "i", to=I),
                                          node("ScatterElements", "a i a", "y", reduction="add")])


@bomb(sizes=(30, 100))
def einsum(n):
    return of_filled([[n]], [node("Einsum", "a a a a a a", "y", equation="a,b,c,d,e,f->abcdef")])


@bomb(forever=True, short=False)
def einsum_work():
    return model([node("Expand", "x s", "e"),
                  node("Einsum", "e e e e e e e e", "y", equation="a,b,c,d,e,f,g,h->")],
                 [const("s", [120])], inputs=[("x", F, [1])])


@bomb(sizes=(1 << 28, 1 << 40))
def top_k(n):
    return of_filled([[n]], [node("TopK", "a k", "y j")], [const("k", [n])])


@bomb()
def top_k_says_much():
    return model([node("TopK", "x k", "y j")], [const("k", [1 << 62])])


@bomb(sizes=(1 << 15, 1 << 20))
def non_zero(n):
    return of_filled([[n, n]], [node("NonZero", "a", "y")], outputs=[("y", I, None)])


@bomb(sizes=(1 << 29, 1 << 40))
def compress(n):
    return of_filled([[n]], [node("Cast", "a", "k", to=B), node("Compress", "a k", "y")])


@bomb(sizes=(20_000, 200_000))
def where(n):
    return model([node("Expand", "x s", "e"), node("Transpose", "e", "t"), node("Less", "e t", "l"),
                  node("Where", "l e t", "y")], [const("s", [n, 1])], inputs=[("x", F, [1, 1])])


@bomb(sizes=(20_000, 200_000))
def matmul_broadcast(n):
    return of_filled([[n, 1, 1, 1], [n, 1, 1]], [node("MatMul", "a b", "m"),
                                                            node("ReduceSum", "m", "y")])


@bomb(forever=True, short=False)
def matmul_work():
    return model([node("Expand", "x s", "e"), node("MatMul", "e e", "y")], [const("s", [9000, 9000])],
                 inputs=[("x", F, [1, 1])])


@bomb(sizes=(1 << 29, 1 << 40))
def cum_sum(n):
    return of_filled([[n]], [node("CumSum", "a z", "y")], [const("z", 0)])


@bomb()
def gather():
    return of_filled([[1 << 17]], [node("Cast", "a", "i", to=I), node("Gather", "g i", "y", axis=0)],
                     [const("g", np.ones((2, 1000)), np.float32)])


@bomb(sizes=(1 << 27, 1 << 40))
def unique(n):
    return of_filled([[n]], [node("Unique", "a", "y", sorted=1)])


@bomb(forever=True, short=False)
def non_max_suppression():
    return of_filled([[1, 20_000, 4], [1, 500, 20_000]], [node("NonMaxSuppression", "a b m", "y")],
                     [const("m", [1 << 40])], outputs=[("y", I, None)])


# ---- layers --------------------------------------------------------------------------------------

@bomb(sizes=(400, 1 << 20))
def conv_transpose(n):
    return model([node("ConvTranspose", "x w", "y", strides=[n, n])],
                 [const("w", np.ones((1, 1, 3, 3)), np.float32)], inputs=[("x", F, [1, 1, 64, 64])])


@bomb(forever=True, short=False)
def max_pool():
    return model([node("Expand", "x s", "e"), node("MaxPool", "e", "y", kernel_shape=[2048, 2048])],
                 [const("s", [1, 1, 4096, 4096])], inputs=[("x", F, [1, 1, 1, 1])])


@bomb()
def max_pool_says_much():
    return model([node("MaxPool", "x", "y", kernel_shape=[1 << 40, 1 << 40])],
                 inputs=[("x", F, [1, 1, 8, 8])])


@bomb()
def average_pool_pads():
    return model([node("AveragePool", "x", "y", kernel_shape=[1 << 31, 2], pads=[1 << 31, 0, 1 << 31, 0],
                       count_include_pad=1)], inputs=[("x", F, [1, 1, 8, 8])])


@bomb()
def conv_dilations():
    return model([node("Conv", "x w", "y", dilations=[1 << 61, 1 << 61], pads=[1 << 62] * 4)],
                 [const("w", np.ones((1, 1, 3, 3)), np.float32)], inputs=[("x", F, [1, 1, 8, 8])])


@bomb()
def lstm_hidden():
    return of_filled([[1, 4 << 20, 2], [1, 4 << 20, 1 << 20]],
                     [node("LSTM", "x a b", "y", hidden_size=1 << 20)], inputs=[("x", F, [4, 1, 2])])


@bomb(sizes=(1 << 28, 1 << 40))
def dft(n):
    return model([node("DFT", "x n", "y", axis=1)], [const("n", n)], inputs=[("x", F, [1, 8, 1])],
                 opset=18)


@bomb(forever=True, short=False)
def dft_of_a_prime():
    return model([node("DFT", "x n", "y", axis=1)], [const("n", 4_999_999)],
                 inputs=[("x", F, [1, 8, 1])], opset=18)


@bomb(forever=True, sizes=(1 << 14, 1 << 20))  # sums without a fast transform: hours
def stft(n):
    return of_filled([[1, 1 << 20, 1]], [helper.make_node("STFT", ["a", "step", "", "n"], ["y"])],
                     [const("step", 1), const("n", n)])


@bomb(sizes=(300_000_000, 10**12))
def window(n):
    return model([node("HannWindow", "n", "y")], [const("n", n)])


@bomb(sizes=(20_000, 1 << 30))
def mel_weights(n):
    return model([node("MelWeightMatrix", "m n r lo hi", "y")],
                 [const("m", n), const("n", n), const("r", 8000),
                  const("lo", 0, np.float32), const("hi", 4000, np.float32)])


@bomb(sizes=(20_000, 1 << 20))
def roi_align(n):
    return of_filled([[1, 1, 8, 8], [1, 4], [1]],
                     [node("Cast", "c", "i", to=I),
                      node("RoiAlign", "a b i", "y", output_height=n, output_width=n)])


@bomb(forever=True, short=False)
def roi_align_samples():
    return of_filled([[1, 1, 8, 8], [1, 4], [1]],
                     [node("Sub", "c c", "z"), node("Cast", "z", "i", to=I),
                      node("RoiAlign", "a b i", "y", output_height=8, output_width=8,
                           sampling_ratio=1 << 20)])


@bomb(sizes=(20_000, 1 << 20))
def col2im(n):
    return model([node("Col2Im", "x size block", "y")],
                 [const("size", [n, n]), const("block", [1, 1])],
                 inputs=[("x", F, [1, 1, 1 << 10])])
