// Sums, means and extremes along axes; running sums.
#include <cmath>

#include "plugins/ascend/sim/operators/checker.h"
#include "plugins/ascend/sim/operators/rows.h"

namespace ge_engines::ascend::sim {
namespace {

// Which axes are reduced: all, where none is given.
bool ReducedOf(const Dims& axes, size_t rank, std::vector<bool>* reduced) {
  reduced->assign(rank, axes.empty());
  const auto end = static_cast<int64_t>(rank);
  for (int64_t axis : axes) {
    if (axis < 0) axis += end;
    if (axis < 0 || axis >= end || (*reduced)[static_cast<size_t>(axis)]) return false;
    (*reduced)[static_cast<size_t>(axis)] = true;
  }
  return true;
}

// self, dims, keepDims, and out at `out`.
Checker AskReduction(const Arguments& given, size_t out, uint32_t types) {
  Checker c(given);
  c.Tensor(0, "self", types).Tensor(out, "out", types).SameType(out, 0);
  if (!c.ok()) return c;
  const Dims& x = c.dims(0);
  std::vector<bool> reduced;
  c.That(given[1].given && ReducedOf(given[1].ints, x.size(), &reduced),
         "dims: " + TextOf(given[1].ints) + " of " + std::to_string(x.size()) + " axes");
  if (!c.ok()) return c;
  Dims wanted;
  for (size_t k = 0; k < x.size(); ++k) {
    if (!reduced[k]) {
      wanted.push_back(x[k]);
    } else if (BoolOf(given, 2)) {
      wanted.push_back(1);
    }
  }
  return c.HasDims(out, wanted);
}

// The values with those of one result side by side, and how many these are.
template <class V>
std::vector<V> Gathered(const Arguments& given, int64_t* count) {
  const acl::Tensor& self = given[0].tensor;
  std::vector<bool> reduced;
  (void)ReducedOf(given[1].ints, self.dims.size(), &reduced);
  const View view = ViewOf(self);
  View turned;
  turned.offset = view.offset;
  *count = 1;
  for (const bool last : {false, true}) {
    for (size_t k = 0; k < reduced.size(); ++k) {
      if (reduced[k] != last) continue;
      turned.axes.push_back(view.axes[k]);
      if (last) *count *= view.axes[k].size;
    }
  }
  return Load<V>(self, turned);
}

template <class V, class Fold>
void Reduce(const Arguments& given, size_t out, const Fold& fold) {
  int64_t count = 0;
  const std::vector<V> values = Gathered<V>(given, &count);
  std::vector<V> results;
  for (int64_t i = 0, n = Count(given[out].tensor.dims); i < n; ++i) {
    results.push_back(fold(values.data() + i * count, count));
  }
  Store(given[out].tensor, results);
}

std::string AskDtype(const Arguments& given, uint32_t types) {
  Checker c = AskReduction(given, 4, types);
  const auto wanted = static_cast<acl::DataType>(IntegerOf(given, 3));
  return c
      .That(given[4].tensor.type == wanted,
            "out: " + NameOf(given[4].tensor.type) + ", dtype says " + NameOf(wanted))
      .fault();
}

std::string CheckSumOf(const Arguments& given) { return AskDtype(given, kReals | kIndices); }
std::string CheckMean(const Arguments& given) { return AskDtype(given, kReals); }

void RunSumOf(const Arguments& given, void*) {
  if (IsReal(given[0].tensor.type)) {
    return Reduce<float>(given, 4, [](const float* x, int64_t count) {
      return SumOf(count, [x](int64_t i) { return x[i]; });
    });
  }
  Reduce<int64_t>(given, 4, [](const int64_t* x, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<uint64_t>(x[i]);
    return static_cast<int64_t>(sum);
  });
}

void RunMean(const Arguments& given, void*) {
  Reduce<float>(given, 4, [](const float* x, int64_t count) {
    return SumOf(count, [x](int64_t i) { return x[i]; }) / static_cast<float>(count);
  });
}

std::string CheckExtreme(const Arguments& given) {
  Checker c = AskReduction(given, 3, kNumbers | kBools);
  if (c.ok() && Count(c.dims(3)) > 0) {
    c.That(Count(c.dims(0)) > 0, "self: dims " + TextOf(c.dims(0)) + ", no element has none more");
  }
  return c.fault();
}

// A NaN is beyond all numbers.
template <bool most>
void RunExtreme(const Arguments& given, void*) {
  WithValues(given[0].tensor.type, [&]<class V>(V) {
    Reduce<V>(given, 3, [](const V* x, int64_t count) {
      V best = x[0];
      for (int64_t i = 1; i < count; ++i) {
        const bool better = most ? x[i] > best : x[i] < best;
        if (best == best && (better || x[i] != x[i])) best = x[i];
      }
      return best;
    });
  });
}

std::string CheckCumsum(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kReals | kIndices).Tensor(3, "out", kReals | kIndices).SameType(3, 0);
  c.HasDims(3, given[0].tensor.dims).Axis(1, given[0].tensor.dims.size());
  const auto wanted = static_cast<acl::DataType>(IntegerOf(given, 2));
  return c
      .That(given[3].tensor.type == wanted,
            "out: " + NameOf(given[3].tensor.type) + ", dtype says " + NameOf(wanted))
      .fault();
}

void RunCumsum(const Arguments& given, void*) {
  const Dims& dims = given[0].tensor.dims;
  const Rows rows(dims, AxisOf(given, 1, dims.size()));
  WithValues(given[0].tensor.type, [&]<class V>(V) {
    std::vector<V> values = Load<V>(given[0].tensor);
    for (int64_t r = 0; r < rows.count() && !rows.empty(); ++r) {
      V* x = values.data() + rows.First(r);
      for (int64_t i = 1; i < rows.size; ++i) {
        V& to = x[i * rows.inner];
        const V before = x[(i - 1) * rows.inner];
        if constexpr (std::is_same_v<V, float>) {
          to += before;
        } else {
          to = static_cast<V>(static_cast<uint64_t>(to) + static_cast<uint64_t>(before));
        }
      }
    }
    Store(given[3].tensor, values);
  });
}

constexpr Operation kReductions[] = {
    {"Amax", CheckExtreme, nullptr, RunExtreme<true>},
    {"Amin", CheckExtreme, nullptr, RunExtreme<false>},
    {"Cumsum", CheckCumsum, nullptr, RunCumsum},
    {"Mean", CheckMean, nullptr, RunMean},
    {"ReduceSum", CheckSumOf, nullptr, RunSumOf},
};

}  // namespace

std::span<const Operation> ReductionOperations() { return kReductions; }

}  // namespace ge_engines::ascend::sim
