#include "ge/plan/check/order.h"

#include <fmt/format.h>

#include <vector>

#include "ge/plan/check/describe.h"

namespace ge::check {

Status CheckOrder(const PlanFunction& f, const Timeline& timeline) {
  std::vector<uint32_t> launch(f.segments.size());
  for (uint32_t i = 0; i < f.code.size(); ++i) {
    if (f.code[i].op == PlanOp::kLaunch) launch[f.code[i].segment] = i;
  }
  for (SegmentId s = 0; s < f.segments.size(); ++s) {
    for (SegmentId first : f.segments[s].after) {
      if (first >= f.segments.size() || first == s) {
        return Fault(f, fmt::format("segment {} is to run after segment {}, wanted another one "
                                    "below {}",
                                    s, first, f.segments.size()));
      }
      if (timeline.Before(launch[first], launch[s])) continue;
      return Fault(f,
                   fmt::format("{} must run after {} by the effects of its nodes, and nothing "
                               "orders them; wanted a signal after the first and a wait before "
                               "the second",
                               InstructionText(f, launch[s]), InstructionText(f, launch[first])));
    }
  }
  return {};
}

}  // namespace ge::check
