// EyeLike: zeros, and ones on a diagonal.
#include "plugins/units/movement/eye_like.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/one_of.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

class EyeLikeKind final : public KindOf<EyeSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double rows = static_cast<double>(unit.dims[0]);
    return WorkPrice(unit, parser, machine, {rows * 6, BytesOf(parser, unit.out[0])});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const int64_t rows = u.dims[0], columns = u.dims[1];
    // Beyond the matrix there is no diagonal; so nothing overflows.
    const int64_t diagonal = std::clamp(SpecOf(u).diagonal, -rows, columns);
    const auto size = static_cast<int64_t>(b->parser().size(u.out[0]));
    const uint64_t one = OneOf(b->parser().dtype(u.out[0]));
    auto loop = LoopOf([=](float* const* p) {
      auto* y = reinterpret_cast<char*>(p[0]);
      ForRange(rows * columns > kParallel, rows, [&](int64_t r) {
        char* const row = y + r * columns * size;
        std::memset(row, 0, static_cast<size_t>(columns * size));
        const int64_t at = r + diagonal;
        if (at >= 0 && at < columns) std::memcpy(row + at * size, &one, static_cast<size_t>(size));
      });
    });
    b->AddPlain(u, "eye", std::move(loop), {});
  }
};

const EyeLikeKind kEyeLikeKind;
}  // namespace

GE_NATIVE_KINDS(eye_like, &kEyeLikeKind)

}  // namespace ge_engines::cpu::native
