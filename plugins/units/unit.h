// Unit: a main operator and the following pointwise functions, computed by an engine as one thing.
// Plain values; nothing is parsed or compiled here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/units/functions.h"
#include "plugins/units/kind.h"
#include "plugins/units/layout.h"
#include "plugins/units/spec.h"

namespace ge_engines {

namespace gp = ge::plugin;

struct Why {
  uint32_t code = 0;
  std::string text;
  bool Say(uint32_t c, std::string string) {
    code = c;
    text = std::move(string);
    return false;
  }
};

// One pointwise step on the running tensor.
struct PostOp {
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
  float bias_factor = 1;
  std::vector<PostOp> post_ops;
  Dims dims;  // of out[0]

  const UnitKind& kind() const { return spec.kind(); }
};

// Whether the unit is of one of these kinds.
template <class... Specs>
bool Is(const Unit& unit) {
  return (unit.spec.holds<Specs>() || ...);
}
// The spec as an S; nullptr for another kind.
template <class S>
const S* As(const Unit& unit) {
  return unit.spec.holds<S>() ? &unit.spec.get<S>() : nullptr;
}

// Number of post-ops before the first with an operand. A loop applies these to parts of a result.
size_t UnaryPostOps(const Unit& unit);

std::string ToText(const Dims& dims);

}  // namespace ge_engines
