// Chart: curves of a training run as a .png picture: the loss of each step (thin), its mean over a
// fiftieth of the run, and the tests' results. Written by temporary name and renamed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ge/base/status.h"

namespace ge::tool {

struct Curves {
  uint64_t began = 0;                                    // steps that were done before
  std::vector<double> loss;                              // by step, from the one behind these on
  std::vector<std::pair<double, double>> test_loss;      // step, value
  std::vector<std::pair<double, double>> test_accuracy;  // step, 0 to 1: on a scale of its own
};

Status WriteChart(const std::string& path, const Curves& curves);

}  // namespace ge::tool
