#include "tools/ge_test/oracle/plain.h"

namespace ge::test {
namespace {

void MelWeightMatrixCase(CaseMaker& m) {
  const int64_t rate = m.r.Pick(std::vector<int64_t>{8000, 16000, 44100});
  m.AddConstant(m.Ints(m.dtype(), {}, {m.r.Int(0, 7)}));
  m.AddConstant(m.Ints(m.dtype(), {}, {m.r.Int(1, 70)}));
  m.Add(m.Ints(m.dtype(), {}, {rate}));
  m.Add(m.Numbers(DType::kFloat, {}, 0, 500));
  m.Add(m.Numbers(DType::kFloat, {}, 600, static_cast<double>(rate) / 2));
  if (m.r.Chance(0.3)) m.Set("output_datatype", static_cast<int64_t>(DType::kDouble));
}

// Row by row: how high the triangle of each band stands there.
bool PlainMelWeightMatrix(const RandomCase& c, HostTensor* out) {
  const int64_t bands = ElementAsInt(*c.inputs[0].tensor, 0),
                length = ElementAsInt(*c.inputs[1].tensor, 0),
                rate = ElementAsInt(*c.inputs[2].tensor, 0);
  if (out->dims != Dims{length / 2 + 1, bands}) return false;
  const auto mel = [&](size_t i) {
    return 2595 * std::log10(1 + ElementAsDouble(*c.inputs[i].tensor, 0) / 700);
  };
  const double step = (mel(4) - mel(3)) / static_cast<double>(bands + 2);
  const auto corner = [&](int64_t i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(3)) / 2595) - 1);
    return std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
  };
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t band = i % bands;
    const double row = static_cast<double>(i / bands), left = corner(band), top = corner(band + 1),
                 right = corner(band + 2);
    double v = 0;
    if (row == top) {
      v = 1;
    } else if (row > left && row < top) {
      v = (row - left) / (top - left);
    } else if (row > top && row < right) {
      v = (right - row) / (right - top);
    }
    SetElement(out, i, v);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(mel_weight_matrix) = {"MelWeightMatrix", MelWeightMatrixCase, 4e-6, Error::kOfElement,
                                   PlainMelWeightMatrix};

}  // namespace ge::test
