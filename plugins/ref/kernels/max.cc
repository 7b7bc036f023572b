#include <vector>

#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct MaxOp {
  static constexpr bool kMayFail = false, kPredicate = false;
  template <class W>
  W operator()(W x, W y) const {
    return x != x ? x : y != y ? y : x < y ? y : x;  // NaN wins
  }
};

// Folds from the left; the output holds the greatest so far.
template <class T>
ge_rc RunMax(const std::vector<LoopNest<3>>& nests, const Call& c) {
  T* out = c.out(0).as<T>();
  for (size_t k = 0; k < nests.size(); ++k) {
    const T* a = k == 0 ? c.in(0).as<T>() : out;
    const T* b = c.in(c.n_in() == 1 ? 0 : static_cast<uint32_t>(k) + 1).as<T>();
    nests[k].Run([&](const int64_t* o, int64_t n, const int64_t* s) {
      return BinaryRun<MaxOp, T, T>(a + o[1], b + o[2], out + o[0], n, s[1], s[2]);
    });
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareMax(const NodeView& n, Why* why) {
  if (!NeedPorts(n, n.n_in() == 0 ? 1 : n.n_in(), UINT32_MAX, why)) return nullptr;
  std::vector<LoopNest<3>> nests;
  // A single input is compared with itself, so that one loop serves all counts.
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
        made = Make([nests](const Call& c) { return RunMax<T>(nests, c); });
        made->in_place = in_place;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(max, "Max", 8, PrepareMax)
