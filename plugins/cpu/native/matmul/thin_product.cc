#include "plugins/cpu/native/matmul/thin_product.h"

#include <algorithm>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::native {

namespace {

class ThinProducts final : public Loop {
 public:
  ThinProducts(const Simd& simd, const ThinProduct& t) : simd_(simd), t_(t) {}

  void Run(float* const* p) const override {
    // Whole rows of w by one thread alone; strips of whole cache lines for several.
    const bool parallel = t_.batch * t_.n * t_.k > kParallel;
    int64_t strip = t_.n;
    if (parallel && t_.batch == 1) {
      const int64_t threads = std::max(1, omp_get_max_threads());
      strip = ((t_.n + threads - 1) / threads + kStripColumns - 1) / kStripColumns * kStripColumns;
    }
    strip = std::max<int64_t>(strip, 1);
    const int64_t strips = (t_.n + strip - 1) / strip;
    ForRange(parallel, t_.batch * strips, [&](int64_t i) {
      const int64_t at = i % strips * strip;
      One(p, i / strips, at, std::min(strip, t_.n - at));
    });
  }

 private:
  void One(float* const* p, int64_t batch, int64_t at, int64_t n) const {
    const float* x = p[1] + batch * t_.x_batch;
    const float* w = p[2] + batch * t_.w_batch;
    float* y = p[0] + batch * t_.m * t_.n + at;
    if (t_.w_by_columns) {
      simd_.dot_rows(x, t_.k, w + at * t_.k, t_.k, y, t_.n, t_.m, n, t_.k);
    } else {
      simd_.thin_product(x, t_.k, w + at, t_.n, y, t_.n, t_.m, n, t_.k);
    }
    if (t_.alpha == 1.0f && !t_.bias) return;
    for (int64_t r = 0; r < t_.m; ++r) {
      float* row = y + r * t_.n;
      if (t_.alpha != 1.0f) simd_.unary(Fn::kLinear, t_.alpha, 0.0f, row, row, n);
      if (t_.bias) simd_.binary(Fn::kAdd, row, p[3] + at, row, n);
    }
  }

  const Simd& simd_;
  const ThinProduct t_;
};

}  // namespace

std::unique_ptr<Loop> ThinProductLoop(const Simd& simd, const ThinProduct& product) {
  return std::make_unique<ThinProducts>(simd, product);
}

double ProductNs(const Fold& fold, const Machine& machine, bool near) {
  const double weights = static_cast<double>(fold.n) * static_cast<double>(fold.k) * 4;
  const double rows = static_cast<double>(fold.m), batch = static_cast<double>(fold.batch);
  const double flops = 2 * rows * static_cast<double>(fold.n) * static_cast<double>(fold.k);
  const double rate = machine.isa >= GE_ISA_AVX512
                          ? 105 * std::min(1.0, (rows + 2) / 8)
                          : ByIsa(machine, 0, 50, 15) * std::min(1.0, (rows + 4) / 8);
  const double all = weights * batch;
  // Bytes a ns. Other weights than small ones come from memory, unless they were just used.
  const double kept = all < 512e3 ? 70 : all < 1.5e6 ? 40 : all < 4e6 ? 24 : 14;
  const double speed = near || all < 64e3 ? kept : 14;
  const double passes = static_cast<double>((fold.m + 7) / 8);
  return batch *
         std::max(flops / (rate * machine.compute), passes * weights / (speed * machine.stream[1]));
}

void AddProduct(NativeBuilder* builder, const Unit& unit, const ThinProduct& product,
                std::vector<BufferRef> reads) {
  const Layout target = Layout::Dense(unit.dims);
  const bool whole = unit.post_ops.empty();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y =
      whole ? builder->NewResult(unit.out[0], target) : Rep{target, builder->NewInternal(0, bytes)};
  reads.insert(reads.begin(), y.place);
  builder->AddStep("product " + builder->Sizes({product.batch, product.m, product.n, product.k}),
                   ThinProductLoop(builder->simd(), product), std::move(reads));
  if (whole) {
    builder->AddRep(unit.out[0], y);
  } else {
    builder->ApplyPostOps(unit, 0, y, target);
  }
}

}  // namespace ge_engines::cpu::native
