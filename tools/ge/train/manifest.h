// Manifest: checkpoint.json, with the progress of a run and the files of its states: one with all
// of them, or one of each rank with its shares, and which boxes these are. It holds its own digest
// and those of the files, so that none is mixed with another one. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/dtype.h"
#include "tools/ge/train/boxes.h"

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

struct StatesFile {
  std::string name;    // in the manifest's folder
  std::string digest;  // as of Digest
  uint64_t bytes = 0;
};

struct StoredState {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;  // of all ranks' together
  struct Part {
    size_t file = 0;  // index into Manifest::files
    Box box;
  };
  std::vector<Part> parts;
};

struct Manifest {
  Progress at;
  std::vector<StatesFile> files;              // one, or one of each rank
  std::map<std::string, StoredState> shares;  // by name; empty: the one file has all states whole
  RunFacts run;
};

// A rank's part of a manifest to be, which tells the first rank of its file.
struct SharePiece {
  uint64_t step = 0;
  StatesFile file;
  std::map<std::string, StoredState> shares;  // each with one part, of file 0
};
std::string PieceText(const SharePiece& piece);
Result<SharePiece> ReadPiece(const std::string& path);

std::string ManifestText(const Manifest& manifest);
// IO_ERROR if the file is missing, not regular or unreadable; DATA_CORRUPT, with the field at
// fault, if it is not the output of ManifestText.
Result<Manifest> ReadManifest(const std::string& path);
// INVALID_ARGUMENT, naming the difference: `wanted` is this run's.
Status CompareRuns(const RunFacts& have, const RunFacts& wanted, const std::string& folder);

}  // namespace ge::tool
