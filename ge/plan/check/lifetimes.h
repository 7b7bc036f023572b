// Lifetimes: when values hold their bytes, as a partial order. A value is live from the start of
// its writer to the end of its last use; "a is over before b" when every use of a has surely
// finished as b's writer starts. Needs a checked structure. Const use from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/plan/check/accesses.h"
#include "ge/plan/check/timeline.h"
#include "ge/plan/plan.h"

namespace ge::check {

class Lifetimes {
 public:
  // The three must outlive this object.
  Lifetimes(const PlanFunction& function, const Timeline& timeline,
            const std::vector<Access>& access);

  const PlanFunction& function() const { return f_; }
  const Timeline& timeline() const { return t_; }
  const Access& access(PlanValueId value) const { return access_[value]; }

  // Every use of a has finished when instruction i starts.
  bool OverBefore(PlanValueId value, uint32_t i) const;
  bool Over(PlanValueId left, PlanValueId right) const {
    return access_[right].writer != kNone && OverBefore(left, access_[right].writer);
  }
  // `left` and `right` never hold bytes at the same moment: one is over before the other, or both
  // are internals of one launch at different steps.
  bool Apart(PlanValueId left, PlanValueId right) const;
  // `later` is declared in the place of `earlier`, and every other use of `earlier` has finished
  // before the writer of `later`.
  bool InPlace(PlanValueId later, PlanValueId earlier) const;

 private:
  const PlanFunction& f_;
  const Timeline& t_;
  const std::vector<Access>& access_;
  std::vector<uint32_t> end_;  // by value and stream: instructions that must have finished
};

}  // namespace ge::check
