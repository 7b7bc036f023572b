#include "plugins/cpu/native/training/add_rows.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/training/add_rows.h"

namespace ge_engines::cpu::native {

namespace {

class AddedRows final : public Loop {
 public:
  AddedRows(const Simd& simd, int64_t rows, int64_t n, int64_t count, bool wide)
      : simd_(simd), rows_(rows), n_(n), count_(count), wide_(wide) {}

  // Each thread takes rows of its own, so that a row's sum has one order.
  void Run(float* const* p) const override {
    if (p[0] != p[1]) std::memcpy(p[0], p[1], static_cast<size_t>(rows_ * n_) * sizeof(float));
    const int64_t parts = count_ * n_ > kParallel ? std::min<int64_t>(rows_, kParts) : 1;
    ForRange(parts > 1, parts, [&](int64_t part) {
      for (int64_t k = 0; k < count_; ++k) {
        int64_t row = wide_ ? reinterpret_cast<const int64_t*>(p[2])[k]
                            : reinterpret_cast<const int32_t*>(p[2])[k];
        if (row < 0) row += rows_;
        if (row < 0 || row >= rows_ || row % parts != part) continue;
        float* const to = p[0] + row * n_;
        simd_.binary(Fn::kAdd, to, p[3] + k * n_, to, n_);
      }
    });
  }

 private:
  static constexpr int64_t kParts = 64;  // enough for threads to share them evenly

  const Simd& simd_;
  const int64_t rows_, n_, count_;
  const bool wide_;
};

}  // namespace

std::unique_ptr<Loop> AddRowsLoop(const Simd& simd, int64_t rows, int64_t n, int64_t count,
                                  bool wide) {
  return std::make_unique<AddedRows>(simd, rows, n, count, wide);
}

namespace {

class AddRowsKind final : public KindOf<AddRowsSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    // As where the table is overwritten where it lies.
    return WorkPrice(
        unit, parser, machine,
        {.ns = BytesOf(parser, unit.in[2]) * 0.1, .bytes = 2 * BytesOf(parser, unit.in[2])});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const int64_t rows = u.dims[0], count = Product(b->parser().dims(u.in[1]));
    b->AddPlain(
        u, "add rows",
        AddRowsLoop(b->simd(), rows, Product(u.dims) / rows, count,
                    b->parser().dtype(u.in[1]) == GE_I64),
        {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place, b->GetDense(u.in[2]).place});
  }
};

const AddRowsKind kAddRowsKind;
}  // namespace

GE_NATIVE_KINDS(add_rows, &kAddRowsKind)

}  // namespace ge_engines::cpu::native
