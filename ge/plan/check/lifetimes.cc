#include "ge/plan/check/lifetimes.h"

#include <algorithm>

namespace ge::check {

Lifetimes::Lifetimes(const PlanFunction& function, const Timeline& timeline,
                     const std::vector<Access>& access)
    : f_(function),
      t_(timeline),
      access_(access),
      end_(function.values.size() * timeline.streams()) {
  for (PlanValueId v = 1; v < function.values.size(); ++v) {
    uint32_t* end = &end_[size_t{v} * timeline.streams()];
    const auto use = [&](uint32_t i) {
      end[timeline.stream(i)] = std::max(end[timeline.stream(i)], timeline.index(i) + 1);
    };
    if (access[v].writer != kNone) use(access[v].writer);
    for (uint32_t i : access[v].readers) use(i);
  }
}

bool Lifetimes::OverBefore(PlanValueId value, uint32_t i) const {
  if (access_[value].until_end) return false;
  const uint32_t* end = &end_[size_t{value} * t_.streams()];
  const uint32_t* start = t_.start(i);
  for (uint32_t s = 0; s < t_.streams(); ++s) {
    if (end[s] > start[s]) return false;
  }
  return true;
}

bool Lifetimes::Apart(PlanValueId left, PlanValueId right) const {
  if (Over(left, right) || Over(right, left)) return true;
  const PlanValue& va = f_.values[left];
  const PlanValue& vb = f_.values[right];
  if (va.kind != PlanValueKind::kInternal || vb.kind != PlanValueKind::kInternal) return false;
  return va.segment == vb.segment && (va.last_step < vb.first_step || vb.last_step < va.first_step);
}

bool Lifetimes::InPlace(PlanValueId later, PlanValueId earlier) const {
  if (f_.values[later].alias_of != earlier) return false;
  if (f_.values[later].kind == PlanValueKind::kInternal) return true;
  const uint32_t launch = access_[later].writer;
  if (launch == kNone || access_[earlier].until_end) return false;
  return std::all_of(
      access_[earlier].readers.begin(), access_[earlier].readers.end(),
      [&](uint32_t reader) { return reader == launch || t_.Before(reader, launch); });
}

}  // namespace ge::check
