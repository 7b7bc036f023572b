// Conv and ConvTranspose. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// Conv and ConvTranspose; in: x, weights.
struct ConvSpec {
  bool transposed = false;
  Dims src, weights, dst;  // weights: g, o/g, i/g, spatial... when groups > 1
  Dims stride, dilation, pad_l, pad_r;
  int64_t groups = 1;
  bool bias = false;
  // Channels in one block of the images' layout; 0: the library chooses.
  int block = 0;
  // oneDNN alone: image and weights are rounded to bfloat16; so is the result.
  bool rounds = false, rounds_result = false;
  auto operator<=>(const ConvSpec&) const = default;
  static const UnitKind kKind;
};
// What a transposed convolution's result has beyond its windows, an axis; else zeros.
Dims OutputPadding(const ConvSpec& spec);
// Whether one number an axis tells its pads; see window.h.
bool HasEvenPads(const ConvSpec& spec);
// Whether weights and bias of a convolution are constants. Most engines pack them beforehand.
bool HasConstantWeights(const Unit& unit, const Parser& parser, Why* why);
// Fills *spec with the geometry of a convolution. x, dims and y: shapes of its three tensors.
bool ConvShapeOf(const ge_node& n, const Dims& x, const Dims& dims, const Dims& y, ConvSpec* spec,
                 Why* why);
// The same from the inputs at these positions; the weights are constant.
bool ParseConvShape(const Parser& parser, uint32_t node, uint32_t x, uint32_t w, ConvSpec* spec,
                    Why* why);

}  // namespace ge_engines
