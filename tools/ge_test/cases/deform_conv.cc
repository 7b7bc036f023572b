#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void DeformConvCase(CaseMaker& m) {
  const Window w = MakeWindow(m, false);
  const size_t axes = w.kernel.size();
  const int64_t group = m.r.Int(1, 2), shift = m.r.Int(1, 2), in = 2 * m.r.Int(1, 2),
                out = m.r.Int(1, 3), batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 2);
  int64_t taps = shift;
  Dims places;
  for (size_t i = 0; i < axes; ++i) {
    taps *= w.kernel[i];
    const int64_t room = w.size[i] + w.pads[i] + w.pads[i + axes] - Reach(w, i);
    places.push_back(room / w.strides[i] + 1);
  }
  m.Add(Signal(m, Cat({batch, in}, w.size)));
  m.Add(Signal(m, Cat({out * group, in / group}, w.kernel)));
  // Odd 32nds: every float holds them, and no place is whole, where a derivative would jump.
  auto offset = m.Numbers(m.dtype(), Cat({batch, taps * static_cast<int64_t>(axes)}, places), 0, 1);
  for (int64_t i = 0, n = offset->count(); i < n; ++i) {
    SetElement(offset.get(), i, static_cast<double>(2 * m.r.Int(-48, 48) + 1) / 32);
  }
  m.Add(offset);
  const bool mask = m.r.Chance(0.5);
  if (m.r.Chance(0.5)) {
    m.Add(Signal(m, {out * group}));
  } else if (mask) {
    m.AddAbsent();
  }
  if (mask) m.Add(Signal(m, Cat({batch, taps}, places)));
  if (group != 1) m.Set("group", group);
  if (shift != 1) m.Set("offset_group", shift);
  if (m.r.Chance(0.5)) m.Set("kernel_shape", w.kernel);
  m.Set("strides", w.strides);
  m.Set("dilations", w.dilations);
  m.Set("pads", w.pads);
}

// X between its elements: every element by how near it is; nothing beyond a pixel off.
double PlainDeformSample(const HostTensor& x, int64_t plane, const std::vector<double>& place) {
  const Dims size(x.dims.begin() + 2, x.dims.end());
  int64_t area = 1;
  for (int64_t d : size) area *= d;
  Index at(size);
  double sum = 0;
  for (int64_t i = 0; i < area; ++i, at.Next()) {
    double weight = 1;
    for (size_t d = 0; d < size.size(); ++d) {
      weight *= std::max(0.0, 1 - std::fabs(place[d] - static_cast<double>(at.at[d])));
    }
    if (weight != 0) sum += weight * ElementAsDouble(x, plane * area + i);
  }
  return sum;
}

bool PlainDeformConv(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &w = *c.inputs[1].tensor,
                   &offset = *c.inputs[2].tensor;
  const HostTensor *bias = Maybe(c, 3), *mask = Maybe(c, 4);
  Dims wanted = offset.dims;
  wanted[1] = w.dims[0];
  if (out->dims != wanted) return false;
  const int64_t groups = IntOr(c, "offset_group", 1), group = IntOr(c, "group", 1);
  const Dims strides = IntsOr(c, "strides", {}), dilations = IntsOr(c, "dilations", {}),
             pads = IntsOr(c, "pads", {}), kernel(w.dims.begin() + 2, w.dims.end());
  const auto axes = static_cast<int64_t>(kernel.size());
  int64_t taps = 1;
  for (int64_t k : kernel) taps *= k;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double sum = bias ? ElementAsDouble(*bias, at.at[1]) : 0;
    for (int64_t k = 0; k < w.dims[1] * taps; ++k) {
      const int64_t channel = at.at[1] / (w.dims[0] / group) * w.dims[1] + k / taps;
      Index tap(kernel);
      for (int64_t t = 0; t < k % taps; ++t) tap.Next();
      const int64_t which = channel / (x.dims[1] / groups) * taps + k % taps;
      std::vector<double> place;
      for (int64_t d = 0; d < axes; ++d) {
        const auto e = static_cast<size_t>(d);
        Dims from = at.at;
        from[1] = which * axes + d;
        place.push_back(
            static_cast<double>(at.at[e + 2] * strides[e] - pads[e] + tap.at[e] * dilations[e]) +
            ElementAsDouble(offset, Flat(offset.dims, from)));
      }
      double v = PlainDeformSample(x, at.at[0] * x.dims[1] + channel, place);
      Dims from = at.at;
      from[1] = which;
      if (mask) v *= ElementAsDouble(*mask, Flat(mask->dims, from));
      sum += v * ElementAsDouble(w, at.at[1] * w.dims[1] * taps + k);
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(deform_conv) = {"DeformConv", DeformConvCase, 4e-6, Error::kOfTerms, PlainDeformConv};

}  // namespace ge::test
