#include "plugins/ref/kernels/ml_scores.h"

namespace ref {
namespace {

template <class T>
bool IsReplaced(T v, T replaced) {
  if constexpr (kIsFloat<T>) {
    return v == replaced || (std::isnan(v) && std::isnan(replaced));
  } else {
    return v == replaced;
  }
}

template <class T>
struct ImputerPlan {
  T replaced{};
  std::vector<T> values;  // one, or one for each feature
};

template <class T>
ge_rc RunImputer(const ImputerPlan<T>& p, const Call& c) {
  const Tensor x = c.in(0);
  const auto n = static_cast<int64_t>(p.values.size());
  for (int64_t row = 0; row < x.count; row += n) {
    for (int64_t i = 0; i < n; ++i) {
      const T v = Load(x.as<T>(), row + i);
      const T other = p.values[static_cast<size_t>(i)];
      Store(c.out(0).as<T>(), row + i, IsReplaced(v, p.replaced) ? other : v);
    }
  }
  return GE_OK;
}

template <class T>
std::unique_ptr<Prepared> MakeImputer(const NodeView& n, Why* why) {
  ImputerPlan<T> p;
  if constexpr (kIsFloat<T>) {
    p.replaced = static_cast<T>(n.Float("replaced_value_float"));
    for (const double v : RealList(n, "imputed_value_floats")) {
      p.values.push_back(static_cast<T>(v));
    }
  } else {
    const int64_t replaced = n.Int("replaced_value_int64");
    p.replaced = static_cast<T>(replaced);
    for (const int64_t v : n.List("imputed_value_int64s")) p.values.push_back(static_cast<T>(v));
    if (static_cast<int64_t>(p.replaced) != replaced) {
      return why->Say(GE_WHY_ATTRIBUTE, "replaced_value_int64 does not fit the tensor"), nullptr;
    }
  }
  const TensorType x = n.in(0);
  const int64_t features = x.rank > 0 ? x.dims[x.rank - 1] : 1;
  const auto count = static_cast<int64_t>(p.values.size());
  if (count != 1 && (count != features || count == 0)) {
    return why->Say(GE_WHY_ATTRIBUTE, "imputed values are neither one nor one a feature"), nullptr;
  }
  auto made = Make([p](const Call& c) { return RunImputer<T>(p, c); });
  made->const_align = 1;
  made->in_place = 1;
  return made;
}

std::unique_ptr<Prepared> PrepareImputer(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why) ||
      !NeedSameDType(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  switch (n.in(0).dtype) {
    case GE_F32:
      return MakeImputer<float>(n, why);
    case GE_F64:
      return MakeImputer<double>(n, why);
    case GE_I32:
      return MakeImputer<int32_t>(n, why);
    case GE_I64:
      return MakeImputer<int64_t>(n, why);
    default:
      return NoDType(n.in(0), why), nullptr;
  }
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_imputer, "ai.onnx.ml.Imputer", PrepareImputer)
