// What random cases of products, convolutions, pools and normalisations share.
#pragma once

#include <algorithm>
#include <numeric>

#include "tools/ge_test/random/sizes.h"

namespace ge::test {

// 1 to 3 spatial axes; every window fits into its padded axis.
inline Window MakeWindow(CaseMaker& m, bool same_padding) {
  Window w;
  const auto n = static_cast<size_t>(m.r.Pick(std::vector<int64_t>{1, 2, 2, 2, 3}));
  w.automatic = same_padding && m.r.Chance(0.2);
  Dims begin, end;
  for (size_t i = 0; i < n; ++i) {
    w.kernel.push_back(m.r.Int(1, 3));
    w.strides.push_back(m.r.Chance(0.5) ? 1 : m.r.Int(1, 3));
    w.dilations.push_back(m.r.Chance(0.7) ? 1 : 2);
    begin.push_back(w.automatic ? 0 : m.r.Int(0, w.kernel[i] - 1));
    end.push_back(w.automatic ? 0 : m.r.Int(0, w.kernel[i] - 1));
    const int64_t least = std::max<int64_t>(1, Reach(w, i) - begin[i] - end[i]);
    w.size.push_back(least + m.r.Int(0, 5));
  }
  w.pads = Cat(begin, end);
  return w;
}

inline void SetWindow(CaseMaker& m, const Window& w, bool dilations) {
  if (w.automatic) {
    m.Set("auto_pad", std::string(m.r.Chance(0.4)   ? "SAME_UPPER"
                                  : m.r.Chance(0.5) ? "SAME_LOWER"
                                                    : "VALID"));
  } else if (m.r.Chance(0.8) || std::count(w.pads.begin(), w.pads.end(), 0) == 0) {
    m.Set("pads", w.pads);
  }
  m.Set("strides", w.strides);
  if (dilations) m.Set("dilations", w.dilations);
}

// Pads that were not written are 0: the window may then be too large, so they are always written.
inline void SetAllPads(CaseMaker& m, const Window& w) {
  const bool has = std::any_of(m.c.attrs.begin(), m.c.attrs.end(), [](const Attr& a) {
    return a.name == "pads" || a.name == "auto_pad";
  });
  if (!has) m.Set("pads", w.pads);
}

inline void AddPool(CaseMaker& m, const char* last) {
  const Window w = m.large ? LargePoolWindow(m) : MakeWindow(m, true);
  Dims head = {m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), m.Size(4, 70)};
  Dims size = w.size;
  while (m.large && head[1] > 1 && head[1] * CountOf(size) * CountOf(w.kernel) > 4'000'000) {
    head[1] = (head[1] + 1) / 2;
  }
  // VALID and SAME see the axis without pads.
  for (size_t i = 0; w.automatic && i < size.size(); ++i) size[i] = std::max(size[i], Reach(w, i));
  m.Add(m.Numbers(m.dtype(), Cat(head, size), IsFloat(m.dtype()) ? -2 : -50,
                  IsFloat(m.dtype()) ? 2 : 50));
  m.Set("kernel_shape", w.kernel);
  SetWindow(m, w, true);
  SetAllPads(m, w);
  if (!w.automatic && m.r.Chance(0.3)) m.Set("ceil_mode", int64_t{1});
  if (m.r.Chance(0.4)) m.Set(last, m.r.Int(0, 1));
}

// As in a picture network: 3 x 3 taps one pixel apart, enough channels and pixels for engines that
// work in blocks of them.
inline void PictureConvCase(CaseMaker& m) {
  const int64_t in = m.r.Int(1, 40), out = m.r.Int(1, 80);
  m.Add(Signal(m, {m.r.Int(1, 2), in, m.r.Int(3, 14), m.r.Int(3, 14)}));
  m.Add(Signal(m, {out, in, 3, 3}));
  if (m.r.Chance(0.6)) m.Add(Signal(m, {out}));
  m.Set("pads", Dims{m.r.Int(0, 2), m.r.Int(0, 2), m.r.Int(0, 2), m.r.Int(0, 2)});
}

inline void GlobalPoolCase(CaseMaker& m) {
  const Dims size = m.Shape(1, 3, false);
  const bool tiny = !m.large || CountOf(size) > 3000;
  m.Add(Signal(
      m, Cat({m.r.Chance(0.08) ? 0 : m.r.Int(1, 3), tiny ? m.r.Int(1, 4) : m.Size(0, 80)}, size)));
  m.c.terms = CountOf(size);
}

// What detection networks have: every pixel repeated.
inline void RepeatCase(CaseMaker& m) {
  m.Add(Signal(m, {m.r.Int(1, 2), m.Size(4, 40), m.Size(5, 40), m.Size(5, 40)}));
  m.AddAbsent();
  m.AddConstant(
      m.Floats(DType::kFloat, {4},
               {1, 1, static_cast<double>(m.r.Int(1, 4)), static_cast<double>(m.r.Int(1, 4))}));
  m.Set("mode", std::string("nearest"));
  m.Set("coordinate_transformation_mode", std::string("asymmetric"));
  m.Set("nearest_mode", std::string("floor"));
}

}  // namespace ge::test
