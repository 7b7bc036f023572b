// MatMul and Gemm.
#include "plugins/units/matmul/matmul.h"

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/matmul/panel_step.h"
#include "plugins/cpu/native/matmul/thin_product.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Whether a matrix that lies turned round is read so: each number of the product is then a sum over
// the lanes of a vector, which of more rows costs more than turning it first. 12 x [128, 64] x
// [64, 128], one thread of a Zen 4: 610 us read so, 231 turned (AVX2: 312 and 283).
inline bool ReadsTransposed(const Fold& f) { return f.m <= std::max<int64_t>(8, f.k / 4); }

Fold FoldOf(const Unit& u, const Parser& p) {
  if (const auto* c = As<ConvSpec>(u)) {
    const int64_t out = c->dst[1];
    return {1, c->dst[0], out, Product(c->weights) / out};
  }
  const Dims a = p.dims(u.in[0]), b = p.dims(u.in[1]);
  Fold f;
  f.n = u.dims.back();
  f.k = As<ProductSpec>(u)->trans_a ? a[a.size() - 2] : a.back();
  f.batch = Product(Dims(b.begin(), b.end() - 2));
  f.m = Product(u.dims) / (f.n * f.batch);
  return f;
}

bool InPanels(const Unit& u, const Fold& f, const Parser& p) {
  return Is<ConvSpec>(u) || (f.batch == 1 && p.constant(u.in[1]));
}

constexpr double kColumnNs = 7;  // a number of a product of rows with rows: the sum of lanes

constexpr double kTransposeNs = 0.25;  // an element of a matrix that is turned round first

// Of a product without constant weights.
double FoldedNs(const Unit& u, const Parser& p, const Machine& m) {
  const Fold f = FoldOf(u, p);
  const double product = ProductNs(f, m, false);
  if (!As<ProductSpec>(u)->trans_b) return product;
  const double each = ReadsTransposed(f) ? static_cast<double>(f.m * f.n) * kColumnNs
                                         : static_cast<double>(f.batch * f.n * f.k) * kTransposeNs;
  return product + each / m.compute;
}

class MatMulKind final : public KindOf<ProductSpec> {
 public:
  bool Rounds(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return machine.rounded != nullptr && InPanels(unit, FoldOf(unit, parser), parser);
  }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const Fold f = FoldOf(unit, parser);
    if (InPanels(unit, f, parser))
      return PanelPrice(unit, PanelPlanOf(f, machine), parser, machine);
    return WorkPrice(unit, parser, machine,
                     {.ns = FoldedNs(unit, parser, machine),
                      .bytes = BytesOf(parser, unit.out[0]),
                      .elements = BytesOf(parser, unit.in[1]) / 4});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ProductSpec& s = SpecOf(u);
    const Fold f = FoldOf(u, b->parser());
    bool transposed = false;
    const Rep x = b->Matrix(u.in[0], s.trans_a, false, &transposed);
    if (InPanels(u, f, b->parser())) return EmitPanels(b, u, f, x.place, s.trans_b);
    const Dims a = b->parser().dims(u.in[0]);
    ThinProduct t;
    t.batch = f.batch;
    t.m = f.m;
    t.n = f.n;
    t.k = f.k;
    const bool shared_x = Product(Dims(a.begin(), a.end() - 2)) == 1;
    t.x_batch = shared_x ? 0 : f.m * f.k;
    t.w_batch = f.n * f.k;
    t.bias = !u.bias.empty();
    const BufferRef w = b->Matrix(u.in[1], s.trans_b, ReadsTransposed(f), &t.w_by_columns).place;
    AddProduct(b, u, t, {x.place, w, t.bias ? b->BiasOf(u, f.n) : x.place});
  }
};

const MatMulKind kMatMulKind;
}  // namespace

GE_NATIVE_KINDS(matmul, &kMatMulKind)

}  // namespace ge_engines::cpu::native
