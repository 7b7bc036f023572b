#include "plugins/cpu/kit/im2col_tiles.h"

#include <algorithm>

namespace ge_engines::cpu {

ConvShape::ConvShape(const ConvSpec& c) {
  images = c.src[0];
  groups = c.groups;
  in = c.src[1] / groups;
  out = c.dst[1] / groups;
  const size_t n = c.stride.size(), lead = 3 - n, at = c.weights.size() - n;
  bool plain = !c.transposed, apart = c.transposed;
  for (size_t i = 0; i < 3; ++i) {
    src[i] = dst[i] = kernel[i] = stride[i] = dilation[i] = 1;
    pad[i] = 0;
    if (i < lead) continue;
    const size_t k = i - lead;
    src[i] = c.src[k + 2];
    dst[i] = c.dst[k + 2];
    kernel[i] = c.weights[at + k];
    stride[i] = c.stride[k];
    dilation[i] = c.dilation[k];
    pad[i] = c.pad_l[k];
    plain = plain && kernel[i] == 1 && stride[i] == 1 && pad[i] == 0 && dst[i] == src[i];
    apart = apart && stride[i] == kernel[i] && (dilation[i] == 1 || kernel[i] == 1) &&
            pad[i] == 0 && dst[i] == src[i] * stride[i];
  }
  how = plain ? kPlain : apart ? kDeal : c.transposed ? kScatter : kGather;
}

Im2colTiles::Im2colTiles(const ConvShape& s, int threads, int64_t floats, int64_t least) {
  const int64_t* image = s.how == ConvShape::kDeal ? s.src : s.dst;
  items = image[0] * image[1];
  width = image[2];
  other = (s.how == ConvShape::kDeal ? s.out : s.in) * s.taps();
  if (s.how == ConvShape::kScatter) {
    items = s.out;
    width = s.taps();
    other = s.src_pixels();
  }
  const int64_t columns = std::max(floats / other, least);
  step = std::clamp<int64_t>(columns / width, 1, items);
  const int64_t jobs = s.images * s.groups;
  const int64_t share = jobs >= threads ? 1 : (threads + jobs - 1) / jobs;  // pieces at least
  if (share > 1 && step * share > items) step = (items + share - 1) / share;
  count = (items + step - 1) / step;
}

uint64_t Im2colTiles::bytes() const {
  const uint64_t n = static_cast<uint64_t>(other) * static_cast<uint64_t>(step * width) * 4;
  return (n + 63) / 64 * 64;
}

bool BuffersFit(uint64_t bytes, int threads, Why* why) {
  constexpr uint64_t kMost = uint64_t{64} << 20;
  if (bytes <= kMost / static_cast<uint64_t>(threads)) return true;
  return why->Say(GE_WHY_MEMORY, "its windows need " + std::to_string(bytes >> 20) +
                                     " MiB for each thread, at most 64 MiB for all");
}

}  // namespace ge_engines::cpu
