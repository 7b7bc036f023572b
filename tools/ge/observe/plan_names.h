// PlanNames: what people read of a plan's instructions: the model's own node names. It belongs to
// one plan, which must outlive it. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge::tool {

class PlanNames {
 public:
  explicit PlanNames(const Compiled& compiled);
  // "conv1 + relu1", "layout channels-last of t5", "copy x", "wait for devsim/sim", "commit".
  std::string Instruction(uint32_t index) const;
  // "launch", "layout", "copy", "signal", "wait", "commit".
  const char* Kind(uint32_t index) const;
  std::string Stream(uint32_t stream) const;  // "host", "devsim/sim #1"
  // Positions of the segment's nodes in the function, in the order of its offers.
  const std::vector<uint32_t>& NodesOf(SegmentId segment) const { return nodes_[segment]; }
  // Those of a step, as its engine told them; none where it told no such step.
  std::vector<uint32_t> NodesOf(SegmentId segment, uint32_t step) const;
  const NodeReport& Node(uint32_t position) const { return reports_[position]; }
  // "conv1 + relu1", cut behind some 80 characters: "conv1 + 30 more".
  std::string Joined(std::span<const uint32_t> nodes) const;

 private:
  const Compiled& compiled_;
  const Plan& plan_;
  const PlanFunction& fn_;
  const std::vector<NodeReport>& reports_;
  std::vector<std::vector<uint32_t>> nodes_;  // by segment
};

}  // namespace ge::tool
