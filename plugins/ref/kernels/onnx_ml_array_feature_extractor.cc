#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// x [outer, dim], indices [m] -> z [outer, m].
ge_rc RunArrayFeatureExtractor(const Call& c, int64_t outer, int64_t size) {
  const Tensor x = c.in(0), index = c.in(1);
  const int64_t dim = x.dims[x.rank - 1];
  for (int64_t k = 0; k < index.count; ++k) {
    const int64_t i = IntAt(index, k);
    if (i >= 0 && i < dim) continue;
    return c.Fail(
        GE_INVALID_ARGUMENT, "element %lld of Y is %lld, the last axis of X takes 0 to %lld",
        static_cast<long long>(k), static_cast<long long>(i), static_cast<long long>(dim - 1));
  }
  char* to = c.out(0).as<char>();
  for (int64_t o = 0; o < outer; ++o) {
    const char* from = x.as<char>() + o * dim * size;
    for (int64_t k = 0; k < index.count; ++k, to += size) {
      std::memcpy(to, from + IntAt(index, k) * size, static_cast<size_t>(size));
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareArrayFeatureExtractor(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), index = n.in(1);
  const int64_t size = ElementBytes(x.dtype);
  if (size == 0) return NoDType(x, why), nullptr;
  if (!IsIndexDType(index.dtype)) return NoDType(index, why), nullptr;
  if (x.rank < 1) return why->Say(GE_WHY_SHAPE, "X has no axis"), nullptr;
  const int64_t outer = PartCount(x.shape(), 0, static_cast<size_t>(x.rank) - 1);
  const TensorType z = n.out(0);
  const bool fits = z.rank == std::max(x.rank, 2) && z.dims[z.rank - 1] == index.count &&
                    PartCount(z.shape(), 0, static_cast<size_t>(z.rank) - 1) == outer;
  if (!fits) return why->Say(GE_WHY_SHAPE, "Z has not the shape of what is picked"), nullptr;
  auto made = Make([=](const Call& c) { return RunArrayFeatureExtractor(c, outer, size); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_array_feature_extractor, "ai.onnx.ml.ArrayFeatureExtractor",
              PrepareArrayFeatureExtractor)
