// Elements that integers name. An index counts from the front; one out of range fails the work,
// since phase one does not see it. Plain formats.
#include <cstddef>

#include "plugins/ascend/sim/operators/checker.h"
#include "plugins/ascend/sim/operators/rows.h"

namespace ge_engines::ascend::sim {
namespace {

// self, the axis, index, and out.
Checker AskLookUp(const Arguments& given, size_t most) {
  Checker c(given);
  c.Tensor(0, "self", kAllTypes).Tensor(2, "index", kIndices).HasRank(2, 0, most);
  c.Tensor(3, "out", kAllTypes).SameType(3, 0);
  return c.HasRank(0, 1, 8).Axis(1, given[0].tensor.dims.size());
}

std::vector<int64_t> IndicesOf(const acl::Tensor& index, int64_t size, const char* name) {
  std::vector<int64_t> indices = Load<int64_t>(index);
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < size) continue;
    throw Failure(std::string(name) + ": index " + std::to_string(indices[i]) + " at element " +
                  std::to_string(i) + ", the axis has " + std::to_string(size));
  }
  return indices;
}

// Dims of self with those of the index in place of the axis.
Dims LookedUp(const Dims& self, size_t axis, const Dims& index) {
  Dims dims(self.begin(), self.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), index.begin(), index.end());
  dims.insert(dims.end(), self.begin() + static_cast<std::ptrdiff_t>(axis) + 1, self.end());
  return dims;
}

template <size_t most>
std::string CheckLookUp(const Arguments& given) {
  Checker c = AskLookUp(given, most);
  if (most == 1) c.HasRank(2, 1, 1);
  if (!c.ok()) return c.fault();
  return c.HasDims(3, LookedUp(c.dims(0), AxisOf(given, 1, c.dims(0).size()), c.dims(2))).fault();
}

void LookUp(const Arguments& given, const char* name) {
  const acl::Tensor &self = given[0].tensor, &out = given[3].tensor;
  const Rows rows(self.dims, AxisOf(given, 1, self.dims.size()));
  const std::vector<int64_t> indices = IndicesOf(given[2].tensor, rows.size, name);
  WithValues(self.type, [&]<class V>(V) {
    const std::vector<V> values = Load<V>(self);
    std::vector<V> found;
    found.reserve(static_cast<size_t>(Count(out.dims)));
    for (int64_t outer = 0; outer < rows.outer; ++outer) {
      for (const int64_t index : indices) {
        const V* from = values.data() + (outer * rows.size + index) * rows.inner;
        found.insert(found.end(), from, from + rows.inner);
      }
    }
    Store(out, found);
  });
}

void RunGatherV2(const Arguments& given, void*) { LookUp(given, "GatherV2"); }
void RunIndexSelect(const Arguments& given, void*) { LookUp(given, "IndexSelect"); }

// An index for each element of the result.
std::string CheckGather(const Arguments& given) {
  Checker c = AskLookUp(given, 8);
  if (!c.ok()) return c.fault();
  const Dims &x = c.dims(0), &index = c.dims(2);
  const size_t axis = AxisOf(given, 1, x.size());
  bool within = index.size() == x.size();
  for (size_t k = 0; k < x.size() && within; ++k) within = k == axis || index[k] <= x[k];
  c.That(within, "index: dims " + TextOf(index) + " do not lie within " + TextOf(x));
  return c.HasDims(3, index).fault();
}

void RunGather(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &out = given[3].tensor;
  const size_t axis = AxisOf(given, 1, self.dims.size());
  const std::vector<int64_t> indices = IndicesOf(given[2].tensor, self.dims[axis], "Gather");
  const Dims strides = DenseStrides(self.dims);
  WithValues(self.type, [&]<class V>(V) {
    const std::vector<V> values = Load<V>(self);
    std::vector<V> found;
    for (size_t i = 0; i < indices.size(); ++i) {
      auto rest = static_cast<int64_t>(i);
      int64_t place = indices[i] * strides[axis];
      for (size_t k = out.dims.size(); k-- > 0;) {
        if (k != axis) place += rest % out.dims[k] * strides[k];
        rest /= out.dims[k];
      }
      found.push_back(values[static_cast<size_t>(place)]);
    }
    Store(out, found);
  });
}

// self, the axis, index, and from.
std::string CheckIndexCopy(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kAllTypes).HasRank(0, 1, 8).Axis(1, given[0].tensor.dims.size());
  c.Tensor(2, "index", kIndices).HasRank(2, 1, 1).Tensor(3, "from", kAllTypes).SameType(3, 0);
  if (!c.ok()) return c.fault();
  return c.HasDims(3, LookedUp(c.dims(0), AxisOf(given, 1, c.dims(0).size()), c.dims(2))).fault();
}

void RunIndexCopy(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &from = given[3].tensor;
  const size_t axis = AxisOf(given, 1, self.dims.size());
  const std::vector<int64_t> indices =
      IndicesOf(given[2].tensor, self.dims[axis], "InplaceIndexCopy");
  const View source = ViewOf(from), target = ViewOf(self);
  WithValues(self.type, [&]<class V>(V) {
    for (size_t i = 0; i < indices.size(); ++i) {
      View one = source, to = target;
      one.offset += static_cast<int64_t>(i) * one.axes[axis].step;
      to.offset += indices[i] * to.axes[axis].step;
      one.axes[axis].size = to.axes[axis].size = 1;
      Store(self, to, Load<V>(from, one));
    }
  });
}

// ---- one-hot rows ------------------------------------------------------------------------------

enum : size_t { kSelf, kClasses, kOn, kOff, kAxis, kOut };

std::string CheckOneHot(const Arguments& given) {
  Checker c(given);
  c.Tensor(kSelf, "self", kIndices).HasRank(kSelf, 0, 7);
  c.Tensor(kOn, "onValue", kAllTypes).Tensor(kOff, "offValue", kAllTypes).SameType(kOff, kOn);
  c.Tensor(kOut, "out", kAllTypes).SameType(kOut, kOn);
  if (!c.ok()) return c.fault();
  c.That(Count(c.dims(kOn)) == 1 && Count(c.dims(kOff)) == 1,
         "onValue and offValue: wanted one element each");
  const int64_t classes = IntegerOf(given, kClasses);
  Dims wanted = c.dims(kSelf);
  c.That(classes >= 0, "numClasses: " + std::to_string(classes));
  c.Axis(kAxis, wanted.size() + 1);
  if (!c.ok()) return c.fault();
  const size_t axis = AxisOf(given, kAxis, wanted.size() + 1);
  wanted.insert(wanted.begin() + static_cast<std::ptrdiff_t>(axis), classes);
  return c.HasDims(kOut, wanted).fault();
}

// An index that no class has leaves its row off.
void RunOneHot(const Arguments& given, void*) {
  const acl::Tensor &self = given[kSelf].tensor, &out = given[kOut].tensor;
  const Rows rows(out.dims, AxisOf(given, kAxis, out.dims.size()));
  const std::vector<int64_t> indices = Load<int64_t>(self);
  WithValues(out.type, [&]<class V>(V) {
    const V on = Load<V>(given[kOn].tensor)[0], off = Load<V>(given[kOff].tensor)[0];
    std::vector<V> values(static_cast<size_t>(Count(out.dims)), off);
    for (int64_t r = 0; r < rows.count(); ++r) {
      const int64_t index = indices[static_cast<size_t>(r)];
      if (index < 0 || index >= rows.size) continue;
      values[static_cast<size_t>(rows.First(r) + index * rows.inner)] = on;
    }
    Store(out, values);
  });
}

constexpr Operation kLookUps[] = {
    {"Gather", CheckGather, nullptr, RunGather},
    {"GatherV2", CheckLookUp<8>, nullptr, RunGatherV2},
    {"IndexSelect", CheckLookUp<1>, nullptr, RunIndexSelect},
    {"InplaceIndexCopy", CheckIndexCopy, nullptr, RunIndexCopy},
    {"OneHot", CheckOneHot, nullptr, RunOneHot},
};

}  // namespace

std::span<const Operation> IndexOperations() { return kLookUps; }

}  // namespace ge_engines::ascend::sim
