#include "ge/plan/check/lifetimes.h"

#include <algorithm>

namespace ge::check {

Lifetimes::Lifetimes(const PlanFunction& f, const Timeline& t, const std::vector<Access>& access)
    : f_(f), t_(t), access_(access), end_(f.values.size() * t.streams()) {
  for (PlanValueId v = 1; v < f.values.size(); ++v) {
    uint32_t* end = &end_[size_t{v} * t.streams()];
    const auto use = [&](uint32_t i) {
      end[t.stream(i)] = std::max(end[t.stream(i)], t.index(i) + 1);
    };
    if (access[v].writer != kNone) use(access[v].writer);
    for (uint32_t i : access[v].readers) use(i);
  }
}

bool Lifetimes::OverBefore(PlanValueId a, uint32_t i) const {
  if (access_[a].until_end) return false;
  const uint32_t* end = &end_[size_t{a} * t_.streams()];
  const uint32_t* start = t_.start(i);
  for (uint32_t s = 0; s < t_.streams(); ++s) {
    if (end[s] > start[s]) return false;
  }
  return true;
}

bool Lifetimes::Apart(PlanValueId a, PlanValueId b) const {
  if (Over(a, b) || Over(b, a)) return true;
  const PlanValue& va = f_.values[a];
  const PlanValue& vb = f_.values[b];
  if (va.kind != PlanValueKind::kInternal || vb.kind != PlanValueKind::kInternal) return false;
  return va.segment == vb.segment && (va.last_step < vb.first_step || vb.last_step < va.first_step);
}

bool Lifetimes::InPlace(PlanValueId b, PlanValueId a) const {
  if (f_.values[b].alias_of != a) return false;
  if (f_.values[b].kind == PlanValueKind::kInternal) return true;
  const uint32_t launch = access_[b].writer;
  if (launch == kNone || access_[a].until_end) return false;
  return std::all_of(access_[a].readers.begin(), access_[a].readers.end(), [&](uint32_t reader) {
    return reader == launch || t_.Before(reader, launch);
  });
}

}  // namespace ge::check
