#include "plugins/cpu/native/reduce/row_squares.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/row_pieces.h"

namespace ge_engines::cpu::native {

namespace {

class RowSquares final : public Loop {
 public:
  RowSquares(const Simd& simd, const RowSquareSpec& s) : simd_(simd), s_(s) {}

  void Run(float* const* p) const override {
    if (s_.n == 0) return std::fill_n(p[0], s_.rows, 0.0f), void();
    ForRows(s_.rows, s_.n, [&](int64_t r) { p[0][r] = Of(p[1] + r * s_.n); });
  }

 private:
  float Of(const float* x) const {
    const double square = s_.n >= kShort ? VectorSquares(simd_, x, s_.n) : 0;
    const bool fits = InRange(std::sqrt(static_cast<float>(square)));
    const double exact = fits ? square : SquaresOf(x, s_.n);
    return static_cast<float>(s_.root ? std::sqrt(exact) : exact);
  }

  const Simd& simd_;
  const RowSquareSpec s_;
};

}  // namespace

double RowSquareNs(const RowSquareSpec& spec) {
  const auto rows = static_cast<double>(spec.rows), n = static_cast<double>(spec.n);
  return rows * (spec.n < kShort ? 4 + 0.9 * n : 18 + 0.15 * n);
}

std::unique_ptr<Loop> RowSquareLoop(const Simd& simd, const RowSquareSpec& spec) {
  return std::make_unique<RowSquares>(simd, spec);
}

namespace {

class RowSquaresKind final : public KindOf<RowSquareSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {RowSquareNs(SpecOf(unit)) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const RowSquareSpec& spec = SpecOf(u);
    b->AddPlain(u, "squares of rows", RowSquareLoop(b->simd(), spec), {b->GetDense(u.in[0]).place});
  }
};

const RowSquaresKind kRowSquaresKind;
}  // namespace

GE_NATIVE_KINDS(row_squares, &kRowSquaresKind)

}  // namespace ge_engines::cpu::native
