// How far the outputs of a run are from those of another one, by output. Functions only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tools/ge/command.h"

namespace ge::tool {

// One object an output. Floats: "greatest" difference, "largest" magnitude of `exact`'s finite
// numbers, "relative", the first by the second (0 where both are equal), and "unlike", how many are
// infinite or NaN in one alone. Other types: "differing" elements of so many "elements". Both lists
// are of one model's outputs; one whose dims differ has "dims" alone.
nlohmann::json AccuracyOf(const std::vector<Tensor>& outputs, const std::vector<Tensor>& exact);
void PrintAccuracy(const nlohmann::json& accuracy);

}  // namespace ge::tool
