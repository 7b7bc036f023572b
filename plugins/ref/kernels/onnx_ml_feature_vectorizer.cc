#include "plugins/ref/kernels/ml_scores.h"

namespace ref {
namespace {

struct VectorizedInput {
  int64_t have = 0, want = 0;  // columns
  FeatureFn at = nullptr;
};

ge_rc RunFeatureVectorizer(const std::vector<VectorizedInput>& parts, const Call& c) {
  const Tensor y = c.out(0);
  float* to = y.as<float>();
  for (int64_t r = 0; r < y.dims[0]; ++r) {
    for (uint32_t i = 0; i < parts.size(); ++i) {
      const VectorizedInput& p = parts[i];
      const Tensor x = c.in(i);
      for (int64_t k = 0; k < p.want; ++k) {
        *to++ = k < p.have ? static_cast<float>(p.at(x.data, r * p.have + k)) : 0.0f;
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareFeatureVectorizer(const NodeView& n, Why* why) {
  if (!NeedPorts(n, n.n_in(), 4096, why)) return nullptr;
  const Ints sizes = n.List("inputdimensions");
  std::vector<VectorizedInput> parts;
  int64_t columns = 0;
  const TensorType y = n.out(0);
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    const TensorType x = n.in(i);
    if (x.rank != 1 && x.rank != 2) {
      return why->Say(GE_WHY_SHAPE, "input %u is neither [N, C] nor [C]", i), nullptr;
    }
    VectorizedInput p;
    p.have = x.dims[x.rank - 1];
    p.want = i < sizes.size() ? sizes[i] : p.have;
    p.at = FeatureOf(x.dtype);
    if (p.at == nullptr) return NoDType(x, why), nullptr;
    const int64_t rows = x.rank == 2 ? x.dims[0] : 1;
    if (p.want < 0 || p.want > INT64_MAX - columns || y.rank != 2 || y.dims[0] != rows) {
      return why->Say(GE_WHY_SHAPE, "input %u has other rows than the output", i), nullptr;
    }
    columns += p.want;
    parts.push_back(p);
  }
  if (y.dtype != GE_F32) return NoDType(y, why), nullptr;
  if (y.dims[1] != columns) {
    return why->Say(GE_WHY_SHAPE, "the output has not the columns of the inputs"), nullptr;
  }
  auto made = Make([parts](const Call& c) { return RunFeatureVectorizer(parts, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_feature_vectorizer, "ai.onnx.ml.FeatureVectorizer", PrepareFeatureVectorizer)
