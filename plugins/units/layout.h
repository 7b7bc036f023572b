// How a tensor lies in memory inside a segment: strides, and maybe one inner block of channels. It
// is not a vendor descriptor and owns no memory. Plain values; any thread.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "plugins/units/short_list.h"

namespace ge_engines {

inline constexpr int kMaxRank = 8;
using Dims = ShortList<int64_t, 6>;        // of more axes hardly a tensor is
using Ids = ShortList<uint32_t, 6>;        // of nodes or values
inline constexpr int64_t kMostLanes = 16;  // floats of the widest vector

// Of numbers that are not negative, up.
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t Product(const Dims& d) {
  int64_t n = 1;
  for (int64_t x : d) n *= x;
  return n;
}

// Of a dense tensor, in elements.
inline Dims StridesOf(const Dims& d) {
  Dims s(d.size(), 1);
  for (size_t k = d.size(); k-- > 1;) s[k - 1] = s[k] * d[k];
  return s;
}

// With cblock = b > 0, axis 1 is cut in blocks of b channels that lie innermost; the last block is
// padded with zeros. stride[1] is then the distance between blocks. Strides count elements.
struct Layout {
  int rank = 0;
  int cblock = 0;
  int size = 4;  // bytes of an element; loops over strides and blocks move 4
  int64_t dim[kMaxRank] = {};
  int64_t stride[kMaxRank] = {};

  static Layout Dense(const Dims& d, int size = 4) {
    Layout l;
    l.size = size;
    l.rank = static_cast<int>(d.size());
    int64_t s = 1;
    for (int i = l.rank - 1; i >= 0; --i) {
      l.dim[i] = d[static_cast<size_t>(i)];
      l.stride[i] = s;
      s *= std::max<int64_t>(l.dim[i], 1);
    }
    return l;
  }
  static Layout Blocked(const Dims& d, int block) {
    Layout l = Dense(d);
    l.cblock = block;
    int64_t s = block;
    for (int i = l.rank - 1; i >= 0; --i) {
      l.stride[i] = s;
      s *= i == 1 ? l.blocks() : l.dim[i];
    }
    return l;
  }
  // Channels innermost (nhwc).
  static Layout ChannelsLast(const Dims& d, int size = 4) {
    Layout l = Dense(d, size);
    int64_t s = l.dim[1];
    l.stride[1] = 1;
    for (int i = l.rank - 1; i >= 0; --i) {
      if (i == 1) continue;
      l.stride[i] = s;
      s *= l.dim[i];
    }
    return l;
  }

  // d in the manner of `model`: blocked, channels last, or dense for everything else.
  static Layout Like(const Dims& d, const Layout& model) {
    if (d.size() < 3 || static_cast<int>(d.size()) != model.rank) return Dense(d);
    if (model.cblock > 0) return Blocked(d, model.cblock);
    const bool last = !model.dense() && model == ChannelsLast(model.dims(), model.size);
    return last ? ChannelsLast(d, model.size) : Dense(d, model.size);
  }

  Dims dims() const { return Dims(dim, dim + rank); }
  int64_t blocks() const { return (dim[1] + cblock - 1) / cblock; }
  bool padded() const { return cblock > 0 && dim[1] % cblock != 0; }
  int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dim[i];
    return n;
  }
  // Elements from the first to behind the last, padding included.
  int64_t extent() const {
    int64_t n = cblock > 0 ? cblock : 1;
    for (int i = 0; i < rank; ++i) {
      const int64_t d = cblock > 0 && i == 1 ? blocks() : dim[i];
      if (d == 0) return 0;
      n += (d - 1) * stride[i];
    }
    return n;
  }
  bool dense() const { return cblock == 0 && *this == Dense(dims(), size); }
  // No gaps: every element of the extent belongs to the tensor (or to its block padding).
  bool gapless() const {
    int64_t n = cblock > 0 ? cblock : 1;
    for (int i = 0; i < rank; ++i) n *= cblock > 0 && i == 1 ? blocks() : dim[i];
    return n == extent();
  }
  bool same_dims(const Layout& o) const {
    return rank == o.rank && std::equal(dim, dim + rank, o.dim);
  }
  // Strides of axes with one element do not matter.
  bool operator==(const Layout& o) const {
    if (!same_dims(o) || cblock != o.cblock || size != o.size) return false;
    for (int i = 0; i < rank; ++i) {
      const int64_t d = cblock > 0 && i == 1 ? blocks() : dim[i];
      if (d > 1 && stride[i] != o.stride[i]) return false;
    }
    return true;
  }
};

// A layout without its dims, as engines name it to each other: plain, channels last, or channels in
// blocks. Other layouts do not leave a segment.
struct LayoutTag {
  int block = 0;  // channels of one block; 0 = none
  bool last = false;

  // Plain where the layout is no other form. With one pixel every layout is plain in memory.
  static LayoutTag Of(Layout l) {
    if (l.rank < 3 || l.dense()) return {};
    l.size = 4;  // says nothing of the order
    if (l == Layout::ChannelsLast(l.dims())) return {0, true};
    if (l.cblock > 0 && l == Layout::Blocked(l.dims(), l.cblock)) return {l.cblock, false};
    return {};
  }
  Layout On(const Dims& d, int size = 4) const {
    return block > 0 ? Layout::Blocked(d, block)
           : last    ? Layout::ChannelsLast(d, size)
                     : Layout::Dense(d, size);
  }
  bool plain() const { return block == 0 && !last; }
  auto operator<=>(const LayoutTag&) const = default;
};

}  // namespace ge_engines
