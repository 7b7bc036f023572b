// A BatchNormalization in inference mode as one multiply and add for each channel.
#pragma once

#include <optional>
#include <vector>

#include "ge/ir/graph.h"

namespace ge {

struct Affine {
  std::vector<double> factor, shift;  // y = factor * x + shift, by channel
};

// nullopt where it trains, has another result in use, or numbers other than f32 constants.
std::optional<Affine> AffineOf(const Graph& graph, const Function& function, const Node& norm);

}  // namespace ge
