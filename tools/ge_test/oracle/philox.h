// Independent answers for operators with random numbers: the generator documented by ref
// (plugins/ref/kernels/philox.h), written again from the paper, one element at a time.
#pragma once

#include <cstring>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

inline void AddRandomSeed(CaseMaker& maker) {
  if (maker.r.Chance(0.6)) maker.Set("seed", static_cast<double>(maker.r.Int(-8, 8)) * 0.5);
}

inline void AddRandomShape(CaseMaker& maker) {
  maker.Set("shape", maker.Shape(0, 4));
  maker.Set("dtype", static_cast<int64_t>(maker.dtype()));
  maker.c.typed = false;
  AddRandomSeed(maker);
}

// For the Like forms: any input, and a dtype where the input's own is no float.
inline void AddRandomInput(CaseMaker& maker) {
  maker.Add(maker.Numbers(maker.dtype(), maker.Shape(0, 4), 0, 5));
  if (!IsFloat(maker.dtype()) || maker.r.Chance(0.3)) {
    maker.Set("dtype", static_cast<int64_t>(maker.r.Chance(0.5) ? DType::kFloat : DType::kDouble));
  }
  AddRandomSeed(maker);
}

// The number of [0, 1) of element i.
inline double PlainDraw(const RandomCase& sample, int64_t i) {
  uint64_t key = 0xcbf29ce484222325u;
  if (FindAttr(sample, "seed") != nullptr) {
    const auto seed = static_cast<float>(FloatOr(sample, "seed", 0));
    uint32_t bits = 0;
    std::memcpy(&bits, &seed, sizeof(bits));
    key = bits;
  } else {
    for (const unsigned char ch : {'n', 'o', 'd', 'e'}) key = (key ^ ch) * 0x100000001b3u;
  }
  uint64_t x0 = static_cast<uint64_t>(i / 2) & 0xffffffffu, x1 = static_cast<uint64_t>(i / 2) >> 32;
  uint64_t x2 = 0, x3 = 0, k0 = key & 0xffffffffu, k1 = key >> 32;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = x0 * 3528531795u, p2 = x2 * 3449720151u;
    x0 = (p2 >> 32) ^ x1 ^ k0;
    x1 = p2 & 0xffffffffu;
    x2 = (p0 >> 32) ^ x3 ^ k1;
    x3 = p0 & 0xffffffffu;
    k0 = (k0 + 2654435769u) & 0xffffffffu;
    k1 = (k1 + 3144134277u) & 0xffffffffu;
  }
  const uint64_t bits = i % 2 == 0 ? x1 * 0x100000000u + x0 : x3 * 0x100000000u + x2;
  return std::ldexp(static_cast<double>(bits / 2048), -53);
}

// Output 0 has the shape of attribute `shape` or of the input, and the requested dtype.
inline bool HasDrawnType(const RandomCase& sample, const HostTensor& out) {
  const bool like = !sample.inputs.empty();
  const Dims dims = like ? sample.inputs[0].tensor->dims : IntsOr(sample, "shape", {});
  const DType own = like ? sample.inputs[0].tensor->dtype : DType::kFloat;
  return out.dims == dims &&
         out.dtype == static_cast<DType>(IntOr(sample, "dtype", static_cast<int64_t>(own)));
}

inline bool PlainRandomUniform(const RandomCase& sample, HostTensor* out) {
  if (!HasDrawnType(sample, *out)) return false;
  const double low = FloatOr(sample, "low", 0), high = FloatOr(sample, "high", 1);
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double u = PlainDraw(sample, i);
    SetElement(out, i, low * (1 - u) + high * u);
  }
  return true;
}

inline bool PlainRandomNormal(const RandomCase& sample, HostTensor* out) {
  if (!HasDrawnType(sample, *out)) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double u = 1 - PlainDraw(sample, i / 2 * 2),
                 angle = 2 * M_PI * PlainDraw(sample, i / 2 * 2 + 1);
    const double turned = i % 2 == 0 ? std::cos(angle) : std::sin(angle);
    SetElement(out, i,
               FloatOr(sample, "mean", 0) +
                   FloatOr(sample, "scale", 1) * turned * std::sqrt(-2 * std::log(u)));
  }
  return true;
}

}  // namespace ge::test
