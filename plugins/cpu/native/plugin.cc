// The engine `native`: inference on the CPU by our own loops, which are at their best where a call
// into a library costs more than the work (small tensors, products of few rows, chains of
// elementwise functions, look-ups) or where libraries lack it (codes of eight bits with any zero
// point). A union of its offers is one segment.
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/parse.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/channels_last.h"
#include "plugins/cpu/native/code_groups.h"
#include "plugins/cpu/native/direct.h"
#include "plugins/cpu/native/emit.h"
#include "plugins/cpu/native/parse.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/winograd.h"

namespace ge_engines::cpu::native {
namespace {

class NativeEngine final : public Engine {
 public:
  using Engine::Engine;

  std::span<const Operator> Operators() const override { return OwnOperators(); }
  bool Takes(const Unit& u, const Parser& p, Why* why) const override {
    // A loop lists the rows of x under each row of the result, and holds a window's in a buffer.
    constexpr double kMostRows = 1 << 22;
    if (const auto* pool = As<PoolSpec>(u)) {
      if (pool->kernel.back() > kPoolRoom) {
        return why->Say(GE_WHY_SHAPE, "a window wider than " + std::to_string(kPoolRoom));
      }
      const double planes = static_cast<double>(u.dims[0] * u.dims[1] * u.dims.back());
      const double rows = static_cast<double>(Product(u.dims)) / std::max(1.0, planes) *
                          static_cast<double>(Product(pool->kernel) / pool->kernel.back());
      return rows <= kMostRows || why->Say(GE_WHY_RESOURCE, "its windows have too many rows");
    }
    if (Is<DequantizeSpec>(u) && p.dtype(u.in[0]) == GE_I32) {
      return why->Say(GE_WHY_DTYPE, "int32 only as the bias of a product of codes");
    }
    const auto* conv = As<ConvSpec>(u);
    if (const auto* grad = As<ConvGradSpec>(u)) return TakesGrad(*grad, why);
    if (conv == nullptr) return true;
    // A direct one reads weights as they come.
    const ConvWay way = WayWith(u, *conv, p);
    if (way == ConvWay::kPieces && !HasConstantWeights(u, p, why)) return false;
    return (way != ConvWay::kDirect && way != ConvWay::kPieces) ||
           BuffersFit(BufferOf(*conv, machine()), machine().threads, why);
  }
  bool Joins(const Unit& u, const Parser& p) const override { return JoinsCodes(u, p); }
  bool TakesGrad(const ConvGradSpec& grad, Why* why) const {
    const std::optional<ConvSpec> turned = TurnedConv(grad);
    if (!turned) return why->Say(GE_WHY_ATTRIBUTE, "only of groups of 1 and strides of 1");
    if (!IsDirect(*turned, machine())) return why->Say(GE_WHY_SHAPE, "its windows are gathered");
    return BuffersFit(BufferOf(*turned, machine()), machine().threads, why);
  }
  Price PriceOf(const Unit& u, const Parser& p) const override {
    return native::PriceOf(u, p, machine());
  }
  bool Rounds(const Unit& u, const Parser& p) const override {
    return RoundsInputs(u, p, machine());
  }
  bool Keeps(const Unit& u) const override {
    const auto* pool = As<PoolSpec>(u);
    return pool == nullptr || Product(pool->kernel) <= kMostTaps;
  }
  std::optional<std::pair<Form, Form>> LikingOf(const Unit& u, const Parser& p) const override {
    const auto* conv = As<ConvSpec>(u);
    if (conv == nullptr) return std::nullopt;
    const ConvWay way = WayWith(u, *conv, p);
    const Form plain, last{0, true};
    switch (way) {
      case ConvWay::kWinograd:
      case ConvWay::kChannelsLast:
      case ConvWay::kChannelGroups:
      case ConvWay::kChannelSums:
        return std::pair(last, last);
      case ConvWay::kDirect:
        if (LeavesChannelsLast(*conv)) return std::pair(plain, last);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }
  bool LikesAll(const Unit& u, const Parser& p) const override {
    const ConvWay way = WayWith(u, std::get<ConvSpec>(u.spec), p);
    return way == ConvWay::kChannelSums ||
           (way == ConvWay::kWinograd && machine().isa >= GE_ISA_AVX2);
  }
  bool LeavesPlain(const Unit& u, const Parser& p) const override {
    return WayWith(u, std::get<ConvSpec>(u.spec), p) == ConvWay::kDirect;
  }
  // oneDNN's: it computes images in these.
  std::vector<Form> Meets() const override {
    return {{machine().isa >= GE_ISA_AVX512 ? 16 : 8, false}, {0, true}};
  }
  std::unique_ptr<Builder> MakeBuilder(const Parser& parser, const ge_segment& segment,
                                       Program* program) const override {
    return std::make_unique<NativeBuilder>(machine(), simd(), host(), parser, segment, program);
  }
  // 1,000 segments of one Sin or Neg on 4 floats run in 56 us, of which 15 ns each are the step.
  uint64_t LaunchNs() const override { return 45; }

 private:
  ConvWay WayWith(const Unit& u, const ConvSpec& conv, const Parser& p) const {
    return WayOf(conv, p.constant(u.in[1]) && u.in.size() < 3, machine());
  }
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
