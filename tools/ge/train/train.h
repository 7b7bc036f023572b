// ge train: the user's options.
#pragma once

#include <string>
#include <vector>

#include "tools/ge/command.h"
#include "tools/ge/ranks.h"

namespace ge::tool {

class SubcommandList;

struct TrainOptions {
  Options common;  // model, engines, threads, prices ...
  std::string data, test_data, loss = "softmax-ce", optimizer = "sgd", schedule = "constant";
  double lr = 1e-3, momentum = 0, weight_decay = 0, clip = 0, ema = 0;
  uint32_t epochs = 1, batch = 64, warmup = 0, accumulate = 1;
  uint64_t max_steps = 0;         // 0 = as the epochs say
  uint64_t eval_every = 0;        // steps; 0 = after each epoch
  uint64_t checkpoint_every = 0;  // the same
  std::vector<std::string> freeze, tie, untie, set, log;
  std::string checkpoint, plot, export_file;
  std::string layout = "nchw";  // of arrays of pictures
  uint64_t data_limit = 0;      // bytes of batches made ahead; 0 = 1 GiB
  MeshOptions mesh;
  Ranks ranks;  // where this process stands in the mesh
  // What the first rank wants whole states for.
  bool histograms = false, exports = false;
  bool resume = false, overwrite = false, keep_order = false, no_test = false, allow_nan = false;
};

void AddTrain(SubcommandList* to, int* code);
int Train(const TrainOptions& options);

}  // namespace ge::tool
