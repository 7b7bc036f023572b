#include "plugins/cpu/native/index/top_k.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/index/top_k.h"

namespace ge_engines::cpu::native {

namespace {

// Keys of whole numbers whose order is that of the elements, NaN above all and -0 like 0.
uint64_t KeyOf(float v) {
  if (v != v) return UINT32_MAX;
  uint32_t bits;
  const float plain = v == 0 ? 0.0f : v;
  std::memcpy(&bits, &plain, sizeof(bits));
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

uint64_t KeyOf(int32_t v) { return static_cast<uint32_t>(v) ^ 0x80000000u; }

// The first `taken` in order; a heap where few are wanted of many.
template <class P, class F>
void SortFirst(P* order, int64_t n, int64_t taken, F less) {
  if (taken < n && taken > n / 8) {
    std::nth_element(order, order + taken, order + n, less);
    std::sort(order, order + taken, less);
  } else if (taken < n) {
    std::partial_sort(order, order + taken, order + n, less);
  } else {
    std::sort(order, order + n, less);
  }
}

// A heap of the first so far, its last on top. Most others are beyond that, which is seen of 16 at
// once and without a branch.
template <class T, class F>
void FewOfMany(F key, const T* x, int64_t step, bool largest, uint64_t* heap, int64_t n,
               int64_t taken) {
  constexpr int64_t kBlock = 16;
  for (int64_t k = 0; k < taken; ++k) heap[k] = key(k);
  std::make_heap(heap, heap + taken);
  for (int64_t first = taken; first < n; first += kBlock) {
    const int64_t end = std::min(n, first + kBlock);
    if (step == 1 && end - first == kBlock) {
      const T last = x[heap[0] & UINT32_MAX], *block = x + first;
      int any = 0;  // an element that is no number may be wanted
      if (largest) {
        for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] <= last);
      } else {
        for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] >= last);
      }
      if (any == 0) continue;
    }
    for (int64_t k = first; k < end; ++k) {
      const uint64_t v = key(k);
      if (v > heap[0]) continue;
      std::pop_heap(heap, heap + taken);
      heap[taken - 1] = v;
      std::push_heap(heap, heap + taken);
    }
  }
  std::sort_heap(heap, heap + taken);
}

template <class T>
class TopK final : public Kernel {
 public:
  TopK(const AxisCut& cut, const TopKPlan& p) : cut_(cut), plan_(p) {}
  ge_rc Do(const Call& call) const override {
    int64_t asked = 0;
    std::memcpy(&asked, call.p[3], sizeof(asked));
    if (asked != plan_.taken) {
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "K is %lld, the plan holds %lld", static_cast<long long>(asked),
                              static_cast<long long>(plan_.taken));
    }
    ForJobs(plan_.threads, cut_.outer * cut_.inner, call.p[4], TopKFloats(cut_),
            [&](int64_t r, float* room) { Row(call, r, reinterpret_cast<uint64_t*>(room)); });
    return GE_OK;
  }

 private:
  void Row(const Call& call, int64_t r, uint64_t* order) const {
    const int64_t o = r / cut_.inner, i = r % cut_.inner, n = cut_.dim, taken = plan_.taken;
    const T* x = reinterpret_cast<const T*>(call.p[2]) + o * n * cut_.inner + i;
    if constexpr (sizeof(T) == 4) {
      // Key above place: one comparison orders both.
      const auto key = [&](int64_t k) {
        const uint64_t v = KeyOf(x[k * cut_.inner]);
        return (plan_.largest ? UINT32_MAX - v : v) << 32 | static_cast<uint64_t>(k);
      };
      if (taken > 0 && taken <= n / 8) {
        FewOfMany(key, x, cut_.inner, plan_.largest, order, n, taken);
      } else {
        for (int64_t k = 0; k < n; ++k) order[k] = key(k);
        SortFirst(order, n, taken, std::less<>());
      }
      for (int64_t k = 0; k < taken; ++k) order[k] &= UINT32_MAX;
    } else {
      for (int64_t k = 0; k < n; ++k) order[k] = static_cast<uint64_t>(k);
      SortFirst(order, n, taken, [&](uint64_t a, uint64_t b) {
        const T u = x[static_cast<int64_t>(a) * cut_.inner];
        const T v = x[static_cast<int64_t>(b) * cut_.inner];
        return u != v ? (u > v) == plan_.largest : a < b;
      });
    }
    const int64_t first = o * taken * cut_.inner + i;
    for (int64_t k = 0; k < taken; ++k) {
      const int64_t to = first + k * cut_.inner, from = static_cast<int64_t>(order[k]);
      if (plan_.values) reinterpret_cast<T*>(call.p[0])[to] = x[from * cut_.inner];
      if (plan_.places) reinterpret_cast<int64_t*>(call.p[1])[to] = from;
    }
  }

  const AxisCut cut_;
  const TopKPlan plan_;
};

}  // namespace

uint64_t TopKFloats(const AxisCut& cut) { return 2 * static_cast<uint64_t>(cut.dim); }

std::unique_ptr<Kernel> TopKKernel(int32_t dtype, const AxisCut& cut, const TopKPlan& kplan) {
  return ForNumber<Kernel>(dtype, [&](auto t) -> std::unique_ptr<Kernel> {
    return std::make_unique<TopK<decltype(t)>>(cut, kplan);
  });
}

namespace {

// Sorting keeps few of many in a heap; else all are parted and those that are wanted sorted.
double TopKNs(const Unit& u, const TopKSpec& s, const Parser& p) {
  const auto axis = static_cast<size_t>(s.axis);
  const double taken = static_cast<double>(u.dims[axis]);
  const double dim = static_cast<double>(p.dims(u.in[0])[axis]);
  const double x = static_cast<double>(Product(p.dims(u.in[0])));
  const double sorted = static_cast<double>(Product(u.dims)) * std::log2(taken + 1);
  return x * (taken > dim / 8 ? 4 : 1) + sorted * 1;
}

class TopKKind final : public KindOf<TopKSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {TopKNs(unit, SpecOf(unit), parser) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const TopKSpec& spec = SpecOf(u);
    const AxisCut cut(b->parser().dims(u.in[0]), spec.axis);
    TopKPlan plan;
    plan.taken = u.dims[static_cast<size_t>(spec.axis)];
    plan.largest = spec.largest;
    plan.places = u.out[1] != 0;
    plan.threads = cut.outer * cut.inner > 1 ? b->machine().threads : 1;
    const uint64_t room = TopKFloats(cut) * sizeof(float) * static_cast<uint64_t>(plan.threads);
    b->NeedWorkspace(room);
    const BufferRef x = b->GetDense(u.in[0]).place, k = b->GetDense(u.in[1]).place;
    const Rep values = b->NewResult(u.out[0], b->Plain(u.out[0]));
    BufferRef places = x;
    if (plan.places) {
      const Rep rep = b->NewResult(u.out[1], b->Plain(u.out[1]));
      places = rep.place;
      b->AddRep(u.out[1], rep);
    }
    b->AddRep(u.out[0], values);
    b->AddStep("top " + b->Sizes(u.dims), TopKKernel(b->parser().dtype(u.in[0]), cut, plan),
               {values.place, places, x, k, b->Workspace()});
  }
};

const TopKKind kTopKKind;
}  // namespace

GE_NATIVE_KINDS(top_k, &kTopKKind)

}  // namespace ge_engines::cpu::native
