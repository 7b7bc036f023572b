// View: where the elements of a tensor lie, in any strides and in both private formats. Loads and
// stores go through one: a lane of padding has no place in it. Values are float (reals) or int64_t
// (integers and bool), dense in the order of the origin's dims. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugins/ascend/sim/objects/objects.h"

namespace ge_engines::ascend::sim {

using Dims = std::vector<int64_t>;

inline constexpr int64_t kBlock = acl::kLanes;  // of NC1HWC0; both sides of a block of FRACTAL_NZ

int64_t Count(const Dims& dims);
// Of dense rows.
Dims DenseStrides(const Dims& dims);
inline int64_t Blocks(int64_t n) { return (n + kBlock - 1) / kBlock; }
// Of the storage of a tensor of these dims. NC1HWC0 wants four, FRACTAL_NZ two or more.
Dims StorageOf(const Dims& dims, acl::Format format);

// An axis of which every kBlock elements lie `block` elements behind the last ones; 0: all by
// `step`.
struct Axis {
  int64_t size, step, block = 0;
  int64_t At(int64_t i) const {
    return block == 0 ? i * step : i / kBlock * block + i % kBlock * step;
  }
};

struct View {
  std::vector<Axis> axes;
  int64_t offset = 0;

  int64_t count() const;
  Dims dims() const;
  // The place of the element farthest behind; -1 of none.
  int64_t last() const;
};
// Of FRACTAL_NZ: whether the dims are a transpose of the matrix that is stored.
bool IsTurned(const acl::Tensor& tensor);
View ViewOf(const acl::Tensor& tensor);
// Repeated along axes of size 1, and in front.
View Repeated(const View& view, const Dims& to);
bool CanRepeat(const Dims& dims, const Dims& to);
// What both are repeated to; false: they do not meet.
bool Meet(const Dims& x, const Dims& y, Dims* both);

// Calls use(position, place, count, step) for rows of elements: the position among the dense ones,
// the place of the first, how many, and how far apart.
template <class Use>
void EachRow(const View& view, const Use& use);

bool IsReal(acl::DataType type);

// All lanes of padding of a tensor in a private format.
void FillPadding(const acl::Tensor& tensor, float number);

// V: float or int64_t. A load of a view reads `tensor`'s memory by it.
template <class V>
std::vector<V> Load(const acl::Tensor& tensor, const View& view);
template <class V>
std::vector<V> Load(const acl::Tensor& tensor);
template <class V>
void Store(const acl::Tensor& tensor, const View& view, const std::vector<V>& values);
// The whole tensor; lanes of padding are poisoned.
template <class V>
void Store(const acl::Tensor& tensor, const std::vector<V>& values);

// Calls use(V()) with what values of the dtype are held in.
template <class Use>
void WithValues(acl::DataType type, const Use& use) {
  if (IsReal(type)) {
    use(float());
  } else {
    use(int64_t());
  }
}

// ---- inline ------------------------------------------------------------------------------------

// Axes of more than one element, neighbours that lie as one taken together; at least one.
std::vector<Axis> JoinedAxes(const View& view);

template <class Use>
void EachRow(const View& view, const Use& use) {
  if (view.count() == 0) return;
  const std::vector<Axis> axes = JoinedAxes(view);
  const size_t outer = axes.size() - 1;
  const Axis& row = axes.back();
  Dims index(outer, 0);
  for (int64_t position = 0;;) {
    int64_t place = view.offset;
    for (size_t k = 0; k < outer; ++k) place += axes[k].At(index[k]);
    const int64_t most = row.block == 0 ? row.size : kBlock;
    for (int64_t i = 0; i < row.size; i += most) {
      use(position + i, place + row.At(i), std::min(most, row.size - i), row.step);
    }
    position += row.size;
    size_t k = outer;
    while (k > 0 && ++index[k - 1] == axes[k - 1].size) index[--k] = 0;
    if (k == 0) return;
  }
}

}  // namespace ge_engines::ascend::sim
