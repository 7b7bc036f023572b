// Times the same work several times, and again where the times disagree: on a machine that others
// use, too, some of them are of the others' work. The clock is the caller's, so that a test can be
// interrupted whenever it likes. Nothing here allocates beyond its answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "ge/base/status.h"

namespace ge {

using NsClock = std::function<double()>;  // ns that never step back

inline double SteadyNs() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The shortest of as many runs of `body` as fit in the budget, at least two; whatever else the
// machine does can only make a run longer. Where no two of these came as near to each other as a
// tenth, up to eight runs, since a shortest that stands alone was seen once by luck, or never.
template <typename Body>
double ShortestNs(const NsClock& now, double budget_ns, Body body) {
  constexpr int kLeast = 2, kMost = 8;
  constexpr double kNear = 1.1;
  double best = 1e30, second = 1e30;
  const double begin = now();
  for (int i = 0;; ++i) {
    const bool left = i < kLeast || now() - begin < budget_ns;
    if (!left && (i >= kMost || second <= kNear * best)) return std::max(best, 1.0);
    const double start = now();
    body();
    const double ns = now() - start;
    second = std::min(second, std::max(best, ns));
    best = std::min(best, ns);
  }
}

struct Repeats {
  std::vector<double> ns;
  bool agree = true;
};

// `wanted` samples, as often as `sample`, which answers Result<double>, gives them before the
// budget is used up, at least one. Where the quartiles are further apart than by a half, as many
// again, up to three rounds: the first round that agrees is the answer, else all that was seen.
template <typename Sample>
Result<Repeats> RepeatTiming(const NsClock& now, int wanted, double budget_ns, Sample sample) {
  constexpr int kRounds = 3;
  constexpr double kApart = 1.5;
  Repeats all;
  const double begin = now();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> ns;
    for (int i = 0; i < wanted; ++i) {
      if (now() - begin > budget_ns && (i > 0 || round > 0)) break;
      GE_ASSIGN_OR_RETURN(const double one, sample());
      ns.push_back(one);
    }
    std::sort(ns.begin(), ns.end());
    if (!ns.empty() && ns[3 * ns.size() / 4] <= kApart * ns[ns.size() / 4]) {
      return Repeats{std::move(ns), true};
    }
    all.ns.insert(all.ns.end(), ns.begin(), ns.end());
  }
  all.agree = false;
  return all;
}

}  // namespace ge
