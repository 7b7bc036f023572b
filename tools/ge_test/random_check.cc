#include "tools/ge_test/random_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace ge::test {
namespace {

using In = std::vector<const HostTensor*>;

// An element's place, counted up in row-major order.
class Index {
 public:
  explicit Index(const Dims& dims) : at(dims.size()), dims_(dims) {}
  void Next() {
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < dims_[d]) return;
      at[d] = 0;
    }
  }
  Dims at;

 private:
  Dims dims_;
};

int64_t Flat(const Dims& dims, const Dims& at) {
  int64_t i = 0;
  for (size_t d = 0; d < dims.size(); ++d) i = i * dims[d] + at[d];
  return i;
}

// Where `at` of a broadcast result lies in a tensor.
int64_t Broadcast(const HostTensor& t, const Dims& at) {
  int64_t i = 0;
  const size_t skip = at.size() - t.dims.size();
  for (size_t d = 0; d < t.dims.size(); ++d) {
    i = i * t.dims[d] + (t.dims[d] == 1 ? 0 : at[skip + d]);
  }
  return i;
}

const Attr* FindAttr(const RandomCase& c, std::string_view name) {
  for (const Attr& a : c.attrs) {
    if (a.name == name) return &a;
  }
  return nullptr;
}
int64_t IntOr(const RandomCase& c, std::string_view name, int64_t absent) {
  const Attr* a = FindAttr(c, name);
  return a != nullptr ? std::get<int64_t>(a->value) : absent;
}
double FloatOr(const RandomCase& c, std::string_view name, double absent) {
  const Attr* a = FindAttr(c, name);
  return a != nullptr ? std::get<double>(a->value) : absent;
}
Dims IntsOr(const RandomCase& c, std::string_view name, const Dims& absent) {
  const Attr* a = FindAttr(c, name);
  return a != nullptr ? std::get<std::vector<int64_t>>(a->value) : absent;
}

Dims Values(const HostTensor& t) {
  Dims v(static_cast<size_t>(t.count()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = ElementAsInt(t, static_cast<int64_t>(i));
  return v;
}

const HostTensor* Maybe(const RandomCase& c, size_t i) {
  return i < c.inputs.size() ? c.inputs[i].tensor.get() : nullptr;
}

void Copy(const HostTensor& from, int64_t i, HostTensor* to, int64_t k) {
  if (IsFloat(from.dtype)) {
    SetElement(to, k, ElementAsDouble(from, i));
  } else {
    SetIntElement(to, k, ElementAsInt(from, i));
  }
}

HostTensor Same(const HostTensor& t) {
  auto made = MakeTensor(t.dtype, t.dims);
  return made.ok() ? *std::move(made) : HostTensor();
}

// Each of these fills `out`, which has the type that was found, and says whether that type's shape
// is the right one.
using Fill = bool (*)(const RandomCase& c, HostTensor* out);

bool IsBroadcastOf(const RandomCase& c, const Dims& out) {
  Dims dims;
  for (const auto& in : c.inputs) {
    const Dims& d = in.tensor->dims;
    if (d.size() > dims.size()) dims.insert(dims.begin(), d.size() - dims.size(), 1);
    for (size_t i = 0; i < d.size(); ++i) {
      int64_t& to = dims[dims.size() - d.size() + i];
      if (to == 1) to = d[i];
    }
  }
  return dims == out;
}

template <typename RealFn, typename IntFn>
bool Elementwise(const RandomCase& c, HostTensor* out, RealFn real, IntFn whole) {
  if (!IsBroadcastOf(c, out->dims)) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const HostTensor& a = *c.inputs[0].tensor;
    const HostTensor& b = *c.inputs[c.inputs.size() - 1].tensor;
    const int64_t ia = Broadcast(a, at.at), ib = Broadcast(b, at.at);
    if (IsFloat(a.dtype)) {
      SetElement(out, i, real(ElementAsDouble(a, ia), ElementAsDouble(b, ib)));
    } else {
      SetIntElement(out, i, whole(ElementAsInt(a, ia), ElementAsInt(b, ib)));
    }
  }
  return true;
}

#define GE_BINARY(name, real, whole)                \
  bool name(const RandomCase& c, HostTensor* out) { \
    return Elementwise(                             \
        c, out,                                     \
        [](double x, double y) {                    \
          (void)y;                                  \
          return real;                              \
        },                                          \
        [](int64_t x, int64_t y) {                  \
          (void)y;                                  \
          return whole;                             \
        });                                         \
  }
GE_BINARY(Add, x + y, x + y)
GE_BINARY(Sub, x - y, x - y)
GE_BINARY(Mul, x* y, x* y)
GE_BINARY(Div, x / y, x / y)
GE_BINARY(Equal, x == y ? 1.0 : 0.0, int64_t{x == y})
GE_BINARY(Erf, std::erf(x), x)
GE_BINARY(Exp, std::exp(x), x)
GE_BINARY(Neg, -x, -x)
GE_BINARY(Reciprocal, 1 / x, x)
GE_BINARY(Relu, x > 0 ? x : 0, x > 0 ? x : 0)
GE_BINARY(Sigmoid, 0.5 * (1 + std::tanh(x / 2)), x)
GE_BINARY(Sin, std::sin(x), x)
GE_BINARY(Sqrt, std::sqrt(x), x)
GE_BINARY(Tanh, 1 - 2 / (std::exp(2 * x) + 1), x)
GE_BINARY(Identity, x, x)
#undef GE_BINARY

bool Pow(const RandomCase& c, HostTensor* out) {
  if (!IsBroadcastOf(c, out->dims)) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
    SetElement(
        out, i,
        std::pow(ElementAsDouble(a, Broadcast(a, at.at)), ElementAsDouble(b, Broadcast(b, at.at))));
  }
  return true;
}

bool Max(const RandomCase& c, HostTensor* out) {
  if (!IsBroadcastOf(c, out->dims)) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const HostTensor* best = nullptr;
    int64_t where = 0;
    for (const auto& in : c.inputs) {
      const int64_t k = Broadcast(*in.tensor, at.at);
      if (best == nullptr || ElementAsDouble(*in.tensor, k) > ElementAsDouble(*best, where)) {
        best = in.tensor.get(), where = k;
      }
    }
    Copy(*best, where, out, i);
  }
  return true;
}

bool Clip(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double v = ElementAsDouble(x, i);
    if (Maybe(c, 1) != nullptr) v = std::max(v, ElementAsDouble(*Maybe(c, 1), 0));
    if (Maybe(c, 2) != nullptr) v = std::min(v, ElementAsDouble(*Maybe(c, 2), 0));
    SetElement(out, i, v);
  }
  return true;
}

bool HardSigmoid(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double v = FloatOr(c, "alpha", 0.2) * ElementAsDouble(x, i) + FloatOr(c, "beta", 0.5);
    SetElement(out, i, v < 0 ? 0 : v > 1 ? 1 : v);
  }
  return true;
}

bool Gelu(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const Attr* how = FindAttr(c, "approximate");
  const bool tanh = how != nullptr && std::get<std::string>(how->value) == "tanh";
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    const double share = tanh ? 1 - 1 / (std::exp(2 * std::sqrt(2 / std::acos(-1.0)) *
                                                  (v + 0.044715 * std::pow(v, 3))) +
                                         1)
                              : std::erfc(-v / std::sqrt(2.0)) / 2;
    SetElement(out, i, v * share);
  }
  return true;
}

// Output 0 alone.
bool LayerNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  if (x.dims != out->dims) return false;
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = IntOr(c, "axis", -1), row = 1;
  if (axis < 0) axis += rank;
  for (int64_t d = axis; d < rank; ++d) row *= x.dims[static_cast<size_t>(d)];
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double sum = 0, squares = 0;
    for (int64_t k = i / row * row; k < (i / row + 1) * row; ++k) {
      sum += ElementAsDouble(x, k);
      squares += ElementAsDouble(x, k) * ElementAsDouble(x, k);
    }
    const double r = static_cast<double>(row), mean = sum / r;
    const double deviation = std::sqrt(squares / r - mean * mean + FloatOr(c, "epsilon", 1e-5));
    double v = (ElementAsDouble(x, i) - mean) / deviation;
    v *= ElementAsDouble(scale, Broadcast(scale, at.at));
    const HostTensor* bias = Maybe(c, 2);
    if (bias != nullptr) v += ElementAsDouble(*bias, Broadcast(*bias, at.at));
    SetElement(out, i, v);
  }
  return true;
}

bool Constant(const RandomCase& c, HostTensor* out) {
  if (c.value->dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) Copy(*c.value, i, out, i);
  return true;
}

bool ConstantOfShape(const RandomCase& c, HostTensor* out) {
  if (Values(*c.inputs[0].tensor) != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n && c.value; ++i) Copy(*c.value, 0, out, i);
  return true;
}

// Reshape, Flatten, Squeeze, Unsqueeze: the elements stay as they are; shapes are INFER's affair
// and are checked by ONNX's node tests.
bool InOrder(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.count() != out->count()) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) Copy(x, i, out, i);
  return true;
}

bool Flatten(const RandomCase& c, HostTensor* out) {
  const Dims& in = c.inputs[0].tensor->dims;
  int64_t axis = IntOr(c, "axis", 1), rows = 1, cols = 1;
  if (axis < 0) axis += static_cast<int64_t>(in.size());
  for (size_t d = 0; d < in.size(); ++d) (static_cast<int64_t>(d) < axis ? rows : cols) *= in[d];
  return out->dims == Dims{rows, cols} && InOrder(c, out);
}

bool Expand(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Copy(x, Broadcast(x, at.at), out, i);
  }
  Dims asked = Values(*c.inputs[1].tensor);
  for (size_t d = 0; d < asked.size(); ++d) {
    const size_t lead = asked.size() - x.dims.size();
    if (d >= lead && asked[d] == 1) asked[d] = x.dims[d - lead];
  }
  return asked == out->dims;
}

bool Transpose(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const size_t rank = x.dims.size();
  Dims reversed(rank);
  for (size_t d = 0; d < rank; ++d) reversed[d] = static_cast<int64_t>(rank - 1 - d);
  const Dims perm = IntsOr(c, "perm", reversed);
  for (size_t d = 0; d < rank; ++d) {
    if (out->dims[d] != x.dims[static_cast<size_t>(perm[d])]) return false;
  }
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from(rank);
    for (size_t d = 0; d < rank; ++d) from[static_cast<size_t>(perm[d])] = at.at[d];
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

bool Gather(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &index = *c.inputs[1].tensor;
  int64_t axis = IntOr(c, "axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(x.dims.size());
  const auto lead = static_cast<size_t>(axis);
  Dims wanted(x.dims.begin(), x.dims.begin() + axis);
  wanted.insert(wanted.end(), index.dims.begin(), index.dims.end());
  wanted.insert(wanted.end(), x.dims.begin() + axis + 1, x.dims.end());
  if (wanted != out->dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const auto middle = at.at.begin() + axis;
    const auto tail = middle + static_cast<ptrdiff_t>(index.dims.size());
    int64_t k = ElementAsInt(index, Flat(index.dims, Dims(middle, tail)));
    if (k < 0) k += x.dims[lead];
    Dims from(at.at.begin(), middle);
    from.push_back(k);
    from.insert(from.end(), tail, at.at.end());
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

bool Concat(const RandomCase& c, HostTensor* out) {
  int64_t axis = IntOr(c, "axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(out->dims.size());
  int64_t begin = 0;
  for (const auto& in : c.inputs) {
    const HostTensor& x = *in.tensor;
    Index at(x.dims);
    for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
      Dims to = at.at;
      to[static_cast<size_t>(axis)] += begin;
      Copy(x, i, out, Flat(out->dims, to));
    }
    begin += x.dims[static_cast<size_t>(axis)];
  }
  return begin == out->dims[static_cast<size_t>(axis)];
}

// The clamped range of ONNX's Slice as the list of places that it takes. Other than NumPy, a start
// before the first element of a backward step is moved onto it.
Dims Taken(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  Dims places;
  if (step > 0) {
    for (int64_t i = std::max<int64_t>(start, 0); i < std::min(end, size); i += step) {
      places.push_back(i);
    }
  } else {
    for (int64_t i = std::clamp<int64_t>(start, 0, std::max<int64_t>(size - 1, 0));
         size > 0 && i > std::max<int64_t>(end, -1); i += step) {
      places.push_back(i);
    }
  }
  return places;
}

bool Slice(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto rank = static_cast<int64_t>(x.dims.size());
  std::vector<Dims> places;
  for (const int64_t d : x.dims) places.push_back(Taken(d, 0, d, 1));
  const Dims starts = Values(*c.inputs[1].tensor), ends = Values(*c.inputs[2].tensor);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis =
        Maybe(c, 3) ? ElementAsInt(*Maybe(c, 3), static_cast<int64_t>(i)) : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    const int64_t step = Maybe(c, 4) ? ElementAsInt(*Maybe(c, 4), static_cast<int64_t>(i)) : 1;
    const auto d = static_cast<size_t>(axis);
    places[d] = Taken(x.dims[d], starts[i], ends[i], step);
  }
  for (size_t d = 0; d < places.size(); ++d) {
    if (static_cast<int64_t>(places[d].size()) != out->dims[d]) return false;
  }
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from;
    for (size_t d = 0; d < places.size(); ++d) {
      from.push_back(places[d][static_cast<size_t>(at.at[d])]);
    }
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

bool Shape(const RandomCase& c, HostTensor* out) {
  const Dims& dims = c.inputs[0].tensor->dims;
  const auto rank = static_cast<int64_t>(dims.size());
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t start = clamp(IntOr(c, "start", 0)), end = clamp(IntOr(c, "end", rank));
  if (out->dims != Dims{std::max<int64_t>(0, end - start)}) return false;
  for (int64_t i = start; i < end; ++i) SetIntElement(out, i - start, dims[static_cast<size_t>(i)]);
  return true;
}

bool Range(const RandomCase& c, HostTensor* out) {
  const double start = ElementAsDouble(*c.inputs[0].tensor, 0),
               limit = ElementAsDouble(*c.inputs[1].tensor, 0),
               delta = ElementAsDouble(*c.inputs[2].tensor, 0);
  int64_t n = 0;
  for (double v = start; delta > 0 ? v < limit : v > limit; v += delta) {
    if (n < out->count()) SetElement(out, n, v);
    ++n;
  }
  return out->dims == Dims{n};
}

bool MatMul(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
  // As ONNX says: a vector gets a 1 before or behind it, which leaves the result again.
  Dims ad = a.dims, bd = b.dims, od = out->dims;
  if (bd.size() == 1) bd.push_back(1), od.push_back(1);
  if (ad.size() == 1) ad.insert(ad.begin(), 1), od.insert(od.end() - 1, 1);
  const int64_t k = ad.back();
  if (od[od.size() - 2] != ad[ad.size() - 2] || od.back() != bd.back()) return false;
  const auto place = [](const Dims& dims, const Dims& at, int64_t row, int64_t col) {
    int64_t i = 0;
    const size_t skip = at.size() - dims.size();
    for (size_t d = 0; d + 2 < dims.size(); ++d) {
      i = i * dims[d] + (dims[d] == 1 ? 0 : at[skip + d]);
    }
    return (i * dims[dims.size() - 2] + row) * dims.back() + col;
  };
  Index at(od);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t row = at.at[od.size() - 2], col = at.at.back();
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += ElementAsDouble(a, place(ad, at.at, row, j)) *
             ElementAsDouble(b, place(bd, at.at, j, col));
    }
    SetElement(out, i, sum);
  }
  return true;
}

bool Gemm(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
  const bool ta = IntOr(c, "transA", 0) != 0, tb = IntOr(c, "transB", 0) != 0;
  const int64_t rows = a.dims[ta ? 1 : 0], k = a.dims[ta ? 0 : 1], cols = b.dims[tb ? 0 : 1];
  if (out->dims != Dims{rows, cols}) return false;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += ElementAsDouble(a, ta ? l * rows + i : i * k + l) *
               ElementAsDouble(b, tb ? j * k + l : l * cols + j);
      }
      sum *= FloatOr(c, "alpha", 1);
      const HostTensor* bias = Maybe(c, 2);
      if (bias) sum += FloatOr(c, "beta", 1) * ElementAsDouble(*bias, Broadcast(*bias, {i, j}));
      SetElement(out, i * cols + j, sum);
    }
  }
  return true;
}

constexpr std::pair<std::string_view, Fill> kFills[] = {
    {"Add", Add},
    {"Sub", Sub},
    {"Mul", Mul},
    {"Div", Div},
    {"Equal", Equal},
    {"Erf", Erf},
    {"Exp", Exp},
    {"Neg", Neg},
    {"Reciprocal", Reciprocal},
    {"Relu", Relu},
    {"Sigmoid", Sigmoid},
    {"Sin", Sin},
    {"Sqrt", Sqrt},
    {"Tanh", Tanh},
    {"Identity", Identity},
    {"Pow", Pow},
    {"Max", Max},
    {"Clip", Clip},
    {"HardSigmoid", HardSigmoid},
    {"Gelu", Gelu},
    {"LayerNormalization", LayerNormalization},
    {"Constant", Constant},
    {"ConstantOfShape", ConstantOfShape},
    {"Reshape", InOrder},
    {"Squeeze", InOrder},
    {"Unsqueeze", InOrder},
    {"Flatten", Flatten},
    {"Expand", Expand},
    {"Transpose", Transpose},
    {"Gather", Gather},
    {"Concat", Concat},
    {"Slice", Slice},
    {"Shape", Shape},
    {"Range", Range},
    {"MatMul", MatMul},
    {"Gemm", Gemm},
};

}  // namespace

bool CheckPlainly(const RandomCase& c, const std::vector<HostTensor>& found,
                  const Tolerance& tolerance, std::string* why) {
  for (const auto& [op, fill] : kFills) {
    if (op != c.op->name) continue;
    HostTensor wanted = Same(found[0]);
    *why = fill(c, &wanted) ? Differs(found[0], wanted, tolerance)
                            : fmt::format("found {}, which is another shape", TypeText(found[0]));
    return true;
  }
  return false;
}

}  // namespace ge::test
