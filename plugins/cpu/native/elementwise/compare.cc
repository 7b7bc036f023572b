#include "plugins/cpu/native/elementwise/compare.h"

#include <algorithm>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu::native {

namespace {

// Calls f(first, count) for pieces of n elements.
template <class F>
void ForTiles(int64_t n, F f) {
  const int64_t pieces = (n + kTile - 1) / kTile;
  ForRange(n > kParallel, pieces, [&](int64_t t) { f(t * kTile, std::min(kTile, n - t * kTile)); });
}

class Compared final : public Loop {
 public:
  Compared(const Simd& simd, Compare op, int64_t n, bool scalar)
      : simd_(simd), op_(op), n_(n), step_(scalar ? 0 : 1) {}
  void Run(float* const* p) const override {
    auto* out = reinterpret_cast<uint8_t*>(p[0]);
    ForTiles(n_, [&](int64_t i, int64_t n) {
      simd_.compare(op_, p[1] + i, p[2] + i * step_, step_, out + i, n);
    });
  }

 private:
  const Simd& simd_;
  Compare op_;
  int64_t n_, step_;
};

}  // namespace

std::unique_ptr<Loop> CompareLoop(const Simd& simd, Compare op, int64_t n, bool scalar) {
  return std::make_unique<Compared>(simd, op, n, scalar);
}

}  // namespace ge_engines::cpu::native
