#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void ConvTransposeCase(CaseMaker& m) {
  Window w = MakeWindow(m, false);
  const int64_t group = m.r.Pick(std::vector<int64_t>{1, 1, 2}), in = m.Size(3, 40),
                out = m.Size(3, 40);
  for (int64_t& size : w.size) size += m.large ? m.Size(0, w.size.size() == 2 ? 24 : 8) : 0;
  m.c.terms = m.large ? in * CountOf(w.kernel) : 1;
  // The result may not become smaller than nothing.
  for (size_t i = 0; i < w.size.size(); ++i) {
    const int64_t whole = (w.size[i] - 1) * w.strides[i] + Reach(w, i);
    if (whole <= w.pads[i] + w.pads[i + w.size.size()]) w.size[i] += 3;
  }
  m.Add(Signal(m, Cat({m.r.Int(1, 2), in * group}, w.size)));
  m.Add(Signal(m, Cat({in * group, out}, w.kernel)));
  if (m.r.Chance(0.6)) m.Add(Signal(m, {out * group}));
  if (group != 1) m.Set("group", group);
  SetWindow(m, w, true);
  SetAllPads(m, w);
  if (m.r.Chance(0.4)) {
    std::vector<int64_t> more;
    for (size_t i = 0; i < w.size.size(); ++i) {
      more.push_back(m.r.Int(0, std::max(w.strides[i], w.dilations[i]) - 1));
    }
    m.Set("output_padding", more);
  }
}

}  // namespace

GE_RANDOM_OP(conv_transpose) = {"ConvTranspose", ConvTransposeCase, 4e-6, Error::kOfTerms};

}  // namespace ge::test
