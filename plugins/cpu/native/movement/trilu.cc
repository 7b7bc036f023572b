#include "plugins/cpu/native/movement/trilu.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

class Triangle final : public Loop {
 public:
  Triangle(const Dims& x, const TriangleSpec& s, int64_t bytes)
      : spec_(s),
        bytes_(bytes),
        columns_(x.back()),
        lines_(x[x.size() - 2]),
        rows_(Product(x) / x.back()) {
    spec_.diagonal = std::clamp(spec_.diagonal, -lines_, columns_);
  }
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const char*>(p[1]);
    auto* y = reinterpret_cast<char*>(p[0]);
    ForRange(rows_ * columns_ > kParallel, rows_, [&](int64_t r) {
      // Columns [begin, end) stay.
      const int64_t at = std::clamp<int64_t>(r % lines_ + spec_.diagonal, -1, columns_);
      const int64_t begin = spec_.upper ? std::max<int64_t>(at, 0) : 0;
      const int64_t end = spec_.upper ? columns_ : std::min(at + 1, columns_);
      const int64_t row = r * columns_;
      const auto bytes = [&](int64_t n) { return static_cast<size_t>(n * bytes_); };
      std::memset(y + row * bytes_, 0, bytes(begin));
      std::memcpy(y + (row + begin) * bytes_, x + (row + begin) * bytes_, bytes(end - begin));
      std::memset(y + (row + end) * bytes_, 0, bytes(columns_ - end));
    });
  }

 private:
  TriangleSpec spec_;
  const int64_t bytes_, columns_, lines_, rows_;
};

}  // namespace

std::unique_ptr<Loop> TriangleLoop(const Dims& x, const TriangleSpec& spec, int64_t bytes) {
  return std::make_unique<Triangle>(x, spec, bytes);
}

namespace {

class TriluKind final : public KindOf<TriangleSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * 0.05 + 20});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const TriangleSpec& spec = SpecOf(u);
    b->AddPlain(u, "triangle", TriangleLoop(u.dims, spec, b->parser().size(u.out[0])),
                {b->GetDense(u.in[0]).place});
  }
};

const TriluKind kTriluKind;
}  // namespace

GE_NATIVE_KINDS(trilu, &kTriluKind)

}  // namespace ge_engines::cpu::native
