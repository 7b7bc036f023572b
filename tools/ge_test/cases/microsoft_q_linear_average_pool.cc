#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void QLinearAveragePoolCase(CaseMaker& m) {
  const Dims kernel = {m.Size(3, 7), m.Size(3, 7)};
  const bool last = m.r.Chance(0.4);
  const int64_t least = m.large ? 6 : 2;  // the window fits
  const int64_t n = m.r.Int(1, 2), c = m.Size(3, 40), h = least + m.Size(4, 40),
                w = least + m.Size(4, 40);
  ByteMapCase(m, last ? Dims{n, h, w, c} : Dims{n, c, h, w}, 0.02, 0.1);
  m.Set("kernel_shape", kernel);
  m.Set("strides", Dims{m.r.Int(1, 2), m.r.Int(1, 2)});
  m.Set("pads", Dims{m.r.Int(0, kernel[0] - 1), 0, 0, m.r.Int(0, kernel[1] - 1)});
  if (m.r.Chance(0.5)) m.Set("count_include_pad", m.r.Int(0, 1));
  if (last) m.Set("channels_last", int64_t{1});
}

bool PlainQLinearAveragePool(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const bool last = IntOr(c, "channels_last", 0) != 0, all = IntOr(c, "count_include_pad", 0) != 0;
  const Dims kernel = IntsOr(c, "kernel_shape", {}), strides = IntsOr(c, "strides", {}),
             pads = IntsOr(c, "pads", {});
  const size_t h = last ? 1 : 2, w = h + 1;
  Dims wanted = x.dims;
  for (size_t d = 0; d < 2; ++d) {
    wanted[h + d] = (x.dims[h + d] + pads[d] + pads[d + 2] - kernel[d]) / strides[d] + 1;
  }
  if (out->dims != wanted) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double sum = 0, count = 0;
    for (int64_t k = 0; k < kernel[0] * kernel[1]; ++k) {
      Dims from = at.at;
      from[h] = at.at[h] * strides[0] - pads[0] + k / kernel[1];
      from[w] = at.at[w] * strides[1] - pads[1] + k % kernel[1];
      const bool inside =
          from[h] >= 0 && from[h] < x.dims[h] && from[w] >= 0 && from[w] < x.dims[w];
      if (inside) sum += Dequantized(c, 0, Flat(x.dims, from));
      if (inside || all) ++count;
    }
    SetByte(c, 3, out, i, count > 0 ? sum / count : 0);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_average_pool) = {"com.microsoft.QLinearAveragePool",
                                                 QLinearAveragePoolCase, 0, Error::kOfElement,
                                                 PlainQLinearAveragePool};

}  // namespace ge::test
