#include "plugins/ascend/sim/operators/storage.h"

#include <algorithm>
#include <utility>

#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

using acl::Tensor;

constexpr size_t kMostRanges = 512;

// Where the strides place nothing.
std::string PlaceFault(const Tensor& t) {
  if (t.strides.size() != t.dims.size()) return "strides of another rank than its dims";
  if (t.offset < 0) return "an offset below zero";
  const auto below = [](const Dims& dims) {
    return std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; });
  };
  if (below(t.dims)) return "dims " + TextOf(t.dims);
  if (below(t.storage)) return "storage " + TextOf(t.storage);
  return below(t.strides) ? "strides " + TextOf(t.strides) : "";
}

std::string PrivateFault(const Tensor& t) {
  const size_t rank = t.dims.size();
  const std::string found = "format " + std::to_string(t.format);
  if (!IsReal(t.type)) return found + " of " + NameOf(t.type);
  if (t.format == acl::kNc1hwc0 ? rank != 4 : rank < 2) return found + " of dims " + TextOf(t.dims);
  if (t.offset != 0) return found + " with an offset";
  Dims stored = t.dims, strides = DenseStrides(stored);
  if (t.format == acl::kFractalNz && IsTurned(t)) {
    std::swap(stored[rank - 1], stored[rank - 2]);
    strides = DenseStrides(stored);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  if (t.strides != strides) return found + " with strides " + TextOf(t.strides);
  const Dims wanted = StorageOf(stored, t.format);
  if (t.storage == wanted) return "";
  return found + ": storage " + TextOf(t.storage) + ", wanted " + TextOf(wanted);
}

}  // namespace

uint64_t BytesOf(acl::DataType type) {
  switch (static_cast<int32_t>(type)) {
    case 2:   // int8
    case 4:   // uint8
    case 12:  // bool
      return 1;
    case 1:   // float16
    case 6:   // int16
    case 7:   // uint16
    case 27:  // bfloat16
      return 2;
    case 0:  // float32
    case 3:  // int32
    case 8:  // uint32
      return 4;
    case 9:   // int64
    case 10:  // uint64
    case 11:  // float64
      return 8;
    default:
      return 0;
  }
}

bool IsPrivate(acl::Format format) { return format == acl::kNc1hwc0 || format == acl::kFractalNz; }

bool IsEmpty(const Tensor& tensor) { return Count(tensor.dims) == 0; }

uint64_t StorageBytes(const Tensor& tensor) {
  return static_cast<uint64_t>(Count(tensor.storage)) * BytesOf(tensor.type);
}

std::string WrongStorage(const Tensor& tensor) {
  if (BytesOf(tensor.type) == 0) return "dtype " + std::to_string(tensor.type) + " is unknown";
  const std::string place = PlaceFault(tensor);
  if (!place.empty()) return place;
  if (IsPrivate(tensor.format)) return PrivateFault(tensor);
  if (ViewOf(tensor).last() < Count(tensor.storage)) return "";
  return "dims " + TextOf(tensor.dims) + " with strides " + TextOf(tensor.strides) +
         " and offset " + std::to_string(tensor.offset) + " reach beyond its storage " +
         TextOf(tensor.storage);
}

std::vector<device::sim::Range> RangesOf(const Tensor& tensor) {
  if (IsEmpty(tensor) || tensor.data == nullptr) return {};
  const auto* base = static_cast<const unsigned char*>(tensor.data);
  const uint64_t size = BytesOf(tensor.type);
  if (IsPrivate(tensor.format)) return {{base, StorageBytes(tensor)}};
  const int64_t first = tensor.offset, last = ViewOf(tensor).last();
  const device::sim::Range whole = {base + static_cast<uint64_t>(first) * size,
                                    static_cast<size_t>(last - first + 1) * size};
  // Axes by their strides: what stands innermost without gaps is one run.
  std::vector<std::pair<int64_t, int64_t>> axes;  // strides, dims
  for (size_t k = 0; k < tensor.dims.size(); ++k) {
    if (tensor.dims[k] == 1 || tensor.strides[k] == 0) continue;
    axes.emplace_back(tensor.strides[k], tensor.dims[k]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t run = 1;
  size_t at = 0;
  while (at < axes.size() && axes[at].first <= run) {
    run = std::max(run, axes[at].first * (axes[at].second - 1) + run);
    ++at;
  }
  size_t count = 1;
  for (size_t k = at; k < axes.size() && count <= kMostRanges; ++k) {
    count *= static_cast<size_t>(axes[k].second);
  }
  if (count > kMostRanges) return {whole};
  std::vector<int64_t> begins = {first};
  for (size_t k = axes.size(); k > at; --k) {
    std::vector<int64_t> more;
    for (const int64_t begin : begins) {
      for (int64_t i = 0; i < axes[k - 1].second; ++i)
        more.push_back(begin + i * axes[k - 1].first);
    }
    begins = std::move(more);
  }
  std::vector<device::sim::Range> ranges;
  for (const int64_t begin : begins) {
    ranges.push_back({base + static_cast<uint64_t>(begin) * size, static_cast<size_t>(run) * size});
  }
  return ranges;
}

}  // namespace ge_engines::ascend::sim
