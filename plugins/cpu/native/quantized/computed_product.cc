#include "plugins/cpu/native/quantized/computed_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/quantized/scratch.h"

namespace ge_engines::cpu::native {
namespace {

// Four rows of b, `n` columns of them, column by column: to[4 * j + i] = row i's byte j ^ flip.
// Adds each column to sums. A row beyond the last is null and counts as zero.
void PackRows(const std::array<const uint8_t*, 4>& rows, uint8_t flip, int64_t n, uint8_t* to,
              int32_t* sums) {
  if (rows[3] != nullptr) {
    const uint8_t *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3];
    for (int64_t j = 0; j < n; ++j) {
      const auto a = static_cast<uint8_t>(r0[j] ^ flip), b = static_cast<uint8_t>(r1[j] ^ flip);
      const auto c = static_cast<uint8_t>(r2[j] ^ flip), d = static_cast<uint8_t>(r3[j] ^ flip);
      to[4 * j] = a;
      to[4 * j + 1] = b;
      to[4 * j + 2] = c;
      to[4 * j + 3] = d;
      sums[j] += static_cast<int8_t>(a) + static_cast<int8_t>(b) + static_cast<int8_t>(c) +
                 static_cast<int8_t>(d);
    }
    return;
  }
  for (size_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const auto byte = static_cast<uint8_t>(rows[i] != nullptr ? rows[i][j] ^ flip : 0);
      to[4 * j + static_cast<int64_t>(i)] = byte;
      sums[j] += static_cast<int8_t>(byte);
    }
  }
}

class ComputedProduct final : public Loop {
 public:
  ComputedProduct(const Dot4Kernels& kernels, const ComputedProductPlan& plan, bool b_zero)
      : plan_(plan), b_zero_(b_zero), product_(Dot4Loop(kernels, plan.product)) {}

  void Run(float* const* p) const override {
    std::array<float*, kScratch + 1> q;
    std::copy_n(p, q.size(), q.begin());
    Room room{reinterpret_cast<char*>(p[kScratch])};
    auto* packed = room.Take<uint8_t>(static_cast<int64_t>(plan_.product.weight_bytes()));
    q[kW] = reinterpret_cast<float*>(packed);
    q[kScratch] = reinterpret_cast<float*>(room.at);
    const int32_t zero = b_zero_ ? Int8At(p[kScratch + 1], plan_.b_signed) : 0;
    for (int64_t i = 0; i < plan_.count; ++i) {
      const auto* b = reinterpret_cast<const uint8_t*>(p[kW]) + i * plan_.k * plan_.n;
      plan_.Pack(b, zero, packed);
      q[kX] = At(p[kX], i * plan_.m * plan_.k);
      q[kY] = At(p[kY], i * plan_.m * plan_.product.pixel_out());
      product_->Run(q.data());
    }
  }

 private:
  static float* At(float* buffer, int64_t bytes) {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(buffer) + bytes);
  }

  ComputedProductPlan plan_;
  bool b_zero_;
  std::unique_ptr<Loop> product_;
};

}  // namespace

ComputedProductPlan::ComputedProductPlan(int64_t products, int64_t rows, int64_t columns,
                                         int64_t depth, bool is_signed, int threads,
                                         const QuantResult& result)
    : count(products),
      m(rows),
      n(columns),
      k(depth),
      b_signed(is_signed),
      product(rows, columns, depth, /*transposed=*/false, threads, result) {
  product.w_zeros = 1;
}

uint64_t ComputedProductPlan::scratch_bytes() const {
  return Padded(product.weight_bytes()) + product.scratch_bytes();
}

void ComputedProductPlan::Pack(const uint8_t* b, int32_t zero, void* packed) const {
  auto* to = static_cast<uint8_t*>(packed);
  auto* sums = reinterpret_cast<int32_t*>(to + product.code_bytes());
  auto* less = reinterpret_cast<int32_t*>(to + product.code_bytes() + product.sum_bytes());
  const uint8_t flip = b_signed ? 0 : 0x80;  // makes int8 of uint8
  const int32_t minus = -(b_signed ? zero : zero - 128);
  ForRange(k * n > kParallelQuantized, product.panels, [&](int64_t panel) {
    const int64_t first = panel * kDot4Columns, columns = std::min(kDot4Columns, n - first);
    const int64_t vectors = (columns + kDot4Lanes - 1) / kDot4Lanes, row = 4 * vectors * kDot4Lanes;
    uint8_t* out = to + panel * product.panel_bytes();
    std::fill_n(sums + first, kDot4Columns, 0);
    std::fill_n(less + first, kDot4Columns, 0);
    for (int64_t quad = 0; quad < product.quads; ++quad, out += row) {
      std::array<const uint8_t*, 4> rows{};
      for (int64_t i = 0; i < 4 && 4 * quad + i < k; ++i) {
        rows[static_cast<size_t>(i)] = b + (4 * quad + i) * n + first;
      }
      std::memset(out + 4 * columns, 0, static_cast<size_t>(row - 4 * columns));
      PackRows(rows, flip, columns, out, sums + first);
    }
    for (int64_t j = first; j < first + columns; ++j) {
      less[j] = minus;
      sums[j] += static_cast<int32_t>(k) * minus;
    }
  });
}

std::unique_ptr<Loop> ComputedProductLoop(const Dot4Kernels& kernels,
                                          const ComputedProductPlan& plan, bool b_zero) {
  return std::make_unique<ComputedProduct>(kernels, plan, b_zero);
}

}  // namespace ge_engines::cpu::native
