#include "ge/ops/known_ints.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ge/ops/infer_shapes.h"

namespace ge {
namespace {

// Elements of a small, plain constant as T, converted by `get`.
template <typename T, typename Out, typename Get>
std::optional<std::vector<Out>> Decode(const Const& k, Get get) {
  const auto count = ElementCount(k.type);
  if (!count || *count > static_cast<int64_t>(kMaxKnownInts)) return std::nullopt;
  ConstScratch scratch;
  const std::byte* bytes = *count == 0 ? nullptr : ConstBytes(k, &scratch);
  if (*count > 0 && bytes == nullptr) return std::nullopt;
  if (k.splat.empty() && k.bytes < static_cast<uint64_t>(*count) * sizeof(T)) return std::nullopt;
  std::vector<Out> values;
  for (int64_t i = 0; i < *count; ++i) {
    T v;
    std::memcpy(&v, bytes + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    values.push_back(get(v));
  }
  return values;
}

template <typename T>
std::optional<std::vector<Dim>> DecodeInts(const Const& k) {
  return Decode<T, Dim>(k, [](T v) { return KnownDim(static_cast<int64_t>(v)); });
}

double FromHalf(uint16_t h) {
  const double sign = (h & 0x8000) ? -1 : 1;
  const int exponent = (h >> 10) & 31;
  const int fraction = h & 1023;
  if (exponent == 31) {
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double FromBfloat(uint16_t b) {
  const uint32_t bits = static_cast<uint32_t>(b) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

// Can a content element stand in this dtype? A symbolic one is trusted in 32 bits and more.
bool Fits(DType t, Dim v) {
  const int bits = DTypeBits(t);
  if (!IsInteger(t) && t != DType::kBool) return false;
  if (!v.known()) return bits >= 32;
  if (t == DType::kBool) return v.value == 0 || v.value == 1;
  const bool is_unsigned = (kUnsignedInts & Bit(t)) != 0;
  if (is_unsigned) return v.value >= 0 && (bits >= 64 || v.value < (int64_t{1} << bits));
  if (bits >= 64) return true;
  return v.value >= -(int64_t{1} << (bits - 1)) && v.value < (int64_t{1} << (bits - 1));
}

// Index into an input of dims `in` for the flat index `flat` of an output of dims `out`.
size_t BroadcastIndex(const std::vector<int64_t>& out, const std::vector<int64_t>& in,
                      size_t flat) {
  size_t index = 0, stride = 1;
  for (size_t back = 1; back <= out.size(); ++back) {
    const size_t extent = static_cast<size_t>(out[out.size() - back]);
    const size_t at = flat % extent;
    flat /= extent;
    if (back > in.size()) continue;
    const size_t size = static_cast<size_t>(in[in.size() - back]);
    if (size != 1) index += at * stride;
    stride *= size;
  }
  return index;
}

}  // namespace

std::optional<std::vector<Dim>> ConstInts(const Const& k) {
  switch (k.type.dtype) {
    case DType::kInt8:
      return DecodeInts<int8_t>(k);
    case DType::kInt16:
      return DecodeInts<int16_t>(k);
    case DType::kInt32:
      return DecodeInts<int32_t>(k);
    case DType::kInt64:
      return DecodeInts<int64_t>(k);
    case DType::kUint8:
      return DecodeInts<uint8_t>(k);
    case DType::kUint16:
      return DecodeInts<uint16_t>(k);
    case DType::kUint32:
      return DecodeInts<uint32_t>(k);
    case DType::kUint64: {
      auto values = DecodeInts<uint64_t>(k);
      for (size_t i = 0; values && i < values->size(); ++i) {
        if ((*values)[i].value < 0) return std::nullopt;  // above INT64_MAX
      }
      return values;
    }
    case DType::kBool:
      return Decode<uint8_t, Dim>(k, [](uint8_t v) { return KnownDim(v != 0); });
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<Dim>> Content(InferContext& context, size_t i) {
  if (i >= context.input_count() || !context.has_input(i)) return std::nullopt;
  if (const auto* ints = context.input_ints(i)) {
    if (ints->size() > kMaxKnownInts) return std::nullopt;
    return *ints;
  }
  const Const* k = context.input_const(i);
  return k ? ConstInts(*k) : std::nullopt;
}

std::optional<std::vector<int64_t>> Numbers(InferContext& context, size_t i) {
  auto content = Content(context, i);
  if (!content) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim& d : *content) {
    if (!d.known()) return std::nullopt;
    numbers.push_back(d.value);
  }
  return numbers;
}

std::optional<std::vector<double>> ConstFloats(const InferContext& context, size_t i) {
  const Const* k =
      i < context.input_count() && context.has_input(i) ? context.input_const(i) : nullptr;
  if (k == nullptr) return std::nullopt;
  switch (k->type.dtype) {
    case DType::kFloat:
      return Decode<float, double>(*k, [](float v) { return double{v}; });
    case DType::kDouble:
      return Decode<double, double>(*k, [](double v) { return v; });
    case DType::kFloat16:
      return Decode<uint16_t, double>(*k, FromHalf);
    case DType::kBfloat16:
      return Decode<uint16_t, double>(*k, FromBfloat);
    default:
      return std::nullopt;
  }
}

void SetContent(InferContext& context, size_t output, DType dtype, std::vector<Dim> values) {
  if (values.size() > kMaxKnownInts) return;
  for (const Dim& v : values) {
    if (!Fits(dtype, v)) return;
  }
  context.SetOutputInts(output, std::move(values));
}

void PassContent(InferContext& context) {
  if (auto content = Content(context, 0)) {
    SetContent(context, 0, context.input_type(0).dtype, std::move(*content));
  }
}

Status InferFolded(InferContext& context, DimFold fold, DType out) {
  GE_RETURN_IF_ERROR(InferBroadcast(context, out));
  std::vector<std::vector<Dim>> contents;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::vector<Dim>> dims;
  for (size_t i = 0; i < context.input_count(); ++i) {
    auto content = Content(context, i);
    if (!content || !context.input_type(i).is_static()) return {};
    if (ElementCount(context.input_type(i)) != static_cast<int64_t>(content->size())) return {};
    contents.push_back(std::move(*content));
    shapes.push_back(context.input_type(i).static_dims());
    dims.push_back(context.input_type(i).dims);
  }
  GE_ASSIGN_OR_RETURN(std::vector<Dim> result, BroadcastDims(context, dims));
  const DType dtype = out == DType::kUndefined ? context.input_type(0).dtype : out;
  const Type type = TensorType(dtype, result);
  const auto count = ElementCount(type);
  if (!count || *count > static_cast<int64_t>(kMaxKnownInts)) return {};
  const std::vector<int64_t> shape = type.static_dims();
  std::vector<Dim> values;
  for (size_t flat = 0; flat < static_cast<size_t>(*count); ++flat) {
    Dim v = contents[0][BroadcastIndex(shape, shapes[0], flat)];
    for (size_t i = 1; i < contents.size(); ++i) {
      const auto folded =
          fold(context.dims(), v, contents[i][BroadcastIndex(shape, shapes[i], flat)]);
      if (!folded) return {};
      v = *folded;
    }
    values.push_back(v);
  }
  SetContent(context, 0, dtype, std::move(values));
  return {};
}

std::optional<int64_t> LowerBound(const DimTable& dims, Dim x) {
  const int64_t low = dims.RangeOf(x).lo;
  return low == INT64_MIN ? std::nullopt : std::optional(low);
}

std::optional<int64_t> UpperBound(const DimTable& dims, Dim x) {
  const int64_t high = dims.RangeOf(x).hi;
  return high == INT64_MAX ? std::nullopt : std::optional(high);
}

}  // namespace ge
