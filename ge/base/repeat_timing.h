// Times the same work several times, and again where the times disagree: on a shared machine some
// of them include work of others. The clock is the caller's, so a test can simulate any
// interruption. Nothing here allocates beyond its answer.
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

// The shortest of as many runs of `body` as fit in the budget, at least two: other load can only
// make a run longer. Where no two of these are within a tenth of each other, up to eight runs,
// since a shortest time seen once may be luck.
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
  // Adds later samples of the same work: samples that agree replace those that do not.
  void Add(Repeats later) {
    if (later.ns.empty() || (!ns.empty() && agree && !later.agree)) return;
    if (!agree && later.agree) ns.clear();
    agree = later.agree;
    ns.insert(ns.end(), later.ns.begin(), later.ns.end());
  }
};

// Takes `wanted` samples, or as many as `sample`, which answers Result<double>, gives within the
// budget, at least one. They agree where the quartiles differ by at most a half. Otherwise it takes
// as many again, up to `rounds` rounds: the first round that agrees is the answer, else all
// samples.
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
