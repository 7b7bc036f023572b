#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void ConvCase(CaseMaker& m) {
  if (m.large) {
    const auto [x, w] = SetLargeConv(m);
    m.Add(Signal(m, x));
    m.AddWeight(Signal(m, w));
    if (m.r.Chance(0.6)) m.AddWeight(Signal(m, {w[0]}));
    return;
  }
  if (m.r.Chance(0.4)) return PictureConvCase(m);
  const Window w = MakeWindow(m, true);
  const int64_t group = m.r.Pick(std::vector<int64_t>{1, 1, 1, 2, 3}), in = m.r.Int(1, 4),
                out = m.r.Int(1, 4);
  Dims size = w.size;
  for (size_t i = 0; w.automatic && i < size.size(); ++i) size[i] = std::max(size[i], Reach(w, i));
  m.Add(Signal(m, Cat({m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), in * group}, size)));
  m.Add(Signal(m, Cat({out * group, in}, w.kernel)));
  if (m.r.Chance(0.6)) m.Add(Signal(m, {out * group}));
  if (m.r.Chance(0.6)) m.Set("kernel_shape", w.kernel);
  if (group != 1) m.Set("group", group);
  SetWindow(m, w, true);
  SetAllPads(m, w);
}

bool PlainConv(const RandomCase& c, HostTensor* out) {
  return PlainConvolution(c, out, [](double sum, int64_t) { return sum; });
}

}  // namespace

GE_RANDOM_OP(conv) = {"Conv", ConvCase, 4e-6, Error::kOfSums, PlainConv};

}  // namespace ge::test
