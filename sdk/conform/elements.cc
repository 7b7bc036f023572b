#include "elements.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ge::conform {
namespace {

float FromBf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float out;
  std::memcpy(&out, &wide, sizeof out);
  return out;
}
uint16_t ToBf16(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  if (std::isnan(v)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

template <class T>
double At(const Tensor& t, int64_t i) {
  return static_cast<double>(t.as<T>()[i]);
}
template <class T>
void Put(Tensor* t, int64_t i, double v) {
  t->as<T>()[i] = static_cast<T>(v);
}

}  // namespace

double ElementOf(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype) {
    case GE_F32:
      return At<float>(tensor, i);
    case GE_F64:
      return At<double>(tensor, i);
    case GE_F16:
      return static_cast<double>(static_cast<float>(tensor.as<_Float16>()[i]));
    case GE_BF16:
      return FromBf16(tensor.as<uint16_t>()[i]);
    case GE_I8:
      return At<int8_t>(tensor, i);
    case GE_U8:
    case GE_BOOL:
      return At<uint8_t>(tensor, i);
    case GE_I16:
      return At<int16_t>(tensor, i);
    case GE_U16:
      return At<uint16_t>(tensor, i);
    case GE_I32:
      return At<int32_t>(tensor, i);
    case GE_U32:
      return At<uint32_t>(tensor, i);
    case GE_I64:
      return At<int64_t>(tensor, i);
    case GE_U64:
      return At<uint64_t>(tensor, i);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

void SetElement(Tensor* tensor, int64_t i, double value) {
  switch (tensor->dtype) {
    case GE_F32:
      return Put<float>(tensor, i, value);
    case GE_F64:
      return Put<double>(tensor, i, value);
    case GE_F16:
      tensor->as<_Float16>()[i] = static_cast<_Float16>(static_cast<float>(value));
      return;
    case GE_BF16:
      tensor->as<uint16_t>()[i] = ToBf16(static_cast<float>(value));
      return;
    case GE_I8:
      return Put<int8_t>(tensor, i, value);
    case GE_U8:
    case GE_BOOL:
      return Put<uint8_t>(tensor, i, value);
    case GE_I16:
      return Put<int16_t>(tensor, i, value);
    case GE_U16:
      return Put<uint16_t>(tensor, i, value);
    case GE_I32:
      return Put<int32_t>(tensor, i, value);
    case GE_U32:
      return Put<uint32_t>(tensor, i, value);
    case GE_I64:
      return Put<int64_t>(tensor, i, value);
    case GE_U64:
      return Put<uint64_t>(tensor, i, value);
    default:
      return;
  }
}

bool IsFloat(int32_t dtype) { return UnitOf(dtype) > 0; }
bool IsInteger(int32_t dtype) {
  return (dtype >= GE_U8 && dtype <= GE_I64 && dtype != GE_STRING) || dtype == GE_U32 ||
         dtype == GE_U64;
}

double UnitOf(int32_t dtype) {
  switch (dtype) {
    case GE_F64:
      return 0x1p-53;
    case GE_F32:
      return 0x1p-24;
    case GE_F16:
      return 0x1p-11;
    case GE_BF16:
      return 0x1p-8;
    default:
      return 0;
  }
}

double TinyOf(int32_t dtype) {
  return dtype == GE_F64 ? 0x1p-1022 : dtype == GE_F16 ? 0x1p-24 : 0x1p-126;
}

double RoundedTo(int32_t dtype, double value) {
  Tensor one(dtype, {1});
  SetElement(&one, 0, value);
  return ElementOf(one, 0);
}

Tensor Converted(const Tensor& tensor, int32_t dtype) {
  Tensor out(dtype, tensor.dims);
  for (int64_t i = 0, n = tensor.count(); i < n; ++i) SetElement(&out, i, ElementOf(tensor, i));
  return out;
}

std::string ShortName(int32_t dtype) {
  switch (dtype) {
    case GE_F32:
      return "f32";
    case GE_F64:
      return "f64";
    case GE_F16:
      return "f16";
    case GE_BF16:
      return "bf16";
    case GE_I8:
      return "i8";
    case GE_U8:
      return "u8";
    case GE_I32:
      return "i32";
    case GE_I64:
      return "i64";
    case GE_BOOL:
      return "bool";
    default:
      return plugin::DTypeName(dtype);
  }
}

std::string TypeText(const Tensor& tensor) {
  return fmt::format("{}[{}]", ShortName(tensor.dtype), fmt::join(tensor.dims, ","));
}

std::string IndexText(int64_t i, const Dims& dims) {
  Dims index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = dims[d] != 0 ? i % dims[d] : 0;
    i = dims[d] != 0 ? i / dims[d] : 0;
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

Tensor Random::Numbers(int32_t dtype, const Dims& dims, double lo, double hi) {
  Tensor t(dtype, dims);
  for (int64_t i = 0, n = t.count(); i < n; ++i) {
    const double v =
        dtype == GE_BOOL ? static_cast<double>(Int(0, 1))
        : IsFloat(dtype)
            ? lo + Unit() * (hi - lo)
            : static_cast<double>(Int(static_cast<int64_t>(lo), static_cast<int64_t>(hi)));
    SetElement(&t, i, v);
  }
  return t;
}

}  // namespace ge::conform
