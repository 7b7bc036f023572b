// Differences between the outputs of two runs, by output. Functions only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tools/ge/command.h"

namespace ge::tool {

// One object an output. Floats: "greatest" difference, "largest" magnitude of `exact`'s finite
// numbers, "relative" (the first by the second, 0 if both are equal), and "unlike", the count of
// numbers infinite or NaN in one list alone. Other types: "differing" elements of so many
// "elements". Both lists are one model's outputs; an output with other dims has "dims" alone.
nlohmann::json AccuracyOf(const std::vector<Tensor>& outputs, const std::vector<Tensor>& exact);
void PrintAccuracy(const nlohmann::json& accuracy);

}  // namespace ge::tool
