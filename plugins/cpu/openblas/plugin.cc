// The engine `openblas`: matrix products, convolutions as products, inverses, through OpenBLAS: of
// float32 another price for what other engines do, too. docs/decisions/0003-openblas.md has
// figures.
#include <atomic>
#include <mutex>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/openblas/elimination.h"
#include "plugins/cpu/openblas/emit.h"
#include "plugins/cpu/openblas/price.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/matmul/double_product.h"
#include "plugins/units/matmul/elimination.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/matmul/matmul_transposes.h"
#include "plugins/units/movement/transpose.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::openblas {
namespace {

class OpenblasEngine final : public Engine {
 public:
  // Most models take nothing of this engine, so that the library waits for the first that does.
  explicit OpenblasEngine(const ge_create_args& args) : Engine(args) {
    Vendor::CheckRoom(machine().threads);
    if (!Vendor::IsSure()) (void)Opened();
  }

  std::span<const UnitKind* const> Kinds() const override {
    static constexpr const UnitKind* kKinds[] = {&ConvSpec::kKind,       &ProductSpec::kKind,
                                                 &PoolSpec::kKind,       &PointwiseSpec::kKind,
                                                 &kMatMulTransposes,     &DoubleProductSpec::kKind,
                                                 &EliminationSpec::kKind};
    return kKinds;
  }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override {
    if (Is<DoubleProductSpec>(unit)) return true;
    if (const auto* spec = As<EliminationSpec>(unit)) {
      return BuffersFit(EliminationBytes(*spec), machine().threads, why);
    }
    if (!parser.OnlyFloats(unit, why)) return false;
    if (Is<TransposeSpec>(unit)) return why->Say(GE_WHY_POLICY, "taken only inside a product");
    if (Is<ProductSpec>(unit)) return true;
    if (const auto* conv = As<ConvSpec>(unit)) {
      return HasConstantWeights(unit, parser, why) && CanConvolve(*conv, machine().threads, why);
    }
    if (Is<PointwiseSpec>(unit)) {
      return why->Say(GE_WHY_POLICY, "taken only behind a product or a convolution");
    }
    return why->Say(GE_WHY_OP, "only products, convolutions and what follows them");
  }
  bool Joins(const Unit& u, const Parser& p) const override {
    Why why;
    return Is<PointwiseSpec, TransposeSpec>(u) && p.OnlyFloats(u, &why);
  }
  Price PriceOf(const Unit& unit, const Parser& parser) const override {
    Machine m = machine();
    m.isa = isa_;
    return openblas::PriceOf(unit, parser, m);
  }
  std::unique_ptr<Builder> MakeBuilder(const Parser& parser, const ge_segment& segment,
                                       Program* program) const override {
    return std::make_unique<OpenblasBuilder>(Opened(), machine().threads, simd(), host(), parser,
                                             segment, program);
  }

 private:
  // Throws Refusal each time where the library turns out to be another than was thought.
  const Vendor& Opened() const {
    std::call_once(open_, [this] {
      ThreadScope threads(machine().threads);  // the library sets OpenMP's count when it is loaded
      vendor_ = std::make_unique<Vendor>(host(), machine());
      isa_ = vendor_->isa();
    });
    return *vendor_;
  }

  mutable std::once_flag open_;
  mutable std::unique_ptr<Vendor> vendor_;
  mutable std::atomic<uint32_t> isa_ = machine().isa;  // of its kernels; until it is open, expected
};

}  // namespace
}  // namespace ge_engines::cpu::openblas

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  // The version whose names and routines vendor.cc knows; the library itself is not open yet.
  return ge_engines::cpu::Describe(
      "openblas", "0.3",
      [](const ge_create_args& args) -> std::unique_ptr<ge_engines::cpu::Engine> {
        return std::make_unique<ge_engines::cpu::openblas::OpenblasEngine>(args);
      });
}
