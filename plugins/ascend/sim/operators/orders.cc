// Places of extremes and the greatest few. Of equals the first is taken; a NaN is beyond all
// numbers.
#include <algorithm>
#include <numeric>

#include "plugins/ascend/sim/operators/checker.h"
#include "plugins/ascend/sim/operators/rows.h"

namespace ge_engines::ascend::sim {
namespace {

// Whether x comes before y.
template <class V>
bool Leads(V x, V y, bool largest) {
  const bool x_nan = x != x, y_nan = y != y;
  if (x_nan || y_nan) return x_nan && !y_nan;
  return largest ? x > y : x < y;
}

Rows RowsOf(const Arguments& given, size_t axis) {
  const Dims& dims = given[0].tensor.dims;
  return {dims, AxisOf(given, axis, dims.size())};
}

std::string CheckPlace(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kNumbers).Tensor(3, "out", kIndices).Axis(1, given[0].tensor.dims.size());
  if (!c.ok()) return c.fault();
  Dims wanted = c.dims(0);
  if (wanted.empty()) return c.HasDims(3, wanted).fault();
  const size_t axis = AxisOf(given, 1, wanted.size());
  c.That(wanted[axis] > 0,
         "self: dims " + TextOf(wanted) + ", nothing along axis " + std::to_string(axis));
  if (BoolOf(given, 2)) {
    wanted[axis] = 1;
  } else {
    wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return c.HasDims(3, wanted).fault();
}

template <bool largest>
void RunPlace(const Arguments& given, void*) {
  const Rows rows = RowsOf(given, 1);
  WithValues(given[0].tensor.type, [&]<class V>(V) {
    const std::vector<V> values = Load<V>(given[0].tensor);
    std::vector<int64_t> places;
    for (int64_t r = 0; r < rows.count(); ++r) {
      const V* x = values.data() + rows.First(r);
      int64_t best = 0;
      for (int64_t i = 1; i < rows.size; ++i) {
        if (Leads(x[i * rows.inner], x[best * rows.inner], largest)) best = i;
      }
      places.push_back(best);
    }
    Store(given[3].tensor, places);
  });
}

enum : size_t { kSelf, kCount, kAxis, kLargest, kSorted, kValues, kPlaces };

std::string CheckTopk(const Arguments& given) {
  Checker c(given);
  c.Tensor(kSelf, "self", kNumbers).Tensor(kValues, "values", kNumbers).SameType(kValues, kSelf);
  c.Tensor(kPlaces, "indices", TypeBit(acl::kI64));
  c.HasRank(kSelf, 1, 8).Axis(kAxis, given[kSelf].tensor.dims.size());
  if (!c.ok()) return c.fault();
  Dims wanted = c.dims(kSelf);
  int64_t& size = wanted[AxisOf(given, kAxis, wanted.size())];
  const int64_t count = IntegerOf(given, kCount);
  c.That(count >= 0 && count <= size,
         "k: " + std::to_string(count) + " of " + std::to_string(size) + " elements");
  size = count;
  return c.HasDims(kValues, wanted).HasDims(kPlaces, wanted).fault();
}

// The places of a row, in their order.
uint64_t TopkWorkspace(const Arguments& given) {
  const Rows rows = RowsOf(given, kAxis);
  return rows.empty() ? 0 : static_cast<uint64_t>(rows.size) * sizeof(int64_t);
}

void RunTopk(const Arguments& given, void* workspace) {
  const Rows rows = RowsOf(given, kAxis),
             results(given[kValues].tensor.dims, AxisOf(given, kAxis, given[0].tensor.dims.size()));
  const bool largest = BoolOf(given, kLargest);
  auto* order = static_cast<int64_t*>(workspace);
  WithValues(given[kSelf].tensor.type, [&]<class V>(V) {
    const std::vector<V> values = Load<V>(given[kSelf].tensor);
    std::vector<V> best(static_cast<size_t>(results.count() * results.size));
    std::vector<int64_t> places(best.size());
    for (int64_t r = 0; r < rows.count() && !rows.empty(); ++r) {
      const V* x = values.data() + rows.First(r);
      std::iota(order, order + rows.size, 0);
      std::stable_sort(order, order + rows.size, [&](int64_t i, int64_t j) {
        return Leads(x[i * rows.inner], x[j * rows.inner], largest);
      });
      for (int64_t i = 0; i < results.size; ++i) {
        const auto to = static_cast<size_t>(results.First(r) + i * results.inner);
        best[to] = x[order[i] * rows.inner];
        places[to] = order[i];
      }
    }
    Store(given[kValues].tensor, best);
    Store(given[kPlaces].tensor, places);
  });
}

constexpr Operation kOrders[] = {
    {"ArgMax", CheckPlace, nullptr, RunPlace<true>},
    {"ArgMin", CheckPlace, nullptr, RunPlace<false>},
    {"Topk", CheckTopk, TopkWorkspace, RunTopk},
};

}  // namespace

std::span<const Operation> OrderOperations() { return kOrders; }

}  // namespace ge_engines::ascend::sim
