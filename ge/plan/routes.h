// Routes: the way of a tensor from one (domain, layout) to another, and its cost. PLACE prices
// boundaries with it and PARTITION builds them, so both use the same steps. A Routes object reads a
// Plan's tables and must not outlive it. Const use is thread-safe.
#pragma once

#include <vector>

#include "ge/plan/plan.h"

namespace ge {

struct Spot {
  DomainId domain = 0;
  LayoutId layout = 0;
  friend auto operator<=>(const Spot&, const Spot&) = default;
};

struct Hop {
  Spot to;
  int32_t conversion = -1;  // index into Plan::conversions, or -1: a copy
  uint32_t engine = 0;      // of a copy
  double ns = 0;
};

struct Route {
  bool possible = false;
  double ns = 0;
  std::vector<Hop> hops;
};

class Routes {
 public:
  explicit Routes(const Plan& plan) : plan_(plan) {}
  // Cheapest of: convert then copy, copy then convert, each conversion direct or through plain,
  // each copy direct or through a staging block on the host. No hops when the spots are equal.
  // `callers`: at the host the tensor lies in the caller's memory, which is not page-locked.
  Route Find(double bytes, Spot from, Spot to, bool callers) const;

 private:
  Route Convert(double bytes, DomainId domain, LayoutId from, LayoutId to) const;
  Route ConvertOnce(double bytes, DomainId domain, LayoutId from, LayoutId to) const;
  Route Copy(double bytes, Spot from, DomainId to, bool callers) const;
  Route CopyOnce(double bytes, Spot from, DomainId to, bool callers) const;
  const Plan& plan_;
};

// Bytes of a static tensor in a layout; opaque layouts: their stated bound, or the plain size until
// COMPILE resolves it. nullopt on overflow.
std::optional<int64_t> BytesInLayout(const Type& type, const PlanLayout& layout);

}  // namespace ge
