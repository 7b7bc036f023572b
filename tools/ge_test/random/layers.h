// Shared by random cases of products, convolutions, pools and normalisations.
#pragma once

#include <algorithm>
#include <numeric>

#include "tools/ge_test/random/sizes.h"

namespace ge::test {

// 1 to 3 spatial axes; every window fits into its padded axis.
inline Window MakeWindow(CaseMaker& maker, bool same_padding) {
  Window w;
  const auto n = static_cast<size_t>(maker.r.Pick(std::vector<int64_t>{1, 2, 2, 2, 3}));
  w.automatic = same_padding && maker.r.Chance(0.2);
  Dims begin, end;
  for (size_t i = 0; i < n; ++i) {
    w.kernel.push_back(maker.r.Int(1, 3));
    w.strides.push_back(maker.r.Chance(0.5) ? 1 : maker.r.Int(1, 3));
    w.dilations.push_back(maker.r.Chance(0.7) ? 1 : 2);
    begin.push_back(w.automatic ? 0 : maker.r.Int(0, w.kernel[i] - 1));
    end.push_back(w.automatic ? 0 : maker.r.Int(0, w.kernel[i] - 1));
    const int64_t least = std::max<int64_t>(1, Reach(w, i) - begin[i] - end[i]);
    w.size.push_back(least + maker.r.Int(0, 5));
  }
  w.pads = Cat(begin, end);
  return w;
}

inline void SetWindow(CaseMaker& maker, const Window& window, bool dilations) {
  if (window.automatic) {
    maker.Set("auto_pad", std::string(maker.r.Chance(0.4)   ? "SAME_UPPER"
                                      : maker.r.Chance(0.5) ? "SAME_LOWER"
                                                            : "VALID"));
  } else if (maker.r.Chance(0.8) || std::count(window.pads.begin(), window.pads.end(), 0) == 0) {
    maker.Set("pads", window.pads);
  }
  maker.Set("strides", window.strides);
  if (dilations) maker.Set("dilations", window.dilations);
}

// Writes pads in any case: absent pads are 0, and the window may then be too large.
inline void SetAllPads(CaseMaker& maker, const Window& window) {
  const bool has = std::any_of(maker.c.attrs.begin(), maker.c.attrs.end(), [](const Attr& a) {
    return a.name == "pads" || a.name == "auto_pad";
  });
  if (!has) maker.Set("pads", window.pads);
}

inline void AddPool(CaseMaker& maker, const char* last) {
  const Window w = maker.large ? LargePoolWindow(maker) : MakeWindow(maker, true);
  Dims head = {maker.r.Chance(0.05) ? 0 : maker.r.Int(1, 2), maker.Size(4, 70)};
  Dims size = w.size;
  while (maker.large && head[1] > 1 && head[1] * CountOf(size) * CountOf(w.kernel) > 4'000'000) {
    head[1] = (head[1] + 1) / 2;
  }
  // VALID and SAME see the axis without pads.
  for (size_t i = 0; w.automatic && i < size.size(); ++i) size[i] = std::max(size[i], Reach(w, i));
  maker.Add(maker.Numbers(maker.dtype(), Cat(head, size), IsFloat(maker.dtype()) ? -2 : -50,
                          IsFloat(maker.dtype()) ? 2 : 50));
  maker.Set("kernel_shape", w.kernel);
  SetWindow(maker, w, true);
  SetAllPads(maker, w);
  if (!w.automatic && maker.r.Chance(0.3)) maker.Set("ceil_mode", int64_t{1});
  if (maker.r.Chance(0.4)) maker.Set(last, maker.r.Int(0, 1));
}

// A convolution of a picture network: 3 x 3 taps one pixel apart, enough channels and pixels for
// engines that work in blocks of them.
inline void PictureConvCase(CaseMaker& maker) {
  const int64_t in = maker.r.Int(1, 40), out = maker.r.Int(1, 80);
  maker.Add(Signal(maker, {maker.r.Int(1, 2), in, maker.r.Int(3, 14), maker.r.Int(3, 14)}));
  maker.Add(Signal(maker, {out, in, 3, 3}));
  if (maker.r.Chance(0.6)) maker.Add(Signal(maker, {out}));
  maker.Set("pads",
            Dims{maker.r.Int(0, 2), maker.r.Int(0, 2), maker.r.Int(0, 2), maker.r.Int(0, 2)});
}

inline void GlobalPoolCase(CaseMaker& maker) {
  const Dims size = maker.Shape(1, 3, false);
  const bool tiny = !maker.large || CountOf(size) > 3000;
  maker.Add(Signal(maker, Cat({maker.r.Chance(0.08) ? 0 : maker.r.Int(1, 3),
                               tiny ? maker.r.Int(1, 4) : maker.Size(0, 80)},
                              size)));
  maker.c.terms = CountOf(size);
}

// The upsampling of detection networks: every pixel repeated.
inline void RepeatCase(CaseMaker& maker) {
  maker.Add(
      Signal(maker, {maker.r.Int(1, 2), maker.Size(4, 40), maker.Size(5, 40), maker.Size(5, 40)}));
  maker.AddAbsent();
  maker.AddConstant(maker.Floats(
      DType::kFloat, {4},
      {1, 1, static_cast<double>(maker.r.Int(1, 4)), static_cast<double>(maker.r.Int(1, 4))}));
  maker.Set("mode", std::string("nearest"));
  maker.Set("coordinate_transformation_mode", std::string("asymmetric"));
  maker.Set("nearest_mode", std::string("floor"));
}

}  // namespace ge::test
