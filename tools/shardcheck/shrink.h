// Shrink: makes a program that fails smaller while it fails: fewer pins, options, terms, nodes,
// axes, samples. One thread.
#pragma once

#include <functional>

#include "tools/shardcheck/program.h"

namespace ge::shardcheck {

// `fails`: whether it does so in the same way. At most so many are tried.
inline constexpr int kMostTries = 400;
RankProgram Shrink(RankProgram program, const std::function<bool(const RankProgram&)>& fails);

}  // namespace ge::shardcheck
