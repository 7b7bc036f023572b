// The options of ge-adcheck, and its commands. Each returns the exit code.
#pragma once

#include <cstdint>
#include <string>

#include "tools/adcheck/model.h"

namespace ge::adcheck {

struct Options {
  std::string ops;  // "all", "core", or names
  std::string cases = "tools/adcheck/cases";
  ModelOptions model;
  std::string mutant_plugin;  // the path of grad_mutant.so
  int order = 1;
  uint64_t seed = 1;
  int programs = 0;
  uint64_t program = 0;  // one of them, by the number that a failure is told with
  bool list = false, mutate = false, json = false, verbose = false;
  bool recursion = false, closures = false;
  std::string file;  // one model to check
  std::string save;  // a folder for programs that fail
};

int CheckOps(const Options& options);
int ListOps(const Options& options);
int CheckPrograms(const Options& options);
int MutateRules(const Options& options);
int CheckFile(const Options& options);

// Name of a rule or of a case: "Tanh", "ge.SumToShape".
std::string FullName(const std::string& domain, const std::string& op);
// Whether --ops asks for it.
bool IsAsked(const Options& options, const std::string& name);

}  // namespace ge::adcheck
