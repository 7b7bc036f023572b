// Shared by random cases of com.microsoft's operators: curves of Gelu, quantized tensors made by
// way of f32, and masks of attention.
#pragma once

#include "tools/ge_test/random/quantized.h"

namespace ge::test {

// The normal distribution's share below `value`, and its approximation by tanh.
inline double NormalShare(double value) { return std::erfc(-value / std::sqrt(2.0)) / 2; }
inline double TanhShare(double value) {
  const double bent = std::sqrt(2 / std::acos(-1.0)) * (value + 0.044715 * value * value * value);
  return 1 - 1 / (std::exp(2 * bent) + 1);
}

// `call` of input 0 plus input 1, an optional vector over the last axis.
template <typename F>
bool PlainBiased(const RandomCase& sample, HostTensor* out, F call) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const HostTensor* bias = Maybe(sample, 1);
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double b = bias != nullptr ? ElementAsDouble(*bias, i % x.dims.back()) : 0;
    SetElement(out, i, call(ElementAsDouble(x, i) + b));
  }
  return true;
}

// ---- quantized tensors; every step is rounded to f32 -------------------------------------------

inline double InF32(double value) { return static_cast<float>(value); }

// A tensor, its scale and, now and then not, its zero point.
inline void AddByteTensor(CaseMaker& maker, DType dtype, const Dims& dims, bool zero = true) {
  maker.Add(Codes(maker, dtype, dims));
  maker.Add(maker.Numbers(DType::kFloat, {}, 0.01, 0.1));
  if (zero) {
    maker.Add(Codes(maker, dtype, maker.r.Chance(0.5) ? Dims{} : Dims{1}));
  } else {
    maker.AddAbsent();
  }
}
inline void AddByteResult(CaseMaker& maker, DType dtype, double least, double most,
                          bool zero = true) {
  maker.Add(maker.Numbers(DType::kFloat, {}, least, most));
  if (zero) maker.Add(Codes(maker, dtype, {}));
}

// Element `at` of input i; its scale and zero point are the next inputs.
inline double Dequantized(const RandomCase& sample, size_t i, int64_t at) {
  const double code = ElementAsDouble(*sample.inputs[i].tensor, at);
  const double zero = ElementOr(Maybe(sample, i + 2), 0, 0);
  return InF32((code - zero) * ElementAsDouble(*sample.inputs[i + 1].tensor, 0));
}
// Input i is the scale of the result, i + 1 its zero point.
inline void SetByte(const RandomCase& sample, size_t i, HostTensor* out, int64_t at, double value) {
  const double scale = ElementAsDouble(*sample.inputs[i].tensor, 0);
  SetQuantized(out, at, InF32(InF32(value) / scale), ElementOr(Maybe(sample, i + 1), 0, 0));
}

// QLinearAdd and the like: A and B broadcast.
inline void BytePairCase(CaseMaker& maker, double least, double most) {
  const Dims to = maker.Shape(0, 3);
  const bool zero = maker.r.Chance(0.8);
  AddByteTensor(maker, maker.dtype(), to, zero);
  AddByteTensor(maker, maker.dtype(), maker.Narrowed(to), zero);
  AddByteResult(maker, maker.dtype(), least, most, zero);
  maker.c.typed = false;
}
template <typename F>
bool PlainBytePair(const RandomCase& sample, HostTensor* out, F call) {
  const HostTensor &a = *sample.inputs[0].tensor, &b = *sample.inputs[3].tensor;
  if (a.dims != out->dims || a.dtype != out->dtype) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    SetByte(sample, 6, out, i,
            call(Dequantized(sample, 0, i), Dequantized(sample, 3, Broadcast(b, at.at))));
  }
  return true;
}

// Operators of one tensor, element by element.
inline void ByteMapCase(CaseMaker& maker, const Dims& dims, double least, double most) {
  const bool zero = maker.r.Chance(0.8);
  AddByteTensor(maker, maker.dtype(), dims, zero);
  AddByteResult(maker, maker.dtype(), least, most, zero);
  maker.c.typed = false;
}
template <typename F>
bool PlainByteMap(const RandomCase& sample, HostTensor* out, F call) {
  const HostTensor& x = *sample.inputs[0].tensor;
  if (x.dims != out->dims || x.dtype != out->dtype) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i)
    SetByte(sample, 3, out, i, call(Dequantized(sample, 0, i)));
  return true;
}

// ---- attention ---------------------------------------------------------------------------------

// Null, lengths [B], ends and begins [2B], [B,T] or [B,S,T]; every query sees the first key.
inline std::shared_ptr<HostTensor> AttentionMask(CaseMaker& maker, int64_t batch, int64_t steps,
                                                 int64_t total) {
  const int64_t kind = maker.r.Int(0, 4);
  if (kind == 0) return nullptr;
  const auto most = static_cast<double>(total);
  if (kind == 1) return maker.Numbers(DType::kInt32, {batch}, 1, most);
  if (kind == 2) {
    auto t = maker.Numbers(DType::kInt32, {2 * batch}, 1, most);
    for (int64_t b = 0; b < batch; ++b) SetIntElement(t.get(), batch + b, 0);
    return t;
  }
  auto t = maker.Numbers(DType::kInt32, kind == 3 ? Dims{batch, total} : Dims{batch, steps, total},
                         0, 1);
  for (int64_t i = 0, n = t->count(); i < n; i += total) SetIntElement(t.get(), i, 1);
  return t;
}

inline void AddMaybe(CaseMaker& maker, std::shared_ptr<HostTensor> tensor) {
  if (tensor) {
    maker.Add(std::move(tensor));
  } else {
    maker.AddAbsent();
  }
}

}  // namespace ge::test
