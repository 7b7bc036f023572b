// Blocks of pixels and blocks of channels: the nest of DepthToSpace and SpaceToDepth. Pure.
#pragma once

#include "plugins/ref/kernels/copy.h"

namespace ref {

// `deep` [N, C, H, W] against `wide` [N, C / b^2, H * b, W * b]. Operands of the nest: the written
// tensor, then the one read.
inline bool BlockNest(const TensorType& deep, const TensorType& wide, int64_t b, bool depth_first,
                      bool to_wide, LoopNest<2>* nest, Why* why) {
  if (deep.rank != 4 || wide.rank != 4) {
    return why->Say(GE_WHY_SHAPE, "rank %d, 4 is wanted", deep.rank);
  }
  if (b < 1 || b > (int64_t{1} << 30)) {
    return why->Say(GE_WHY_ATTRIBUTE, "blocksize is %lld", static_cast<long long>(b));
  }
  const int64_t c = wide.dims[1], h = deep.dims[2], w = deep.dims[3];
  const bool fits = deep.dims[0] == wide.dims[0] && deep.dims[1] % (b * b) == 0 &&
                    deep.dims[1] / (b * b) == c && wide.dims[2] % b == 0 && wide.dims[2] / b == h &&
                    wide.dims[3] % b == 0 && wide.dims[3] / b == w;
  if (!fits) return why->Say(GE_WHY_SHAPE, "input and output do not fit blocksize");
  int64_t sd[kMaxRank], sw[kMaxRank];
  DenseStrides(deep.shape(), sd);
  DenseStrides(wide.shape(), sw);
  // A channel of the deep one: (row of the block, column, channel), or the channel first.
  const int64_t row = depth_first ? b * c * sd[1] : b * sd[1];
  const int64_t column = depth_first ? c * sd[1] : sd[1];
  const int64_t channel = depth_first ? sd[1] : b * b * sd[1];
  const auto add = [&](int64_t dim, int64_t in_deep, int64_t in_wide) {
    if (to_wide) nest->Add(dim, {in_wide, in_deep});
    if (!to_wide) nest->Add(dim, {in_deep, in_wide});
  };
  add(deep.dims[0], sd[0], sw[0]);
  add(c, channel, sw[1]);
  add(h, sd[2], sw[2] * b);
  add(b, row, sw[2]);
  add(w, sd[3], sw[3] * b);
  add(b, column, sw[3]);
  return true;
}

inline std::unique_ptr<Prepared> PrepareBlocks(const NodeView& n, bool to_wide, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  if (ElementBytes(x.dtype) == 0) return NoDType(x, why), nullptr;
  const std::string_view mode = n.Text("mode");
  if (mode != "DCR" && mode != "CRD") {
    return why->Say(GE_WHY_ATTRIBUTE, "mode is %.*s", static_cast<int>(mode.size()), mode.data()),
           nullptr;
  }
  const bool depth_first = mode == "DCR";
  LoopNest<2> nest;
  if (!BlockNest(to_wide ? x : y, to_wide ? y : x, n.Int("blocksize"), depth_first, to_wide, &nest,
                 why)) {
    return nullptr;
  }
  auto made = Make([nest](const Call& c) {
    CopyElements(nest, c.out(0), c.in(0));
    return static_cast<ge_rc>(GE_OK);
  });
  made->const_align = 1;
  return made;
}

}  // namespace ref
