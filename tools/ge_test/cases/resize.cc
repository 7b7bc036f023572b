#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void ResizeCase(CaseMaker& m) {
  if (m.r.Chance(0.25)) return RepeatCase(m);
  Dims dims = Cat({m.r.Int(1, 2), m.Size(2, 24)}, m.Shape(1, 2, false));
  for (size_t i = 2; m.large && i < dims.size(); ++i)
    dims[i] = m.Size(0, dims.size() == 4 ? 50 : 400);
  std::string mode = m.r.Pick(std::vector<std::string>{"nearest", "linear", "cubic"});
  if (m.dtype() == DType::kBool) mode = "nearest";  // there is nothing between true and false
  m.Add(Signal(m, dims));
  m.AddAbsent();
  std::vector<double> scales(dims.size(), 1);
  std::vector<int64_t> sizes = dims;
  for (size_t i = 2; i < dims.size(); ++i) {
    // Sums of powers of two: positions come out the same however they are computed.
    scales[i] = m.r.Pick(std::vector<double>{0.5, 1, 1.5, 2, 2.5, 4});
    while (static_cast<double>(dims[i]) * scales[i] < 1) scales[i] *= 2;
    sizes[i] = m.Size(9, dims.size() == 4 ? 70 : 500);
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

}  // namespace

GE_RANDOM_OP(resize) = {"Resize", ResizeCase, 4e-6, Error::kOfTerms};

}  // namespace ge::test
