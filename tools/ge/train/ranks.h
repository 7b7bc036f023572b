// Ranks: the processes that one run of `ge train --mesh` was started as, by the variables that
// launchers set: those of Open MPI, PMI, Slurm, torchrun.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/status.h"

namespace ge::tool {

struct TrainOptions;

struct Ranks {
  int64_t rank = 0, count = 1;
  bool first() const { return rank == 0; }  // it prints, logs, exports
};

// This process among the mesh's ranks. INVALID_ARGUMENT: no mesh, one that is not built, another
// number of ranks than was started, no launcher.
Result<Ranks> RanksOf(const std::string& mesh);

// The options of this rank: its program beside what was asked for; of all but the first, what
// nobody sees goes.
Result<TrainOptions> OptionsOfRank(const TrainOptions& given);

}  // namespace ge::tool
