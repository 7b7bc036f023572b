// Images as rows of each channel, for sums over them. Only for the sources of loops.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/thresholds.h"
#include "plugins/units/layout.h"

namespace ge_engines::cpu::native {

// Whether the layout keeps channels one behind the other, in a row or in planes.
bool HasChannelRows(const Layout& layout);

// Channels that a thread takes together: one plane, or up to 16 neighbours in rows.
struct Channels {
  explicit Channels(const Layout& layout)
      : images(layout.dim[0]), channels(layout.dim[1]), image(layout.stride[0]) {
    for (int i = 2; i < layout.rank; ++i) area *= layout.dim[i];
    lanes = layout.cblock > 0 ? layout.cblock : layout.dense() ? 1 : kMostLanes;
    group = layout.cblock > 0 ? layout.stride[1] : lanes * layout.stride[1];
    row = layout.cblock > 0 ? layout.cblock : lanes == 1 ? 1 : channels;
    padded = layout.cblock > 0;
    groups = (channels + lanes - 1) / lanes;
  }
  // Lanes in memory of group g (Width), and the channels among them (Used).
  int64_t Width(int64_t g) const { return padded ? lanes : Used(g); }
  int64_t Used(int64_t g) const { return std::min(lanes, channels - g * lanes); }
  int64_t count() const { return images * area; }
  int64_t elements() const { return count() * channels; }

  // f(offset, rows) for parts of the group's images.
  template <class F>
  void ForParts(int64_t g, F call) const {
    for (int64_t i = 0; i < images; ++i) {
      for (int64_t r = 0; r < area; r += kSumRows) {
        call(i * image + g * group + r * row, std::min(kSumRows, area - r));
      }
    }
  }

  int64_t images, channels, image, area = 1, lanes = 1, group = 1, row = 1, groups = 1;
  bool padded = false;
};

struct Sums {
  double first[kMostLanes] = {}, second[kMostLanes] = {};
  // Adds the sums that `call` writes over zeros.
  template <class F>
  void Add(int64_t width, F call) {
    float a[kMostLanes] = {}, b[kMostLanes] = {};
    call(a, b);
    for (int64_t k = 0; k < width; ++k) {
      first[k] += static_cast<double>(a[k]);
      second[k] += static_cast<double>(b[k]);
    }
  }
};

}  // namespace ge_engines::cpu::native
