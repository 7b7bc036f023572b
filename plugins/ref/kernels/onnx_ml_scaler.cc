#include "plugins/ref/kernels/ml_scores.h"

namespace ref {
namespace {

struct ScalerPlan {
  FeatureFn at = nullptr;
  std::vector<double> offset, scale;  // one, or one for each feature
  int64_t features = 1;
};

ge_rc RunScaler(const ScalerPlan& p, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0);
  float* to = y.as<float>();
  for (int64_t i = 0; i < y.count; ++i) {
    const auto f = static_cast<size_t>(i % p.features);
    const double offset = p.offset[p.offset.size() == 1 ? 0 : f];
    const double scale = p.scale[p.scale.size() == 1 ? 0 : f];
    to[i] = static_cast<float>((p.at(x.data, i) - offset) * scale);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareScaler(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  ScalerPlan p;
  const TensorType x = n.in(0);
  p.at = FeatureOf(x.dtype);
  if (p.at == nullptr) return NoDType(x, why), nullptr;
  if (n.out(0).dtype != GE_F32) return NoDType(n.out(0), why), nullptr;
  p.features = x.rank > 0 ? std::max<int64_t>(x.dims[x.rank - 1], 1) : 1;
  p.offset = RealList(n, "offset");
  p.scale = RealList(n, "scale");
  if (p.offset.empty()) p.offset = {0};
  if (p.scale.empty()) p.scale = {1};
  for (const auto* list : {&p.offset, &p.scale}) {
    if (list->size() != 1 && static_cast<int64_t>(list->size()) != p.features) {
      return why->Say(GE_WHY_ATTRIBUTE, "offset or scale is not one number or one a feature"),
             nullptr;
    }
  }
  auto made = Make([p](const Call& c) { return RunScaler(p, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_scaler, "ai.onnx.ml.Scaler", PrepareScaler)
