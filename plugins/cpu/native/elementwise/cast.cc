#include "plugins/cpu/native/elementwise/cast.h"

#include <algorithm>
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

// Between float32 and float64.
template <class From, class To>
class Cast final : public Loop {
 public:
  explicit Cast(int64_t n) : n_(n) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<To*>(p[0]);
    const auto* x = reinterpret_cast<const From*>(p[1]);
    ForRange(n_ > kParallel, CeilDiv(n_, kPiece), [&](int64_t piece) {
      const int64_t end = std::min(n_, (piece + 1) * kPiece);
#pragma omp simd
      for (int64_t i = piece * kPiece; i < end; ++i) y[i] = static_cast<To>(x[i]);
    });
  }

 private:
  static constexpr int64_t kPiece = 4096;  // elements of one job
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

// From integers and bools to any, from floats to integers and bool.
class WholeCast final : public Loop {
 public:
  WholeCast(const Simd& simd, int32_t from, int32_t to, int64_t n)
      : simd_(simd), from_(from), to_(to), n_(n) {
    read_ = static_cast<int64_t>(gp::ElementBits(from) / 8);
    made_ = static_cast<int64_t>(gp::ElementBits(to) / 8);
  }
  void Run(float* const* p) const override {
    ForRange(n_ * (read_ + made_) > kParallelBytes, CeilDiv(n_, kPiece), [&](int64_t piece) {
      const int64_t at = piece * kPiece, n = std::min(kPiece, n_ - at);
      const char* const x = reinterpret_cast<const char*>(p[1]) + at * read_;
      char* const y = reinterpret_cast<char*>(p[0]) + at * made_;
      if (from_ == GE_F32 || from_ == GE_F64) {
        simd_.truncate_floats(from_ == GE_F64, to_, x, y, n);
      } else {
        simd_.cast_wholes(from_, to_, x, y, n);
      }
    });
  }

 private:
  static constexpr int64_t kPiece = 16384;  // elements of one job
  const Simd& simd_;
  int32_t from_, to_;
  int64_t n_, read_ = 1, made_ = 1;  // elements; bytes of one that is read, of one that is made
};

std::unique_ptr<Loop> FromHalvesLoop(const Simd& simd, bool brain, int64_t n) {
  return std::make_unique<CastRows<uint16_t, float>>(brain ? simd.widen_brain : simd.widen_half, n);
}

std::unique_ptr<Loop> ToHalvesLoop(const Simd& simd, bool brain, int64_t n) {
  return std::make_unique<CastRows<float, uint16_t>>(brain ? simd.narrow_brain : simd.narrow_half,
                                                     n);
}

}  // namespace

std::unique_ptr<Loop> CastLoop(const Simd& simd, int32_t from, int32_t to, int64_t n) {
  const auto is_half = [](int32_t t) { return t == GE_F16 || t == GE_BF16; };
  if (is_half(from)) return to == GE_F32 ? FromHalvesLoop(simd, from == GE_BF16, n) : nullptr;
  if (is_half(to)) return from == GE_F32 ? ToHalvesLoop(simd, to == GE_BF16, n) : nullptr;
  if (from == GE_F32 && to == GE_F64) return std::make_unique<Cast<float, double>>(n);
  if (from == GE_F64 && to == GE_F32) return std::make_unique<Cast<double, float>>(n);
  return std::make_unique<WholeCast>(simd, from, to, n);
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
    const int32_t from = parser.dtype(unit.in[0]), to = parser.dtype(unit.out[0]);
    const bool plain = (from == GE_F32 || from == GE_F64) && (to == GE_F32 || to == GE_F64);
    const double ns = half    ? ByIsa(machine, 0.1, 0.3, 0.6)
                      : plain ? 0.4
                              : ByIsa(machine, 0.1, 0.15, 0.3);
    return WorkPrice(unit, parser, machine, {n * ns});
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
