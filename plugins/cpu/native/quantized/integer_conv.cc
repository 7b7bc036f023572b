// Convolutions of 8-bit integers.
#include "plugins/units/quantized/integer_conv.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/quantized/dot4.h"
#include "plugins/cpu/native/quantized/integer_product.h"
#include "plugins/cpu/native/quantized/step.h"
#include "plugins/units/quantized/inputs.h"

namespace ge_engines::cpu::native {

namespace {

double IntegerConvNs(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m) {
  if (UsesDot4(u, p, m)) return Dot4Ns(u, Dot4Plan(c, m.threads, {}), p, m);
  const double depth = static_cast<double>(Product(c.weights) / c.dst[1]);
  const double n = static_cast<double>(Product(u.dims));
  const double pixels = n / static_cast<double>(c.dst[1]) * static_cast<double>(c.groups);
  const bool runs = Product(c.stride) == 1;
  // Rows of weights come by six, pixels by two vectors, with those between two lines of a padded
  // image, and a group costs 200 ns (depth-wise ones of 7 to 56 pixels, AVX2: within 15 %).
  const auto out = static_cast<double>(c.dst[1] / c.groups);
  const double rows = std::max(out, 3.0);  // fewer wait for their sums
  const double jobs = static_cast<double>(c.src[0] * c.groups);
  const double wide = runs ? static_cast<double>(c.dst.back() + c.weights.back() - 1) /
                                 static_cast<double>(c.dst.back())
                           : 1;
  const double vectors = ByIsa(m, 32, 16, 8);
  const double walk = std::ceil(pixels / jobs * wide / vectors) * vectors * jobs;
  return walk * depth * rows / IntegerRate(m) +
         (jobs * 200 + walk * depth * (runs ? ByIsa(m, 0.1, 0.12, 0.25) : 0.7)) / m.compute +
         BytesOf(p, u.in[0]) * 0.15 + n * ByIsa(m, 0.2, 0.4, 1);
}

class IntegerConvKind final : public KindOf<IntegerConvSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine,
                     {IntegerConvNs(unit, SpecOf(unit).conv, parser, machine)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const IntegerConvSpec& spec = SpecOf(u);
    if (UsesDot4(u, b->parser(), b->machine())) {
      const Dot4Plan plan(spec.conv, b->machine().threads, ResultOf(u, b->parser(), spec.range));
      return EmitDot4(b, u, plan, Layout::ChannelsLast(b->parser().dims(u.in[QuantIn::kX]), 1),
                      Layout::ChannelsLast(u.dims, b->parser().size(u.out[0])));
    }
    const IntegerConvPlan plan(b->simd(), spec.conv, b->machine().threads,
                               ResultOf(u, b->parser(), spec.range));
    AddQuantized(b, u, "integer conv", b->GetDense(u.in[QuantIn::kX]).place, b->Plain(u.out[0]),
                 PackQuantized(b, u, plan), plan.scratch_bytes(), IntegerConvLoop(b->simd(), plan));
  }
};

const IntegerConvKind kIntegerConvKind;
}  // namespace

GE_NATIVE_KINDS(integer_conv, &kIntegerConvKind)

}  // namespace ge_engines::cpu::native
