// Manifest: checkpoint.json, which says where a run is and whose states lie beside it. It holds a
// digest of itself and one of the states file, so that neither is taken with another of its kind.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/status.h"

namespace ge::tool {

// How far a run is. The order of samples follows from the seed and the step, what Dropout drops
// from states.
struct Progress {
  uint64_t step = 0;
  // Of the epoch that the step is in, before the step:
  double loss_sum = 0, correct = 0;
};

// What a run that goes on has to have in common with the one that was stopped.
struct RunFacts {
  std::string model, data, pass;  // digests, and the options of the pass
  uint64_t samples = 0, batch = 0, seed = 0;
  bool shuffle = false;
};

struct Manifest {
  Progress at;
  std::string states;         // the states file, in the manifest's folder
  std::string states_digest;  // as of Digest
  uint64_t states_bytes = 0;
  RunFacts run;
};

std::string ManifestText(const Manifest& manifest);
// IO_ERROR where it cannot be read or is no regular file, also where it is not there; DATA_CORRUPT,
// with the field at fault, where it is not what ManifestText gives.
Result<Manifest> ReadManifest(const std::string& path);
// INVALID_ARGUMENT, naming what differs: `wanted` is of this run.
Status CompareRuns(const RunFacts& have, const RunFacts& wanted, const std::string& folder);

}  // namespace ge::tool
