// The words of the text form for roles of entries and kinds of states, by number.
#pragma once

#include <string_view>

namespace ge::text {

inline constexpr std::string_view kRoles[] = {"infer", "train_step", "eval", "init", "data"};
inline constexpr std::string_view kStateKinds[] = {"param", "buffer", "opt",
                                                   "rng",   "metric", "step"};

}  // namespace ge::text
