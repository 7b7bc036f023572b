#include "plugins/cpu/native/training/channel_moments.h"

#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/training/channel_rows.h"
#include "plugins/units/training/channel_moments.h"

namespace ge_engines::cpu::native {

namespace {

class ChannelMoments final : public Loop {
 public:
  ChannelMoments(const Simd& simd, const Layout& x) : simd_(simd), c_(x) {}

  void Run(float* const* p) const override {
    ForRange(c_.elements() > kParallel, c_.groups, [&](int64_t g) { One(g, p); });
  }

 private:
  // About the first number of each channel, so that a mean far from 0 costs no digits.
  void One(int64_t g, float* const* p) const {
    const float* const x = p[2];
    const int64_t width = c_.Width(g);
    float shift[kMostLanes] = {};
    for (int64_t k = 0; k < width; ++k) shift[k] = x[g * c_.group + k];
    Sums sums;
    c_.ForParts(g, [&](int64_t at, int64_t rows) {
      sums.Add(width, [&](float* sum, float* square) {
        if (c_.lanes == 1) {
          simd_.moment_sums(x + at, shift[0], rows, sum, square);
        } else {
          simd_.moment_rows(x + at, rows, c_.row, shift, sum, square, width);
        }
      });
    });
    const auto n = static_cast<double>(c_.count());
    for (int64_t k = 0; k < c_.Used(g); ++k) {
      const double mean = sums.first[k] / n;
      p[0][g * c_.lanes + k] = static_cast<float>(static_cast<double>(shift[k]) + mean);
      const double variance = sums.second[k] / n - mean * mean;
      // A NaN stays one.
      p[1][g * c_.lanes + k] = static_cast<float>(variance < 0 ? 0 : variance);
    }
  }

  const Simd& simd_;
  const Channels c_;
};

}  // namespace

std::unique_ptr<Loop> MomentsLoop(const Simd& simd, const Layout& x) {
  return std::make_unique<ChannelMoments>(simd, x);
}

namespace {

class ChannelMomentsKind final : public KindOf<MomentsSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, ByIsa(machine, 0.2, 0.2, 0.3));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    Rep x = b->Main(u.in[0]);
    if (!HasChannelRows(x.layout)) x = b->GetDense(u.in[0]);
    std::vector<BufferRef> places;
    for (const uint32_t v : u.out) {
      const Rep y = b->NewResult(v, b->Plain(v));
      places.push_back(y.place);
      b->AddRep(v, y);
    }
    places.push_back(x.place);
    b->AddStep("moments " + b->Sizes(x.layout.dims()), MomentsLoop(b->simd(), x.layout),
               std::move(places));
  }
};

const ChannelMomentsKind kChannelMomentsKind;
}  // namespace

GE_NATIVE_KINDS(channel_moments, &kChannelMomentsKind)

}  // namespace ge_engines::cpu::native
