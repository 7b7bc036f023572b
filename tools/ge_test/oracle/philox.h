// Independent answers for the operators that draw random numbers: the generator that ref documents
// (plugins/ref/kernels/philox.h), written again from the paper, one element at a time.
#pragma once

#include <cstring>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

inline void AddRandomSeed(CaseMaker& m) {
  if (m.r.Chance(0.6)) m.Set("seed", static_cast<double>(m.r.Int(-8, 8)) * 0.5);
}

inline void AddRandomShape(CaseMaker& m) {
  m.Set("shape", m.Shape(0, 4));
  m.Set("dtype", static_cast<int64_t>(m.dtype()));
  m.c.typed = false;
  AddRandomSeed(m);
}

// For the Like forms: any input, and a dtype where the input's own is no float.
inline void AddRandomInput(CaseMaker& m) {
  m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), 0, 5));
  if (!IsFloat(m.dtype()) || m.r.Chance(0.3)) {
    m.Set("dtype", static_cast<int64_t>(m.r.Chance(0.5) ? DType::kFloat : DType::kDouble));
  }
  AddRandomSeed(m);
}

// The number of [0, 1) of element i.
inline double PlainDraw(const RandomCase& c, int64_t i) {
  uint64_t key = 0xcbf29ce484222325u;
  if (FindAttr(c, "seed") != nullptr) {
    const auto seed = static_cast<float>(FloatOr(c, "seed", 0));
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

// Output 0 has the shape of attribute `shape` or of the input, and the dtype that was asked for.
inline bool HasDrawnType(const RandomCase& c, const HostTensor& out) {
  const bool like = !c.inputs.empty();
  const Dims dims = like ? c.inputs[0].tensor->dims : IntsOr(c, "shape", {});
  const DType own = like ? c.inputs[0].tensor->dtype : DType::kFloat;
  return out.dims == dims &&
         out.dtype == static_cast<DType>(IntOr(c, "dtype", static_cast<int64_t>(own)));
}

inline bool PlainRandomUniform(const RandomCase& c, HostTensor* out) {
  if (!HasDrawnType(c, *out)) return false;
  const double low = FloatOr(c, "low", 0), high = FloatOr(c, "high", 1);
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double u = PlainDraw(c, i);
    SetElement(out, i, low * (1 - u) + high * u);
  }
  return true;
}

inline bool PlainRandomNormal(const RandomCase& c, HostTensor* out) {
  if (!HasDrawnType(c, *out)) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double u = 1 - PlainDraw(c, i / 2 * 2), angle = 2 * M_PI * PlainDraw(c, i / 2 * 2 + 1);
    const double turned = i % 2 == 0 ? std::cos(angle) : std::sin(angle);
    SetElement(
        out, i,
        FloatOr(c, "mean", 0) + FloatOr(c, "scale", 1) * turned * std::sqrt(-2 * std::log(u)));
  }
  return true;
}

}  // namespace ge::test
