#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void Col2ImCase(CaseMaker& m) {
  const Window w = MakeWindow(m, false);
  const auto axes = static_cast<int64_t>(w.kernel.size());
  int64_t rows = m.r.Int(1, 3), columns = 1;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int64_t room = w.size[i] + w.pads[i] + w.pads[i + w.kernel.size()] - Reach(w, i);
    rows *= w.kernel[i];
    columns *= room / w.strides[i] + 1;
  }
  m.Add(Signal(m, {m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), rows, columns}));
  m.AddConstant(m.Ints(DType::kInt64, {axes}, w.size));
  m.AddConstant(m.Ints(DType::kInt64, {axes}, w.kernel));
  m.Set("strides", w.strides);
  m.Set("dilations", w.dilations);
  m.Set("pads", w.pads);
  // A bool sum is "any", a number's is not.
  m.c.typed = m.dtype() != DType::kBool;
}

// Spreads the columns, as the operator's name says.
bool PlainCol2Im(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims size = Values(*c.inputs[1].tensor), block = Values(*c.inputs[2].tensor),
             strides = IntsOr(c, "strides", {}), dilations = IntsOr(c, "dilations", {}),
             pads = IntsOr(c, "pads", {});
  int64_t taps = 1, area = 1;
  Dims count;
  for (size_t d = 0; d < size.size(); ++d) {
    taps *= block[d];
    area *= size[d];
    const int64_t reach = (block[d] - 1) * dilations[d] + 1;
    count.push_back((size[d] + pads[d] + pads[d + size.size()] - reach) / strides[d] + 1);
  }
  if (out->dims != Cat({x.dims[0], x.dims[1] / taps}, size)) return false;
  std::vector<double> sum(static_cast<size_t>(out->count()), 0);
  for (int64_t row = 0; row < x.dims[0] * x.dims[1]; ++row) {
    Index tap(block), at(count);
    for (int64_t t = 0; t < row % taps; ++t) tap.Next();
    for (int64_t column = 0; column < x.dims[2]; ++column, at.Next()) {
      Dims to(size.size());
      bool inside = true;
      for (size_t d = 0; d < size.size(); ++d) {
        to[d] = at.at[d] * strides[d] - pads[d] + tap.at[d] * dilations[d];
        inside = inside && to[d] >= 0 && to[d] < size[d];
      }
      if (!inside) continue;
      sum[static_cast<size_t>(row / taps * area + Flat(size, to))] +=
          ElementAsDouble(x, row * x.dims[2] + column);
    }
  }
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double v = sum[static_cast<size_t>(i)];
    if (out->dtype == DType::kBool) {
      SetIntElement(out, i, v != 0);
    } else if (IsFloat(out->dtype)) {
      SetElement(out, i, v);
    } else {
      SetIntElement(out, i, static_cast<int64_t>(v));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(col2_im) = {"Col2Im", Col2ImCase, 4e-6, Error::kOfSums, PlainCol2Im};

}  // namespace ge::test
