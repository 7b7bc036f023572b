#include "plugins/cpu/native/training/channel_rows.h"

namespace ge_engines::cpu::native {

bool HasChannelRows(const Layout& layout) {
  if (layout.rank < 2 || layout.cblock > kMostLanes) return false;
  return layout.dense() ||
         (layout.cblock > 0 && layout == Layout::Blocked(layout.dims(), layout.cblock)) ||
         (layout.cblock == 0 && layout == Layout::ChannelsLast(layout.dims()));
}

}  // namespace ge_engines::cpu::native
