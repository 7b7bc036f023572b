// A unit: what the engine computes as one thing, a main operator and the pointwise functions that
// follow it. Parsing says whether a node can be taken and why not; nothing is compiled here.
// Views of the host's graph are valid for the call in which they were made. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_cpu {

namespace gp = ge::plugin;

struct Why {
  uint32_t code = 0;
  std::string text;
  bool Say(uint32_t c, std::string t) {
    code = c;
    text = std::move(t);
    return false;
  }
};

// One pointwise step on the running tensor.
struct Post {
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;
  uint32_t operand = 0;  // binary: value index, or 0 with `channel`
  // Binary with a factor for each channel (axis 1), worked out at parse: BatchNormalization.
  std::shared_ptr<const std::vector<float>> channel;
  bool binary() const { return fn >= Fn::kFirstBinary; }
};

struct Unit {
  Spec spec;
  std::vector<uint32_t> nodes;  // ascending; the last one makes out[0]
  uint32_t root = 0;
  std::vector<uint32_t> in;    // values read by the main operator, constants included
  std::vector<uint32_t> out;   // values made
  std::vector<uint32_t> bias;  // constants added for each channel or column
  std::vector<Post> posts;
  Dims dims;  // of out[0]
};

// Whether the unit is of one of these kinds.
template <class... Specs>
bool Is(const Unit& u) {
  return (std::holds_alternative<Specs>(u.spec) || ...);
}
// What it is told if it is of this kind, else nullptr.
template <class S>
const S* As(const Unit& u) {
  return std::get_if<S>(&u.spec);
}
// The factor of its biases.
inline float BetaOf(const Unit& u) {
  const auto* product = As<ProductSpec>(u);
  return product != nullptr ? product->beta : 1;
}

class Parser {
 public:
  explicit Parser(const ge_graph& graph) : g_(graph) {}

  // The node as a unit of its own.
  bool Parse(uint32_t node, Unit* out, Why* why) const;

  const ge_graph& graph() const { return g_; }
  const ge_node& node(uint32_t i) const { return *GE_NODE(&g_, i); }
  const ge_value& value(uint32_t v) const { return *GE_VALUE(&g_, v); }
  Dims dims(uint32_t v) const;
  int32_t dtype(uint32_t v) const { return value(v).type.dtype; }
  // Bytes of one element; parsed values have whole ones.
  int size(uint32_t v) const { return static_cast<int>(gp::ElementBits(dtype(v)) / 8); }
  // What a unit computes with and makes is float32: an engine without other kernels asks.
  bool OnlyFloats(const Unit& u, Why* why) const;
  bool constant(uint32_t v) const { return v != 0 && value(v).data != nullptr; }
  // Constants with one element; constants of int64 or int32.
  bool Scalar(uint32_t v, float* out) const;
  bool Integers(uint32_t v, Dims* out) const;
  // Payload of an f32 constant, copied.
  std::vector<float> Floats(uint32_t v) const;

 private:
  struct Entry;
  static const Entry* Find(std::string_view op);
  bool Checks(uint32_t node, const Entry& entry, Why* why) const;
  bool CheckValue(uint32_t v, const std::string& name, bool index, const Entry& entry,
                  Why* why) const;
  bool Axes(const ge_node& n, uint32_t input, Dims* out, Why* why) const;
  bool Window(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel,
              bool transposed, Dims* stride, Dims* dilation, Dims* pad_l, Dims* pad_r,
              Why* why) const;

  // Geometry alone, from the inputs at these positions.
  bool ConvShape(uint32_t i, uint32_t x, uint32_t w, ConvSpec* c, Why* why) const;
  bool Conv(uint32_t i, Unit* u, Why* why) const;
  bool ConvTranspose(uint32_t i, Unit* u, Why* why) const;
  bool MatMul(uint32_t i, Unit* u, Why* why) const;
  bool Gemm(uint32_t i, Unit* u, Why* why) const;
  bool Pool(uint32_t i, Unit* u, Why* why) const;
  bool GlobalPool(uint32_t i, Unit* u, Why* why) const;
  bool ReduceOp(uint32_t i, Unit* u, Why* why) const;
  bool Unary(uint32_t i, Unit* u, Why* why) const;
  bool Binary(uint32_t i, Unit* u, Why* why) const;
  bool Pow(uint32_t i, Unit* u, Why* why) const;
  bool Clip(uint32_t i, Unit* u, Why* why) const;
  bool BatchNorm(uint32_t i, Unit* u, Why* why) const;
  bool Softmax(uint32_t i, Unit* u, Why* why) const;
  bool LayerNorm(uint32_t i, Unit* u, Why* why) const;
  bool Concat(uint32_t i, Unit* u, Why* why) const;
  bool Resize(uint32_t i, Unit* u, Why* why) const;
  bool View(uint32_t i, Unit* u, Why* why) const;
  bool Transpose(uint32_t i, Unit* u, Why* why) const;
  bool Slice(uint32_t i, Unit* u, Why* why) const;
  bool Split(uint32_t i, Unit* u, Why* why) const;
  bool Expand(uint32_t i, Unit* u, Why* why) const;
  bool Resample(uint32_t i, Unit* u, Why* why) const;
  bool Gather(uint32_t i, Unit* u, Why* why) const;
  bool Cast(uint32_t i, Unit* u, Why* why) const;
  bool Equal(uint32_t i, Unit* u, Why* why) const;
  bool IntegerMath(uint32_t i, Unit* u, Why* why) const;
  bool Lstm(uint32_t i, Unit* u, Why* why) const;
  bool ConvInteger(uint32_t i, Unit* u, Why* why) const;
  bool MatMulInteger(uint32_t i, Unit* u, Why* why) const;
  bool Quantize(uint32_t i, Unit* u, Why* why) const;
  bool Dequantize(uint32_t i, Unit* u, Why* why) const;
  // Sets in by the node's operator: with scales (QLinear...) or without (...Integer).
  bool QuantInputs(const ge_node& n, Unit* u, Why* why) const;
  bool Grid(const ge_node& n, Unit* u, QuantGrid* grid, Why* why) const;

  const ge_graph& g_;
};

// Posts before the first that has an operand: a loop can do them on a piece of its result.
size_t UnaryPosts(const Unit& u);

std::string ToText(const Dims& d);

}  // namespace ge_cpu
