// Checkpoint: a folder with all states between two steps; checkpoint.json (manifest.h) holds the
// position in the data. States lie in one of two folders in turn; the manifest names it and is
// replaced last, as a whole. So one complete checkpoint exists whenever the process or the machine
// stops. Only these files of the folder are written and removed. One thread; while it lives no
// other process has a Checkpoint of the same folder, but to read.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ge/base/descriptor.h"
#include "tools/ge/train/manifest.h"
#include "tools/ge/train/trained_net.h"

namespace ge::tool {

// Treatment of a checkpoint found in the folder.
enum class IfPresent { kRefuse, kResume, kOverwrite };

class Checkpoint {
 public:
  // Makes the folder if needed, takes its lock and tests that it is writable.
  // INVALID_ARGUMENT if another process holds it, or if it has a checkpoint and `what` is
  // kRefuse.
  static Result<std::unique_ptr<Checkpoint>> Open(const std::string& folder, IfPresent what);
  // For another rank than the first: it reads, and neither writes nor locks.
  static Result<std::unique_ptr<Checkpoint>> OpenToRead(const std::string& folder);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // Restores the states of the checkpoint and returns their progress; nothing without a checkpoint.
  // INVALID_ARGUMENT, naming the difference, for another run's; DATA_CORRUPT.
  Result<std::optional<Progress>> Restore(const RunFacts& run, TrainedNet* net);
  bool writes() const { return lock_.valid(); }
  Status Save(const RunFacts& run, const Progress& at, TrainedNet* net);
  // "step 40 in 'FOLDER'", or a text for no checkpoint yet.
  std::string Latest() const;

 private:
  explicit Checkpoint(std::string folder) : folder_(std::move(folder)) {}
  Status Lock();
  Status CheckPresent(IfPresent what);
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  Descriptor lock_;
  bool made_folder_ = false, present_ = false;
  std::string states_;  // of the manifest; empty = none is known
  uint64_t step_ = 0;   // of the manifest of this run; 0 = there is none
};

}  // namespace ge::tool
