// Random cases of matrix products, convolutions, pools, normalisation, resizing and LSTM.
#include <algorithm>

#include "tools/ge_test/random_case.h"

namespace ge::test {
namespace {

std::shared_ptr<HostTensor> Signal(CaseMaker& m, const Dims& dims) {
  return IsFloat(m.dtype()) ? m.Numbers(m.dtype(), dims, -1, 1) : m.Numbers(m.dtype(), dims, -9, 9);
}

Dims Cat(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// What Conv, ConvTranspose and the pools have in common.
struct Window {
  Dims size, kernel, strides, dilations, pads;
  bool automatic = false;
};

int64_t Reach(const Window& w, size_t i) { return (w.kernel[i] - 1) * w.dilations[i] + 1; }

// 1 to 3 spatial axes; every window fits into its padded axis.
Window MakeWindow(CaseMaker& m, bool same_padding) {
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

void SetWindow(CaseMaker& m, const Window& w, bool dilations) {
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
void SetAllPads(CaseMaker& m, const Window& w) {
  const bool has = std::any_of(m.c.attrs.begin(), m.c.attrs.end(), [](const Attr& a) {
    return a.name == "pads" || a.name == "auto_pad";
  });
  if (!has) m.Set("pads", w.pads);
}

void AddPool(CaseMaker& m, const char* last) {
  const Window w = MakeWindow(m, true);
  Dims head = {m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), m.r.Int(1, 4)};
  Dims size = w.size;
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

}  // namespace

void MatMulCase(CaseMaker& m) {
  const int64_t k = m.r.Chance(0.05) ? 0 : m.r.Int(1, 12);
  const Dims batch = m.Shape(0, 2);
  Dims a = Cat(m.r.Chance(0.6) ? batch : m.Narrowed(batch), {m.r.Int(1, 7), k});
  Dims b = Cat(m.r.Chance(0.6) ? batch : m.Narrowed(batch), {k, m.r.Int(1, 7)});
  if (m.r.Chance(0.1)) a = {k};
  if (m.r.Chance(0.1)) b = {k};
  m.Add(Signal(m, a));
  m.Add(Signal(m, b));
}

void GemmCase(CaseMaker& m) {
  const int64_t rows = m.r.Chance(0.05) ? 0 : m.r.Int(1, 7), k = m.r.Int(1, 12),
                cols = m.r.Int(1, 7);
  const bool ta = m.r.Chance(0.4), tb = m.r.Chance(0.4);
  m.Add(Signal(m, ta ? Dims{k, rows} : Dims{rows, k}));
  m.Add(Signal(m, tb ? Dims{cols, k} : Dims{k, cols}));
  if (m.r.Chance(0.7)) m.Add(Signal(m, m.Narrowed({rows, cols})));
  if (ta) m.Set("transA", int64_t{1});
  if (tb) m.Set("transB", int64_t{1});
  const bool real = IsFloat(m.dtype());
  if (m.r.Chance(0.4)) m.Set("alpha", real ? 0.5 : 2.0);
  if (m.r.Chance(0.4)) m.Set("beta", real ? 1.5 : 3.0);
}

// As in a picture network: 3 x 3 taps one pixel apart, enough channels and pixels for engines that
// work in blocks of them.
void PictureConvCase(CaseMaker& m) {
  const int64_t in = m.r.Int(1, 40), out = m.r.Int(1, 80);
  m.Add(Signal(m, {m.r.Int(1, 2), in, m.r.Int(3, 14), m.r.Int(3, 14)}));
  m.Add(Signal(m, {out, in, 3, 3}));
  if (m.r.Chance(0.6)) m.Add(Signal(m, {out}));
  m.Set("pads", Dims{m.r.Int(0, 2), m.r.Int(0, 2), m.r.Int(0, 2), m.r.Int(0, 2)});
}

void ConvCase(CaseMaker& m) {
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

void ConvTransposeCase(CaseMaker& m) {
  Window w = MakeWindow(m, false);
  const int64_t group = m.r.Pick(std::vector<int64_t>{1, 1, 2}), in = m.r.Int(1, 3),
                out = m.r.Int(1, 3);
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

void AveragePoolCase(CaseMaker& m) { AddPool(m, "count_include_pad"); }

void MaxPoolCase(CaseMaker& m) {
  AddPool(m, "storage_order");
  if (m.r.Chance(0.4)) m.c.outputs = 2;
}

void GlobalPoolCase(CaseMaker& m) {
  const Dims size = m.Shape(1, 3, false);
  m.Add(Signal(m, Cat({m.r.Chance(0.08) ? 0 : m.r.Int(1, 3), m.r.Int(1, 4)}, size)));
}

void BatchNormalizationCase(CaseMaker& m) {
  const int64_t channels = m.r.Int(1, 5);
  const Dims size = m.Shape(0, 3);
  m.Add(Signal(m, Cat({m.r.Int(1, 3), channels}, size)));
  const bool constant = m.r.Chance(0.6);  // as in a trained model
  for (int i = 0; i < 4; ++i) {
    m.Add(i == 3 ? m.Numbers(m.dtype(), {channels}, 0.3, 2) : Signal(m, {channels}));
    if (constant) m.c.inputs.back().constant = true;
  }
  if (m.r.Chance(0.5)) m.Set("epsilon", 0.125);
}

void LayerNormalizationCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4, false);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = m.r.Chance(0.6) ? rank - 1 : m.r.Int(0, rank - 1);
  const Dims last(dims.begin() + axis, dims.end());
  m.Add(Signal(m, dims));
  m.Add(Signal(m, m.r.Chance(0.8) ? last : m.Narrowed(dims)));
  if (m.r.Chance(0.7)) m.Add(Signal(m, m.r.Chance(0.8) ? last : m.Narrowed(dims)));
  if (axis != rank - 1 || m.r.Chance(0.5)) m.Set("axis", m.Axis(axis, rank));
  // Small variances make the figures large, and their differences with them.
  m.Set("epsilon", 0.125);
  m.c.outputs = m.r.Chance(0.2) ? 3 : 1;
}

namespace {

// What detection networks have: every pixel repeated.
void RepeatCase(CaseMaker& m) {
  m.Add(Signal(m, {m.r.Int(1, 2), m.r.Int(1, 4), m.r.Int(1, 5), m.r.Int(1, 5)}));
  m.AddAbsent();
  m.AddConstant(
      m.Floats(DType::kFloat, {4},
               {1, 1, static_cast<double>(m.r.Int(1, 4)), static_cast<double>(m.r.Int(1, 4))}));
  m.Set("mode", std::string("nearest"));
  m.Set("coordinate_transformation_mode", std::string("asymmetric"));
  m.Set("nearest_mode", std::string("floor"));
}

}  // namespace

void ResizeCase(CaseMaker& m) {
  if (m.r.Chance(0.25)) return RepeatCase(m);
  const Dims dims = Cat({m.r.Int(1, 2), m.r.Int(1, 2)}, m.Shape(1, 2, false));
  const std::string mode = m.r.Pick(std::vector<std::string>{"nearest", "linear", "cubic"});
  m.Add(Signal(m, dims));
  m.AddAbsent();
  std::vector<double> scales(dims.size(), 1);
  std::vector<int64_t> sizes = dims;
  for (size_t i = 2; i < dims.size(); ++i) {
    // Sums of powers of two: positions come out the same however they are computed.
    scales[i] = m.r.Pick(std::vector<double>{0.5, 1, 1.5, 2, 2.5, 4});
    while (static_cast<double>(dims[i]) * scales[i] < 1) scales[i] *= 2;
    sizes[i] = m.r.Int(1, 9);
  }
  const auto rank = static_cast<int64_t>(dims.size());
  if (m.r.Chance(0.6)) {
    m.AddConstant(m.Floats(DType::kFloat, {rank}, scales));
  } else {
    m.AddAbsent();
    m.AddConstant(m.Ints(DType::kInt64, {rank}, sizes));
  }
  m.Set("mode", mode);
  // Cubic weights overshoot, and narrow integers then saturate: their widths differ rightly.
  m.c.typed = IsFloat(m.dtype()) || mode != "cubic";
  m.Set("coordinate_transformation_mode",
        m.r.Pick(std::vector<std::string>{"half_pixel", "half_pixel_symmetric",
                                          "pytorch_half_pixel", "align_corners", "asymmetric"}));
  if (mode == "nearest" && m.r.Chance(0.7)) {
    m.Set("nearest_mode", m.r.Pick(std::vector<std::string>{"round_prefer_floor",
                                                            "round_prefer_ceil", "floor", "ceil"}));
  }
  if (mode != "nearest" && m.r.Chance(0.3)) m.Set("antialias", int64_t{1});
  if (mode == "cubic" && m.r.Chance(0.4)) m.Set("exclude_outside", int64_t{1});
}

void LstmCase(CaseMaker& m) {
  const int64_t steps = m.r.Int(1, 4), batch = m.r.Int(1, 3), in = m.r.Int(1, 4),
                hidden = m.r.Int(1, 4);
  const std::string direction =
      m.r.Pick(std::vector<std::string>{"forward", "reverse", "bidirectional"});
  const int64_t dirs = direction == "bidirectional" ? 2 : 1;
  const bool batch_first = m.r.Chance(0.3);
  m.Add(Signal(m, batch_first ? Dims{batch, steps, in} : Dims{steps, batch, in}));
  m.Add(Signal(m, {dirs, 4 * hidden, in}));
  m.Add(Signal(m, {dirs, 4 * hidden, hidden}));
  if (m.r.Chance(0.7)) {
    m.Add(Signal(m, {dirs, 8 * hidden}));
    const Dims state = batch_first ? Dims{batch, dirs, hidden} : Dims{dirs, batch, hidden};
    const bool lengths = m.r.Chance(0.4), states = m.r.Chance(0.5);
    if (lengths) {
      m.Add(m.Numbers(DType::kInt32, {batch}, 1, static_cast<double>(steps)));
    } else if (states) {
      m.AddAbsent();
    }
    if (states) {
      m.Add(Signal(m, state));
      m.Add(Signal(m, state));
      if (m.r.Chance(0.5)) m.Add(Signal(m, {dirs, 3 * hidden}));
    }
  }
  m.c.outputs = static_cast<int>(m.r.Int(1, 3));
  m.Set("hidden_size", hidden);
  if (dirs == 2 || m.r.Chance(0.7)) m.Set("direction", direction);
  if (m.r.Chance(0.2)) m.Set("clip", 0.5);
  if (m.r.Chance(0.2)) m.Set("input_forget", int64_t{1});
  if (batch_first) m.Set("layout", int64_t{1});
}

}  // namespace ge::test
