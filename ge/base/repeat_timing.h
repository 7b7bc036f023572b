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
  // What was taken later, of the same work: samples that agree take the place of those that do not.
  void Add(Repeats later) {
    if (later.ns.empty() || (!ns.empty() && agree && !later.agree)) return;
    if (!agree && later.agree) ns.clear();
    agree = later.agree;
    ns.insert(ns.end(), later.ns.begin(), later.ns.end());
  }
};

// `wanted` samples, as often as `sample`, which answers Result<double>, gives them before the
// budget is used up, at least one. They agree where the quartiles are not further apart than by a
// half; where they are, as many again, up to so many rounds: the first round that agrees is the
// answer, else all that was seen.
template <typename Sample>
Result<Repeats> RepeatTiming(const NsClock& now, int wanted, int rounds, double budget_ns,
                             Sample sample) {
  constexpr double kApart = 1.5;
  Repeats all;
  const double begin = now();
  for (int round = 0; round < rounds && (round == 0 || !all.agree); ++round) {
    Repeats more;
    for (int i = 0; i < wanted; ++i) {
      if (now() - begin > budget_ns && (i > 0 || round > 0)) break;
      GE_ASSIGN_OR_RETURN(const double one, sample());
      more.ns.push_back(one);
    }
    std::sort(more.ns.begin(), more.ns.end());
    const size_t n = more.ns.size();
    more.agree = n > 0 && more.ns[3 * n / 4] <= kApart * more.ns[n / 4];
    all.Add(std::move(more));
  }
  return all;
}

}  // namespace ge
