// The options of ge-shardcheck, and its commands. Each returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/adcheck/model.h"
#include "tools/shardcheck/train_ranks.h"

namespace ge::shardcheck {

struct Options {
  std::string ops = "all";  // or names: "MatMul,ge.AdamStep"
  std::string cases = "tools/shardcheck/cases";
  std::vector<std::string> meshes = {"2", "3", "4", "2x2", "2x3", "2x4"};
  adcheck::ModelOptions model{.threads = 1};
  uint64_t seed = 1;
  int programs = 0;
  uint64_t program = 0;  // one of them, by the number that a failure is told with
  std::string file;      // or a file or folder of them
  TrainOptions train;
  bool json = false, verbose = false;
};

int CheckRules(const Options& options);
int MutateRules(const Options& options);
int SearchWays(const Options& options);
// To stdout: the collectives that take each tensor of a file (README.md) to its other layout.
int PrintRedistributions(const std::string& file);
int CheckPrograms(const Options& options);

}  // namespace ge::shardcheck
