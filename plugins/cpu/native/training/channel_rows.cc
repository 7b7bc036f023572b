#include "plugins/cpu/native/training/channel_rows.h"

namespace ge_engines::cpu::native {

bool HasChannelRows(const Layout& l) {
  if (l.rank < 2 || l.cblock > kMostLanes) return false;
  return l.dense() || (l.cblock > 0 && l == Layout::Blocked(l.dims(), l.cblock)) ||
         (l.cblock == 0 && l == Layout::ChannelsLast(l.dims()));
}

}  // namespace ge_engines::cpu::native
