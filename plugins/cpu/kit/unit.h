// A unit: what the engine computes as one thing, a main operator and the pointwise functions that
// follow it. Parsing says whether a node can be taken and why not; nothing is compiled here.
// Views of the host's graph are valid for the call in which they were made. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu {

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
  Ids nodes;  // ascending; the last one makes out[0]
  uint32_t root = 0;
  Ids in;    // values read by the main operator, constants included
  Ids out;   // values made
  Ids bias;  // constants added for each channel or column
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

// Which dtypes an operator's tensors may have. Index inputs (axes, shapes, starts) are told from
// tensors by their position: `data` inputs come first, 0 = all are data.
enum class Types {
  kFloat,   // float32
  kWord,    // 1, 2, 4 or 8 bytes, moved and not looked at
  kNumber,  // float32, int32, int64, bool
  kCast,    // those and float16, bfloat16
  kCode,    // float32, int32, int8, uint8
  kAny,     // whole bytes, moved
};

class Parser;
struct Operator {
  const char* op;
  bool (*parse)(const Parser& g, uint32_t node, Unit* u, Why* why);
  Types types = Types::kFloat;
  uint32_t data = 1;
  bool empty_constants = false;  // constant index inputs may be empty
  bool skips_first = false;      // the first output may be left out: the rule says what is made
  // A unit of several nodes, this one being the last: an engine's own pattern. All of it is made.
  bool (*group)(const Parser& g, uint32_t node, Unit* u) = nullptr;
  bool empty_inputs = false;  // any input may be empty: the rule says what that means
};

class OperatorIndex;
class Parser {
 public:
  // Knows an engine's own operators, a table of the program's, then those of parse.h.
  Parser(const ge_graph& graph, std::span<const Operator> own);

  // The node as a unit of its own.
  bool Parse(uint32_t node, Unit* out, Why* why) const;
  // The engine's own pattern that ends in this node; false where there is none.
  bool Group(uint32_t node, Unit* out) const;
  // Whether Transposes of matrices are parts of products: the engine's table has ParseTurn.
  bool turns() const;

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
  const Operator* EntryOf(const ge_node& n) const;  // nullptr: unknown
  bool Checks(uint32_t node, const Operator& entry, Why* why) const;
  // Whether the node's outputs are known to be empty.
  bool MakesNothing(const ge_node& n) const;
  // The value in that slot of a node's "input" or "output".
  bool CheckValue(uint32_t v, const char* side, uint32_t slot, bool index, bool may_be_empty,
                  const Operator& entry, Why* why) const;

  const ge_graph& g_;
  const OperatorIndex& operators_;
};

// Posts before the first that has an operand: a loop can do them on a piece of its result.
size_t UnaryPosts(const Unit& u);

std::string ToText(const Dims& d);

}  // namespace ge_engines::cpu
