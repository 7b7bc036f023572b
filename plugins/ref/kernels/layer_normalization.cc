#include "plugins/ref/kernels/normalized_rows.h"

namespace ref {
namespace {

struct LayerPlan : NormalizedRows {
  LoopNest<4> nest;  // Y and X together, Scale, B, row
};

struct Row {
  double mean, inverse;  // of the row's elements; 1 / sqrt(variance + epsilon)
};

void StoreFloat(const Tensor& t, int64_t i, double v) {
  VisitFloat(t.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    t.as<T>()[i] = Narrow<T>(v);
  });
}

// In double, in two passes; Mean and InvStdDev are rounded only on the way out.
template <class T>
void Statistics(const LayerPlan& p, const T* x, Row* rows) {
  const auto count = static_cast<double>(p.count);
  for (int64_t r = 0; r < p.rows; ++r, x += p.count) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < p.count; ++i) sum += Widen(x[i]);
    const double mean = sum / count;
    for (int64_t i = 0; i < p.count; ++i) {
      const double d = Widen(x[i]) - mean;
      square += d * d;
    }
    rows[r] = {mean, 1 / std::sqrt(square / count + p.epsilon)};
  }
}

template <class T>
ge_rc RunLayer(const LayerPlan& p, const Call& c) {
  const T *x = c.in(0).as<T>(), *scale = c.in(1).as<T>();
  const T* bias = c.n_in() > 2 && c.has_in(2) ? c.in(2).as<T>() : nullptr;
  T* y = c.out(0).as<T>();
  Row* rows = static_cast<Row*>(c.workspace());
  if (p.count > 0) Statistics(p, x, rows);
  for (int64_t r = 0; p.count > 0 && r < p.rows; ++r) {
    if (c.has_out(1)) StoreFloat(c.out(1), r, rows[r].mean);
    if (c.n_out() > 2 && c.has_out(2)) StoreFloat(c.out(2), r, rows[r].inverse);
  }
  p.nest.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) {
      const Row& row = rows[o[3] + i * s[3]];
      double v = (Widen(x[o[0] + i * s[0]]) - row.mean) * row.inverse;
      v *= Widen(scale[o[1] + i * s[1]]);
      if (bias) v += Widen(bias[o[2] + i * s[2]]);
      y[o[0] + i * s[0]] = Narrow<T>(v);
    }
    return true;
  });
  return GE_OK;
}

bool PlanLayer(const NodeView& n, LayerPlan* p, Why* why) {
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return false;
  }
  const TensorType x = n.in(0);
  if (!p->Read(n, why)) return false;
  const bool has_bias = n.n_in() > 2 && n.has_in(2);
  int64_t dense[kMaxRank], stride[2][kMaxRank] = {};
  DenseStrides(x.shape(), dense);
  for (uint32_t i = 1; i < (has_bias ? 3u : 2u); ++i) {
    if (!NeedSameDType(x, n.in(i), why)) return false;
    if (!BroadcastStrides(n.in(i).shape(), x.shape(), stride[i - 1])) {
      return why->Say(GE_WHY_SHAPE, "input %u does not broadcast to X", i);
    }
  }
  for (uint32_t i = 1; i < n.n_out(); ++i) {
    if (!n.has_out(i)) continue;
    if (!IsFloatDType(n.out(i).dtype)) return NoDType(n.out(i), why);
    if (n.out(i).count != p->rows) {
      return why->Say(GE_WHY_SHAPE, "output %u is not one number a row", i);
    }
  }
  for (int d = 0; d < x.rank; ++d) {
    const int64_t row = p->RowStep(d, dense[d]);
    p->nest.Add(x.dims[d], {dense[d], stride[0][d], stride[1][d], row});
  }
  return true;
}

std::unique_ptr<Prepared> PrepareLayer(const NodeView& n, Why* why) {
  LayerPlan p{};
  if (!PlanLayer(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunLayer<T>(p, c); });
        made->in_place = 1;
        made->workspace = static_cast<uint64_t>(p.rows) * sizeof(Row);
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(layer_normalization, "LayerNormalization", PrepareLayer)
