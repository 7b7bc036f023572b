// Random numbers, the same to the bit as `ref` draws. Uniform ones are exact in double; normal ones
// are computed by vectors within 1e-15 of their size, and again one by one where so small an error
// could change the rounded result.
#include "plugins/units/elementwise/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/one_of.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

constexpr int64_t kDraws = 512;  // of a piece, whose doubles lie in a first cache
constexpr double kDrawError = 0x1p-48;

// The float next to z on the side of 0, with its last bit set unless it is z: rounded again to
// fewer bits, it gives what z gives.
float ToOdd(double z) {
  const float f = static_cast<float>(z);
  if (static_cast<double>(f) == z || !(std::fabs(z) <= 3.0e38)) return f;
  auto bits = std::bit_cast<uint32_t>(f);
  if (std::fabs(static_cast<double>(f)) > std::fabs(z)) --bits;
  return std::bit_cast<float>(bits | 1);
}

class Draws final : public Kernel {
 public:
  Draws(const Simd& simd, const RandomSpec& spec, int32_t dtype, int64_t n)
      : simd_(simd),
        s_(spec),
        dtype_(dtype),
        size_(static_cast<int>(gp::ElementBits(dtype) / 8)),
        one_(OneOf(dtype)),
        n_(n) {}

  ge_rc Do(const Call& call) const override {
    const float* shares = s_.of == RandomSpec::Of::kBernoulli ? call.p[1] : nullptr;
    for (int64_t i = 0; shares != nullptr && i < n_; i += kDraws) {
      const int64_t bad = FirstBad(shares + i, std::min(kDraws, n_ - i));
      if (bad < 0) continue;
      char text[128];
      std::snprintf(text, sizeof text, "input[%lld] is %g, a probability from 0 to 1 is wanted",
                    static_cast<long long>(i + bad), static_cast<double>(shares[i + bad]));
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node, text);
    }
    ForRange(n_ > kDrawsParallel, CeilDiv(n_, kDraws), [&](int64_t i) {
      const int64_t first = i * kDraws, n = std::min(kDraws, n_ - first);
      alignas(64) double draw[kDraws];
      const int64_t blocks = (n + 15) / 16 * 8;
      simd_.philox_pairs(s_.key.low, s_.key.high, static_cast<uint64_t>(first) / 2, draw, blocks);
      char* const y = reinterpret_cast<char*>(call.p[0]) + first * size_;
      if (shares != nullptr) return Choose(shares + first, draw, n, y);
      if (s_.of == RandomSpec::Of::kUniform) return Put(draw, n, y);
      Normal(first, draw, n, y);
    });
    return GE_OK;
  }

 private:
  // A second thread is worth more than it costs from here on.
  static constexpr int64_t kDrawsParallel = 4096;

  static int64_t FirstBad(const float* share, int64_t n) {
    int any = 0;
    for (int64_t i = 0; i < n; ++i) any |= !(share[i] >= 0) | !(share[i] <= 1);
    for (int64_t i = 0; any != 0 && i < n; ++i) {
      if (!(share[i] >= 0 && share[i] <= 1)) return i;
    }
    return -1;
  }

  void Choose(const float* share, const double* draw, int64_t n, char* y) const {
    if (dtype_ == GE_F32) {
      auto* to = reinterpret_cast<float*>(y);
      for (int64_t i = 0; i < n; ++i) to[i] = draw[i] < static_cast<double>(share[i]) ? 1.0f : 0.0f;
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t one = draw[i] < static_cast<double>(share[i]) ? one_ : 0;
      std::memcpy(y + i * size_, &one, static_cast<size_t>(size_));
    }
  }

  // Of draws: the results, rounded once.
  void Put(const double* draw, int64_t n, char* y) const {
    const double at = s_.at, width = s_.width;
    if (dtype_ == GE_F64) {
      auto* to = reinterpret_cast<double*>(y);
      for (int64_t i = 0; i < n; ++i) to[i] = at + width * draw[i];
    } else if (dtype_ == GE_F32) {
      auto* to = reinterpret_cast<float*>(y);
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(at + width * draw[i]);
    } else {
      float odd[kDraws];
      for (int64_t i = 0; i < n; ++i) odd[i] = ToOdd(at + width * draw[i]);
      const auto narrow = dtype_ == GE_F16 ? simd_.narrow_half : simd_.narrow_brain;
      narrow(odd, reinterpret_cast<uint16_t*>(y), n);
    }
  }

  // Draws made normal one pair after the other.
  void NormalByPairs(double* draw, int64_t n) const {
    for (int64_t i = 0; i < n; i += 2) MakeNormal(draw + i);
  }

  void Normal(int64_t first, double* draw, int64_t n, char* y) const {
    const int64_t pairs = (n + 15) / 16 * 8;
    if (dtype_ == GE_F64) {
      NormalByPairs(draw, (n + 1) / 2 * 2);
      return Put(draw, n, y);
    }
    simd_.normal_pairs(draw, pairs);
    if (IsSure(draw, n)) return Put(draw, n, y);
    simd_.philox_pairs(s_.key.low, s_.key.high, static_cast<uint64_t>(first) / 2, draw, pairs);
    NormalByPairs(draw, (n + 1) / 2 * 2);
    Put(draw, n, y);
  }

  // Whether no result of these draws depends on their last bits. Rounding to float32 and to fewer
  // bits may differ in the last of those bits alone where a number lies beside a tie, which is one
  // of float32 numbers, too, or a float32 number itself.
  bool IsSure(const double* draw, int64_t n) const {
    const double at = s_.at, width = s_.width;
    int any = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double move = width * draw[i], z = at + move;
      const double off = kDrawError * (std::fabs(at) + std::fabs(move));
      any |= static_cast<float>(z - off) != static_cast<float>(z + off);
    }
    if (any != 0 || dtype_ == GE_F32) return any == 0;
    for (int64_t i = 0; i < n; ++i) {
      const double move = width * draw[i], z = at + move;
      const double off = kDrawError * (std::fabs(at) + std::fabs(move));
      any |= std::bit_cast<uint32_t>(ToOdd(z - off)) != std::bit_cast<uint32_t>(ToOdd(z + off));
    }
    return any == 0;
  }

  const Simd& simd_;
  RandomSpec s_;
  int32_t dtype_;
  int size_;  // bytes of an element
  uint64_t one_;
  int64_t n_;
};

class RandomKind final : public KindOf<RandomSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    const int32_t dtype = parser.dtype(unit.out[0]);
    const bool normal = SpecOf(unit).of == RandomSpec::Of::kNormal;
    double ns = ByIsa(machine, 0.8, 2, 4);
    if (normal) ns += dtype == GE_F64 ? 17 : ByIsa(machine, 2, 4, 9);
    if (dtype == GE_F16 || dtype == GE_BF16) ns += 2;
    return WorkPrice(unit, parser, machine, {n * ns});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    std::vector<BufferRef> places;
    for (const uint32_t v : u.in) places.push_back(b->GetDense(v).place);
    b->AddPlain(
        u, "random",
        std::make_unique<Draws>(b->simd(), SpecOf(u), b->parser().dtype(u.out[0]), Product(u.dims)),
        places);
  }
};

const RandomKind kRandomKind;
}  // namespace

GE_NATIVE_KINDS(random, &kRandomKind)

}  // namespace ge_engines::cpu::native
