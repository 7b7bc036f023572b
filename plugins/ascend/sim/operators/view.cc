#include "plugins/ascend/sim/operators/view.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plugins/ascend/sim/operators/numbers.h"
#include "plugins/ascend/sim/operators/operation.h"

namespace ge_engines::ascend::sim {
namespace {

std::atomic<uint64_t> g_padded_reads{0};

void CountPadded(const float* values, int64_t count) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += IsPoison(values[i]) ? 1 : 0;
  if (found > 0) g_padded_reads += static_cast<uint64_t>(found);
}
void CountPadded(const int64_t*, int64_t) {}

// Calls use(T()) with the dtype's element.
template <class Use>
void WithElement(acl::DataType type, const Use& use) {
  switch (type) {
    case acl::kF32:
      return use(float());
    case acl::kF16:
      return use(Half());
    case acl::kBf16:
      return use(Brain());
    case acl::kI8:
      return use(int8_t());
    case acl::kU8:
      return use(uint8_t());
    case acl::kI16:
      return use(int16_t());
    case acl::kI32:
      return use(int32_t());
    case acl::kI64:
      return use(int64_t());
    case acl::kBool:
      return use(Flag());
    default:
      throw Failure("a dtype that no operator of the simulator takes");
  }
}

template <class T>
T Read(const unsigned char* data, int64_t place) {
  T element;
  std::memcpy(&element, data + place * static_cast<int64_t>(sizeof element), sizeof element);
  return element;
}
template <class T>
void Write(unsigned char* data, int64_t place, T element) {
  std::memcpy(data + place * static_cast<int64_t>(sizeof element), &element, sizeof element);
}

}  // namespace

uint64_t PaddedLaneReads() { return g_padded_reads; }

int64_t Count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

Dims DenseStrides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t step = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    strides[k] = step;
    step *= dims[k];
  }
  return strides;
}

Dims StorageOf(const Dims& dims, acl::Format format) {
  Dims storage = dims;
  const size_t rank = dims.size();
  if (format == acl::kNc1hwc0) {
    storage[1] = Blocks(dims[1]);
    storage.push_back(kBlock);
  } else if (format == acl::kFractalNz) {
    storage[rank - 2] = Blocks(dims[rank - 1]);
    storage[rank - 1] = Blocks(dims[rank - 2]);
    storage.insert(storage.end(), {kBlock, kBlock});
  }
  return storage;
}

int64_t View::count() const { return Count(dims()); }
Dims View::dims() const {
  Dims dims;
  for (const Axis& axis : axes) dims.push_back(axis.size);
  return dims;
}
int64_t View::last() const {
  int64_t place = offset;
  for (const Axis& axis : axes) {
    if (axis.size == 0) return -1;
    // Of an axis in blocks the farthest may be the end of the last whole one.
    place += std::max(axis.At(axis.size - 1),
                      axis.At(std::max<int64_t>(axis.size / kBlock * kBlock, 1) - 1));
  }
  return place;
}

bool IsTurned(const acl::Tensor& tensor) { return tensor.strides != DenseStrides(tensor.dims); }

View ViewOf(const acl::Tensor& tensor) {
  View view;
  view.offset = tensor.offset;
  const Dims& dims = tensor.dims;
  for (size_t k = 0; k < dims.size(); ++k) view.axes.push_back({dims[k], tensor.strides[k]});
  const size_t rank = dims.size();
  if (tensor.format == acl::kNc1hwc0) {
    const Dims steps = DenseStrides(tensor.storage);
    view.axes[0].step = steps[0];
    view.axes[1] = {dims[1], 1, steps[1]};
    view.axes[2].step = steps[2];
    view.axes[3].step = steps[3];
  } else if (tensor.format == acl::kFractalNz) {
    const bool turned = IsTurned(tensor);
    const Dims steps = DenseStrides(tensor.storage);
    const size_t column = turned ? rank - 2 : rank - 1, row = turned ? rank - 1 : rank - 2;
    for (size_t k = 0; k + 2 < rank; ++k) view.axes[k].step = steps[k];
    view.axes[row].step = kBlock;
    view.axes[column] = {dims[column], 1, steps[rank - 2]};
  }
  return view;
}

bool CanRepeat(const Dims& dims, const Dims& to) {
  if (dims.size() > to.size()) return false;
  const size_t front = to.size() - dims.size();
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] != 1 && dims[k] != to[front + k]) return false;
  }
  return true;
}

View Repeated(const View& view, const Dims& to) {
  View out;
  out.offset = view.offset;
  const size_t front = to.size() - view.axes.size();
  for (size_t k = 0; k < to.size(); ++k) {
    const bool stands = k < front || view.axes[k - front].size == 1;
    out.axes.push_back(stands ? Axis{to[k], 0} : view.axes[k - front]);
  }
  return out;
}

bool Meet(const Dims& x, const Dims& y, Dims* both) {
  both->assign(std::max(x.size(), y.size()), 1);
  for (const Dims* one : {&x, &y}) {
    const size_t front = both->size() - one->size();
    for (size_t k = 0; k < one->size(); ++k) {
      int64_t& size = (*both)[front + k];
      if ((*one)[k] == 1 || (*one)[k] == size) continue;
      if (size != 1) return false;
      size = (*one)[k];
    }
  }
  return CanRepeat(x, *both) && CanRepeat(y, *both);
}

std::vector<Axis> JoinedAxes(const View& view) {
  std::vector<Axis> axes;
  for (const Axis& axis : view.axes) {
    if (axis.size == 1) continue;
    const bool joins = !axes.empty() && axis.block == 0 && axes.back().block == 0 &&
                       axes.back().step == axis.step * axis.size;
    if (joins) {
      axes.back() = {axes.back().size * axis.size, axis.step};
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) axes.push_back({1, 0});
  return axes;
}

bool IsReal(acl::DataType type) {
  return type == acl::kF32 || type == acl::kF16 || type == acl::kBf16;
}

void FillPadding(const acl::Tensor& tensor, float number) {
  const int64_t count = Count(tensor.storage);
  if (count == 0) return;
  WithElement(tensor.type, [&]<class T>(T) {
    const T element = ElementOf<T>(number);
    auto* data = static_cast<unsigned char*>(tensor.data);
    const auto fill = [&](int64_t first, int64_t lanes) {
      for (int64_t i = first; i < first + lanes; ++i) Write(data, i, element);
    };
    if (tensor.format == acl::kNc1hwc0) {
      const int64_t lanes = tensor.dims[1] % kBlock, blocks = tensor.storage[1];
      if (lanes == 0) return;
      const int64_t block = count / (tensor.dims[0] * blocks);
      for (int64_t image = 1; image <= tensor.dims[0]; ++image) {
        const int64_t first = (image * blocks - 1) * block;
        for (int64_t i = lanes; i < block; i += kBlock) fill(first + i, kBlock - lanes);
      }
      return;
    }
    // Strips of sixteen columns, each with all rows and then those of its padding.
    const size_t rank = tensor.storage.size(), last = tensor.dims.size() - 1;
    const bool turned = IsTurned(tensor);
    const int64_t rows = tensor.dims[turned ? last : last - 1],
                  columns = tensor.dims[turned ? last - 1 : last];
    const int64_t strips = tensor.storage[rank - 4], high = tensor.storage[rank - 3] * kBlock;
    for (int64_t strip = 0; strip < count / (high * kBlock); ++strip) {
      const int64_t first = strip * high * kBlock, left = columns - strip % strips * kBlock;
      fill(first + rows * kBlock, (high - rows) * kBlock);
      if (left >= kBlock) continue;
      for (int64_t row = 0; row < rows; ++row) fill(first + row * kBlock + left, kBlock - left);
    }
  });
}

template <class V>
std::vector<V> Load(const acl::Tensor& tensor, const View& view) {
  std::vector<V> values(static_cast<size_t>(view.count()));
  const auto* data = static_cast<const unsigned char*>(tensor.data);
  WithElement(tensor.type, [&]<class T>(T) {
    EachRow(view, [&](int64_t position, int64_t place, int64_t count, int64_t step) {
      V* to = values.data() + position;
      if (step == 1) {
        for (int64_t i = 0; i < count; ++i) to[i] = NumberOf<V>(Read<T>(data, place + i));
      } else {
        for (int64_t i = 0; i < count; ++i) to[i] = NumberOf<V>(Read<T>(data, place + i * step));
      }
    });
  });
  CountPadded(values.data(), static_cast<int64_t>(values.size()));
  return values;
}

template <class V>
std::vector<V> Load(const acl::Tensor& tensor) {
  return Load<V>(tensor, ViewOf(tensor));
}

template <class V>
void Store(const acl::Tensor& tensor, const View& view, const std::vector<V>& values) {
  CountPadded(values.data(), static_cast<int64_t>(values.size()));
  auto* data = static_cast<unsigned char*>(tensor.data);
  WithElement(tensor.type, [&]<class T>(T) {
    EachRow(view, [&](int64_t position, int64_t place, int64_t count, int64_t step) {
      const V* from = values.data() + position;
      if (step == 1) {
        for (int64_t i = 0; i < count; ++i) Write(data, place + i, ElementOf<T>(from[i]));
      } else {
        for (int64_t i = 0; i < count; ++i) Write(data, place + i * step, ElementOf<T>(from[i]));
      }
    });
  });
}

template <class V>
void Store(const acl::Tensor& tensor, const std::vector<V>& values) {
  Store(tensor, ViewOf(tensor), values);
  if (tensor.format == acl::kNc1hwc0 || tensor.format == acl::kFractalNz) {
    FillPadding(tensor, std::bit_cast<float>(kPoison));
  }
}

template std::vector<float> Load(const acl::Tensor&, const View&);
template std::vector<int64_t> Load(const acl::Tensor&, const View&);
template std::vector<float> Load(const acl::Tensor&);
template std::vector<int64_t> Load(const acl::Tensor&);
template void Store(const acl::Tensor&, const View&, const std::vector<float>&);
template void Store(const acl::Tensor&, const View&, const std::vector<int64_t>&);
template void Store(const acl::Tensor&, const std::vector<float>&);
template void Store(const acl::Tensor&, const std::vector<int64_t>&);

}  // namespace ge_engines::ascend::sim
