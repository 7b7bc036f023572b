// KeptRun: a run that was given up while a device had not ended its work. The device may use all of
// it at any time: nothing of it is freed until the device says that it has ended, if ever.
// Thread-safe but for one KeptRun, which belongs to its run until it is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/run/state_memory.h"

namespace ge {

struct KeptRun {
  // In the order in which they may be used by those behind them.
  std::vector<std::shared_ptr<const void>> values;  // of control flow
  std::vector<AlignedBytes> memory;                 // of outputs
  std::shared_ptr<Compiled> compiled;
  std::vector<StateMemory> states;  // by the engines of the plan
  Compiled::PinnedPacks packs;
  std::unique_ptr<Frame> frame;
};

// Keeps the run. Whoever made it may add to it as long as it holds it.
std::shared_ptr<KeptRun> KeepRun(std::shared_ptr<Compiled> compiled, Compiled::PinnedPacks packs,
                                 std::unique_ptr<Frame> frame);
// Runs that are kept now, in this process; frees those that have ended.
uint64_t KeptRuns();

}  // namespace ge
