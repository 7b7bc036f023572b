#include "plugins/cpu/native/elementwise/arithmetic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/whole_rows.h"
#include "plugins/units/elementwise/arithmetic.h"

namespace ge_engines::cpu::native {

namespace {

// Whether any of n integers of `size` bytes is 0.
template <class T>
bool HasZeroOf(const char* z, int64_t n) {
  const auto* p = reinterpret_cast<const T*>(z);
  int any = 0;
  for (int64_t i = 0; i < n; ++i) any |= p[i] == 0;
  return any != 0;
}
bool AnyZero(const char* z, int size, int64_t n) {
  return size == 1   ? HasZeroOf<uint8_t>(z, n)
         : size == 2 ? HasZeroOf<uint16_t>(z, n)
         : size == 4 ? HasZeroOf<uint32_t>(z, n)
                     : HasZeroOf<uint64_t>(z, n);
}

// call(f) for the function of two T, floats.
template <class T, class Call>
void WithFunction(Fn fn, Call call) {
  if (fn == Fn::kAdd) return call([](T a, T b) { return a + b; });
  if (fn == Fn::kSub) return call([](T a, T b) { return a - b; });
  if (fn == Fn::kMul) return call([](T a, T b) { return a * b; });
  if (fn == Fn::kDiv) return call([](T a, T b) { return a / b; });
  if (fn == Fn::kMax) return call([](T a, T b) { return a != a ? a : b != b || a < b ? b : a; });
  if (fn == Fn::kMin) return call([](T a, T b) { return a != a ? a : b != b || b < a ? b : a; });
}

class DoubleArithmetic final : public Kernel {
 public:
  DoubleArithmetic(Fn fn, Broadcast broadcast) : fn_(fn), broadcast_(std::move(broadcast)) {}

  ge_rc Do(const Call& call) const override {
    WithFunction<double>(fn_, [&](auto f) { All(call, f); });
    return GE_OK;
  }

 private:
  static constexpr int64_t kPiece = 1024;  // numbers

  template <class F>
  void All(const Call& call, F f) const {
    auto* y = reinterpret_cast<double*>(call.p[0]);
    const auto* x = reinterpret_cast<const double*>(call.p[1]);
    const auto* z = reinterpret_cast<const double*>(call.p[2]);
    const bool parallel = broadcast_.rows * broadcast_.dim.back() > kParallel;
    broadcast_.ForPieces(parallel, kPiece, [&](int64_t o, int64_t n, int64_t ox, int64_t oz) {
      ForRun(x + ox, z + oz, y + o, n, broadcast_.x.back(), broadcast_.z.back(), f);
    });
  }

  Fn fn_;
  Broadcast broadcast_;
};

// Integers: fn of the first two operands, then of the result and each that follows.
class WholeArithmetic final : public Kernel {
 public:
  WholeArithmetic(const Simd& simd, Fn fn, int32_t dtype, int size, std::vector<Broadcast> pairs)
      : simd_(simd), fn_(fn), dtype_(dtype), size_(size), pairs_(std::move(pairs)) {}

  ge_rc Do(const Call& call) const override {
    const bool divides = fn_ == Fn::kDiv || fn_ == Fn::kMod || fn_ == Fn::kFmod;
    if (divides && HasZero(reinterpret_cast<const char*>(call.p[2]))) {
      return ge::plugin::Fail(
          call.err, GE_INVALID_ARGUMENT, call.node,
          "an integer is divided by zero, wanted another; replace zeros, as by Where");
    }
    for (size_t k = 0; k < pairs_.size(); ++k) {
      Pair(pairs_[k], call.p[k == 0 ? 1 : 0], call.p[k + 2], call.p[0]);
    }
    return GE_OK;
  }

 private:
  bool HasZero(const char* z) const {
    int64_t divisors = 1;
    const Broadcast& b = pairs_[0];
    for (size_t k = 0; k < b.dim.size(); ++k) divisors += (b.dim[k] - 1) * b.z[k];
    return AnyZero(z, size_, divisors);
  }

  void Pair(const Broadcast& b, const void* left, const void* right, void* result) const {
    const auto* x = static_cast<const char*>(left);
    const auto* z = static_cast<const char*>(right);
    auto* y = static_cast<char*>(result);
    const bool parallel = b.rows * b.dim.back() * size_ > kParallelBytes;
    b.ForPieces(parallel, kWholeBytes / size_, [&](int64_t o, int64_t n, int64_t ox, int64_t oz) {
      alignas(64) char rooms[2][kWholeBytes];
      const char* p = WholeRow(x + ox * size_, b.x.back(), size_, n, rooms[0]);
      const char* q = WholeRow(z + oz * size_, b.z.back(), size_, n, rooms[1]);
      simd_.wholes(fn_, dtype_, p, q, y + o * size_, n);
    });
  }

  const Simd& simd_;
  Fn fn_;
  int32_t dtype_;
  int size_;
  std::vector<Broadcast> pairs_;
};

// Integers: fn of x and a number, or x within bounds (kClip).
class WholeWithNumber final : public Loop {
 public:
  WholeWithNumber(const Simd& simd, const ArithmeticSpec& spec, int32_t dtype, int size, int64_t n)
      : simd_(simd), spec_(spec), dtype_(dtype), size_(size), n_(n) {}
  void SetBounds(int least, int most) {
    least_ = least;
    most_ = most;
  }

  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const char*>(p[1]);
    auto* y = reinterpret_cast<char*>(p[0]);
    const int64_t piece = kWholeBytes / size_;
    ForRange(n_ * size_ > kParallelBytes, CeilDiv(n_, piece), [&](int64_t i) {
      const int64_t n = std::min(piece, n_ - i * piece);
      const char* from = x + i * kWholeBytes;
      char* to = y + i * kWholeBytes;
      if (spec_.fn != Fn::kClip) return One(spec_.fn, from, &spec_.number, to, n);
      if (least_ != 0) One(Fn::kMax, from, p[least_], to, n);
      if (most_ != 0) One(Fn::kMin, least_ != 0 ? to : from, p[most_], to, n);
      if (least_ == 0 && most_ == 0) std::memcpy(to, from, static_cast<size_t>(n * size_));
    });
  }

 private:
  void One(Fn fn, const char* x, const void* number, char* y, int64_t n) const {
    alignas(64) char room[kWholeBytes];
    // The low bytes of an int64 are the number in any width.
    const char* z = WholeRow(static_cast<const char*>(number), 0, size_, n, room);
    simd_.wholes(fn, dtype_, x, z, y, n);
  }

  const Simd& simd_;
  ArithmeticSpec spec_;
  int32_t dtype_;
  int size_;
  int64_t n_;
  int least_ = 0, most_ = 0;  // buffers of bounds
};

// float16 by pieces that stay in the first cache, in float32.
class HalfArithmetic final : public Kernel {
 public:
  HalfArithmetic(const Simd& simd, Fn fn, Broadcast broadcast)
      : simd_(simd), fn_(fn), broadcast_(std::move(broadcast)) {}

  ge_rc Do(const Call& call) const override {
    auto* y = reinterpret_cast<uint16_t*>(call.p[0]);
    const auto* x = reinterpret_cast<const uint16_t*>(call.p[1]);
    const auto* z = reinterpret_cast<const uint16_t*>(call.p[2]);
    const bool parallel = broadcast_.rows * broadcast_.dim.back() > kParallel;
    broadcast_.ForPieces(parallel, kPiece, [&](int64_t o, int64_t n, int64_t ox, int64_t oz) {
      Piece(x + ox, z + oz, y + o, n, broadcast_.x.back(), broadcast_.z.back());
    });
    return GE_OK;
  }

 private:
  static constexpr int64_t kPiece = 512;

  void Piece(const uint16_t* x, const uint16_t* z, uint16_t* y, int64_t n, int64_t sx,
             int64_t sz) const {
    float a[kPiece], b[kPiece];
    Widen(x, n, sx, a);
    Widen(z, n, sz, b);
    WithFunction<float>(fn_, [&](auto f) {
      ForRun(static_cast<const float*>(a), static_cast<const float*>(b), a, n, sx == 0 ? 0 : 1,
             sz == 0 ? 0 : 1, f);
    });
    simd_.narrow_half(a, y, n);
  }

  void Widen(const uint16_t* from, int64_t n, int64_t step, float* to) const {
    if (step <= 1) return simd_.widen_half(from, to, step == 0 ? 1 : n);
    for (int64_t i = 0; i < n; ++i) simd_.widen_half(from + i * step, to + i, 1);
  }

  const Simd& simd_;
  Fn fn_;
  Broadcast broadcast_;
};

}  // namespace

std::unique_ptr<Kernel> ArithmeticKernel(const Simd& simd, int32_t dtype, Fn fn, const Dims& result,
                                         const std::vector<Dims>& operands) {
  std::vector<Broadcast> pairs;
  for (size_t k = 1; k < operands.size(); ++k) {
    pairs.emplace_back(result, k == 1 ? operands[0] : result, operands[k]);
  }
  switch (dtype) {
    case GE_F64:
      return std::make_unique<DoubleArithmetic>(fn, std::move(pairs[0]));
    case GE_F16:
      return std::make_unique<HalfArithmetic>(simd, fn, std::move(pairs[0]));
    default: {
      const int size = static_cast<int>(gp::ElementBits(dtype) / 8);
      return std::make_unique<WholeArithmetic>(simd, fn, dtype, size, std::move(pairs));
    }
  }
}

namespace {

class ArithmeticKind final : public KindOf<ArithmeticSpec> {
 public:
  Price PriceOf(const Unit& u, const Parser& p, const Machine& machine) const override {
    const double n = static_cast<double>(Product(u.dims));
    const int32_t dtype = p.dtype(u.in[0]);
    if (dtype == GE_F64) return WorkPrice(u, p, machine, {n * 0.2});
    if (dtype == GE_F16) return WorkPrice(u, p, machine, {n * 0.3});
    // ns an element of one thread, on a 2.8 GHz EPYC.
    const Fn fn = SpecOf(u).fn;
    const int size = p.size(u.in[0]);
    const bool divides = fn == Fn::kDiv || fn == Fn::kMod || fn == Fn::kFmod;
    const bool wide = fn == Fn::kMul && size == 8;
    const double ns = divides ? (size == 8 ? 3 : ByIsa(machine, 0.5, 0.8, 1.2))
                              : size * ByIsa(machine, 0.03, 0.035, wide ? 0.2 : 0.06);
    return WorkPrice(u, p, machine, {n * ns * std::max<double>(1, double(u.in.size()) - 1)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ArithmeticSpec& spec = SpecOf(u);
    const int32_t dtype = b->parser().dtype(u.in[0]);
    if (u.in.size() == 1 || spec.fn == Fn::kClip) return EmitOne(u, b);
    std::vector<Dims> dims;
    std::vector<BufferRef> places;
    for (const uint32_t v : u.in) {
      dims.push_back(b->parser().dims(v));
      places.push_back(b->GetDense(v).place);
    }
    b->AddPlain(u, "arithmetic", ArithmeticKernel(b->simd(), dtype, spec.fn, u.dims, dims), places);
  }

 private:
  void EmitOne(const Unit& u, NativeBuilder* b) const {
    auto loop = std::make_unique<WholeWithNumber>(b->simd(), SpecOf(u), b->parser().dtype(u.in[0]),
                                                  b->parser().size(u.in[0]), Product(u.dims));
    std::vector<BufferRef> places = {b->GetDense(u.in[0]).place};
    int bounds[2] = {};
    for (size_t k = 1; k < u.in.size(); ++k) {
      if (u.in[k] == 0) continue;
      places.push_back(b->GetDense(u.in[k]).place);
      bounds[k - 1] = static_cast<int>(places.size());
    }
    loop->SetBounds(bounds[0], bounds[1]);
    b->AddPlain(u, "arithmetic", std::move(loop), places);
  }
};

const ArithmeticKind kArithmeticKind;
}  // namespace

GE_NATIVE_KINDS(arithmetic, &kArithmeticKind)

}  // namespace ge_engines::cpu::native
