#include "plugins/cpu/native/elementwise/cast.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/elementwise/cast.h"

namespace ge_engines::cpu::native {

namespace {

// ---- casts -------------------------------------------------------------------------------------

// A float as an integer: truncated; NaN and what int64 cannot hold become its least value; shorter
// integers keep the low bits.
template <class To, class From>
To Convert(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From{0};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    const bool fits = v >= From{-0x1p63} && v < From{0x1p63};
    const int64_t i = fits ? static_cast<int64_t>(v) : std::numeric_limits<int64_t>::min();
    return static_cast<To>(static_cast<uint64_t>(i));
  } else {
    return static_cast<To>(v);
  }
}

// A bool may be any byte that is not zero.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <class From, class To>
class Cast final : public Loop {
 public:
  explicit Cast(int64_t n) : n_(n) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<Stored<To>*>(p[0]);
    const auto* x = reinterpret_cast<const Stored<From>*>(p[1]);
    ForRange(n_ > kParallel, (n_ + kPiece - 1) / kPiece, [&](int64_t piece) {
      const int64_t end = std::min(n_, (piece + 1) * kPiece);
#pragma omp simd
      for (int64_t i = piece * kPiece; i < end; ++i) {
        if constexpr (std::is_same_v<From, bool>) {
          y[i] = static_cast<Stored<To>>(x[i] != 0);
        } else {
          y[i] = Convert<To>(x[i]);
        }
      }
    });
  }

 private:
  static constexpr int64_t kPiece = 4096;  // elements of one job
  int64_t n_;
};

// Float32 to integers. A conversion to int32 is one instruction for several numbers, and has the
// same low bits wherever it fits, which is known of a few hundred numbers before they are
// converted.
template <class To>
class CastWhole final : public Loop {
 public:
  explicit CastWhole(int64_t n) : n_(n) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<To*>(p[0]);
    const float* x = p[1];
    ForRange(n_ > kParallel, (n_ + kPiece - 1) / kPiece, [&](int64_t piece) {
      const int64_t end = std::min(n_, (piece + 1) * kPiece);
      for (int64_t at = piece * kPiece; at < end; at += kBlock) {
        Block(x + at, y + at, std::min(kBlock, end - at));
      }
    });
  }

 private:
  static void Block(const float* x, To* y, int64_t n) {
    constexpr int32_t kBelow = 0x4effffff;  // bits of the greatest float below 2^31
    int32_t beyond = 0;                     // its sign: of a magnitude above that, or a NaN
#pragma omp simd reduction(| : beyond)
    for (int64_t i = 0; i < n; ++i) {
      beyond |= kBelow - (std::bit_cast<int32_t>(x[i]) & 0x7fffffff);
    }
    if (beyond < 0) {
      for (int64_t i = 0; i < n; ++i) y[i] = Convert<To>(x[i]);
      return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(static_cast<int32_t>(x[i]));
  }

  static constexpr int64_t kPiece = 4096, kBlock = 256;  // elements of one job, and of one look
  int64_t n_;
};

// Between float32 and 16-bit floats, by a row kernel.
template <class From, class To>
class CastRows final : public Loop {
 public:
  using Row = void (*)(const From* x, To* y, int64_t n);
  CastRows(Row row, int64_t n) : row_(row), n_(n) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<To*>(p[0]);
    const auto* x = reinterpret_cast<const From*>(p[1]);
    ForRange(n_ > kParallel, (n_ + kPiece - 1) / kPiece, [&](int64_t piece) {
      const int64_t at = piece * kPiece;
      row_(x + at, y + at, std::min(kPiece, n_ - at));
    });
  }

 private:
  static constexpr int64_t kPiece = 16384;  // elements of one job
  Row row_;
  int64_t n_;
};

std::unique_ptr<Loop> FromHalvesLoop(const Simd& simd, bool brain, int64_t n) {
  return std::make_unique<CastRows<uint16_t, float>>(brain ? simd.widen_brain : simd.widen_half, n);
}

std::unique_ptr<Loop> ToHalvesLoop(const Simd& simd, bool brain, int64_t n) {
  return std::make_unique<CastRows<float, uint16_t>>(brain ? simd.narrow_brain : simd.narrow_half,
                                                     n);
}

std::unique_ptr<Loop> WholeLoop(int32_t to, int64_t n) {
  switch (to) {
    case GE_I8:
      return std::make_unique<CastWhole<int8_t>>(n);
    case GE_U8:
      return std::make_unique<CastWhole<uint8_t>>(n);
    case GE_I16:
      return std::make_unique<CastWhole<int16_t>>(n);
    case GE_U16:
      return std::make_unique<CastWhole<uint16_t>>(n);
    case GE_I32:
      return std::make_unique<CastWhole<int32_t>>(n);
    case GE_U32:
      return std::make_unique<CastWhole<uint32_t>>(n);
    case GE_I64:
      return std::make_unique<CastWhole<int64_t>>(n);
    default:
      return nullptr;
  }
}

// From a type that has casts to float32, int32, int64 and bool alone.
template <class From>
std::unique_ptr<Loop> CastToCore(int32_t to, int64_t n) {
  switch (to) {
    case GE_F32:
      return std::make_unique<Cast<From, float>>(n);
    case GE_I32:
      return std::make_unique<Cast<From, int32_t>>(n);
    case GE_I64:
      return std::make_unique<Cast<From, int64_t>>(n);
    case GE_BOOL:
      return std::make_unique<Cast<From, bool>>(n);
    default:
      return nullptr;
  }
}

// From one of these four.
template <class From>
std::unique_ptr<Loop> CastFrom(int32_t to, int64_t n) {
  switch (to) {
    case GE_I8:
      return std::make_unique<Cast<From, int8_t>>(n);
    case GE_U8:
      return std::make_unique<Cast<From, uint8_t>>(n);
    case GE_I16:
      return std::make_unique<Cast<From, int16_t>>(n);
    case GE_U16:
      return std::make_unique<Cast<From, uint16_t>>(n);
    case GE_U32:
      return std::make_unique<Cast<From, uint32_t>>(n);
    case GE_F64:
      return std::make_unique<Cast<From, double>>(n);
    default:
      return CastToCore<From>(to, n);
  }
}

}  // namespace

std::unique_ptr<Loop> CastLoop(const Simd& simd, int32_t from, int32_t to, int64_t n) {
  switch (from) {
    case GE_F16:
    case GE_BF16:
      return to == GE_F32 ? FromHalvesLoop(simd, from == GE_BF16, n) : nullptr;
    case GE_F32:
      if (to == GE_F16 || to == GE_BF16) return ToHalvesLoop(simd, to == GE_BF16, n);
      if (auto whole = WholeLoop(to, n)) return whole;
      return CastFrom<float>(to, n);
    case GE_I32:
      return CastFrom<int32_t>(to, n);
    case GE_I64:
      return CastFrom<int64_t>(to, n);
    case GE_BOOL:
      return CastFrom<bool>(to, n);
    case GE_I8:
      return CastToCore<int8_t>(to, n);
    case GE_U8:
      return CastToCore<uint8_t>(to, n);
    case GE_I16:
      return CastToCore<int16_t>(to, n);
    case GE_U16:
      return CastToCore<uint16_t>(to, n);
    case GE_U32:
      return CastToCore<uint32_t>(to, n);
    case GE_F64:
      return CastToCore<double>(to, n);
    default:
      return nullptr;
  }
}

namespace {

class CastKind final : public KindOf<CastSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    const auto is_half = [&](uint32_t v) {
      return parser.dtype(v) == GE_F16 || parser.dtype(v) == GE_BF16;
    };
    const bool half = is_half(unit.in[0]) || is_half(unit.out[0]);
    return WorkPrice(unit, parser, machine, {half ? n * ByIsa(machine, 0.1, 0.3, 0.6) : n * 0.4});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    auto loop = CastLoop(b->simd(), b->parser().dtype(u.in[0]), b->parser().dtype(u.out[0]),
                         Product(u.dims));
    if (loop == nullptr) throw std::runtime_error("no such cast");
    b->AddPlain(u, "cast", std::move(loop), {b->GetDense(u.in[0]).place});
  }
};

const CastKind kCastKind;
}  // namespace

GE_NATIVE_KINDS(cast, &kCastKind)

}  // namespace ge_engines::cpu::native
