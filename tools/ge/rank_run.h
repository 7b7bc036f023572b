// RankRun: one rank's part of `ge run --mesh`. Each rank is given the whole inputs and has the
// whole outputs; the first one prints and writes them. One thread.
#pragma once

#include <optional>
#include <vector>

#include "tools/ge/command.h"
#include "tools/ge/ranks.h"

namespace ge::tool {

struct RankRun {
  Options options;  // of one process as given; of a rank with its program asked for
  Ranks ranks;
  std::optional<std::vector<Tensor>> inputs;  // of a rank: their sizes are in the program
};

// Errors as of RanksOf, and where the model or the inputs are wrong.
Result<RankRun> RankRunOf(const Options& given);

// Whether all ranks were given the same: INVALID_ARGUMENT with what differs. All ranks call it at
// once.
Status CompareRanks(const RankRun& run, Session* session);

}  // namespace ge::tool
