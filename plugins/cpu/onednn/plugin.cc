// The engine `onednn`: f32 convolutions, products and pools through oneDNN. A union of its offers
// is one segment, inside of which tensors keep oneDNN's blocked layouts.
#include <oneapi/dnnl/dnnl.h>

#include <map>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/omp/ge_omp.h"
#include "plugins/cpu/onednn/emit.h"
#include "plugins/cpu/onednn/price.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"
#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::onednn {
namespace {

class OnednnEngine final : public Engine {
 public:
  explicit OnednnEngine(const ge_create_args& args) : Engine(args) {
    // Before its first call. Where it stays libgomp's, its regions have threads of their own.
    ge_omp_adopt(reinterpret_cast<const void*>(&dnnl_version),
                 reinterpret_cast<const void*>(&onednn::Rounds));
    Vendor::CapIsa(host() != nullptr ? host()->isa_cap : uint32_t{GE_ISA_NATIVE});
    ThreadScope threads(machine().threads);
    vendor_ = std::make_unique<Vendor>();
  }

  std::span<const UnitKind* const> Kinds() const override {
    static constexpr const UnitKind* kKinds[] = {&ConvSpec::kKind,     &ProductSpec::kKind,
                                                 &PoolSpec::kKind,     &PointwiseSpec::kKind,
                                                 &ConvGradSpec::kKind, &kConvGradWeight};
    return kKinds;
  }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override {
    if (Is<PointwiseSpec>(unit)) {
      return why->Say(GE_WHY_POLICY, "taken only behind a product or a convolution");
    }
    if (!Is<ConvSpec, ConvGradSpec, ProductSpec, PoolSpec>(unit)) {
      return why->Say(GE_WHY_OP, "only products, convolutions, pools and what follows them");
    }
    const auto* conv = As<ConvSpec>(unit);
    if (conv != nullptr && conv->transposed && conv->groups > 1) {
      return why->Say(GE_WHY_ATTRIBUTE, "transposed with groups");
    }
    const auto* pool = As<PoolSpec>(unit);
    if (pool != nullptr && pool->max && machine().exact) {
      return why->Say(GE_WHY_NUMERICS, "its greatest of a window leaves NaN out");
    }
    return parser.OnlyFloats(unit, why);
  }
  bool Joins(const Unit& u, const Parser& p) const override {
    Why why;
    return Is<PointwiseSpec>(u) && p.OnlyFloats(u, &why);
  }
  Price PriceOf(const Unit& unit, const Parser& parser) const override {
    return onednn::PriceOf(unit, parser, machine());
  }
  bool Rounds(const Unit& u, const Parser& p) const override {
    return onednn::Rounds(u, p, machine());
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const Unit& u,
                                                                  const Parser& p) const override {
    if (const auto* conv = As<ConvSpec>(u)) {
      ConvSpec spec = *conv;
      if (!p.constant(u.in[1])) spec.block = TrainingBlock(simd());
      spec.rounds = Rounds(u, p);
      return Once(&tags_, spec, [&] { return LayoutTagsOfConv(*vendor_, spec); });
    }
    if (const auto* grad = As<ConvGradSpec>(u)) {
      return Once(&grad_tags_, *grad, [&] { return LayoutTagsOfConvGrad(*vendor_, *grad); });
    }
    return std::nullopt;
  }
  std::unique_ptr<Builder> MakeBuilder(const Parser& parser, const ge_segment& segment,
                                       Program* program) const override {
    return std::make_unique<OnednnBuilder>(*vendor_, machine(), simd(), host(), parser, segment,
                                           program);
  }

 private:
  using LayoutTags = std::optional<std::pair<LayoutTag, LayoutTag>>;
  template <class Key, class Ask>
  static LayoutTags Once(std::map<Key, LayoutTags>* known, const Key& key, Ask ask) {
    constexpr size_t kKept = 4096;
    if (known->size() > kKept) known->clear();
    auto [it, fresh] = known->try_emplace(key);
    if (fresh) it->second = ask();
    return it->second;
  }

  std::unique_ptr<Vendor> vendor_;
  // Asking oneDNN takes 0.1 ms; the host asks about a convolution alone and in patterns. Query is
  // called by one thread at a time.
  mutable std::map<ConvSpec, LayoutTags> tags_;
  mutable std::map<ConvGradSpec, LayoutTags> grad_tags_;
};

}  // namespace
}  // namespace ge_engines::cpu::onednn

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  return ge_engines::cpu::Describe(
      "onednn", ge_engines::cpu::onednn::Vendor::Version(),
      [](const ge_create_args& args) -> std::unique_ptr<ge_engines::cpu::Engine> {
        return std::make_unique<ge_engines::cpu::onednn::OnednnEngine>(args);
      });
}
