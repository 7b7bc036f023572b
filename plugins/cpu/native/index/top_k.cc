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

constexpr uint64_t kTopBit = uint64_t{1} << 63;
uint64_t KeyOf(double v) {
  if (v != v) return UINT64_MAX;
  uint64_t bits;
  const double plain = v == 0 ? 0.0 : v;
  std::memcpy(&bits, &plain, sizeof(bits));
  return (bits & kTopBit) != 0 ? ~bits : bits | kTopBit;
}

uint64_t KeyOf(int64_t v) { return static_cast<uint64_t>(v) ^ kTopBit; }

// An element's key and place: of 4 bytes in one number.
template <class T>
struct Ranked {
  uint64_t key;
  uint64_t at;
  Ranked() = default;
  Ranked(uint64_t key, int64_t place) : key(key), at(static_cast<uint64_t>(place)) {}
  int64_t place() const { return static_cast<int64_t>(at); }
  bool operator<(const Ranked& other) const {
    return key != other.key ? key < other.key : at < other.at;
  }
};
template <class T>
requires(sizeof(T) == 4) struct Ranked<T> {
  uint64_t both;
  Ranked() = default;
  Ranked(uint64_t key, int64_t place) : both(key << 32 | static_cast<uint64_t>(place)) {}
  int64_t place() const { return static_cast<int64_t>(both & UINT32_MAX); }
  bool operator<(const Ranked& other) const { return both < other.both; }
};

// The first `taken` in order; a heap where few are wanted of many.
template <class P>
void SortFirst(P* order, int64_t n, int64_t taken) {
  if (taken < n && taken > n / 8) {
    std::nth_element(order, order + taken, order + n);
    std::sort(order, order + taken);
  } else if (taken < n) {
    std::partial_sort(order, order + taken, order + n);
  } else {
    std::sort(order, order + n);
  }
}

// A heap of the first so far, its last on top. Most others are beyond that, which is seen of 16 at
// once and without a branch.
template <class T, class F>
void FewOfMany(F ranked, const T* x, int64_t step, bool largest, Ranked<T>* heap, int64_t n,
               int64_t taken) {
  constexpr int64_t kBlock = 16;
  for (int64_t k = 0; k < taken; ++k) heap[k] = ranked(k);
  std::make_heap(heap, heap + taken);
  for (int64_t first = taken; first < n; first += kBlock) {
    const int64_t end = std::min(n, first + kBlock);
    if (step == 1 && end - first == kBlock) {
      const T last = x[heap[0].place()], *block = x + first;
      int any = 0;  // an element that is no number may be wanted
      if (largest) {
        for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] <= last);
      } else {
        for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] >= last);
      }
      if (any == 0) continue;
    }
    for (int64_t k = first; k < end; ++k) {
      const Ranked<T> v = ranked(k);
      if (heap[0] < v) continue;
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
    ForJobs(plan_.threads, cut_.outer * cut_.inner, call.p[4], TopKFloats(cut_, sizeof(T)),
            [&](int64_t r, float* room) { Row(call, r, reinterpret_cast<Ranked<T>*>(room)); });
    return GE_OK;
  }

 private:
  void Row(const Call& call, int64_t r, Ranked<T>* order) const {
    const int64_t o = r / cut_.inner, i = r % cut_.inner, n = cut_.dim, taken = plan_.taken;
    const T* x = reinterpret_cast<const T*>(call.p[2]) + o * n * cut_.inner + i;
    constexpr uint64_t kMost = sizeof(T) == 4 ? UINT32_MAX : UINT64_MAX;
    const auto ranked = [&](int64_t k) {
      const uint64_t v = KeyOf(x[k * cut_.inner]);
      return Ranked<T>(plan_.largest ? kMost - v : v, k);
    };
    if (taken > 0 && taken <= n / 8) {
      FewOfMany(ranked, x, cut_.inner, plan_.largest, order, n, taken);
    } else {
      for (int64_t k = 0; k < n; ++k) order[k] = ranked(k);
      SortFirst(order, n, taken);
    }
    const int64_t first = o * taken * cut_.inner + i;
    for (int64_t k = 0; k < taken; ++k) {
      const int64_t to = first + k * cut_.inner, from = order[k].place();
      if (plan_.values) reinterpret_cast<T*>(call.p[0])[to] = x[from * cut_.inner];
      if (plan_.places) reinterpret_cast<int64_t*>(call.p[1])[to] = from;
    }
  }

  const AxisCut cut_;
  const TopKPlan plan_;
};

}  // namespace

uint64_t TopKFloats(const AxisCut& cut, size_t bytes) {
  const size_t ranked = bytes == 4 ? sizeof(Ranked<float>) : sizeof(Ranked<double>);
  return static_cast<uint64_t>(cut.dim) * ranked / sizeof(float);
}

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
    const auto bytes = static_cast<size_t>(b->parser().size(u.in[0]));
    const uint64_t room =
        TopKFloats(cut, bytes) * sizeof(float) * static_cast<uint64_t>(plan.threads);
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
