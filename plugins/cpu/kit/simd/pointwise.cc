// Functions of single elements.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

template <class F>
GE_INLINE void Map(const float* x, float* y, int64_t n, F f) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA { hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i); });
}
template <class F>
GE_INLINE void Zip(const float* x, const float* z, float* y, int64_t n, F f) {
  ForEach(n, [=](auto d, int64_t i)
                 GE_LAMBDA { hn::StoreU(f(hn::LoadU(d, x + i), hn::LoadU(d, z + i)), d, y + i); });
}

template <class D, class V>
GE_INLINE V HardSigmoid(D d, V x, float a, float b) {
  const V y = hn::MulAdd(hn::Set(d, a), x, hn::Set(d, b));
  return hn::Min(hn::Set(d, 1.0f), hn::Max(hn::Zero(d), y));
}
// log(1 + e) for e of [0, 1]; the quotient makes up for what 1 + e rounds away.
template <class D, class V>
GE_INLINE V LogOnePlus(D d, V e) {
  const V one = hn::Set(d, 1.0f);
  const V w = hn::Add(one, e);
  const V y = hn::Div(hn::Mul(Log(d, w), e), hn::Sub(w, one));
  return hn::IfThenElse(hn::Eq(w, one), e, y);
}

#define GE_MAP(expression) \
  return Map(x, y, n, [=]([[maybe_unused]] auto d, auto v) GE_LAMBDA { return expression; })

// Functions that call exp, log or the like.
void Transcendental(Fn fn, float a, const float* x, float* y, int64_t n) {
  switch (fn) {
    case Fn::kSigmoid:
      GE_MAP(Sigmoid(d, v));
    case Fn::kTanh:
      GE_MAP(Tanh(d, v));
    case Fn::kSwish:
      GE_MAP(hn::Mul(v, Sigmoid(d, v)));
    case Fn::kGelu:
      GE_MAP(hn::Mul(v, NormalCdf(d, v)));
    case Fn::kGeluTanh:
      return Map(x, y, n, [](auto d, auto v) GE_LAMBDA {
        const auto cube = hn::Mul(hn::Mul(v, v), v);
        const auto u = hn::MulAdd(hn::Set(d, 0.044715f), cube, v);
        // (1 + tanh(w)) / 2 = sigmoid(2 w)
        return hn::Mul(v, Sigmoid(d, hn::Mul(hn::Set(d, 1.595769122f), u)));
      });
    case Fn::kErf:
      GE_MAP(Erf(d, v));
    case Fn::kExp:
      GE_MAP(Exp(d, v));
    case Fn::kSin:
      GE_MAP(Sin(d, v));
    case Fn::kCos:
      GE_MAP(Cos(d, v));
    case Fn::kLog:
      GE_MAP(Log(d, v));
    case Fn::kElu:
      return Map(x, y, n, [=](auto d, auto v) GE_LAMBDA {
        const auto low = hn::Mul(hn::Set(d, a), ExpMinusOne(d, hn::Min(hn::Zero(d), v)));
        return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), low, v);
      });
    case Fn::kSoftplus:
      return Map(x, y, n, [](auto d, auto v) GE_LAMBDA {
        const auto e = Exp(d, hn::Neg(hn::Abs(v)));
        return hn::Add(hn::Max(hn::Zero(d), v), LogOnePlus(d, e));
      });
    default:
      return Trigonometric(fn, x, y, n);
  }
}

// p where q is above 0, else 0.
template <class V>
GE_INLINE V Gate(V p, V q) {
  const hn::DFromV<V> d;
  return hn::IfThenElseZero(hn::Gt(q, hn::Zero(d)), p);
}

// Calls use(f) with the function of a binary fn.
template <class Use>
GE_INLINE void WithBinary(Fn fn, Use use) {
  switch (fn) {
    case Fn::kAdd:
      return use([](auto p, auto q) GE_LAMBDA { return hn::Add(p, q); });
    case Fn::kSub:
      return use([](auto p, auto q) GE_LAMBDA { return hn::Sub(p, q); });
    case Fn::kMul:
      return use([](auto p, auto q) GE_LAMBDA { return hn::Mul(p, q); });
    case Fn::kDiv:
      return use([](auto p, auto q) GE_LAMBDA { return hn::Div(p, q); });
    case Fn::kMax:
      return use([](auto p, auto q) GE_LAMBDA { return MaxNan(p, q); });
    case Fn::kMin:
      return use([](auto p, auto q) GE_LAMBDA { return MinNan(p, q); });
    case Fn::kRSub:
      return use([](auto p, auto q) GE_LAMBDA { return hn::Sub(q, p); });
    case Fn::kRDiv:
      return use([](auto p, auto q) GE_LAMBDA { return hn::Div(q, p); });
    case Fn::kGate:
      return use([](auto p, auto q) GE_LAMBDA { return Gate(p, q); });
    case Fn::kRGate:
      return use([](auto p, auto q) GE_LAMBDA { return Gate(q, p); });
    default:
      return;
  }
}

}  // namespace

void Unary(Fn fn, float left, float right, const float* x, float* y, int64_t n) {
  switch (fn) {
    case Fn::kLinear:
      GE_MAP(hn::MulAdd(hn::Set(d, left), v, hn::Set(d, right)));
    case Fn::kRelu:
      if (left == 0) GE_MAP(hn::Max(hn::Zero(d), v));
      GE_MAP(hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Mul(hn::Set(d, left), v), v));
    case Fn::kClip:
      GE_MAP(hn::Min(hn::Set(d, right), hn::Max(hn::Set(d, left), v)));
    case Fn::kHardSigmoid:
      GE_MAP(HardSigmoid(d, v, left, right));
    case Fn::kHardSwish:
      GE_MAP(hn::Mul(v, HardSigmoid(d, v, left, right)));
    case Fn::kSqrt:
      GE_MAP(hn::Sqrt(v));
    case Fn::kAbs:
      GE_MAP(hn::Abs(v));
    case Fn::kReciprocal:
      GE_MAP(hn::Div(hn::Set(d, 1.0f), v));
    case Fn::kSquare:
      GE_MAP(hn::Mul(v, v));
    case Fn::kCube:
      GE_MAP(hn::Mul(hn::Mul(v, v), v));
    case Fn::kFloor:
      GE_MAP(hn::Floor(v));
    case Fn::kCeil:
      GE_MAP(hn::Ceil(v));
    case Fn::kRound:
      GE_MAP(hn::Round(v));
    case Fn::kSign:
      return Map(x, y, n, [](auto d, auto v) GE_LAMBDA {
        const auto one = hn::CopySign(hn::Set(d, 1.0f), v);
        const auto plain = hn::Or(hn::Lt(v, hn::Zero(d)), hn::Gt(v, hn::Zero(d)));
        return hn::IfThenElse(plain, one, hn::IfThenElseZero(hn::IsNaN(v), v));
      });
    case Fn::kShrink:
      return Map(x, y, n, [=](auto d, auto v) GE_LAMBDA {
        const auto far = hn::Set(d, left), by = hn::Set(d, right);
        const auto high = hn::IfThenElseZero(hn::Gt(v, far), hn::Sub(v, by));
        return hn::IfThenElse(hn::Lt(v, hn::Neg(far)), hn::Add(v, by), high);
      });
    default:
      return Transcendental(fn, left, x, y, n);
  }
}

void Binary(Fn fn, const float* x, const float* z, float* y, int64_t n) {
  if (fn >= Fn::kPow) return PowerOrRemainder(fn, x, z, 1, y, n);
  WithBinary(fn, [=](auto f) GE_LAMBDA { Zip(x, z, y, n, f); });
}
void BinaryScalar(Fn fn, const float* x, float z, float* y, int64_t n) {
  if (fn >= Fn::kPow) return PowerOrRemainder(fn, x, &z, 0, y, n);
  WithBinary(fn, [=](auto f) GE_LAMBDA {
    Map(x, y, n, [=](auto d, auto v) GE_LAMBDA { return f(v, hn::Set(d, z)); });
  });
}

void LerpRows(const float* left, const float* right, float t, float* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto p = hn::LoadU(d, left + i);
    const auto q = hn::LoadU(d, right + i);
    hn::StoreU(hn::MulAdd(hn::Set(d, t), q, hn::Mul(hn::Set(d, 1 - t), p)), d, y + i);
  });
}

namespace {
template <class Test>
GE_INLINE void CompareWith(const float* x, const float* z, int64_t step, uint8_t* out, int64_t n,
                           Test test) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using D = decltype(d);
    const IntsOf<D> di;
    const hn::Rebind<uint8_t, D> d8;
    const auto q = step == 0 ? hn::Set(d, z[0]) : hn::LoadU(d, z + i);
    const auto yes = hn::VecFromMask(d, test(hn::LoadU(d, x + i), q));
    const auto bit = hn::And(hn::BitCast(di, yes), hn::Set(di, 1));
    hn::StoreU(hn::DemoteTo(d8, bit), d8, out + i);
  });
}
}  // namespace

void CompareRow(Compare op, const float* x, const float* z, int64_t step, uint8_t* out, int64_t n) {
  switch (op) {
    case Compare::kEqual:
      return CompareWith(x, z, step, out, n, [](auto p, auto q) GE_LAMBDA { return hn::Eq(p, q); });
    case Compare::kLess:
      return CompareWith(x, z, step, out, n, [](auto p, auto q) GE_LAMBDA { return hn::Lt(p, q); });
    case Compare::kLessOrEqual:
      return CompareWith(x, z, step, out, n, [](auto p, auto q) GE_LAMBDA { return hn::Le(p, q); });
    case Compare::kGreater:
      return CompareWith(x, z, step, out, n, [](auto p, auto q) GE_LAMBDA { return hn::Gt(p, q); });
    case Compare::kGreaterOrEqual:
      return CompareWith(x, z, step, out, n, [](auto p, auto q) GE_LAMBDA { return hn::Ge(p, q); });
  }
}

void Select(const uint8_t* c, const float* x, int64_t sx, const float* z, int64_t sz, float* out,
            int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using D = decltype(d);
    const IntsOf<D> di;
    const hn::Rebind<uint8_t, D> d8;
    const auto p = sx == 0 ? hn::Set(d, x[0]) : hn::LoadU(d, x + i);
    const auto q = sz == 0 ? hn::Set(d, z[0]) : hn::LoadU(d, z + i);
    const auto no = hn::Eq(hn::PromoteTo(di, hn::LoadU(d8, c + i)), hn::Zero(di));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(d, no), q, p), d, out + i);
  });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
