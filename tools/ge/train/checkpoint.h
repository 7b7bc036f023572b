// Checkpoint: a folder with all states between two steps and, in checkpoint.json, where in the data
// that is. The states lie under a name of their own that the .json gives, which is replaced last
// and whole: whenever the process or the machine stops, the folder holds one complete checkpoint.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/ge/train/trained_net.h"

namespace ge::tool {

// How far a run is. The order of samples follows from the seed and the step, what Dropout drops
// from states.
struct Progress {
  uint64_t step = 0;
  // Of the epoch that the step is in, before the step:
  double loss_sum = 0, correct = 0;
};

// `run`: what a run that goes on has to have in common with the one that was stopped.
Status SaveCheckpoint(const std::string& folder, const nlohmann::json& run, const Progress& at,
                      TrainedNet* net);
// NOT there: step 0 and *found false. INVALID_ARGUMENT, naming what differs, for one of another
// run; DATA_CORRUPT.
Result<Progress> RestoreCheckpoint(const std::string& folder, const nlohmann::json& run,
                                   TrainedNet* net, bool* found);

// The net in the file with the trained weights in place of its own, as an ONNX file.
Status ExportTrained(const std::string& model, const std::string& entry,
                     const std::vector<Tensor>& states, const std::string& to);

}  // namespace ge::tool
