// What random cases of the quantizing operators share: codes of narrow dtypes, scales, and plain
// sums of products. Answers are doubles, which hold the sums exactly.
#pragma once

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {

struct CodeRange {
  int64_t least = 0, most = 0;
};
// Of an integer dtype of at most 16 bits.
inline CodeRange RangeOfCodes(DType t) {
  const bool is_signed =
      t == DType::kInt2 || t == DType::kInt4 || t == DType::kInt8 || t == DType::kInt16;
  const int64_t codes = int64_t{1} << DTypeBits(t);
  return is_signed ? CodeRange{-codes / 2, codes / 2 - 1} : CodeRange{0, codes - 1};
}

// Any code of a narrow integer; floats and wide integers of moderate size.
inline std::shared_ptr<HostTensor> Codes(CaseMaker& m, DType t, const Dims& dims) {
  if (!IsInteger(t)) return m.Numbers(t, dims, -6, 6);
  if (DTypeBits(t) > 16) return m.Numbers(t, dims, -1000, 1000);
  const CodeRange range = RangeOfCodes(t);
  auto codes = m.Numbers(t, dims, 0, 0);
  for (int64_t i = 0, n = codes->count(); i < n; ++i) {
    SetIntElement(codes.get(), i, m.r.Int(range.least, range.most));
  }
  return codes;
}

inline std::shared_ptr<HostTensor> Scales(CaseMaker& m, DType t, const Dims& dims) {
  if (t == DType::kInt32) return m.Numbers(t, dims, 1, 5);
  return m.Numbers(t, dims, 0.05, 2);
}

inline double RoundedTo(DType t, double v) {
  auto one = MakeTensor(t, {});
  if (!one.ok()) return v;
  SetElement(&*one, 0, v);
  return ElementAsDouble(*one, 0);
}

// round(v) + zero in the range of an integer dtype, or the nearest value of a float8 or float4.
inline void SetQuantized(HostTensor* out, int64_t i, double v, double zero) {
  if (IsFloat(out->dtype)) return SetElement(out, i, zero == 0 ? v : v + zero);
  const CodeRange range = RangeOfCodes(out->dtype);
  const double r = std::nearbyint(v) + zero;
  SetIntElement(out, i,
                static_cast<int64_t>(std::clamp(r, static_cast<double>(range.least),
                                                static_cast<double>(range.most))));
}

inline double ElementOr(const HostTensor* t, int64_t i, double absent) {
  return t != nullptr ? ElementAsDouble(*t, t->count() == 1 ? 0 : i) : absent;
}

// ---- scales of QuantizeLinear and DequantizeLinear ---------------------------------------------

// The shape of the scale for x: one element, one an index of an axis, or one a block. Sets axis and
// block_size.
inline Dims MakeGrid(CaseMaker& m, const Dims& x) {
  if (x.empty() || m.r.Chance(0.35)) return m.r.Chance(0.5) ? Dims{} : Dims{1};
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t axis = m.r.Int(0, rank - 1), size = x[static_cast<size_t>(axis)];
  if (axis != 1 || m.r.Chance(0.7)) m.Set("axis", m.Axis(axis, rank));
  if (m.r.Chance(0.5)) return {size};
  const int64_t block = m.r.Int(1, 3);
  m.Set("block_size", block);
  Dims blocks = x;
  blocks[static_cast<size_t>(axis)] = (size + block - 1) / block;
  return blocks;
}

// Which element of the scale belongs to the place `at` of x.
inline int64_t GridPlace(const RandomCase& c, const Dims& at) {
  const HostTensor& scale = *c.inputs[1].tensor;
  if (scale.count() == 1) return 0;
  int64_t axis = IntOr(c, "axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(at.size());
  if (at.size() == 1) axis = 0;
  const int64_t block = IntOr(c, "block_size", 0);
  if (block == 0) return at[static_cast<size_t>(axis)];
  Dims place = at;
  place[static_cast<size_t>(axis)] /= block;
  return Flat(scale.dims, place);
}

// ---- sums of products --------------------------------------------------------------------------

// The shapes of image and weight of a convolution; sets its attributes.
inline std::pair<Dims, Dims> MakeByteConv(CaseMaker& m) {
  if (m.large) return SetLargeConv(m);
  const Window w = MakeWindow(m, true);
  const int64_t group = m.r.Pick(std::vector<int64_t>{1, 1, 1, 2, 3}), in = m.r.Int(1, 4),
                out = m.r.Int(1, 4);
  Dims size = w.size;
  for (size_t i = 0; w.automatic && i < size.size(); ++i) size[i] = std::max(size[i], Reach(w, i));
  if (m.r.Chance(0.6)) m.Set("kernel_shape", w.kernel);
  if (group != 1) m.Set("group", group);
  SetWindow(m, w, true);
  SetAllPads(m, w);
  return {Cat({m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), in * group}, size),
          Cat({out * group, in}, w.kernel)};
}

// Pads before each axis.
inline Dims PadsBefore(const RandomCase& c, const Dims& x, const Dims& w, const Dims& y) {
  const size_t n = x.size() - 2;
  const Attr* a = FindAttr(c, "auto_pad");
  if (a == nullptr) return IntsOr(c, "pads", Dims(2 * n, 0));
  const auto& mode = std::get<std::string>(a->value);
  Dims before(n, 0);
  for (size_t d = 0; mode != "VALID" && d < n; ++d) {
    const int64_t stride = IntsOr(c, "strides", Dims(n, 1))[d];
    const int64_t reach = (w[d + 2] - 1) * IntsOr(c, "dilations", Dims(n, 1))[d] + 1;
    const int64_t total = std::max<int64_t>(0, (y[d + 2] - 1) * stride + reach - x[d + 2]);
    before[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return before;
}

// The sum for the place `at` of the output; zero points may be null.
inline double PlainConvSum(const RandomCase& c, const HostTensor& x, const HostTensor& w,
                           const HostTensor* x_zero, const HostTensor* w_zero, const Dims& out,
                           const Dims& at) {
  const size_t n = x.dims.size() - 2;
  const Dims strides = IntsOr(c, "strides", Dims(n, 1)),
             dilations = IntsOr(c, "dilations", Dims(n, 1));
  const Dims before = PadsBefore(c, x.dims, w.dims, out);
  const int64_t per_group = w.dims[0] / IntOr(c, "group", 1), first = at[1] / per_group * w.dims[1];
  Dims taps(w.dims.begin() + 1, w.dims.end());
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
           (ElementAsDouble(w, Flat(w.dims, weight)) - ElementOr(w_zero, at[1], 0));
  }
  return sum;
}

// Shapes that can be multiplied.
inline std::pair<Dims, Dims> MakeByteProduct(CaseMaker& m) {
  if (m.large) return LargeSides(m);
  const int64_t k = m.r.Chance(0.05) ? 0 : m.r.Int(1, 12);
  const Dims batch = m.Shape(0, 2);
  Dims a = Cat(m.r.Chance(0.6) ? batch : m.Narrowed(batch), {m.r.Int(1, 7), k});
  Dims b = Cat(m.r.Chance(0.6) ? batch : m.Narrowed(batch), {k, m.r.Int(1, 7)});
  if (m.r.Chance(0.1)) a = {k};
  if (m.r.Chance(0.1)) b = {k};
  return {a, b};
}

// The shape of a scale or zero point of a side: one element, or one a row (column).
inline Dims LineShape(CaseMaker& m, const Dims& side, bool rows) {
  if (side.size() < 2 || m.r.Chance(0.5)) return m.r.Chance(0.5) ? Dims{} : Dims{1};
  if (m.r.Chance(0.5)) return {side[side.size() - (rows ? 2 : 1)]};
  Dims whole = side;
  whole[side.size() - (rows ? 1 : 2)] = 1;
  return whole;
}

// One element of a product: what is multiplied, and which lines they stand in.
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
inline ProductPlaces PlacesOf(const HostTensor& a, const HostTensor& b, const Dims& out) {
  ProductPlaces p{a.dims, b.dims, out};
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
// A parameter of the line that the place lies in.
inline double LineValue(const HostTensor* t, const ProductPlaces& p, bool rows, double absent) {
  if (t == nullptr || t->count() == 1) return ElementOr(t, 0, absent);
  const Dims& side = rows ? p.a : p.b;
  const int64_t line = rows ? p.Row() : p.Col();
  if (t->dims.size() == 1) return ElementAsDouble(*t, line);
  return ElementAsDouble(*t, p.Matrix(side) * side[side.size() - (rows ? 2 : 1)] + line);
}
inline double PlainProductSum(const HostTensor& a, const HostTensor& b, const HostTensor* a_zero,
                              const HostTensor* b_zero, const ProductPlaces& p) {
  const int64_t k = p.a.back(), rows = p.a[p.a.size() - 2], cols = p.b.back();
  const double za = LineValue(a_zero, p, true, 0), zb = LineValue(b_zero, p, false, 0);
  double sum = 0;
  for (int64_t j = 0; j < k; ++j) {
    sum += (ElementAsDouble(a, (p.Matrix(p.a) * rows + p.Row()) * k + j) - za) *
           (ElementAsDouble(b, (p.Matrix(p.b) * k + j) * cols + p.Col()) - zb);
  }
  return sum;
}

}  // namespace ge::test
