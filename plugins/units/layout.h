// Layout: strides of a tensor inside a segment, and maybe one inner block of channels. It is not a
// vendor descriptor and owns no memory. Plain values; any thread.
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

// Rounds the quotient up; neither number is negative.
inline int64_t CeilDiv(int64_t left, int64_t right) { return (left + right - 1) / right; }
inline int64_t Product(const Dims& dims) {
  int64_t n = 1;
  for (int64_t x : dims) n *= x;
  return n;
}

// Strides of a dense tensor, in elements.
inline Dims StridesOf(const Dims& dims) {
  Dims s(dims.size(), 1);
  for (size_t k = dims.size(); k-- > 1;) s[k - 1] = s[k] * dims[k];
  return s;
}

// With cblock = b > 0, axis 1 is cut in blocks of b innermost channels; the last block is padded:
// its lanes behind the last channel are nobody's. stride[1] is then the distance between blocks.
// Strides count elements.
struct Layout {
  int rank = 0;
  int cblock = 0;
  int size = 4;  // bytes of an element; loops of CPU engines over strides and blocks move 4
  int64_t dim[kMaxRank] = {};
  int64_t stride[kMaxRank] = {};

  static Layout Dense(const Dims& dims, int size = 4) {
    Layout l;
    l.size = size;
    l.rank = static_cast<int>(dims.size());
    int64_t s = 1;
    for (int i = l.rank - 1; i >= 0; --i) {
      l.dim[i] = dims[static_cast<size_t>(i)];
      l.stride[i] = s;
      s *= std::max<int64_t>(l.dim[i], 1);
    }
    return l;
  }
  static Layout Blocked(const Dims& dims, int block, int size = 4) {
    Layout l = Dense(dims, size);
    l.cblock = block;
    int64_t s = block;
    for (int i = l.rank - 1; i >= 0; --i) {
      l.stride[i] = s;
      s *= i == 1 ? l.blocks() : l.dim[i];
    }
    return l;
  }
  // Channels innermost (nhwc).
  static Layout ChannelsLast(const Dims& dims, int size = 4) {
    Layout l = Dense(dims, size);
    int64_t s = l.dim[1];
    l.stride[1] = 1;
    for (int i = l.rank - 1; i >= 0; --i) {
      if (i == 1) continue;
      l.stride[i] = s;
      s *= l.dim[i];
    }
    return l;
  }

  // dims with the layout kind of `model`: blocked, channels last, or dense for everything else.
  static Layout Like(const Dims& dims, const Layout& model) {
    if (dims.size() < 3 || static_cast<int>(dims.size()) != model.rank) {
      return Dense(dims, model.size);
    }
    if (model.cblock > 0) return Blocked(dims, model.cblock, model.size);
    const bool last = !model.dense() && model == ChannelsLast(model.dims(), model.size);
    return last ? ChannelsLast(dims, model.size) : Dense(dims, model.size);
  }

  Dims dims() const { return Dims(dim, dim + rank); }
  int64_t blocks() const { return (dim[1] + cblock - 1) / cblock; }
  bool padded() const { return cblock > 0 && dim[1] % cblock != 0; }
  int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dim[i];
    return n;
  }
  // Elements from the first to one past the last, padding included.
  int64_t extent() const {
    int64_t n = cblock > 0 ? cblock : 1;
    for (int i = 0; i < rank; ++i) {
      const int64_t d = cblock > 0 && i == 1 ? blocks() : dim[i];
      if (d == 0) return 0;
      n += (d - 1) * stride[i];
    }
    return n;
  }
  // Of padding and all.
  uint64_t bytes() const { return static_cast<uint64_t>(extent()) * static_cast<uint64_t>(size); }
  bool dense() const { return cblock == 0 && *this == Dense(dims(), size); }
  // No gaps: every element of the extent belongs to the tensor (or to its block padding).
  bool gapless() const {
    int64_t n = cblock > 0 ? cblock : 1;
    for (int i = 0; i < rank; ++i) n *= cblock > 0 && i == 1 ? blocks() : dim[i];
    return n == extent();
  }
  bool same_dims(const Layout& layout) const {
    return rank == layout.rank && std::equal(dim, dim + rank, layout.dim);
  }
  // Strides of axes with one element do not matter.
  bool operator==(const Layout& layout) const {
    if (!same_dims(layout) || cblock != layout.cblock || size != layout.size) return false;
    for (int i = 0; i < rank; ++i) {
      const int64_t d = cblock > 0 && i == 1 ? blocks() : dim[i];
      if (d > 1 && stride[i] != layout.stride[i]) return false;
    }
    return true;
  }
};

// Same elements in the same order: one may be read as the other.
inline bool SameMemory(const Layout& x, const Layout& y) {
  const auto plain = [](const Layout& l) {
    if (l.dense()) return true;
    if (l.cblock == 0 || l.padded()) return false;
    return std::all_of(l.dim + 2, l.dim + l.rank, [](int64_t d) { return d == 1; });
  };
  return x.size == y.size && x.elements() == y.elements() && plain(x) && plain(y);
}

// A layout without its dims; engines exchange these names: plain, channels last, or channels in
// blocks. Other layouts do not leave a segment.
struct LayoutTag {
  int block = 0;  // channels of one block; 0 = none
  bool last = false;

  // Plain if no other tag fits. With one pixel every layout is plain in memory.
  static LayoutTag Of(Layout layout) {
    if (layout.rank < 3 || layout.dense()) return {};
    layout.size = 4;  // says nothing of the order
    if (layout == Layout::ChannelsLast(layout.dims())) return {0, true};
    if (layout.cblock > 0 && layout == Layout::Blocked(layout.dims(), layout.cblock))
      return {layout.cblock, false};
    return {};
  }
  Layout On(const Dims& dims, int size = 4) const {
    return block > 0 ? Layout::Blocked(dims, block, size)
           : last    ? Layout::ChannelsLast(dims, size)
                     : Layout::Dense(dims, size);
  }
  bool plain() const { return block == 0 && !last; }
  auto operator<=>(const LayoutTag&) const = default;
};

}  // namespace ge_engines
