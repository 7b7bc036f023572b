#include "tools/ge/observe/plan_names.h"

#include <fmt/format.h>

namespace ge::tool {

PlanNames::PlanNames(const Compiled& compiled)
    : compiled_(compiled),
      plan_(compiled.plan),
      fn_(plan_.functions[0]),
      reports_(plan_.reports()) {
  std::map<NodeId, uint32_t> positions;
  for (uint32_t i = 0; i < reports_.size(); ++i) positions.emplace(reports_[i].node, i);
  for (const PlanSegment& s : fn_.segments) {
    std::vector<uint32_t>& nodes = nodes_.emplace_back();
    for (const PlanOffer& o : s.offers) {
      for (const NodeId n : o.nodes) {
        if (const auto it = positions.find(n); it != positions.end()) nodes.push_back(it->second);
      }
    }
  }
}

const char* PlanNames::Kind(uint32_t index) const {
  const ge::Instruction& i = fn_.code[index];
  switch (i.op) {
    case PlanOp::kLaunch:
      return fn_.segments[i.segment].conversion >= 0 ? "layout" : "launch";
    case PlanOp::kCopy:
      return "copy";
    case PlanOp::kSignal:
      return "signal";
    case PlanOp::kWait:
      return "wait";
    default:
      return "commit";
  }
}

std::string PlanNames::Stream(uint32_t stream) const {
  if (stream == 0) return "host";
  return fmt::format("{} #{}", plan_.devices[fn_.streams[stream].device].name, stream);
}

std::vector<uint32_t> PlanNames::NodesOf(SegmentId segment, uint32_t step) const {
  const std::vector<SegmentSteps>& steps = compiled_.program().parts().steps;
  const ge_step* told = segment < steps.size() ? steps[segment].at(step) : nullptr;
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; told != nullptr && i < told->n_node; ++i) {
    if (told->node[i] < reports_.size()) nodes.push_back(told->node[i]);
  }
  return nodes;
}

std::string PlanNames::Joined(std::span<const uint32_t> nodes) const {
  constexpr size_t kMost = 80;
  std::string out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string& label = reports_[nodes[i]].label;
    if (i > 0 && out.size() + label.size() > kMost) {
      return out + fmt::format(" + {} more", nodes.size() - i);
    }
    out += (i == 0 ? "" : " + ") + label;
  }
  return out;
}

std::string PlanNames::Instruction(uint32_t index) const {
  const ge::Instruction& i = fn_.code[index];
  switch (i.op) {
    case PlanOp::kLaunch: {
      const PlanSegment& s = fn_.segments[i.segment];
      if (s.conversion < 0) return Joined(nodes_[i.segment]);
      const PlanConversion& c = plan_.conversions[static_cast<size_t>(s.conversion)];
      return fmt::format("layout {} of {}", LayoutName(plan_.layouts[c.to]),
                         fn_.values[s.inputs[0]].name);
    }
    case PlanOp::kCopy:
      return "copy " + fn_.values[i.src].name;
    case PlanOp::kSignal:
      return fmt::format("signal of {}", Stream(i.stream));
    case PlanOp::kWait: {
      const std::string& engine = plan_.engines[fn_.events[i.event].engine].name;
      return i.stream == 0 ? "wait for " + engine : fmt::format("{} waits", Stream(i.stream));
    }
    default:
      return "commit";
  }
}

}  // namespace ge::tool
