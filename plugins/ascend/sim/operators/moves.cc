// Moves of elements: concatenation, slices, permutations, repetition, pads, triangles; rows of
// numbers. Plain formats.
#include <algorithm>
#include <cmath>

#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

// One load of self by a look of its own, and a store.
void Move(const acl::Tensor& self, const View& look, const acl::Tensor& out) {
  WithValues(self.type, [&]<class V>(V) { Store(out, Load<V>(self, look)); });
}

Checker AskMove(const Arguments& given, size_t out) {
  Checker c(given);
  c.Tensor(0, "self", kAllTypes).Tensor(out, "out", kAllTypes).SameType(out, 0);
  return c;
}

// ---- concatenation -----------------------------------------------------------------------------

// A list's tensor, asked as an argument of its own.
std::string CatFault(const acl::Tensor& tensor, const acl::Tensor& out, size_t axis) {
  Arguments one(1);
  one[0].tensor = tensor;
  Checker c(one);
  c.Tensor(0, "a tensor", TypeBit(out.type) & kAllTypes);
  if (!c.ok()) return c.fault();
  Dims wanted = out.dims;
  if (tensor.dims.size() == wanted.size()) wanted[axis] = tensor.dims[axis];
  return c.HasDims(0, wanted).fault();
}

std::string CheckCat(const Arguments& given) {
  Checker c(given);
  c.Tensor(2, "out", kAllTypes).HasRank(2, 1, 8).Axis(1, given[2].tensor.dims.size());
  c.That(given[0].given && !given[0].tensors.empty(), "tensors: wanted one or more");
  if (!c.ok()) return c.fault();
  const acl::Tensor& out = given[2].tensor;
  const size_t axis = AxisOf(given, 1, out.dims.size());
  Dims wanted = out.dims;
  wanted[axis] = 0;
  for (size_t i = 0; i < given[0].tensors.size() && c.ok(); ++i) {
    const acl::Tensor& tensor = given[0].tensors[i];
    const std::string fault = CatFault(tensor, out, axis);
    c.That(fault.empty(), "tensors[" + std::to_string(i) + "]: " + fault);
    if (c.ok()) wanted[axis] += tensor.dims[axis];
  }
  return c.HasDims(2, wanted).fault();
}

void RunCat(const Arguments& given, void*) {
  const acl::Tensor& out = given[2].tensor;
  const size_t axis = AxisOf(given, 1, out.dims.size());
  View view = ViewOf(out);
  for (const acl::Tensor& tensor : given[0].tensors) {
    view.axes[axis].size = tensor.dims[axis];
    WithValues(out.type, [&]<class V>(V) { Store(out, view, Load<V>(tensor)); });
    view.offset += tensor.dims[axis] * view.axes[axis].step;
  }
}

// ---- looks -------------------------------------------------------------------------------------

enum : size_t { kSelf, kDim, kBegin, kEnd, kStep, kSliced };

// From the back where below zero, and held within the axis.
int64_t Within(int64_t at, int64_t size) {
  return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
}

std::string CheckSlice(const Arguments& given) {
  Checker c = AskMove(given, kSliced);
  c.HasRank(kSelf, 1, 8).Axis(kDim, given[kSelf].tensor.dims.size());
  c.That(IntegerOf(given, kStep) > 0,
         "step: " + std::to_string(IntegerOf(given, kStep)) + ", wanted above zero");
  if (!c.ok()) return c.fault();
  Dims wanted = c.dims(kSelf);
  int64_t& size = wanted[AxisOf(given, kDim, wanted.size())];
  const int64_t begin = Within(IntegerOf(given, kBegin), size),
                end = Within(IntegerOf(given, kEnd), size), step = IntegerOf(given, kStep);
  size = end > begin ? (end - begin - 1) / step + 1 : 0;
  return c.HasDims(kSliced, wanted).fault();
}

void RunSlice(const Arguments& given, void*) {
  const acl::Tensor &self = given[kSelf].tensor, &out = given[kSliced].tensor;
  const size_t axis = AxisOf(given, kDim, self.dims.size());
  View look = ViewOf(self);
  look.offset += Within(IntegerOf(given, kBegin), self.dims[axis]) * look.axes[axis].step;
  look.axes[axis] = {out.dims[axis], look.axes[axis].step * IntegerOf(given, kStep)};
  Move(self, look, out);
}

std::string CheckPermute(const Arguments& given) {
  Checker c = AskMove(given, 2);
  if (!c.ok()) return c.fault();
  const Dims &x = c.dims(0), &order = given[1].ints;
  Dims sorted = order, wanted;
  for (int64_t& axis : sorted) axis += axis < 0 ? static_cast<int64_t>(x.size()) : 0;
  for (const int64_t axis : sorted) {
    if (axis >= 0 && axis < static_cast<int64_t>(x.size())) {
      wanted.push_back(x[static_cast<size_t>(axis)]);
    }
  }
  std::sort(sorted.begin(), sorted.end());
  const bool each = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  c.That(given[1].given && each && wanted.size() == order.size() && order.size() == x.size(),
         "dims: " + TextOf(order) + " is no order of " + std::to_string(x.size()) + " axes");
  return c.HasDims(2, wanted).fault();
}

void RunPermute(const Arguments& given, void*) {
  const acl::Tensor& self = given[0].tensor;
  const View view = ViewOf(self);
  View look;
  look.offset = view.offset;
  for (const int64_t axis : given[1].ints) {
    const int64_t at = axis < 0 ? axis + static_cast<int64_t>(view.axes.size()) : axis;
    look.axes.push_back(view.axes[static_cast<size_t>(at)]);
  }
  Move(self, look, given[2].tensor);
}

std::string CheckExpand(const Arguments& given) {
  Checker c = AskMove(given, 2);
  c.That(given[1].given, "size: null");
  return c.HasDims(2, given[1].ints).RepeatsTo(0, given[1].ints).fault();
}

void RunExpand(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &out = given[2].tensor;
  Move(self, Repeated(ViewOf(self), out.dims), out);
}

std::string CheckRepeat(const Arguments& given) {
  Checker c = AskMove(given, 2);
  if (!c.ok()) return c.fault();
  const Dims &x = c.dims(0), &repeats = given[1].ints;
  c.HasInts(1, "repeats", std::max(repeats.size(), x.size()), 0);
  if (!c.ok()) return c.fault();
  Dims wanted = repeats;
  for (size_t k = 0; k < x.size(); ++k) wanted[repeats.size() - x.size() + k] *= x[k];
  return c.HasDims(2, wanted).fault();
}

// Each axis as two, of which the first stands.
void RunRepeat(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &out = given[2].tensor;
  const View view = ViewOf(self);
  const Dims& repeats = given[1].ints;
  View look;
  look.offset = view.offset;
  for (size_t k = 0; k < repeats.size(); ++k) {
    look.axes.push_back({repeats[k], 0});
    const size_t front = repeats.size() - view.axes.size();
    if (k >= front) look.axes.push_back(view.axes[k - front]);
  }
  Move(self, look, out);
}

// ---- pads and triangles ------------------------------------------------------------------------

std::string CheckPad(const Arguments& given) {
  Checker c = AskMove(given, 3);
  c.Scalar(2, "value");
  if (!c.ok()) return c.fault();
  const Dims& pads = given[1].ints;
  Dims wanted = c.dims(0);
  c.HasInts(1, "pad", pads.size(), 0);
  c.That(pads.size() % 2 == 0 && pads.size() <= 2 * wanted.size(),
         "pad: " + std::to_string(pads.size()) + " numbers for " + std::to_string(wanted.size()) +
             " axes, wanted two for each from the last on");
  if (!c.ok()) return c.fault();
  for (size_t k = 0; k < pads.size(); ++k) wanted[wanted.size() - 1 - k / 2] += pads[k];
  return c.HasDims(3, wanted).fault();
}

void RunPad(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &out = given[3].tensor;
  const Dims& pads = given[1].ints;
  View inner = ViewOf(out);
  for (size_t k = 0; k < inner.axes.size(); ++k) {
    const size_t from_last = inner.axes.size() - 1 - k;
    if (2 * from_last < pads.size()) inner.offset += pads[2 * from_last] * inner.axes[k].step;
    inner.axes[k].size = self.dims[k];
  }
  WithValues(self.type, [&]<class V>(V) {
    const std::vector<V> values = Load<V>(self);
    Store(out, std::vector<V>(static_cast<size_t>(Count(out.dims)), ScalarOf<V>(given, 2)));
    Store(out, inner, values);
  });
}

std::string CheckTriangle(const Arguments& given) {
  return AskMove(given, 2).HasRank(0, 2, 8).HasDims(2, given[0].tensor.dims).fault();
}

template <bool upper>
void RunTriangle(const Arguments& given, void*) {
  const acl::Tensor& self = given[0].tensor;
  const size_t rank = self.dims.size();
  const int64_t rows = self.dims[rank - 2], columns = self.dims[rank - 1];
  // Beyond the matrix all diagonals are as one.
  const int64_t diagonal = std::clamp(IntegerOf(given, 1), -rows - 1, columns + 1);
  WithValues(self.type, [&]<class V>(V) {
    std::vector<V> values = Load<V>(self);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t ahead = at % columns - at / columns % rows - diagonal;
      if (upper ? ahead < 0 : ahead > 0) values[i] = 0;
    }
    Store(given[2].tensor, values);
  });
}

// ---- rows of numbers ---------------------------------------------------------------------------

double Real(const Arguments& given, size_t i) { return given[i].scalar.value(); }

std::string CheckArange(const Arguments& given) {
  Checker c(given);
  c.Scalar(0, "start").Scalar(1, "end").Scalar(2, "step");
  c.Tensor(3, "out", kReals | kIndices).HasRank(3, 1, 1);
  if (!c.ok()) return c.fault();
  const double step = Real(given, 2);
  c.That(step != 0, "step: 0");
  const double count = std::ceil((Real(given, 1) - Real(given, 0)) / step);
  c.That(count >= 0 && count < 0x1p53, "start, end and step: no row of numbers");
  if (!c.ok()) return c.fault();
  return c.HasDims(3, {static_cast<int64_t>(count)}).fault();
}

void RunArange(const Arguments& given, void*) {
  const acl::Tensor& out = given[3].tensor;
  const auto count = static_cast<size_t>(out.dims[0]);
  WithValues(out.type, [&]<class V>(V) {
    std::vector<V> values(count);
    for (size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<V, float>) {
        values[i] = static_cast<V>(Real(given, 0) + static_cast<double>(i) * Real(given, 2));
      } else {
        values[i] = ScalarOf<V>(given, 0) + static_cast<V>(i) * ScalarOf<V>(given, 2);
      }
    }
    Store(out, values);
  });
}

constexpr Operation kMoves[] = {
    {"Arange", CheckArange, nullptr, RunArange},
    {"Cat", CheckCat, nullptr, RunCat},
    {"ConstantPadNd", CheckPad, nullptr, RunPad},
    {"Expand", CheckExpand, nullptr, RunExpand},
    {"Permute", CheckPermute, nullptr, RunPermute},
    {"Repeat", CheckRepeat, nullptr, RunRepeat},
    {"Slice", CheckSlice, nullptr, RunSlice},
    {"Tril", CheckTriangle, nullptr, RunTriangle<false>},
    {"Triu", CheckTriangle, nullptr, RunTriangle<true>},
};

}  // namespace

std::span<const Operation> MoveOperations() { return kMoves; }

}  // namespace ge_engines::ascend::sim
