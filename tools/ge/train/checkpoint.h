// Checkpoint: a folder with all states between two steps; checkpoint.json (manifest.h) holds the
// position in the data. States lie in one of two folders in turn; the manifest names it and is
// replaced last, as a whole. So one complete checkpoint exists whenever a process or the machine
// stops. Of many ranks each has one, of one folder that all see: what all have whole the first
// writes, its shares each; when all are on the disk, the first replaces the manifest. Only these
// files of the folder are written and removed. One thread; while it lives no other process has a
// Checkpoint of the same folder, but to read.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ge/base/descriptor.h"
#include "tools/ge/ranks.h"
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
  static Result<std::unique_ptr<Checkpoint>> Open(const std::string& folder, IfPresent what,
                                                  const Ranks& ranks);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // Restores the states of the checkpoint and returns their progress; nothing without a checkpoint.
  // INVALID_ARGUMENT, naming the difference, for another run's; DATA_CORRUPT.
  // All ranks call both at once, and end alike.
  Result<std::optional<Progress>> Restore(const RunFacts& run, TrainedNet* net);
  Status Save(const RunFacts& run, const Progress& at, TrainedNet* net);
  // "step 40 in 'FOLDER'", or a text for no checkpoint yet.
  std::string Latest() const;

 private:
  Checkpoint(std::string folder, const Ranks& ranks) : folder_(std::move(folder)), ranks_(ranks) {}
  Status Lock();
  Status Prepare(IfPresent what);
  Status CheckPresent(IfPresent what);
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }
  Status AllDid(const Status& mine, const char* what, TrainedNet* net);
  Result<std::optional<Progress>> RestoreMine(const RunFacts& run, TrainedNet* net);
  Status SaveMine(const std::string& place, const Progress& at, TrainedNet* net, Manifest* to);
  Status Publish(const std::string& place, const Progress& at, bool shares, Manifest* m);
  void RemoveOld(const Manifest& now);

  std::string folder_;
  const Ranks ranks_;
  Descriptor lock_;
  bool made_folder_ = false, present_ = false;
  std::string place_;  // folder of the manifest's states; empty = none is known
  uint64_t step_ = 0;  // of the manifest of this run; 0 = there is none
};

}  // namespace ge::tool
