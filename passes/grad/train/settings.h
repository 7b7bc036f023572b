// TrainSettings: the options of the pass `train`, read and checked once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/ge_plugin_pass.h"
#include "passes/grad/remat/rematerialise.h"

namespace ge::grad {

struct TrainSettings {
  std::string entry, output;              // which one is trained; "" = the first
  std::string loss, optimizer, schedule;  // names; each was checked
  std::vector<std::string> freeze;        // patterns of names with * and ?
  std::vector<std::string> tie, untie;    // patterns; of constants read more than once
  RematPolicy remat;                      // of the entry train_step
  LoopCheckpoint checkpoint;              // of it, too
  double lr = 0, lr_min = 0, decay = 0, power = 0;
  double momentum = 0, weight_decay = 0, beta1 = 0, beta2 = 0, eps = 0, alpha = 0, trust = 0;
  double clip = 0, ema = 0;  // 0 = not
  int64_t steps = 0, every = 0, warmup = 0, accumulate = 1, seed = 0;
  bool nesterov = false;
  bool update = false;    // whether to make an entry that takes gradients from outside
  bool init = false;      // whether to make an entry that begins anew
  int32_t precision = 0;  // dtype of products, GE_F16 or GE_BF16; 0 = unchanged
  double scale = 0;       // of the loss; 0 = none
  bool scale_moves = false;
  int64_t scale_every = 0;  // updates before it is doubled
};

// The options of the pass, in the order of ge_edit.option.
const ge_attr_def* TrainOptions(uint32_t* n);
// Throws a Refusal that names the option.
TrainSettings ReadTrainSettings(const ge_edit* edit);

// Whether `name` fits the pattern; * stands for any text and ? for any character.
bool FitsPattern(std::string_view name, std::string_view pattern);

}  // namespace ge::grad
