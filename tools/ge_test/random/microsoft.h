// What random cases of com.microsoft's operators share: curves of Gelu, quantized tensors that go
// by way of f32, and masks of attention.
#pragma once

#include "tools/ge_test/random/quantized.h"

namespace ge::test {

// The normal distribution's share below v, and its approximation by tanh.
inline double NormalShare(double v) { return std::erfc(-v / std::sqrt(2.0)) / 2; }
inline double TanhShare(double v) {
  const double bent = std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v);
  return 1 - 1 / (std::exp(2 * bent) + 1);
}

// f of input 0 plus input 1, a vector over the last axis that may be absent.
template <typename F>
bool PlainBiased(const RandomCase& c, HostTensor* out, F f) {
  const HostTensor& x = *c.inputs[0].tensor;
  const HostTensor* bias = Maybe(c, 1);
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double b = bias != nullptr ? ElementAsDouble(*bias, i % x.dims.back()) : 0;
    SetElement(out, i, f(ElementAsDouble(x, i) + b));
  }
  return true;
}

// ---- quantized tensors; every step is rounded to f32 -------------------------------------------

inline double InF32(double v) { return static_cast<float>(v); }

// A tensor, its scale and, now and then not, its zero point.
inline void AddByteTensor(CaseMaker& m, DType t, const Dims& dims, bool zero = true) {
  m.Add(Codes(m, t, dims));
  m.Add(m.Numbers(DType::kFloat, {}, 0.01, 0.1));
  if (zero) {
    m.Add(Codes(m, t, m.r.Chance(0.5) ? Dims{} : Dims{1}));
  } else {
    m.AddAbsent();
  }
}
inline void AddByteResult(CaseMaker& m, DType t, double least, double most, bool zero = true) {
  m.Add(m.Numbers(DType::kFloat, {}, least, most));
  if (zero) m.Add(Codes(m, t, {}));
}

// Element `at` of the tensor that is input i, followed by its scale and zero point.
inline double Dequantized(const RandomCase& c, size_t i, int64_t at) {
  const double code = ElementAsDouble(*c.inputs[i].tensor, at);
  const double zero = ElementOr(Maybe(c, i + 2), 0, 0);
  return InF32((code - zero) * ElementAsDouble(*c.inputs[i + 1].tensor, 0));
}
// Input i is the scale of the result, i + 1 its zero point.
inline void SetByte(const RandomCase& c, size_t i, HostTensor* out, int64_t at, double v) {
  const double scale = ElementAsDouble(*c.inputs[i].tensor, 0);
  SetQuantized(out, at, InF32(InF32(v) / scale), ElementOr(Maybe(c, i + 1), 0, 0));
}

// QLinearAdd and the like: A and B broadcast.
inline void BytePairCase(CaseMaker& m, double least, double most) {
  const Dims to = m.Shape(0, 3);
  const bool zero = m.r.Chance(0.8);
  AddByteTensor(m, m.dtype(), to, zero);
  AddByteTensor(m, m.dtype(), m.Narrowed(to), zero);
  AddByteResult(m, m.dtype(), least, most, zero);
  m.c.typed = false;
}
template <typename F>
bool PlainBytePair(const RandomCase& c, HostTensor* out, F f) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[3].tensor;
  if (a.dims != out->dims || a.dtype != out->dtype) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    SetByte(c, 6, out, i, f(Dequantized(c, 0, i), Dequantized(c, 3, Broadcast(b, at.at))));
  }
  return true;
}

// Operators of one tensor, element by element.
inline void ByteMapCase(CaseMaker& m, const Dims& dims, double least, double most) {
  const bool zero = m.r.Chance(0.8);
  AddByteTensor(m, m.dtype(), dims, zero);
  AddByteResult(m, m.dtype(), least, most, zero);
  m.c.typed = false;
}
template <typename F>
bool PlainByteMap(const RandomCase& c, HostTensor* out, F f) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims || x.dtype != out->dtype) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) SetByte(c, 3, out, i, f(Dequantized(c, 0, i)));
  return true;
}

// ---- attention ---------------------------------------------------------------------------------

// Null, lengths [B], ends and begins [2B], [B,T] or [B,S,T]; every query sees the first key.
inline std::shared_ptr<HostTensor> AttentionMask(CaseMaker& m, int64_t batch, int64_t steps,
                                                 int64_t total) {
  const int64_t kind = m.r.Int(0, 4);
  if (kind == 0) return nullptr;
  const auto most = static_cast<double>(total);
  if (kind == 1) return m.Numbers(DType::kInt32, {batch}, 1, most);
  if (kind == 2) {
    auto t = m.Numbers(DType::kInt32, {2 * batch}, 1, most);
    for (int64_t b = 0; b < batch; ++b) SetIntElement(t.get(), batch + b, 0);
    return t;
  }
  auto t =
      m.Numbers(DType::kInt32, kind == 3 ? Dims{batch, total} : Dims{batch, steps, total}, 0, 1);
  for (int64_t i = 0, n = t->count(); i < n; i += total) SetIntElement(t.get(), i, 1);
  return t;
}

inline void AddMaybe(CaseMaker& m, std::shared_ptr<HostTensor> t) {
  if (t) {
    m.Add(std::move(t));
  } else {
    m.AddAbsent();
  }
}

}  // namespace ge::test
