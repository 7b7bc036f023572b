#include "ge/plan/check/describe.h"

#include <fmt/format.h>

namespace ge::check {

std::string ValueText(const PlanFunction& f, PlanValueId v) {
  if (v >= f.values.size()) return fmt::format("value {}", v);
  if (f.values[v].name.empty()) return fmt::format("value #{}", v);
  return fmt::format("value '{}'", f.values[v].name);
}

std::string InstructionText(const PlanFunction& f, uint32_t i) {
  if (i >= f.code.size()) return fmt::format("instruction {}", i);
  const Instruction& in = f.code[i];
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

std::string PlaceText(const PlanFunction& f, PlanValueId v) {
  if (v >= f.values.size()) return "nowhere";
  const PlanValue& value = f.values[v];
  return fmt::format("arena {} [{}, {})", value.arena, value.offset, value.offset + value.bytes);
}

Status Fault(const PlanFunction& f, const std::string& what) {
  return Status(Code::kInternal, fmt::format("plan function '{}': {}", f.name, what));
}

}  // namespace ge::check
