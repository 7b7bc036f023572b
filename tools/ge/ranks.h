// Ranks: the processes that one command with --mesh was started as, by the variables that launchers
// set: those of Open MPI, PMI, Slurm, torchrun. What they compute the pass `parallel` says.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ge/base/status.h"

namespace ge::tool {

struct Options;

// What a user says of ranks.
struct MeshOptions {
  std::string mesh;                // "data=2,model=2"; empty = one process
  std::vector<std::string> shard;  // "NAME=model,-": where a value lies, by dim
  bool shard_states = false;       // of training
};

// Rows of a batch.
struct RowShare {
  int64_t first = 0, size = 0;
};

struct Ranks {
  int64_t rank = 0, count = 1;
  int64_t share = 0, shares = 1;  // of a batch: which, of how many, by the axis `data`
  bool many() const { return count > 1; }
  bool first() const { return rank == 0; }  // it prints, logs, exports
  RowShare RowsOf(int64_t batch) const;
};

// This process among the mesh's ranks; one of one without a mesh. INVALID_ARGUMENT: no such mesh,
// another number of ranks than was started, no launcher, flags that want a mesh.
Result<Ranks> RanksOf(const MeshOptions& o, const char* command);

// Asks for this rank's program: the pass `parallel`, its plugin, and the engine of its collectives.
// Of train_step, for batches of so many samples of all ranks.
void AskForRank(const MeshOptions& o, const Ranks& ranks, uint64_t batch, Options* to);
// Of the entry to->entry, for whole inputs of these sizes.
void AskForRank(const MeshOptions& o, const Ranks& ranks,
                const std::vector<std::vector<int64_t>>& sizes, Options* to);

// What has to be the same for all ranks, by name: as numbers, of which the sums and the least of
// all ranks tell.
using RankFacts = std::vector<std::pair<std::string, std::string>>;
std::vector<double> NumbersOf(const RankFacts& facts);
// INVALID_ARGUMENT, naming the first that differs.
Status WantSame(const RankFacts& facts, const std::vector<double>& sum,
                const std::vector<double>& least, const Ranks& ranks);

}  // namespace ge::tool
