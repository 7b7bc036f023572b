#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void LpPoolCase(CaseMaker& m) {
  const Window w = MakeWindow(m, true);
  Dims size = w.size;
  for (size_t i = 0; w.automatic && i < size.size(); ++i) size[i] = std::max(size[i], Reach(w, i));
  m.Add(Signal(m, Cat({m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), m.r.Int(1, 4)}, size)));
  m.Set("kernel_shape", w.kernel);
  SetWindow(m, w, true);
  SetAllPads(m, w);
  if (!w.automatic && m.r.Chance(0.3)) m.Set("ceil_mode", int64_t{1});
  if (m.r.Chance(0.6)) m.Set("p", m.r.Int(1, 4));
}

// Shapes and pads of auto_pad are taken from the output's shape: INFER's node tests check that.
bool PlainLpPool(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const size_t axes = x.dims.size() - 2;
  if (out->dims.size() != x.dims.size()) return false;
  const Dims kernel = IntsOr(c, "kernel_shape", {}), ones(axes, 1);
  const Dims strides = IntsOr(c, "strides", ones), dilations = IntsOr(c, "dilations", ones);
  Dims pads = IntsOr(c, "pads", Dims(2 * axes, 0));
  const Attr* mode = FindAttr(c, "auto_pad");
  const std::string how = mode ? std::get<std::string>(mode->value) : "NOTSET";
  for (size_t d = 0; how[0] == 'S' && d < axes; ++d) {
    const int64_t reach = (out->dims[d + 2] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1;
    const int64_t total = std::max<int64_t>(0, reach - x.dims[d + 2]);
    pads[d] = how == "SAME_UPPER" ? total / 2 : (total + 1) / 2;
  }
  const double p = static_cast<double>(IntOr(c, "p", 2));
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    int64_t taps = 1;
    for (int64_t k : kernel) taps *= k;
    Index tap(kernel);
    double sum = 0;
    for (int64_t t = 0; t < taps; ++t, tap.Next()) {
      Dims from = at.at;
      bool inside = true;
      for (size_t d = 0; d < axes; ++d) {
        from[d + 2] = at.at[d + 2] * strides[d] - pads[d] + tap.at[d] * dilations[d];
        inside = inside && from[d + 2] >= 0 && from[d + 2] < x.dims[d + 2];
      }
      if (inside) sum += std::pow(std::fabs(ElementAsDouble(x, Flat(x.dims, from))), p);
    }
    SetElement(out, i, std::pow(sum, 1 / p));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(lp_pool) = {"LpPool", LpPoolCase, 4e-6, Error::kOfTerms, PlainLpPool};

}  // namespace ge::test
