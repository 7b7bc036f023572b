// Checkpoint: a folder with all states between two steps and, in checkpoint.json (manifest.h),
// where in the data that is. States lie in one of two folders in turn; the manifest, which is
// replaced last and whole, says in which: whenever the process or the machine stops, there is one
// complete checkpoint. Of the folder's files only these are written and removed. One thread; as
// long as it lives no other process has one of the same folder.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ge/base/descriptor.h"
#include "tools/ge/train/manifest.h"
#include "tools/ge/train/trained_net.h"

namespace ge::tool {

// What is to become of a checkpoint that is there.
enum class IfPresent { kRefuse, kResume, kOverwrite };

class Checkpoint {
 public:
  // Makes the folder where there is none, takes its lock and tries that it can be written.
  // INVALID_ARGUMENT where another process holds it, or where it has a checkpoint that is to be
  // refused.
  static Result<std::unique_ptr<Checkpoint>> Open(const std::string& folder, IfPresent what);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // The states of the checkpoint that is there, and where they are; nothing where there is none.
  // INVALID_ARGUMENT, naming what differs, for one of another run; DATA_CORRUPT.
  Result<std::optional<Progress>> Restore(const RunFacts& run, TrainedNet* net);
  Status Save(const RunFacts& run, const Progress& at, TrainedNet* net);
  // "step 40 in 'FOLDER'", or that there is none yet.
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
