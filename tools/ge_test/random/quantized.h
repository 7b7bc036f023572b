// Shared by random cases of the quantizing operators: values of narrow dtypes, scales, and plain
// sums of products. Answers are doubles, which hold the sums exactly.
#pragma once

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {

struct CodeRange {
  int64_t least = 0, most = 0;
};
// The range of an integer dtype of at most 16 bits.
inline CodeRange RangeOfCodes(DType dtype) {
  const bool is_signed = dtype == DType::kInt2 || dtype == DType::kInt4 || dtype == DType::kInt8 ||
                         dtype == DType::kInt16;
  const int64_t codes = int64_t{1} << DTypeBits(dtype);
  return is_signed ? CodeRange{-codes / 2, codes / 2 - 1} : CodeRange{0, codes - 1};
}

// Any value of a narrow integer; floats and wide integers of moderate size.
inline std::shared_ptr<HostTensor> Codes(CaseMaker& maker, DType dtype, const Dims& dims) {
  if (!IsInteger(dtype)) return maker.Numbers(dtype, dims, -6, 6);
  if (DTypeBits(dtype) > 16) return maker.Numbers(dtype, dims, -1000, 1000);
  const CodeRange range = RangeOfCodes(dtype);
  auto codes = maker.Numbers(dtype, dims, 0, 0);
  for (int64_t i = 0, n = codes->count(); i < n; ++i) {
    SetIntElement(codes.get(), i, maker.r.Int(range.least, range.most));
  }
  return codes;
}

inline std::shared_ptr<HostTensor> Scales(CaseMaker& maker, DType dtype, const Dims& dims) {
  if (dtype == DType::kInt32) return maker.Numbers(dtype, dims, 1, 5);
  return maker.Numbers(dtype, dims, 0.05, 2);
}

inline double RoundedTo(DType dtype, double value) {
  auto one = MakeTensor(dtype, {});
  if (!one.ok()) return value;
  SetElement(&*one, 0, value);
  return ElementAsDouble(*one, 0);
}

// round(value) + zero in the range of an integer dtype, or the nearest value of a float8 or float4.
inline void SetQuantized(HostTensor* out, int64_t i, double value, double zero) {
  if (IsFloat(out->dtype)) return SetElement(out, i, zero == 0 ? value : value + zero);
  const CodeRange range = RangeOfCodes(out->dtype);
  const double r = std::nearbyint(value) + zero;
  SetIntElement(out, i,
                static_cast<int64_t>(std::clamp(r, static_cast<double>(range.least),
                                                static_cast<double>(range.most))));
}

inline double ElementOr(const HostTensor* tensor, int64_t i, double absent) {
  return tensor != nullptr ? ElementAsDouble(*tensor, tensor->count() == 1 ? 0 : i) : absent;
}

// ---- scales of QuantizeLinear and DequantizeLinear ---------------------------------------------

// The shape of the scale for x: one element, one an index of an axis, or one a block. Sets axis and
// block_size.
inline Dims MakeGrid(CaseMaker& maker, const Dims& x) {
  if (x.empty() || maker.r.Chance(0.35)) return maker.r.Chance(0.5) ? Dims{} : Dims{1};
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t axis = maker.r.Int(0, rank - 1), size = x[static_cast<size_t>(axis)];
  if (axis != 1 || maker.r.Chance(0.7)) maker.Set("axis", maker.Axis(axis, rank));
  if (maker.r.Chance(0.5)) return {size};
  const int64_t block = maker.r.Int(1, 3);
  maker.Set("block_size", block);
  Dims blocks = x;
  blocks[static_cast<size_t>(axis)] = (size + block - 1) / block;
  return blocks;
}

// The scale's index for position `at` of x.
inline int64_t GridPlace(const RandomCase& sample, const Dims& at) {
  const HostTensor& scale = *sample.inputs[1].tensor;
  if (scale.count() == 1) return 0;
  int64_t axis = IntOr(sample, "axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(at.size());
  if (at.size() == 1) axis = 0;
  const int64_t block = IntOr(sample, "block_size", 0);
  if (block == 0) return at[static_cast<size_t>(axis)];
  Dims place = at;
  place[static_cast<size_t>(axis)] /= block;
  return Flat(scale.dims, place);
}

// ---- sums of products --------------------------------------------------------------------------

// The shapes of image and weight of a convolution; sets its attributes.
inline std::pair<Dims, Dims> MakeByteConv(CaseMaker& maker) {
  if (maker.large) return SetLargeConv(maker);
  const Window w = MakeWindow(maker, true);
  const int64_t group = maker.r.Pick(std::vector<int64_t>{1, 1, 1, 2, 3}), in = maker.r.Int(1, 4),
                out = maker.r.Int(1, 4);
  Dims size = w.size;
  for (size_t i = 0; w.automatic && i < size.size(); ++i) size[i] = std::max(size[i], Reach(w, i));
  if (maker.r.Chance(0.6)) maker.Set("kernel_shape", w.kernel);
  if (group != 1) maker.Set("group", group);
  SetWindow(maker, w, true);
  SetAllPads(maker, w);
  return {Cat({maker.r.Chance(0.05) ? 0 : maker.r.Int(1, 2), in * group}, size),
          Cat({out * group, in}, w.kernel)};
}

// Pads before each axis.
inline Dims PadsBefore(const RandomCase& sample, const Dims& x, const Dims& dims, const Dims& y) {
  const size_t n = x.size() - 2;
  const Attr* a = FindAttr(sample, "auto_pad");
  if (a == nullptr) return IntsOr(sample, "pads", Dims(2 * n, 0));
  const auto& mode = std::get<std::string>(a->value);
  Dims before(n, 0);
  for (size_t d = 0; mode != "VALID" && d < n; ++d) {
    const int64_t stride = IntsOr(sample, "strides", Dims(n, 1))[d];
    const int64_t reach = (dims[d + 2] - 1) * IntsOr(sample, "dilations", Dims(n, 1))[d] + 1;
    const int64_t total = std::max<int64_t>(0, (y[d + 2] - 1) * stride + reach - x[d + 2]);
    before[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return before;
}

// The sum for the place `at` of the output; zero points may be null.
inline double PlainConvSum(const RandomCase& sample, const HostTensor& x, const HostTensor& tensor,
                           const HostTensor* x_zero, const HostTensor* w_zero, const Dims& out,
                           const Dims& at) {
  const size_t n = x.dims.size() - 2;
  const Dims strides = IntsOr(sample, "strides", Dims(n, 1)),
             dilations = IntsOr(sample, "dilations", Dims(n, 1));
  const Dims before = PadsBefore(sample, x.dims, tensor.dims, out);
  const int64_t per_group = tensor.dims[0] / IntOr(sample, "group", 1),
                first = at[1] / per_group * tensor.dims[1];
  Dims taps(tensor.dims.begin() + 1, tensor.dims.end());
  int64_t count = 1;
  for (const int64_t d : taps) count *= d;
  Index tap(taps);
  double sum = 0;
  for (int64_t k = 0; k < count; ++k, tap.Next()) {
    Dims from = {at[0], first + tap.at[0]}, weight = {at[1]};
    weight.insert(weight.end(), tap.at.begin(), tap.at.end());
    bool inside = true;
    for (size_t d = 0; d < n; ++d) {
      from.push_back(at[d + 2] * strides[d] - before[d] + tap.at[d + 1] * dilations[d]);
      inside = inside && from.back() >= 0 && from.back() < x.dims[d + 2];
    }
    if (!inside) continue;
    sum += (ElementAsDouble(x, Flat(x.dims, from)) - ElementOr(x_zero, 0, 0)) *
           (ElementAsDouble(tensor, Flat(tensor.dims, weight)) - ElementOr(w_zero, at[1], 0));
  }
  return sum;
}

// Shapes of two matrices that can be multiplied.
inline std::pair<Dims, Dims> MakeByteProduct(CaseMaker& maker) {
  if (maker.large) return LargeSides(maker);
  const int64_t k = maker.r.Chance(0.05) ? 0 : maker.r.Int(1, 12);
  const Dims batch = maker.Shape(0, 2);
  Dims a = Cat(maker.r.Chance(0.6) ? batch : maker.Narrowed(batch), {maker.r.Int(1, 7), k});
  Dims b = Cat(maker.r.Chance(0.6) ? batch : maker.Narrowed(batch), {k, maker.r.Int(1, 7)});
  if (maker.r.Chance(0.1)) a = {k};
  if (maker.r.Chance(0.1)) b = {k};
  return {a, b};
}

// The shape of a scale or zero point of a side: one element, or one a row (column).
inline Dims LineShape(CaseMaker& maker, const Dims& side, bool rows) {
  if (side.size() < 2 || maker.r.Chance(0.5)) return maker.r.Chance(0.5) ? Dims{} : Dims{1};
  if (maker.r.Chance(0.5)) return {side[side.size() - (rows ? 2 : 1)]};
  Dims whole = side;
  whole[side.size() - (rows ? 1 : 2)] = 1;
  return whole;
}

// One element of a product: its operands, and their rows and columns.
struct ProductPlaces {
  Dims a, b;  // shapes with the ones of vectors
  Dims out;   // as are the output's
  const Dims* at = nullptr;
  // Matrix of a side.
  int64_t Matrix(const Dims& side) const {
    int64_t i = 0;
    const size_t skip = at->size() - side.size();
    for (size_t d = 0; d + 2 < side.size(); ++d) {
      i = i * side[d] + (side[d] == 1 ? 0 : (*at)[skip + d]);
    }
    return i;
  }
  int64_t Row() const { return (*at)[at->size() - 2]; }
  int64_t Col() const { return at->back(); }
};
inline ProductPlaces PlacesOf(const HostTensor& left, const HostTensor& right, const Dims& out) {
  ProductPlaces p{left.dims, right.dims, out};
  if (p.b.size() == 1) {
    p.b.push_back(1);
    p.out.push_back(1);
  }
  if (p.a.size() == 1) {
    p.a.insert(p.a.begin(), 1);
    p.out.insert(p.out.end() - 1, 1);
  }
  return p;
}
// The parameter for the row or column of this position.
inline double LineValue(const HostTensor* tensor, const ProductPlaces& places, bool rows,
                        double absent) {
  if (tensor == nullptr || tensor->count() == 1) return ElementOr(tensor, 0, absent);
  const Dims& side = rows ? places.a : places.b;
  const int64_t line = rows ? places.Row() : places.Col();
  if (tensor->dims.size() == 1) return ElementAsDouble(*tensor, line);
  return ElementAsDouble(*tensor, places.Matrix(side) * side[side.size() - (rows ? 2 : 1)] + line);
}
inline double PlainProductSum(const HostTensor& left, const HostTensor& right,
                              const HostTensor* a_zero, const HostTensor* b_zero,
                              const ProductPlaces& places) {
  const int64_t k = places.a.back(), rows = places.a[places.a.size() - 2], cols = places.b.back();
  const double za = LineValue(a_zero, places, true, 0), zb = LineValue(b_zero, places, false, 0);
  double sum = 0;
  for (int64_t j = 0; j < k; ++j) {
    sum += (ElementAsDouble(left, (places.Matrix(places.a) * rows + places.Row()) * k + j) - za) *
           (ElementAsDouble(right, (places.Matrix(places.b) * k + j) * cols + places.Col()) - zb);
  }
  return sum;
}

}  // namespace ge::test
