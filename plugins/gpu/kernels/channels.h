// Rows of a channel over all images of a batch: their moments, gradients of BatchNormalization.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/gpu/kernels/rows.h"
#include "plugins/gpu/kernels/team.h"

namespace ge_engines::gpu {

// x of [images, channels, area].
struct ChannelRows {
  int64_t images = 1, channels = 1;
  Divider area;
  GE_GPU_BODY int64_t count() const { return images * static_cast<int64_t>(area.divisor); }
  // Element i of a channel.
  GE_GPU_BODY int64_t At(int64_t channel, int64_t i) const {
    const auto n = static_cast<uint64_t>(i);
    const uint64_t image = area.Quotient(n);
    const int64_t plane = static_cast<int64_t>(image) * channels + channel;
    return plane * static_cast<int64_t>(area.divisor) +
           static_cast<int64_t>(n - image * area.divisor);
  }
};

// A sum of many float32 numbers: of 64 in float32, of these in double.
struct LongSum {
  float part = 0;
  int32_t added = 0;
  double total = 0;
  GE_GPU_BODY void Put(float x) {
    part += x;
    if (++added == 64) Close();
  }
  GE_GPU_BODY double Close() {
    total += static_cast<double>(part);
    part = 0;
    added = 0;
    return total;
  }
};

// Places: mean, variance, x.
struct MomentsArgs : Args<3> {
  ChannelRows rows;
};

template <class Team>
GE_GPU_BODY void MomentsTeam(const MomentsArgs& a, int64_t channel, const Team& team) {
  const int64_t n = a.rows.count();
  typename Team::template PerLane<double> part;
  team.Each([&](int lane) {
    LongSum sum;
    for (int64_t i = lane; i < n; i += kTeamLanes) sum.Put(a.Float(2, a.rows.At(channel, i)));
    part[lane] = sum.Close();
  });
  const double mean = team.All(part, Add()) / static_cast<double>(n);
  const auto about = static_cast<float>(mean);
  team.Each([&](int lane) {
    LongSum sum;
    for (int64_t i = lane; i < n; i += kTeamLanes) {
      const float off = a.Float(2, a.rows.At(channel, i)) - about;
      sum.Put(off * off);
    }
    part[lane] = sum.Close();
  });
  const double off = mean - static_cast<double>(about);
  const double square = team.All(part, Add()) / static_cast<double>(n) - off * off;
  team.Each([&](int lane) {
    if (lane != 0) return;
    StoreReal(a.at[0].data, a.of[0], channel, mean);
    StoreReal(a.at[1].data, a.of[1], channel, square < 0 ? 0 : square);  // NaN stays
  });
}

// Places: dX, dscale, dB, dY, x, scale, mean, variance.
struct NormGradArgs : Args<8> {
  ChannelRows rows;
  double eps = 0;
};

template <class Team>
GE_GPU_BODY void NormGradTeam(const NormGradArgs& a, int64_t channel, const Team& team) {
  const int64_t n = a.rows.count();
  const float mean = a.Float(6, channel);
  typename Team::template PerLane<double> slopes, products;
  team.Each([&](int lane) {
    LongSum slope, product;
    for (int64_t i = lane; i < n; i += kTeamLanes) {
      const int64_t at = a.rows.At(channel, i);
      const float dy = a.Float(3, at);
      slope.Put(dy);
      product.Put(dy * (a.Float(4, at) - mean));
    }
    slopes[lane] = slope.Close();
    products[lane] = product.Close();
  });
  const double slope = team.All(slopes, Add()), product = team.All(products, Add());
  const double spread = static_cast<double>(a.Float(7, channel)) + a.eps;
  const double inverse = 1 / sqrt(spread);
  const double by = static_cast<double>(a.Float(5, channel)) * inverse;
  const double count = static_cast<double>(n);
  const auto pull = static_cast<float>(-by * product / (count * spread));
  const auto factor = static_cast<float>(by), shift = static_cast<float>(-by * slope / count);
  team.Each([&](int lane) {
    if (lane == 0) {
      StoreReal(a.at[1].data, a.of[1], channel, product * inverse);
      StoreReal(a.at[2].data, a.of[2], channel, slope);
    }
    for (int64_t i = lane; i < n; i += kTeamLanes) {
      const int64_t at = a.rows.At(channel, i);
      a.Store(0, at, factor * a.Float(3, at) + pull * (a.Float(4, at) - mean) + shift);
    }
  });
}

}  // namespace ge_engines::gpu
