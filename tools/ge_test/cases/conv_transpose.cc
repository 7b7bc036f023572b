#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

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
  m.AddWeight(Signal(m, Cat({in * group, out}, w.kernel)));
  if (m.r.Chance(0.6)) m.AddWeight(Signal(m, {out * group}));
  // Engines want both to be constants.
  const bool constant = m.r.Chance(0.5);
  for (size_t i = 1; constant && i < m.c.inputs.size(); ++i) m.c.inputs[i].constant = true;
  if (group != 1) m.Set("group", group);
  if (m.r.Chance(0.4)) m.Set("kernel_shape", w.kernel);
  Dims more(w.size.size());
  if (m.r.Chance(0.4)) {
    for (size_t i = 0; i < w.size.size(); ++i) {
      more[i] = m.r.Int(0, std::max(w.strides[i], w.dilations[i]) - 1);
    }
    m.Set("output_padding", more);
  }
  w.automatic = m.r.Chance(0.3);
  if (m.r.Chance(0.3)) {
    // Now and then larger than all windows reach.
    Dims to;
    for (size_t i = 0; i < w.size.size(); ++i) {
      const int64_t whole = (w.size[i] - 1) * w.strides[i] + Reach(w, i) + more[i];
      to.push_back(std::max<int64_t>(1, whole - m.r.Int(-2, Reach(w, i))));
    }
    m.Set("output_shape", to);
    if (m.r.Chance(0.3)) w.pads.assign(w.pads.size(), 1);  // not read
  }
  SetWindow(m, w, true);
  SetAllPads(m, w);
}

// Pads and sizes of the result as ONNX's text has them.
void PlainTransposedPads(const RandomCase& c, const Dims& size, const Dims& whole, Dims* pads,
                         Dims* to) {
  const Dims stated = IntsOr(c, "output_shape", {}), strides = IntsOr(c, "strides", {});
  const std::string automatic = TextOr(c, "auto_pad", "NOTSET");
  const bool same = automatic.starts_with("SAME");
  *pads = IntsOr(c, "pads", Dims(2 * size.size()));
  if (automatic != "NOTSET") pads->assign(pads->size(), 0);
  for (size_t d = 0; d < size.size(); ++d) {
    if (stated.empty() && !same) {
      to->push_back(whole[d] - (*pads)[d] - (*pads)[d + size.size()]);
      continue;
    }
    to->push_back(stated.empty() ? size[d] * strides[d] : stated[d]);
    const int64_t all = std::max<int64_t>(0, whole[d] - to->back());
    (*pads)[d] = automatic == "SAME_UPPER" ? all / 2 : (all + 1) / 2;
  }
}

// Each element of x is laid down over its window, times the weights.
bool PlainConvTranspose(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &w = *c.inputs[1].tensor;
  const Dims size = SpatialOf(x.dims), kernel = SpatialOf(w.dims);
  const Dims strides = IntsOr(c, "strides", Dims(size.size(), 1)),
             dilations = IntsOr(c, "dilations", Dims(size.size(), 1)),
             more = IntsOr(c, "output_padding", Dims(size.size(), 0));
  const int64_t group = IntOr(c, "group", 1), channels = w.dims[1] * group;
  Dims whole, pads, to;
  for (size_t d = 0; d < size.size(); ++d) {
    whole.push_back((size[d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1 + more[d]);
  }
  PlainTransposedPads(c, size, whole, &pads, &to);
  if (out->dims != WithHead(x.dims[0], channels, to)) return false;
  std::vector<double> sums(static_cast<size_t>(out->count()));
  const HostTensor* bias = Maybe(c, 2);
  const int64_t area = ProductOf(to), taps = ProductOf(kernel);
  for (int64_t i = 0, n = out->count(); bias != nullptr && i < n; ++i) {
    sums[static_cast<size_t>(i)] = ElementAsDouble(*bias, i / area % channels);
  }
  Index from(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, from.Next()) {
    const int64_t first = from.at[1] / (x.dims[1] / group) * w.dims[1];
    Index tap(kernel);
    for (int64_t t = 0; t < taps; ++t, tap.Next()) {
      Dims at(to.size());
      bool inside = true;
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] = from.at[d + 2] * strides[d] + tap.at[d] * dilations[d] - pads[d];
        inside &= at[d] >= 0 && at[d] < to[d];
      }
      for (int64_t o = 0; inside && o < w.dims[1]; ++o) {
        sums[static_cast<size_t>((from.at[0] * channels + first + o) * area + Flat(to, at))] +=
            ElementAsDouble(x, i) * ElementAsDouble(w, (from.at[1] * w.dims[1] + o) * taps + t);
      }
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) SetElement(out, static_cast<int64_t>(i), sums[i]);
  return true;
}

}  // namespace

GE_RANDOM_OP(conv_transpose) = {"ConvTranspose", ConvTransposeCase, 4e-6, Error::kOfSums,
                                PlainConvTranspose};

}  // namespace ge::test
