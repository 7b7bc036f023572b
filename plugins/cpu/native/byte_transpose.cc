#include "plugins/cpu/native/byte_transpose.h"

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu::native {

namespace {

class ByteTranspose final : public Loop {
 public:
  ByteTranspose(const Simd& simd, int64_t images, int64_t columns, int64_t rows)
      : simd_(simd), images_(images), columns_(columns), rows_(rows) {}
  void Run(float* const* p) const override {
    const int64_t size = columns_ * rows_;
    ForRange(images_ * size > kParallelBytes, images_, [&](int64_t i) {
      simd_.transpose_bytes(reinterpret_cast<const uint8_t*>(p[1]) + i * size, columns_, rows_,
                            reinterpret_cast<uint8_t*>(p[0]) + i * size);
    });
  }

 private:
  const Simd& simd_;
  const int64_t images_, columns_, rows_;
};

}  // namespace

std::unique_ptr<Loop> ByteTransposeLoop(const Simd& simd, int64_t images, int64_t columns,
                                        int64_t rows) {
  return std::make_unique<ByteTranspose>(simd, images, columns, rows);
}

}  // namespace ge_engines::cpu::native
