#include "ge/memory/program_points.h"

#include <algorithm>

namespace ge::memory {

ProgramPoints::ProgramPoints(const PlanFunction& function)
    : f_(function), steps_(function.segments.size()) {
  for (uint32_t s = 0; s < function.segments.size(); ++s) {
    for (PlanValueId v : function.segments[s].internals) {
      steps_[s].push_back(function.values[v].first_step);
      steps_[s].push_back(function.values[v].last_step);
    }
    std::sort(steps_[s].begin(), steps_[s].end());
    steps_[s].erase(std::unique(steps_[s].begin(), steps_[s].end()), steps_[s].end());
  }
  uint32_t at = 0;
  for (const Instruction& in : function.code) {
    begin_.push_back(at);
    const bool launch = in.op == PlanOp::kLaunch;
    at += std::max<uint32_t>(1, launch ? static_cast<uint32_t>(steps_[in.segment].size()) : 1);
  }
  begin_.push_back(at);
}

Stay ProgramPoints::Of(const Lifetimes& life, PlanValueId plan_value,
                       const std::vector<bool>& writing) const {
  Stay stay;
  if (f_.code.empty()) return stay;
  const PlanValue& value = f_.values[plan_value];
  const uint32_t behind = life.last(plan_value) + 1,
                 over = std::max(life.OverFrom(plan_value, writing), behind);
  stay.first = begin_[life.first(plan_value)];
  stay.used_last = begin_[behind] - 1;
  stay.last = begin_[over] - 1;
  if (value.kind != PlanValueKind::kInternal) return stay;
  const auto& steps = steps_[value.segment];
  const auto rank = [&](uint32_t step) {
    return static_cast<uint32_t>(std::lower_bound(steps.begin(), steps.end(), step) -
                                 steps.begin());
  };
  stay.linger_first = begin_[behind];
  stay.linger_last = stay.last;
  stay.last = stay.used_last = stay.first + rank(value.last_step);
  stay.first += rank(value.first_step);
  return stay;
}

}  // namespace ge::memory
