// Elementwise operators over any number of broadcasting inputs: folds in the output itself (Max,
// Min), and sums in the workspace (Sum, Mean). An operation is a struct as in elementwise.h. The
// nests are the same at every launch.
#pragma once

#include <vector>

#include "plugins/ref/kernels/elementwise.h"

namespace ref {

// Folds from the left; the output holds the fold of the inputs so far.
template <class Op, class T>
ge_rc RunFold(const std::vector<LoopNest<3>>& nests, const Call& call) {
  T* out = call.out(0).as<T>();
  for (size_t k = 0; k < nests.size(); ++k) {
    const T* a = k == 0 ? call.in(0).as<T>() : out;
    const T* b = call.in(call.n_in() == 1 ? 0 : static_cast<uint32_t>(k) + 1).as<T>();
    nests[k].Run([&](const int64_t* o, int64_t n, const int64_t* s) {
      return BinaryRun<Op, T, T>(a + o[1], b + o[2], out + o[0], n, s[1], s[2]);
    });
  }
  return GE_OK;
}

// Op must return x for two equal operands: a single input is folded with itself, so that one loop
// serves all counts.
template <class Op>
std::unique_ptr<Prepared> PrepareFold(const NodeView& n, Why* why) {
  if (!NeedPorts(n, n.n_in() == 0 ? 1 : n.n_in(), UINT32_MAX, why)) return nullptr;
  std::vector<LoopNest<3>> nests;
  for (uint32_t i = n.n_in() == 1 ? 0 : 1; i < n.n_in(); ++i) {
    if (!NeedSameDType(n.in(0), n.in(i), why)) return nullptr;
    LoopNest<3> nest;
    if (!BroadcastNest(n.out(0), i <= 1 ? n.in(0) : n.out(0), n.in(i), &nest, why)) return nullptr;
    nests.push_back(nest);
  }
  std::unique_ptr<Prepared> made;
  const uint64_t in_place = InPlaceBit(n, 0);
  if (n.in(0).dtype != n.out(0).dtype || !VisitNumber(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([nests](const Call& c) { return RunFold<Op, T>(nests, c); });
        made->in_place = in_place;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

// out = (sum of the inputs) / divisor, rounded once.
template <class T>
ge_rc RunSum(const std::vector<LoopNest<2>>& nests, double divisor, const Call& call) {
  const Tensor y = call.out(0);
  double* sum = static_cast<double*>(call.workspace());
  for (size_t k = 0; k < nests.size(); ++k) {
    const T* x = call.in(static_cast<uint32_t>(k)).as<T>();
    nests[k].Run([&](const int64_t* o, int64_t n, const int64_t* s) {
      double* to = sum + o[0];
      for (int64_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(Widen(x[o[1] + i * s[1]]));
        to[i * s[0]] = k == 0 ? v : to[i * s[0]] + v;
      }
      return true;
    });
  }
  T* out = y.as<T>();
  for (int64_t i = 0; i < y.count; ++i) out[i] = Narrow<T>(sum[i] / divisor);
  return GE_OK;
}

inline std::unique_ptr<Prepared> PrepareSum(const NodeView& n, bool mean, Why* why) {
  if (!NeedPorts(n, n.n_in() == 0 ? 1 : n.n_in(), UINT32_MAX, why)) return nullptr;
  const TensorType out = n.out(0);
  std::vector<LoopNest<2>> nests;
  uint64_t in_place = 0;
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    if (!NeedSameDType(n.in(i), out, why)) return nullptr;
    int64_t to[kMaxRank], from[kMaxRank];
    DenseStrides(out.shape(), to);
    if (!BroadcastStrides(n.in(i).shape(), out.shape(), from)) {
      return why->Say(GE_WHY_SHAPE, "the inputs do not broadcast to the output's shape"), nullptr;
    }
    LoopNest<2> nest;
    for (int d = 0; d < out.rank; ++d) nest.Add(out.dims[d], {to[d], from[d]});
    nests.push_back(nest);
    in_place |= InPlaceBit(n, i);  // all inputs are read before the output is written
  }
  const double divisor = mean ? n.n_in() : 1;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(out.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([nests, divisor](const Call& c) { return RunSum<T>(nests, divisor, c); });
      })) {
    return NoDType(out, why), nullptr;
  }
  made->workspace = static_cast<uint64_t>(out.count) * sizeof(double);
  made->in_place = in_place;
  return made;
}

}  // namespace ref
