#include "plugins/cpu/native/movement/constant_of_shape.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/whole_rows.h"
#include "plugins/units/movement/constant_of_shape.h"

namespace ge_engines::cpu::native {

namespace {

class Fill final : public Loop {
 public:
  Fill(int64_t n, int64_t bytes, const std::array<uint8_t, 8>& element)
      : n_(n), bytes_(bytes), element_(element) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<char*>(p[0]);
    const auto* one = reinterpret_cast<const char*>(element_.data());
    const int64_t piece = kPieceBytes / bytes_;
    ForRange(n_ * bytes_ > kParallelBytes, CeilDiv(n_, piece), [&](int64_t i) {
      const int64_t n = std::min(piece, n_ - i * piece);
      WholeRow(one, 0, static_cast<int>(bytes_), n, y + i * kPieceBytes);
    });
  }

 private:
  static constexpr int64_t kPieceBytes = 1 << 15;  // of one job; it is made of copies of itself

  const int64_t n_, bytes_;
  const std::array<uint8_t, 8> element_;
};

}  // namespace

std::unique_ptr<Loop> FillLoop(int64_t n, int64_t bytes, const std::array<uint8_t, 8>& element) {
  return std::make_unique<Fill>(n, bytes, element);
}

namespace {

class ConstantOfShapeKind final : public KindOf<FillSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * 0.05 + 20});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const FillSpec& spec = SpecOf(u);
    b->AddPlain(u, "fill", FillLoop(Product(u.dims), b->parser().size(u.out[0]), spec.element), {});
  }
};

const ConstantOfShapeKind kConstantOfShapeKind;
}  // namespace

GE_NATIVE_KINDS(constant_of_shape, &kConstantOfShapeKind)

}  // namespace ge_engines::cpu::native
