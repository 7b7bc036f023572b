#include "sample_graphs.h"

#include <cmath>

namespace ge::conform {
namespace {

Sample Perceptron() {
  Net n(11);
  uint32_t x = n.In({5, 33});
  for (const int64_t width : {17, 31}) {
    const double most = 1 / std::sqrt(static_cast<double>(n.dims(x)[1]));
    x = n.MatMul(x, n.Const(GE_F32, {n.dims(x)[1], width}, -most, most));
    x = n.Binary("Add", x, n.Const(GE_F32, {width}));
    x = n.Unary("Relu", x);
  }
  n.Out(n.Gemm(x, n.Const(GE_F32, {7, 31}), n.Const(GE_F32, {7}), false, true));
  return n.Take("perceptron");
}

Sample ConvNet() {
  Net n(12);
  uint32_t x = n.In({1, 3, 17, 17});
  x = n.Conv(x, n.Const(GE_F32, {16, 3, 3, 3}, -0.2, 0.2), n.Const(GE_F32, {16}), {2, 1, 1, 1});
  x = n.Unary("Relu", x);
  const uint32_t skip = x;
  x = n.Conv(x, n.Const(GE_F32, {16, 16, 3, 3}, -0.1, 0.1), n.Const(GE_F32, {16}), {1, 1, 1, 1});
  x = n.Unary("Relu", n.Binary("Add", x, skip));
  x = n.Pool("MaxPool", x, 3, {2, 1, 1, 1});
  x = n.Conv(x, n.Const(GE_F32, {16, 1, 3, 3}, -0.3, 0.3), 0, {1, 1, 1, 16});
  x = n.BatchNorm(x);
  x = n.GlobalPool("GlobalAveragePool", x);
  n.Out(n.Reshape(x, {1, 16}));
  return n.Take("convnet");
}

Sample Attention() {
  Net n(13);
  const uint32_t x = n.In({2, 7, 24});
  const uint32_t norm = n.LayerNorm(x);
  uint32_t part[3];
  for (uint32_t& p : part) {
    p = n.MatMul(norm, n.Const(GE_F32, {24, 24}, -0.2, 0.2));
    p = n.Transpose(n.Reshape(p, {2, 7, 3, 8}), {0, 2, 1, 3});
  }
  uint32_t s = n.MatMul(part[0], n.Transpose(part[1], {0, 1, 3, 2}));
  s = n.Softmax("Softmax", n.Binary("Mul", s, n.Const(GE_F32, {}, 0.35, 0.36)), -1);
  uint32_t y = n.Reshape(n.Transpose(n.MatMul(s, part[2]), {0, 2, 1, 3}), {2, 7, 24});
  y = n.Binary("Add", n.MatMul(y, n.Const(GE_F32, {24, 24}, -0.2, 0.2)), x);
  n.Out(n.Unary("Gelu", y, {mock::Attr::String("approximate", "none")}));
  return n.Take("attention");
}

Sample Reductions() {
  Net n(14);
  const uint32_t x = n.In({3, 5, 17});
  n.Out(n.Reduce("ReduceSum", x, {2}, true));
  n.Out(n.Reduce("ReduceMean", x, {0, 2}, false));
  n.Out(n.Reduce("ReduceMax", x, {1}, false));
  n.Out(n.ArgMax(x, 2, true));
  n.Out(n.Softmax("Softmax", x, 1));
  n.Out(n.CumSum(x, 2));
  return n.Take("reductions");
}

Sample Moves() {
  Net n(15);
  const uint32_t x = n.In({4, 6, 5});
  const auto parts = n.Split(x, 1, {2, 4});
  uint32_t y = n.Concat({parts[1], parts[0]}, 1);
  y = n.Transpose(y, {2, 0, 1});
  y = n.Slice(y, 0, 1, 5, 2);
  y = n.Gather(y, n.Ints({3, 0, 0}), 1);
  y = n.Pad(y, 1, 0);
  y = n.Tile(y, {1, 2, 1});
  n.Out(n.Where(n.Compare("Greater", y, n.Const(GE_F32, {})), y, n.Unary("Neg", y)));
  return n.Take("moves");
}

Sample Integers() {
  Net n(16);
  const uint32_t a = n.In(GE_I64, {3, 5}, -9, 9), b = n.In(GE_I64, {5}, 1, 9);
  const uint32_t s = n.Binary("Add", n.Binary("Mul", a, b), a);
  const uint32_t c = n.Compare("Less", s, b);
  n.Out(n.Where(c, s, n.Binary("Sub", s, b)));
  n.Out(n.Cast(n.Binary("Div", s, b), GE_I32));
  n.Out(n.Binary("And", c, n.Compare("Equal", a, b)));
  return n.Take("integers");
}

Sample Quantized() {
  Net n(17);
  const uint32_t x = n.In({5, 24});
  const uint32_t q = n.Quantize(x, 0.0123, 121, GE_U8);
  const uint32_t w = n.Const(GE_I8, {24, 9}, -127, 127);
  n.Out(n.MatMul(q, w, "MatMulInteger"));
  n.Out(n.Dequantize(q, 0.0123, 121));
  return n.Take("quantized");
}

Sample Empty() {
  Net n(18);
  const uint32_t x = n.In({0, 4}), y = n.In({3, 0});
  n.Out(n.Binary("Add", x, n.In({0, 4})));
  n.Out(n.Unary("Relu", x));
  n.Out(n.MatMul(y, x));
  n.Out(n.Reduce("ReduceSum", x, {0}, false));
  n.Out(n.Concat({x, n.In({2, 4})}, 0));
  return n.Take("empty");
}

Sample Scalars() {
  Net n(19);
  const uint32_t x = n.In(Dims{});
  uint32_t y = n.Binary("Add", x, n.In(Dims{}));
  y = n.Unary("Sigmoid", n.Binary("Mul", y, x));
  n.Out(n.Binary("Sub", y, n.In({1})));
  n.Out(n.Reshape(y, {1, 1}));
  return n.Take("scalars");
}

// Values with several readers, inside and outside of what may be fused, and results on the way.
Sample Branches() {
  Net n(20);
  const uint32_t x = n.In({6, 32}), z = n.In({6, 32});
  const uint32_t m = n.MatMul(x, n.Const(GE_F32, {32, 32}, -0.2, 0.2));
  const uint32_t a = n.Binary("Add", m, n.Const(GE_F32, {32}));
  const uint32_t r = n.Unary("Relu", a);
  const uint32_t t = n.Unary("Tanh", a);
  n.Out(a);
  n.Out(n.Binary("Mul", r, t));
  n.Out(n.Binary("Add", n.Binary("Mul", r, z), m));
  return n.Take("branches");
}

}  // namespace

Sample Chain(int count, int64_t size) {
  Net n(10);
  const uint32_t a = n.In({size}), b = n.In({size});
  uint32_t x = n.Binary("Add", a, b);
  for (int i = 1; i < count; ++i) x = n.Binary(i % 2 == 0 ? "Add" : "Mul", x, b);
  n.Out(x);
  return n.Take("chain");
}

Sample OneAdd(const Dims& dims) {
  Net n(21);
  n.Out(n.Binary("Add", n.In(dims), n.In(dims)));
  return n.Take("add");
}

const char* NameOf(Shape shape) {
  static constexpr const char* kNames[kShapes] = {
      "chain",    "perceptron", "convnet", "attention", "reductions", "moves",
      "integers", "quantized",  "empty",   "scalars",   "branches"};
  return kNames[static_cast<int>(shape)];
}

Sample SampleOf(Shape shape) {
  switch (shape) {
    case Shape::kChain:
      return Chain(6);
    case Shape::kPerceptron:
      return Perceptron();
    case Shape::kConvNet:
      return ConvNet();
    case Shape::kAttention:
      return Attention();
    case Shape::kReductions:
      return Reductions();
    case Shape::kMoves:
      return Moves();
    case Shape::kIntegers:
      return Integers();
    case Shape::kQuantized:
      return Quantized();
    case Shape::kEmpty:
      return Empty();
    case Shape::kScalars:
      return Scalars();
    case Shape::kBranches:
      return Branches();
  }
  return Chain(6);
}

}  // namespace ge::conform
