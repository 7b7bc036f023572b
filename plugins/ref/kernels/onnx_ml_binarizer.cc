#include "plugins/ref/kernels/ml_scores.h"

namespace ref {
namespace {

template <class T>
ge_rc RunBinarizer(double threshold, const Call& c) {
  const Tensor x = c.in(0);
  T* y = c.out(0).as<T>();
  for (int64_t i = 0; i < x.count; ++i) {
    const bool more = static_cast<double>(Widen(Load(x.as<T>(), i))) > threshold;
    Store(y, i, Narrow<T>(more ? 1.0 : 0.0));
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareBinarizer(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why) ||
      !NeedSameDType(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const double threshold = n.Float("threshold");
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([=](const Call& c) { return RunBinarizer<T>(threshold, c); });
        made->const_align = 1;
        made->in_place = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_binarizer, "ai.onnx.ml.Binarizer", PrepareBinarizer)
