#include "ge/ops/families/support_vectors.h"

#include <fmt/format.h>

namespace ge {

Status WantKernelAttrs(const Node& n) {
  const std::string_view kernel = AttrString(n, "kernel_type");
  if (kernel != "LINEAR" && kernel != "POLY" && kernel != "RBF" && kernel != "SIGMOID") {
    return Bad(n, fmt::format("attribute 'kernel_type' is '{:.64}', wanted LINEAR, POLY, RBF or "
                              "SIGMOID",
                              kernel));
  }
  if (ListLength(n, "kernel_params") == 0) return {};
  return WantLength(n, "kernel_params", 3, "gamma, coef0 and degree");
}

Status WantSupportVectors(InferContext& context, int64_t supports) {
  const auto found = static_cast<int64_t>(ListLength(context.node(), "support_vectors"));
  const auto features = FeatureCount(context);
  const bool fits = found % supports == 0 && (!features || found / supports == *features);
  if (fits) return {};
  return Bad(context.node(),
             fmt::format("attribute 'support_vectors' has {} entries, wanted {} for each "
                         "of {} vectors",
                         found, features ? fmt::format("{}", *features) : "as many", supports));
}

}  // namespace ge
