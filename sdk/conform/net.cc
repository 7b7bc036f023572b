#include "net.h"

#include <algorithm>
#include <utility>

namespace ge::conform {

using mock::Attr;

Dims Broadcast(const Dims& left, const Dims& right) {
  Dims out(std::max(left.size(), right.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t back = out.size() - i;
    const int64_t x = back <= left.size() ? left[left.size() - back] : 1;
    const int64_t y = back <= right.size() ? right[right.size() - back] : 1;
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Sample Net::Take(std::string name) {
  return {std::move(name), std::move(graph), std::move(inputs)};
}

uint32_t Net::In(Tensor tensor) {
  inputs.push_back(std::move(tensor));
  return graph.Input(inputs.back().dtype, inputs.back().dims);
}

uint32_t Net::Ints(const std::vector<int64_t>& values) {
  return graph.Constant(Tensor::Of(GE_I64, {static_cast<int64_t>(values.size())}, values));
}

uint32_t Net::Unary(const std::string& op, uint32_t x, std::vector<Attr> attrs) {
  return graph.Op1(op, {x}, {dtype(x), dims(x)}, std::move(attrs));
}
uint32_t Net::Binary(const std::string& op, uint32_t left, uint32_t right,
                     std::vector<Attr> attrs) {
  return graph.Op1(op, {left, right}, {dtype(left), Broadcast(dims(left), dims(right))},
                   std::move(attrs));
}
uint32_t Net::Compare(const std::string& op, uint32_t left, uint32_t right) {
  return graph.Op1(op, {left, right}, {GE_BOOL, Broadcast(dims(left), dims(right))});
}
uint32_t Net::Where(uint32_t c, uint32_t a, uint32_t b) {
  return graph.Op1("Where", {c, a, b}, {dtype(a), Broadcast(dims(c), Broadcast(dims(a), dims(b)))});
}

uint32_t Net::MatMul(uint32_t left, uint32_t right, const std::string& op) {
  Dims x = dims(left), y = dims(right);
  const bool row = x.size() == 1, column = y.size() == 1;
  if (row) x.insert(x.begin(), 1);
  if (column) y.push_back(1);
  Dims out = Broadcast(Dims(x.begin(), x.end() - 2), Dims(y.begin(), y.end() - 2));
  if (!row) out.push_back(x[x.size() - 2]);
  if (!column) out.push_back(y.back());
  const int32_t type = op == "MatMulInteger" ? static_cast<int32_t>(GE_I32) : dtype(left);
  return graph.Op1(op, {left, right}, {type, out});
}

uint32_t Net::Gemm(uint32_t a, uint32_t b, uint32_t c, bool trans_a, bool trans_b, double alpha,
                   double beta) {
  const Dims out = {dims(a)[trans_a ? 1 : 0], dims(b)[trans_b ? 0 : 1]};
  std::vector<uint32_t> in = {a, b};
  if (c != 0) in.push_back(c);
  return graph.Op1("Gemm", in, {dtype(a), out},
                   {Attr::Float("alpha", alpha), Attr::Float("beta", beta),
                    Attr::Int("transA", trans_a), Attr::Int("transB", trans_b)});
}

namespace {

int64_t Outputs(int64_t size, int64_t kernel, const Net::Window& w) {
  const int64_t room = size + 2 * w.pad - w.dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / w.stride + 1;
}
std::vector<Attr> WindowAttrs(size_t rank, const std::vector<int64_t>& kernel,
                              const Net::Window& w) {
  return {Attr::String("auto_pad", "NOTSET"),
          Attr::Ints("dilations", std::vector<int64_t>(rank, w.dilation)),
          Attr::Ints("kernel_shape", kernel),
          Attr::Ints("pads", std::vector<int64_t>(2 * rank, w.pad)),
          Attr::Ints("strides", std::vector<int64_t>(rank, w.stride))};
}

}  // namespace

uint32_t Net::Conv(uint32_t x, uint32_t w, uint32_t bias, const Window& window) {
  const size_t rank = dims(x).size() - 2;
  Dims out = {dims(x)[0], dims(w)[0]};
  for (size_t i = 0; i < rank; ++i) out.push_back(Outputs(dims(x)[2 + i], dims(w)[2 + i], window));
  std::vector<Attr> attrs =
      WindowAttrs(rank, std::vector<int64_t>(dims(w).begin() + 2, dims(w).end()), window);
  attrs.push_back(Attr::Int("group", window.group));
  std::vector<uint32_t> in = {x, w};
  if (bias != 0) in.push_back(bias);
  return graph.Op1("Conv", in, {dtype(x), out}, attrs);
}

uint32_t Net::Pool(const std::string& op, uint32_t x, int64_t kernel, const Window& window) {
  const size_t rank = dims(x).size() - 2;
  Dims out = {dims(x)[0], dims(x)[1]};
  for (size_t i = 0; i < rank; ++i) out.push_back(Outputs(dims(x)[2 + i], kernel, window));
  std::vector<Attr> attrs = WindowAttrs(rank, std::vector<int64_t>(rank, kernel), window);
  attrs.push_back(Attr::Int("ceil_mode", 0));
  attrs.push_back(Attr::Int(op == "MaxPool" ? "storage_order" : "count_include_pad", 0));
  return graph.Op1(op, {x}, {dtype(x), out}, attrs);
}

uint32_t Net::GlobalPool(const std::string& op, uint32_t x) {
  Dims out(dims(x).size(), 1);
  out[0] = dims(x)[0];
  out[1] = dims(x)[1];
  return graph.Op1(op, {x}, {dtype(x), out});
}

uint32_t Net::BatchNorm(uint32_t x) {
  const Dims c = {dims(x)[1]};
  const int32_t t = dtype(x);
  return graph.Op1("BatchNormalization",
                   {x, Const(t, c, 0.5, 1.5), Const(t, c), Const(t, c), Const(t, c, 0.5, 2)},
                   {t, dims(x)},
                   {Attr::Float("epsilon", 9.999999747378752e-06),
                    Attr::Float("momentum", 0.8999999761581421), Attr::Int("training_mode", 0)});
}

uint32_t Net::LayerNorm(uint32_t x) {
  const Dims c = {dims(x).back()};
  const int32_t t = dtype(x);
  return graph.Op1("LayerNormalization", {x, Const(t, c, 0.5, 1.5), Const(t, c)}, {t, dims(x)},
                   {Attr::Int("axis", -1), Attr::Float("epsilon", 9.999999747378752e-06),
                    Attr::Int("stash_type", 1)});
}

uint32_t Net::Softmax(const std::string& op, uint32_t x, int64_t axis) {
  return Unary(op, x, {Attr::Int("axis", axis)});
}

uint32_t Net::Reduce(const std::string& op, uint32_t x, const std::vector<int64_t>& axes,
                     bool keep) {
  Dims out;
  for (int64_t d = 0; d < static_cast<int64_t>(dims(x).size()); ++d) {
    const bool gone = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!gone) out.push_back(dims(x)[static_cast<size_t>(d)]);
    if (gone && keep) out.push_back(1);
  }
  return graph.Op1(op, {x, Ints(axes)}, {dtype(x), out},
                   {Attr::Int("keepdims", keep), Attr::Int("noop_with_empty_axes", 0)});
}

uint32_t Net::ArgMax(uint32_t x, int64_t axis, bool keep) {
  Dims out = dims(x);
  out[static_cast<size_t>(axis)] = 1;
  if (!keep) out.erase(out.begin() + axis);
  return graph.Op1(
      "ArgMax", {x}, {GE_I64, out},
      {Attr::Int("axis", axis), Attr::Int("keepdims", keep), Attr::Int("select_last_index", 0)});
}

uint32_t Net::CumSum(uint32_t x, int64_t axis) {
  const uint32_t at = graph.Constant(Tensor::Of<int64_t>(GE_I64, {}, {axis}));
  return graph.Op1("CumSum", {x, at}, {dtype(x), dims(x)},
                   {Attr::Int("exclusive", 0), Attr::Int("reverse", 0)});
}

uint32_t Net::Transpose(uint32_t x, const std::vector<int64_t>& perm) {
  Dims out;
  for (int64_t p : perm) out.push_back(dims(x)[static_cast<size_t>(p)]);
  return graph.Op1("Transpose", {x}, {dtype(x), out}, {Attr::Ints("perm", perm)});
}

uint32_t Net::Reshape(uint32_t x, const Dims& to) {
  return graph.Op1("Reshape", {x, Ints(to)}, {dtype(x), to}, {Attr::Int("allowzero", 1)});
}

uint32_t Net::Concat(const std::vector<uint32_t>& x, int64_t axis) {
  Dims out = dims(x[0]);
  for (size_t i = 1; i < x.size(); ++i) {
    out[static_cast<size_t>(axis)] += dims(x[i])[static_cast<size_t>(axis)];
  }
  return graph.Op1("Concat", x, {dtype(x[0]), out}, {Attr::Int("axis", axis)});
}

uint32_t Net::Slice(uint32_t x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  Dims out = dims(x);
  const int64_t size = out[static_cast<size_t>(axis)];
  end = std::min(end, size);
  out[static_cast<size_t>(axis)] = std::max<int64_t>(0, (end - begin + step - 1) / step);
  return graph.Op1("Slice", {x, Ints({begin}), Ints({end}), Ints({axis}), Ints({step})},
                   {dtype(x), out});
}

uint32_t Net::Gather(uint32_t x, uint32_t indices, int64_t axis) {
  Dims out(dims(x).begin(), dims(x).begin() + axis);
  out.insert(out.end(), dims(indices).begin(), dims(indices).end());
  out.insert(out.end(), dims(x).begin() + axis + 1, dims(x).end());
  return graph.Op1("Gather", {x, indices}, {dtype(x), out}, {Attr::Int("axis", axis)});
}

uint32_t Net::Expand(uint32_t x, const Dims& to) {
  return graph.Op1("Expand", {x, Ints(to)}, {dtype(x), Broadcast(dims(x), to)});
}

uint32_t Net::Pad(uint32_t x, int64_t before, int64_t after) {
  const size_t rank = dims(x).size();
  std::vector<int64_t> pads(rank, before);
  pads.insert(pads.end(), rank, after);
  Dims out = dims(x);
  for (int64_t& d : out) d += before + after;
  return graph.Op1("Pad", {x, Ints(pads)}, {dtype(x), out}, {Attr::String("mode", "constant")});
}

uint32_t Net::Tile(uint32_t x, const std::vector<int64_t>& repeats) {
  Dims out = dims(x);
  for (size_t i = 0; i < out.size(); ++i) out[i] *= repeats[i];
  return graph.Op1("Tile", {x, Ints(repeats)}, {dtype(x), out});
}

uint32_t Net::Cast(uint32_t x, int32_t to) {
  return graph.Op1(
      "Cast", {x}, {to, dims(x)},
      {Attr::Int("to", to), Attr::Int("saturate", 1), Attr::String("round_mode", "up")});
}

std::vector<uint32_t> Net::Split(uint32_t x, int64_t axis, const std::vector<int64_t>& parts) {
  std::vector<mock::Type> types;
  for (int64_t part : parts) {
    types.push_back({dtype(x), dims(x), true});
    types.back().dims[static_cast<size_t>(axis)] = part;
  }
  return graph.Op("Split", {x, Ints(parts)}, types, {Attr::Int("axis", axis)});
}

uint32_t Net::Quantize(uint32_t x, double scale, double zero, int32_t type) {
  Tensor s(dtype(x), {}), z(type, {});
  SetElement(&s, 0, scale);
  SetElement(&z, 0, zero);
  return graph.Op1("QuantizeLinear", {x, graph.Constant(s), graph.Constant(z)}, {type, dims(x)},
                   {Attr::Int("axis", 1), Attr::Int("block_size", 0), Attr::Int("output_dtype", 0),
                    Attr::Int("precision", 0), Attr::Int("saturate", 1)});
}

uint32_t Net::Dequantize(uint32_t x, double scale, double zero) {
  Tensor s(GE_F32, {}), z(dtype(x), {});
  SetElement(&s, 0, scale);
  SetElement(&z, 0, zero);
  return graph.Op1(
      "DequantizeLinear", {x, graph.Constant(s), graph.Constant(z)}, {GE_F32, dims(x)},
      {Attr::Int("axis", 1), Attr::Int("block_size", 0), Attr::Int("output_dtype", 0)});
}

}  // namespace ge::conform
