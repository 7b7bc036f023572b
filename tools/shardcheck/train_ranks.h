// TrainRanks: runs a program's steps by one process, and by ranks that are sessions of this one,
// and compares. One thread calls; ranks have threads of their own meanwhile.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/adcheck/model.h"
#include "tools/shardcheck/program.h"

namespace ge::shardcheck {

using adcheck::Array;
using adcheck::Arrays;

struct Trained {
  std::vector<Arrays> steps;  // what each gives
  Arrays eval, states;        // behind them, whole
};
// What the first rank's step is made of.
struct Moves {
  std::map<std::string, int> collectives;  // by kind
  int states_in_boxes = 0;
};

struct TrainOptions {
  std::string whole_engines = "ref", rank_engines;
  std::string samples;  // the folder of plugins that programs name
};

// By one process. `nudge` moves each state and input by about one bit, with other numbers for each
// seed, 0 = not: how far rounding alone moves the results.
Result<Trained> TrainWhole(const RankProgram& p, const TrainOptions& options, uint64_t nudge);
// By all ranks. A failure is a status; so are ranks that hold other bits of the same thing, and a
// state that does not lie where it is pinned.
Result<Trained> TrainRanks(const RankProgram& p, const TrainOptions& options, Moves* moves);

// The greatest difference, as a share of what is allowed (1e-10 of the greatest number of a tensor,
// and what sums of numbers of about one lose by rounding); `where` names it. Infinite where one has
// what the other has not.
double Difference(const Trained& wanted, const Trained& got, std::string* where);
bool IsFinite(const Trained& t);

}  // namespace ge::shardcheck
