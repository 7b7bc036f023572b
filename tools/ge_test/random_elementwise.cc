// Random cases of elementwise operators and reductions. Ranges are such that integers never
// overflow 32 bits, so that runs in i32 and i64 agree to the bit.
#include <algorithm>

#include "tools/ge_test/random_case.h"

namespace ge::test {
namespace {

// Unsigned differences and the like wrap alike in every width; 8-bit products do, too.
double Least(const CaseMaker& m) { return IsFloat(m.dtype()) ? -3 : -20; }
double Greatest(const CaseMaker& m) { return IsFloat(m.dtype()) ? 3 : 20; }

// Two shapes that broadcast to a third; half the time equal.
std::pair<Dims, Dims> BroadcastPair(CaseMaker& m) {
  const Dims to = m.Shape(0, 4);
  if (m.r.Chance(0.4)) return {to, to};
  Dims a = to, b = m.Narrowed(to);
  if (m.r.Chance(0.5)) std::swap(a, b);
  // Each may be 1 where the other is not.
  Dims& whole = a.size() >= b.size() ? a : b;
  const Dims& other = a.size() >= b.size() ? b : a;
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& d = whole[whole.size() - 1 - i];
    if (other[other.size() - 1 - i] == d && m.r.Chance(0.15)) d = 1;
  }
  return {a, b};
}

// Numbers without zero and its neighbours.
std::shared_ptr<HostTensor> AwayFromZero(CaseMaker& m, const Dims& dims, bool negative) {
  auto t = m.Numbers(m.dtype(), dims, IsFloat(m.dtype()) ? 0.25 : 1, IsFloat(m.dtype()) ? 3 : 9);
  const bool is_signed = IsFloat(m.dtype()) || (Bit(m.dtype()) & kSignedInts) != 0;
  for (int64_t i = 0, n = t->count(); negative && is_signed && i < n; ++i) {
    if (m.r.Chance(0.5)) SetElement(t.get(), i, -ElementAsDouble(*t, i));
  }
  return t;
}

}  // namespace

void BinaryCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  m.Add(m.Numbers(m.dtype(), a, Least(m), Greatest(m)));
  m.Add(m.Numbers(m.dtype(), b, Least(m), Greatest(m)));
}

void DivCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  m.Add(m.Numbers(m.dtype(), a, Least(m), Greatest(m)));
  m.Add(AwayFromZero(m, b, true));
}

// Few values, so that about half of the pairs are equal.
void EqualCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  for (const Dims& dims : {a, b}) {
    auto t = m.Numbers(m.dtype(), dims, 0, 1);
    for (int64_t i = 0, n = t->count(); i < n; ++i) SetElement(t.get(), i, m.r.Int(0, 1));
    m.Add(t);
  }
}

void MaxCase(CaseMaker& m) {
  const Dims to = m.Shape(0, 4);
  const int64_t n = m.r.Int(1, 4);
  for (int64_t i = 0; i < n; ++i) {
    m.Add(m.Numbers(m.dtype(), i == 0 ? to : m.Narrowed(to), Least(m), Greatest(m)));
  }
}

void PowCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  const bool real = IsFloat(m.dtype());
  if (real && m.r.Chance(0.3)) {  // the powers that engines have kernels of their own for
    m.Add(AwayFromZero(m, a, false));
    m.AddConstant(
        m.Floats(m.dtype(), {}, {m.r.Pick(std::vector<double>{2, 3, 0.5, 1, -1, -0.5, 0})}));
    return;
  }
  m.Add(real && m.r.Chance(0.5) ? AwayFromZero(m, a, false) : m.Numbers(m.dtype(), a, -4, 4));
  const bool positive =
      real && ElementAsDouble(*m.c.inputs[0].tensor, 0) > 0 && m.c.inputs[0].tensor->count() == 1;
  if (positive) {
    m.Add(m.Numbers(m.dtype(), b, -2, 3));
    return;
  }
  // Whole exponents in any type: a negative base has no other real power.
  const DType type = m.r.Pick(
      std::vector<DType>{m.dtype(), DType::kInt32, DType::kInt64, DType::kUint8, DType::kFloat});
  auto t = m.Numbers(type, b, 0, 5);
  for (int64_t i = 0, n = t->count(); i < n; ++i) SetElement(t.get(), i, m.r.Int(0, 5));
  m.Add(t);
}

void UnaryCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), Least(m), Greatest(m))); }

void AwayFromZeroCase(CaseMaker& m) {
  const bool negative = std::string_view(m.c.op->name) != "Sqrt";
  m.Add(AwayFromZero(m, m.Shape(0, 4), negative));
}

void HardSigmoidCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(0.1, 1)) * 1.0);
  if (m.r.Chance(0.5)) m.Set("beta", static_cast<float>(m.r.Between(0, 1)) * 1.0);
}

void GeluCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.6)) m.Set("approximate", std::string(m.r.Chance(0.7) ? "tanh" : "none"));
}

void ClipCase(CaseMaker& m) {
  m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), Least(m), Greatest(m)));
  if (m.r.Chance(0.3)) {
    m.AddAbsent();
  } else {
    m.Add(m.Numbers(m.dtype(), {}, Least(m) / 2, 1));
  }
  if (m.r.Chance(0.7)) m.Add(m.Numbers(m.dtype(), {}, 0, Greatest(m) / 2));
}

void DropoutCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) {
    m.Add(m.Numbers(DType::kFloat, {}, 0, 0.9));
    if (m.r.Chance(0.5)) m.Add(m.Ints(DType::kBool, {}, {0}));
  }
  if (m.r.Chance(0.5)) m.c.outputs = 2;
}

void CastCase(CaseMaker& m) {
  static const std::vector<DType> kTo = {
      DType::kFloat, DType::kDouble, DType::kFloat16, DType::kBfloat16, DType::kInt8, DType::kInt16,
      DType::kInt32, DType::kInt64,  DType::kUint8,   DType::kUint32,   DType::kBool};
  const DType to = m.r.Pick(kTo);
  // A negative float has no unsigned value.
  const bool unsigned_to = (Bit(to) & kUnsignedInts) != 0;
  m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), unsigned_to ? 0 : Least(m) * 5, Greatest(m) * 5));
  m.Set("to", static_cast<int64_t>(to));
}

void SoftmaxCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  m.Add(m.Numbers(m.dtype(), dims, -5, 5));
  if (m.r.Chance(0.8)) m.Set("axis", m.Axis(m.r.Int(0, rank - 1), rank));
}

void ReduceCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4, std::string_view(m.c.op->name) == "ReduceSum");
  const auto rank = static_cast<int64_t>(dims.size());
  m.Add(m.Numbers(m.dtype(), dims, Least(m), Greatest(m)));
  if (m.r.Chance(0.8)) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (m.r.Chance(0.5)) axes.push_back(m.Axis(axis, rank));
    }
    if (m.r.Chance(0.5)) std::reverse(axes.begin(), axes.end());
    m.AddConstant(m.Ints(DType::kInt64, {static_cast<int64_t>(axes.size())}, axes));
  }
  if (m.r.Chance(0.6)) m.Set("keepdims", m.r.Int(0, 1));
  if (m.r.Chance(0.4)) m.Set("noop_with_empty_axes", m.r.Int(0, 1));
}

}  // namespace ge::test
