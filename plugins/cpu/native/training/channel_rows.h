// Images as rows of each channel, for sums over them. Only for the sources of loops.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/thresholds.h"
#include "plugins/units/layout.h"

namespace ge_engines::cpu::native {

// Whether images that lie so can be walked: channels one behind the other, in a row or in planes.
bool HasChannelRows(const Layout& l);

// Channels that a thread takes together: one plane at a time, or up to 16 side by side in rows.
struct Channels {
  explicit Channels(const Layout& l) : images(l.dim[0]), channels(l.dim[1]), image(l.stride[0]) {
    for (int i = 2; i < l.rank; ++i) area *= l.dim[i];
    lanes = l.cblock > 0 ? l.cblock : l.dense() ? 1 : kMostLanes;
    group = l.cblock > 0 ? l.stride[1] : lanes * l.stride[1];
    row = l.cblock > 0 ? l.cblock : lanes == 1 ? 1 : channels;
    padded = l.cblock > 0;
    groups = (channels + lanes - 1) / lanes;
  }
  // Lanes in memory of a group, and those of them that are channels.
  int64_t Width(int64_t g) const { return padded ? lanes : Used(g); }
  int64_t Used(int64_t g) const { return std::min(lanes, channels - g * lanes); }
  int64_t count() const { return images * area; }
  int64_t elements() const { return count() * channels; }

  // f(offset, rows) for parts of the group's images.
  template <class F>
  void ForParts(int64_t g, F f) const {
    for (int64_t i = 0; i < images; ++i) {
      for (int64_t r = 0; r < area; r += kSumRows) {
        f(i * image + g * group + r * row, std::min(kSumRows, area - r));
      }
    }
  }

  int64_t images, channels, image, area = 1, lanes = 1, group = 1, row = 1, groups = 1;
  bool padded = false;
};

struct Sums {
  double first[kMostLanes] = {}, second[kMostLanes] = {};
  // Adds what f makes of zeros.
  template <class F>
  void Add(int64_t width, F f) {
    float a[kMostLanes] = {}, b[kMostLanes] = {};
    f(a, b);
    for (int64_t k = 0; k < width; ++k) {
      first[k] += static_cast<double>(a[k]);
      second[k] += static_cast<double>(b[k]);
    }
  }
};

}  // namespace ge_engines::cpu::native
