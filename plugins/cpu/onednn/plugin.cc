// The engine `onednn`: f32 convolutions, products and pools through oneDNN. A union of its offers
// is one segment, inside of which tensors keep oneDNN's blocked layouts.
#include <map>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/onednn/emit.h"
#include "plugins/cpu/onednn/price.h"

namespace ge_onednn {
namespace {

class OnednnEngine final : public Engine {
 public:
  explicit OnednnEngine(const ge_create_args& args) : Engine(args) {
    Vendor::CapIsa(host() != nullptr ? host()->isa_cap : uint32_t{GE_ISA_NATIVE});
    ThreadScope threads(machine().threads);
    vendor_ = std::make_unique<Vendor>();
  }

  bool Takes(const Unit& u, const Parser& p, Why* why) const override {
    if (Is<PointwiseSpec>(u)) {
      return why->Say(GE_WHY_POLICY, "taken only behind a product or a convolution");
    }
    if (!Is<ConvSpec, ProductSpec, PoolSpec>(u)) {
      return why->Say(GE_WHY_OP, "only products, convolutions, pools and what follows them");
    }
    const auto* pool = As<PoolSpec>(u);
    if (pool != nullptr && pool->max && machine().exact) {
      return why->Say(GE_WHY_NUMERICS, "its greatest of a window leaves NaN out");
    }
    return p.OnlyFloats(u, why);
  }
  bool Joins(const Unit& u, const Parser& p) const override {
    Why why;
    return Is<PointwiseSpec>(u) && p.OnlyFloats(u, &why);
  }
  Price PriceOf(const Unit& u, const Parser& p) const override {
    return ge_onednn::PriceOf(u, p, machine());
  }
  std::optional<std::pair<Form, Form>> LikingOf(const Unit& u, const Parser&) const override {
    const auto* conv = As<ConvSpec>(u);
    if (conv == nullptr) return std::nullopt;
    constexpr size_t kKept = 4096;
    if (forms_.size() > kKept) forms_.clear();
    auto [it, fresh] = forms_.try_emplace(*conv);
    if (fresh) it->second = FormsOfConv(*vendor_, *conv);
    return it->second;
  }
  std::unique_ptr<Builder> MakeBuilder(const Parser& parser, const ge_segment& segment,
                                       Program* program) const override {
    return std::make_unique<OnednnBuilder>(*vendor_, simd(), host(), parser, segment,
                                           machine().exact, program);
  }

 private:
  std::unique_ptr<Vendor> vendor_;
  // Asking oneDNN takes 0.1 ms; the host asks about a convolution alone and in patterns. Query is
  // called by one thread at a time.
  mutable std::map<ConvSpec, std::optional<std::pair<Form, Form>>> forms_;
};

}  // namespace
}  // namespace ge_onednn

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  return ge_cpu::Describe("onednn", ge_onednn::Vendor::Version(),
                          [](const ge_create_args& args) -> std::unique_ptr<ge_cpu::Engine> {
                            return std::make_unique<ge_onednn::OnednnEngine>(args);
                          });
}
