#include "plugins/units/copy_layout.h"

#include <cstring>

namespace ge_engines {
namespace {

// Of an element, in elements.
int64_t PositionOf(const Layout& l, const Dims& at) {
  int64_t n = 0;
  for (int i = 0; i < l.rank; ++i) {
    const int64_t k = at[static_cast<size_t>(i)];
    n += l.cblock > 0 && i == 1 ? k / l.cblock * l.stride[1] + k % l.cblock : k * l.stride[i];
  }
  return n;
}

template <size_t kSize>
void Copy(const Layout& from, const char* x, const Layout& to, char* y) {
  if (to.elements() == 0) return;
  Dims at(static_cast<size_t>(to.rank), 0);
  for (;;) {
    std::memcpy(y + PositionOf(to, at) * static_cast<int64_t>(kSize),
                x + PositionOf(from, at) * static_cast<int64_t>(kSize), kSize);
    size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == to.dim[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

void CopyElements(const Layout& from, const void* given, const Layout& to, void* made) {
  const auto* x = static_cast<const char*>(given);
  auto* y = static_cast<char*>(made);
  switch (to.size) {
    case 1:
      return Copy<1>(from, x, to, y);
    case 2:
      return Copy<2>(from, x, to, y);
    case 4:
      return Copy<4>(from, x, to, y);
    default:
      return Copy<8>(from, x, to, y);
  }
}

void CopyLayout(const Layout& from, const void* x, const Layout& to, void* y) {
  if (to.padded()) std::memset(y, 0, to.bytes());
  CopyElements(from, x, to, y);
}

}  // namespace ge_engines
