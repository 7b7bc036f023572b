// SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct LossSpec {  // in: scores [batch, classes, ...], labels, weights or 0; out: loss, log_prob or
                   // 0
  enum class How : uint8_t { kMean, kSum, kNone } how = How::kMean;
  int64_t batch = 1, classes = 1, area = 1;
  bool softmax = false;  // scores are not yet the logarithms of probabilities
  bool ignores = false;
  int64_t ignored = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
