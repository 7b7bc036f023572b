// The engine `native`: inference on the CPU by our own loops. They are best where a call into a
// library costs more than the work (small tensors, products of few rows, chains of elementwise
// functions, look-ups) or where libraries lack it (8-bit integers with any zero point). A union of
// its offers is one segment.
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/quantized/quantized_group.h"

namespace ge_engines::cpu::native {
namespace {

class NativeEngine final : public Engine {
 public:
  using Engine::Engine;

  std::span<const UnitKind* const> Kinds() const override { return KnownKinds(); }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override {
    return Is<NothingSpec>(unit) || KindOfUnit(unit).Takes(unit, parser, machine(), why);
  }
  bool Joins(const Unit& u, const Parser& p) const override { return JoinsQuantizedGroup(u, p); }
  Price PriceOf(const Unit& unit, const Parser& parser) const override {
    if (Is<NothingSpec>(unit)) return WorkPrice(unit, parser, machine(), {});
    return KindOfUnit(unit).PriceOf(unit, parser, machine());
  }
  bool Rounds(const Unit& u, const Parser& p) const override {
    return !Is<NothingSpec>(u) && KindOfUnit(u).Rounds(u, p, machine());
  }
  bool KeepsLayout(const Unit& u) const override {
    return Is<NothingSpec>(u) || KindOfUnit(u).KeepsLayout(u);
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const Unit& u,
                                                                  const Parser& p) const override {
    if (Is<NothingSpec>(u)) return std::nullopt;
    return KindOfUnit(u).PreferredLayouts(u, p, machine());
  }
  bool AnyLayout(const Unit& u, const Parser& p) const override {
    return KindOfUnit(u).AnyLayout(u, p, machine());
  }
  bool PlainOutput(const Unit& u, const Parser& p) const override {
    return KindOfUnit(u).PlainOutput(u, p, machine());
  }
  // oneDNN's: it computes images in these.
  std::vector<LayoutTag> ForeignLayouts() const override {
    return {{machine().isa >= GE_ISA_AVX512 ? 16 : 8, false}, {0, true}};
  }
  std::unique_ptr<Builder> MakeBuilder(const Parser& parser, const ge_segment& segment,
                                       Program* program) const override {
    return std::make_unique<NativeBuilder>(machine(), simd(), host(), parser, segment, program);
  }
  // 1,000 segments of one Sin or Neg on 4 floats run in 56 us, of which 15 ns each are the step.
  uint64_t LaunchNs() const override { return 45; }
};

}  // namespace
}  // namespace ge_engines::cpu::native

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  return ge_engines::cpu::Describe(
      "native", "0.1.0",
      [](const ge_create_args& args) -> std::unique_ptr<ge_engines::cpu::Engine> {
        return std::make_unique<ge_engines::cpu::native::NativeEngine>(args);
      });
}
