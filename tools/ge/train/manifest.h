// Manifest: checkpoint.json, with the progress of a run and the name of its states file. It holds
// its own digest and that of the states file, so that neither is mixed with another one. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/status.h"

namespace ge::tool {

// A run's progress. The seed and the step give the rows of a batch, the states what Dropout
// drops.
struct Progress {
  uint64_t step = 0;
  // Sums over the step's epoch, before the step:
  double loss_sum = 0, correct = 0;
};

// Facts that must be equal in a resumed run and in the stopped one.
struct RunFacts {
  std::string model, pass;  // digest, and the options of the pass
  std::string pipe, data;   // as it was given, and the digest of its source
  std::string layout;
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
// IO_ERROR if the file is missing, not regular or unreadable; DATA_CORRUPT, with the field at
// fault, if it is not the output of ManifestText.
Result<Manifest> ReadManifest(const std::string& path);
// INVALID_ARGUMENT, naming the difference: `wanted` is this run's.
Status CompareRuns(const RunFacts& have, const RunFacts& wanted, const std::string& folder);

}  // namespace ge::tool
