#include "plugins/cpu/native/movement/tile.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/movement/tile.h"

namespace ge_engines::cpu::native {

namespace {

class Tiled final : public Loop {
 public:
  Tiled(const Dims& result, const Dims& x, int64_t bytes)
      : y_(result), x_(x), stride_(StridesOf(x)), bytes_(bytes) {}
  void Run(float* const* p) const override {
    char* y = reinterpret_cast<char*>(p[0]);
    const char* x = reinterpret_cast<const char*>(p[1]);
    const int64_t n = y_.back() * bytes_, part = x_.back() * bytes_;
    const int64_t rows = Product(y_) / y_.back();
    ForRange(rows * n > kParallelBytes, rows, [&](int64_t r) {
      int64_t left = r, at = 0;
      for (size_t k = y_.size() - 1; k-- > 0; left /= y_[k]) {
        at += left % y_[k] % x_[k] * stride_[k];
      }
      char* to = y + r * n;
      std::memcpy(to, x + at * bytes_, static_cast<size_t>(part));
      for (int64_t done = part; done < n;) {  // what is there doubles
        const int64_t more = std::min(done, n - done);
        std::memcpy(to + done, to, static_cast<size_t>(more));
        done += more;
      }
    });
  }

 private:
  const Dims y_, x_;
  const Dims stride_;
  const int64_t bytes_;
};

}  // namespace

std::unique_ptr<Loop> TileLoop(const Dims& result, const Dims& x, int64_t bytes) {
  return std::make_unique<Tiled>(result, x, bytes);
}

namespace {

class TileKind final : public KindOf<TileSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    const double rows = unit.dims.empty() ? 1 : n / static_cast<double>(unit.dims.back());
    return WorkPrice(unit, parser, machine, {(rows * 10 + n * 0.05) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "tile", TileLoop(u.dims, b->parser().dims(u.in[0]), b->parser().size(u.in[0])),
                {b->GetDense(u.in[0]).place});
  }
};

const TileKind kTileKind;
}  // namespace

GE_NATIVE_KINDS(tile, &kTileKind)

}  // namespace ge_engines::cpu::native
