#include "plugins/device/channel_pack.h"

#include <array>
#include <bit>

#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/half.h"

namespace ge_engines::device {
namespace {

float NumberOf(ChannelNumber which, const ChannelFactors& factors) {
  switch (which) {
    case ChannelNumber::kScale:
      return factors.scale;
    case ChannelNumber::kShift:
      return factors.shift;
    case ChannelNumber::kZero:
      return 0;
    case ChannelNumber::kOne:
      break;
  }
  return 1;
}

}  // namespace

Ref ChannelPack(const Unit& unit, size_t norm, ChannelNumber which, Recorder* recorder) {
  const Parser& p = recorder->parser();
  for (const uint32_t n : unit.nodes) {
    const ge_node& node = p.node(n);
    if (!gp::IsOp(node, "BatchNormalization") || norm-- != 0) continue;
    const double eps = gp::AttrFloat(node, "epsilon");
    const auto channels = static_cast<size_t>(unit.dims[1]);
    std::array<int32_t, 4> dtypes;
    std::string key = "channels " + std::to_string(static_cast<int>(which)) + " " +
                      std::to_string(std::bit_cast<uint64_t>(eps)) + " of " +
                      std::to_string(channels);
    for (uint32_t k = 0; k < 4; ++k) {
      dtypes[k] = p.dtype(node.in[k + 1]);
      key += " " + std::to_string(dtypes[k]);
    }
    const auto fill = [eps, which, channels, dtypes](const void* const* from, void* to) {
      for (size_t c = 0; c < channels; ++c) {
        float v[4];
        for (size_t k = 0; k < 4; ++k) v[k] = ElementAsFloat(from[k], dtypes[k], c);
        static_cast<float*>(to)[c] = NumberOf(which, FactorsOfNorm(v[0], v[1], v[2], v[3], eps));
      }
    };
    return recorder->Pack({node.in[1], node.in[2], node.in[3], node.in[4]}, key, 4 * channels, fill,
                          0);
  }
  throw std::runtime_error("factors of channels that no node has");
}

}  // namespace ge_engines::device
