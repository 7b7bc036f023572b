// Parser: checks whether a node of the host's graph can be a unit, and says why not. Its views of
// the graph live as long as the host's call. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "plugins/units/unit.h"

namespace ge_engines {

class OperatorIndex;
class Parser {
 public:
  // The parser of these kinds' operators; `kinds` is a table of the program's. `halves`: for an
  // engine whose kernels of float32 read and write float16 and bfloat16 as well, each tensor its
  // own.
  Parser(const ge_graph& graph, std::span<const UnitKind* const> kinds, bool halves = false);

  // Makes *out of the node alone.
  bool Parse(uint32_t node, Unit* out, Why* why) const;
  // Sets *out to the engine's own pattern that ends in this node; false if there is none.
  bool Group(uint32_t node, Unit* out) const;
  // Whether the engine takes Transposes of a node's matrices into the node's unit.
  bool widens() const;
  bool Widen(const Matcher& matcher, uint32_t node, Unit* out) const;

  const ge_graph& graph() const { return g_; }
  const ge_node& node(uint32_t i) const { return *GE_NODE(&g_, i); }
  const ge_value& value(uint32_t value) const { return *GE_VALUE(&g_, value); }
  Dims dims(uint32_t given) const;
  int32_t dtype(uint32_t given) const { return value(given).type.dtype; }
  // Bytes of one element; parsed values have whole ones.
  int size(uint32_t value) const { return static_cast<int>(gp::ElementBits(dtype(value)) / 8); }
  // Whether the unit's inputs and outputs are float32. Engines without other kernels ask it.
  bool OnlyFloats(const Unit& unit, Why* why) const;
  // Whether all that the unit reads and makes, operands of post-ops too, has one dtype that IsReal.
  bool OneReal(const Unit& unit, Why* why) const;
  bool constant(uint32_t given) const { return given != 0 && value(given).data != nullptr; }
  // Whether tensors of this dtype do where operators of float32 are computed.
  bool IsReal(int32_t dtype) const {
    return dtype == GE_F32 || (halves_ && (dtype == GE_F16 || dtype == GE_BF16));
  }
  // IsReal, or int32 or int64.
  bool IsRealOrWhole(int32_t dtype) const {
    return IsReal(dtype) || dtype == GE_I32 || dtype == GE_I64;
  }
  bool halves() const { return halves_; }
  // Reads constants with one element that IsReal, or of float64; constants of int64 or int32.
  bool Scalar(uint32_t given, float* out) const;
  bool Double(uint32_t given, double* out) const;
  bool Integers(uint32_t given, Dims* out) const;
  // Payload of a constant that IsReal, as float32.
  std::vector<float> Floats(uint32_t given) const;

 private:
  const Operator* EntryOf(const ge_node& n) const;  // nullptr: unknown
  bool Checks(uint32_t node, const Operator& entry, Why* why) const;
  // Whether the node's outputs are known to be empty.
  bool MakesNothing(const ge_node& n) const;
  // Checks the value in slot `slot` of a node's "input" or "output" (`side`).
  bool CheckValue(uint32_t given, const char* side, uint32_t slot, bool index, bool may_be_empty,
                  const Operator& entry, Why* why) const;

  const ge_graph& g_;
  const OperatorIndex& operators_;
  const bool halves_;
};

// Whether x's dims, with 1s in front and repeated along axes of one element, become y's.
bool Broadcasts(const Dims& x, const Dims& y);
// The attribute `axis` of `rank` axes, counted from the front.
bool AxisOf(const ge_node& n, size_t rank, int64_t named, int* axis, Why* why);
// float32, int32 or int64.
bool IsNumber(int32_t dtype);

// Position of an attribute's text among its names, as the enum.
template <class E, size_t kCount>
bool Named(std::string_view text, const std::string_view (&names)[kCount], E* out) {
  for (size_t i = 0; i < kCount; ++i) {
    if (text == names[i]) return *out = static_cast<E>(i), true;
  }
  return false;
}

}  // namespace ge_engines
