#include "ge/plan/check/describe.h"

#include <fmt/format.h>

namespace ge::check {

std::string ValueText(const PlanFunction& function, PlanValueId value) {
  if (value >= function.values.size()) return fmt::format("value {}", value);
  if (function.values[value].name.empty()) return fmt::format("value #{}", value);
  return fmt::format("value '{}'", function.values[value].name);
}

std::string InstructionText(const PlanFunction& function, uint32_t i) {
  if (i >= function.code.size()) return fmt::format("instruction {}", i);
  const Instruction& in = function.code[i];
  switch (in.op) {
    case PlanOp::kLaunch:
      return fmt::format("instruction {} (launch of segment {} on stream {})", i, in.segment,
                         in.stream);
    case PlanOp::kCopy:
      return fmt::format("instruction {} (copy on stream {})", i, in.stream);
    case PlanOp::kSignal:
      return fmt::format("instruction {} (signal of event {} to {} on stream {})", i, in.event,
                         in.event_value, in.stream);
    case PlanOp::kCommit:
      return fmt::format("instruction {} (commit)", i);
    case PlanOp::kWait:
      return fmt::format("instruction {} (wait of {} for event {} at {})", i,
                         in.stream ? fmt::format("stream {}", in.stream) : "the host", in.event,
                         in.event_value);
  }
  return fmt::format("instruction {} (unknown kind {})", i, static_cast<int>(in.op));
}

std::string PlaceText(const PlanFunction& function, PlanValueId plan_value) {
  if (plan_value >= function.values.size()) return "nowhere";
  const PlanValue& value = function.values[plan_value];
  return fmt::format("arena {} [{}, {})", value.arena, value.offset, value.offset + value.bytes);
}

Status Fault(const PlanFunction& function, const std::string& what) {
  return Status(Code::kInternal, fmt::format("plan function '{}': {}", function.name, what));
}

}  // namespace ge::check
