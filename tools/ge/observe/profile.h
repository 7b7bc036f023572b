// Profile: where the time of observed runs went: by nodes, by operators, and outside of both,
// beside what was predicted and what the machine can do. A pure function of plans and times.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/ge/observe/trace.h"

namespace ge::tool {

// Nodes that one kernel runs, or that one segment runs where its engine shows its borders alone.
// Times are those of one run: the median of all.
struct ProfileRow {
  std::vector<std::string> nodes;  // the model's own names; none for operators
  std::string label;               // short
  std::string op;                  // "Conv+Relu"
  std::string device;
  uint32_t units = 1;          // of an operator: so many rows of nodes
  uint32_t segment_nodes = 0;  // > 0: of a whole segment
  double calls = 0;            // a run
  double ns = 0, predicted_ns = 0;
  double flops = 0, bytes = 0;  // a run; 0: not known
};

struct Profile {
  size_t runs = 0;
  double run_ns = 0;                  // of one run, the median
  std::vector<ProfileRow> nodes;      // by time, the longest first
  std::vector<ProfileRow> operators;  // by time
  // Outside of the nodes, by run.
  double launch_ns = 0;  // of launches, around the steps inside
  double copy_ns = 0, wait_ns = 0;
  double host_ns = 0;  // between plans, in front of and behind instructions
  size_t plans = 0;    // pieces; 1 where one plan holds the run
};

Profile ProfileOf(const std::vector<ObservedRun>& runs);
nlohmann::json ProfileJson(const Profile& profile);
void PrintProfile(const Profile& profile);  // on stdout

}  // namespace ge::tool
