// Gradients of convolutions: ge.ConvGradInput and ge.ConvGradWeight. Pure; any thread.
#pragma once

#include "plugins/units/conv/conv.h"
#include "plugins/units/unit.h"

namespace ge_engines {

// The gradient of a convolution, its attributes as there; in: dY and weights, or x and dY.
struct ConvGradSpec {
  ConvSpec conv;
  bool of_weights = false;
  auto operator<=>(const ConvGradSpec&) const = default;
  static const UnitKind kKind;
};
extern const UnitKind kConvGradWeight;  // the operator of weights alone, into a ConvGradSpec

}  // namespace ge_engines
