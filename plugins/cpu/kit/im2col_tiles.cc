#include "plugins/cpu/kit/im2col_tiles.h"

#include <algorithm>

namespace ge_engines::cpu {

ConvShape::ConvShape(const ConvSpec& spec) {
  images = spec.src[0];
  groups = spec.groups;
  in = spec.src[1] / groups;
  out = spec.dst[1] / groups;
  const size_t n = spec.stride.size(), lead = 3 - n, at = spec.weights.size() - n;
  bool plain = !spec.transposed, apart = spec.transposed;
  for (size_t i = 0; i < 3; ++i) {
    src[i] = dst[i] = kernel[i] = stride[i] = dilation[i] = 1;
    pad[i] = 0;
    if (i < lead) continue;
    const size_t k = i - lead;
    src[i] = spec.src[k + 2];
    dst[i] = spec.dst[k + 2];
    kernel[i] = spec.weights[at + k];
    stride[i] = spec.stride[k];
    dilation[i] = spec.dilation[k];
    pad[i] = spec.pad_l[k];
    plain = plain && kernel[i] == 1 && stride[i] == 1 && pad[i] == 0 && dst[i] == src[i];
    apart = apart && stride[i] == kernel[i] && (dilation[i] == 1 || kernel[i] == 1) &&
            pad[i] == 0 && dst[i] == src[i] * stride[i];
  }
  how = plain ? kPlain : apart ? kDeal : spec.transposed ? kScatter : kGather;
}

Im2colTiles::Im2colTiles(const ConvShape& shape, int threads, int64_t floats, int64_t least) {
  const int64_t* image = shape.how == ConvShape::kDeal ? shape.src : shape.dst;
  items = image[0] * image[1];
  width = image[2];
  other = (shape.how == ConvShape::kDeal ? shape.out : shape.in) * shape.taps();
  if (shape.how == ConvShape::kScatter) {
    items = shape.out;
    width = shape.taps();
    other = shape.src_pixels();
  }
  const int64_t columns = std::max(floats / other, least);
  step = std::clamp<int64_t>(columns / width, 1, items);
  const int64_t jobs = shape.images * shape.groups;
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
