#include "ge/plan/check/order.h"

#include <fmt/format.h>

#include <vector>

#include "ge/plan/check/describe.h"

namespace ge::check {

Status CheckOrder(const PlanFunction& function, const Timeline& timeline) {
  std::vector<uint32_t> launch(function.segments.size());
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    if (function.code[i].op == PlanOp::kLaunch) launch[function.code[i].segment] = i;
  }
  for (SegmentId s = 0; s < function.segments.size(); ++s) {
    for (SegmentId first : function.segments[s].after) {
      if (first >= function.segments.size() || first == s) {
        return Fault(function,
                     fmt::format("segment {} is to run after segment {}, wanted another one "
                                 "below {}",
                                 s, first, function.segments.size()));
      }
      if (timeline.Before(launch[first], launch[s])) continue;
      return Fault(function,
                   fmt::format("{} must run after {} by the effects of its nodes, and nothing "
                               "orders them; wanted a signal after the first and a wait before "
                               "the second",
                               InstructionText(function, launch[s]),
                               InstructionText(function, launch[first])));
    }
  }
  return {};
}

}  // namespace ge::check
