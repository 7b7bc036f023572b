// Runs cases, each in a process of its own with a time limit, several at once. A crash, a hang and
// an end by the plugin are verdicts. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "case.h"

namespace ge::conform {

struct Setup {  // what the command line says, also to the process of a case
  std::string plugin, options, ref, library;  // paths; library: libgraphengine, may be empty
  uint64_t seed = 1;
  double timeout_s = 30;
  int jobs = 1;
};

struct Result {
  Case what;
  Outcome outcome;
  double ms = 0;
};

// Calls `done` with each result as it comes; returns results in the order of `cases`. *error: why
// no process can be started; then nothing is returned.
std::vector<Result> RunCases(const Setup& setup, const std::vector<Case>& cases,
                             const std::function<void(const Result&)>& done, std::string* error);

// This program's file; without /proc, the name it was started by. Empty: not known.
std::string OwnProgram();

// Arguments with which this program starts itself for one case; the board comes as descriptor 3.
inline constexpr const char* kCaseFlag = "--run-one-case";
inline constexpr int kBoardFd = 3;

}  // namespace ge::conform
