#include "plugins/cpu/native/channel_planes.h"

namespace ge_engines::cpu::native {

ChannelPlanes::ChannelPlanes(const Layout& x, const Layout& result)
    : images(x.dim[0]),
      blocks(x.cblock > 0 ? x.blocks() : 1),
      channels(x.cblock > 0 ? x.cblock : x.dim[1]),
      padded(result.padded()) {}

}  // namespace ge_engines::cpu::native
