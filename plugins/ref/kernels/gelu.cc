#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct GeluErf {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::erf;
    return 0.5 * x * (1 + erf(x * 0.70710678118654752));
  }
};

struct GeluTanh {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::tanh;
    return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
  }
};

std::unique_ptr<Prepared> PrepareGelu(const NodeView& n, Why* why) {
  const std::string_view how = n.Text("approximate");
  if (how == "none") return PrepareUnary<Set::kFloat, GeluErf>(n, why);
  if (how == "tanh") return PrepareUnary<Set::kFloat, GeluTanh>(n, why);
  return why->Say(GE_WHY_ATTRIBUTE, "approximate is neither none nor tanh"), nullptr;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(gelu, "Gelu", PrepareGelu)
