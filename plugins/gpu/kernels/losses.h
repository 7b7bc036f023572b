// Losses of classes: one team a label, then one for their sum.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/gpu/kernels/rows.h"
#include "plugins/gpu/kernels/team.h"

namespace ge_engines::gpu {

// Places: the loss of each label, log_prob, scores [batch, classes, area], labels, weights, and of
// each label its loss and weight in double.
struct LossArgs : Args<6> {
  int64_t classes = 1, ignored = 0;
  Divider area;
  bool softmax = false, ignores = false, weighted = false, shows = false, each = false;
};

template <class Team>
GE_GPU_BODY void LossTeam(const LossArgs& a, int64_t place, const Team& team) {
  const auto n = static_cast<uint64_t>(place);
  const uint64_t sample = a.area.Quotient(n);
  const auto step = static_cast<int64_t>(a.area.divisor);
  const int64_t first = static_cast<int64_t>(sample) * a.classes * step +
                        static_cast<int64_t>(n - sample * a.area.divisor);
  const auto score = [&](int64_t c) { return a.Float(2, first + c * step); };
  double less = 0;  // log(sum of e^x)
  if (a.softmax) {
    typename Team::template PerLane<float> part;
    team.Each([&](int lane) {
      float v = -INFINITY;
      for (int64_t c = lane; c < a.classes; c += kTeamLanes) v = Greater(v, score(c));
      part[lane] = v;
    });
    const float most = team.All(part, Most());
    typename Team::template PerLane<double> sums;
    team.Each([&](int lane) {
      double v = 0;
      for (int64_t c = lane; c < a.classes; c += kTeamLanes) {
        v += static_cast<double>(expf(score(c) - most));
      }
      sums[lane] = v;
    });
    less = static_cast<double>(most) + log(team.All(sums, Add()));
  }
  team.Each([&](int lane) {
    for (int64_t c = lane; a.shows && c < a.classes; c += kTeamLanes) {
      StoreReal(a.at[1].data, a.of[1], first + c * step, static_cast<double>(score(c)) - less);
    }
    if (lane != 0) return;
    const int64_t label = a.Index(3, place);
    const bool ignored = a.ignores && label == a.ignored;
    if (!ignored && (label < 0 || label >= a.classes)) return Refuse();
    const double weight = ignored ? 0 : a.weighted ? static_cast<double>(a.Float(4, label)) : 1;
    const double loss = ignored ? 0 : (less - static_cast<double>(score(label))) * weight;
    if (a.each) {
      StoreReal(a.at[0].data, a.of[0], place, loss);
    } else {
      a.out<double>(5)[2 * place] = loss;
      a.out<double>(5)[2 * place + 1] = weight;
    }
  });
}

// Places: loss, and of each label its loss and weight.
struct LossSumArgs : Args<2> {
  int64_t count = 0;
  bool mean = false;
};

template <class Team>
GE_GPU_BODY void LossSumTeam(const LossSumArgs& a, int64_t, const Team& team) {
  typename Team::template PerLane<double> losses, weights;
  team.Each([&](int lane) {
    double loss = 0, weight = 0;
    for (int64_t k = lane; k < a.count; k += kTeamLanes) {
      loss += a.in<double>(1)[2 * k];
      weight += a.in<double>(1)[2 * k + 1];
    }
    losses[lane] = loss;
    weights[lane] = weight;
  });
  const double loss = team.All(losses, Add()), weight = team.All(weights, Add());
  team.Each([&](int lane) {
    if (lane == 0) StoreReal(a.at[0].data, a.of[0], 0, a.mean ? loss / weight : loss);
  });
}

}  // namespace ge_engines::gpu
