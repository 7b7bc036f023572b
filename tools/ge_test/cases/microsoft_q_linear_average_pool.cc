#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/microsoft.h"

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
  if (m.r.Chance(0.25)) {
    m.Set("auto_pad", m.r.Pick(std::vector<std::string>{"SAME_UPPER", "SAME_LOWER", "VALID"}));
  } else {
    m.Set("pads", Dims{m.r.Int(0, kernel[0] - 1), 0, 0, m.r.Int(0, kernel[1] - 1)});
    if (m.r.Chance(0.3)) m.Set("ceil_mode", int64_t{1});
  }
  if (m.r.Chance(0.5)) m.Set("count_include_pad", m.r.Int(0, 1));
  if (last) m.Set("channels_last", int64_t{1});
}

struct Mean {
  double sum = 0, sizes = 0, count = 0;  // `sizes`: the sum without signs
  double value() const { return count > 0 ? sum / count : 0; }
};

PlainWindows WindowsOfPool(const RandomCase& c) {
  const HostTensor& x = *c.inputs[0].tensor;
  const size_t h = IntOr(c, "channels_last", 0) != 0 ? 1 : 2;
  return {c, {x.dims[h], x.dims[h + 1]}, IntsOr(c, "kernel_shape", {})};
}

// The mean of the window that gives the element at `to`.
Mean MeanOfWindow(const RandomCase& c, const Dims& to) {
  const HostTensor& x = *c.inputs[0].tensor;
  const bool last = IntOr(c, "channels_last", 0) != 0, all = IntOr(c, "count_include_pad", 0) != 0;
  const PlainWindows windows = WindowsOfPool(c);
  const Dims& kernel = windows.kernel;
  const size_t h = last ? 1 : 2, w = h + 1;
  Mean mean;
  for (int64_t k = 0; k < kernel[0] * kernel[1]; ++k) {
    Dims from = to;
    const Dims at = windows.At({to[h], to[w]}, {k / kernel[1], k % kernel[1]});
    from[h] = at[0];
    from[w] = at[1];
    const bool inside = windows.IsInside(at);
    const double v = inside ? Dequantized(c, 0, Flat(x.dims, from)) : 0;
    mean.sum += v;
    mean.sizes += std::fabs(v);
    if (inside || (all && windows.IsPadded(at))) ++mean.count;
  }
  return mean;
}

bool PlainQLinearAveragePool(const RandomCase& c, HostTensor* out) {
  const size_t h = IntOr(c, "channels_last", 0) != 0 ? 1 : 2;
  const PlainWindows windows = WindowsOfPool(c);
  Dims wanted = c.inputs[0].tensor->dims;
  for (size_t d = 0; d < 2; ++d) wanted[h + d] = windows.out[d];
  if (out->dims != wanted) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    SetByte(c, 3, out, i, MeanOfWindow(c, at.at).value());
  }
  return true;
}

// native's AveragePool adds up in f32 and multiplies by reciprocals of the counts: each term may be
// rounded once an addition, and the mean five times more until it is a code.
BeforeCode BeforeQLinearAveragePool(const RandomCase& c, const Dims& at) {
  constexpr double kUnit = 0x1p-24;
  const Mean mean = MeanOfWindow(c, at);
  const double scale = ElementAsDouble(*c.inputs[3].tensor, 0);
  const double sizes = mean.count > 0 ? mean.sizes / mean.count / scale : 0;
  return {mean.value() / scale + ElementOr(Maybe(c, 4), 0, 0), (mean.count + 5) * kUnit * sizes};
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_average_pool) = {"com.microsoft.QLinearAveragePool",
                                                 QLinearAveragePoolCase,
                                                 0,
                                                 Error::kOfElement,
                                                 PlainQLinearAveragePool,
                                                 nullptr,
                                                 0,
                                                 BeforeQLinearAveragePool};

}  // namespace ge::test
