#include "plugins/ascend/sim/operators/storage.h"

#include <algorithm>
#include <utility>

namespace ge_engines::ascend::sim {
namespace {

using acl::Tensor;

constexpr size_t kMostRanges = 512;

int64_t Product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

int64_t Blocks(int64_t n, int64_t of) { return (n + of - 1) / of; }

// Elements of a private format's storage; -1: no view of this rank has it.
int64_t Padded(const Tensor& t) {
  const size_t rank = t.dims.size();
  std::vector<int64_t> dims = t.dims;
  if (t.format == acl::kNc1hwc0) {
    if (rank != 4) return -1;
    dims[1] = Blocks(dims[1], 16) * 16;
  } else {
    if (rank < 2) return -1;
    const int64_t columns = BytesOf(t.type) == 1 ? 32 : 16;
    dims[rank - 2] = Blocks(dims[rank - 2], 16) * 16;
    dims[rank - 1] = Blocks(dims[rank - 1], columns) * columns;
  }
  return Product(dims);
}

// The first and the last element of a view, from where the storage begins.
std::pair<int64_t, int64_t> Ends(const Tensor& t) {
  int64_t first = t.offset, last = t.offset;
  for (size_t k = 0; k < t.dims.size(); ++k) {
    (t.strides[k] < 0 ? first : last) += t.strides[k] * (t.dims[k] - 1);
  }
  return {first, last};
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

bool IsEmpty(const Tensor& tensor) { return Product(tensor.dims) == 0; }

uint64_t StorageBytes(const Tensor& tensor) {
  return static_cast<uint64_t>(Product(tensor.storage)) * BytesOf(tensor.type);
}

std::string WrongStorage(const Tensor& tensor) {
  if (BytesOf(tensor.type) == 0) return "dtype " + std::to_string(tensor.type) + " is unknown";
  for (const auto* dims : {&tensor.dims, &tensor.storage}) {
    if (std::any_of(dims->begin(), dims->end(), [](int64_t d) { return d < 0; })) {
      return "a dim is negative";
    }
  }
  if (IsEmpty(tensor)) return "";
  const int64_t elements = Product(tensor.storage);
  const std::string has = "; its storage has " + std::to_string(elements);
  if (IsPrivate(tensor.format)) {
    const int64_t wanted = Padded(tensor);
    if (wanted < 0) return "its format is not one of rank " + std::to_string(tensor.dims.size());
    return wanted == elements ? "" : "its format wants " + std::to_string(wanted) + has;
  }
  const auto [first, last] = Ends(tensor);
  if (first < 0)
    return "its view begins " + std::to_string(-first) + " elements before its storage";
  return last < elements ? "" : "its view reaches element " + std::to_string(last) + has;
}

std::vector<device::sim::Range> RangesOf(const Tensor& tensor) {
  if (IsEmpty(tensor) || tensor.data == nullptr) return {};
  const auto* base = static_cast<const unsigned char*>(tensor.data);
  const uint64_t size = BytesOf(tensor.type);
  if (IsPrivate(tensor.format)) return {{base, StorageBytes(tensor)}};
  const auto [first, last] = Ends(tensor);
  const device::sim::Range whole = {base + static_cast<uint64_t>(first) * size,
                                    static_cast<size_t>(last - first + 1) * size};
  // Axes by their strides: what stands innermost without gaps is one run.
  std::vector<std::pair<int64_t, int64_t>> axes;  // strides, dims
  for (size_t k = 0; k < tensor.dims.size(); ++k) {
    if (tensor.dims[k] == 1 || tensor.strides[k] == 0) continue;
    axes.emplace_back(std::abs(tensor.strides[k]), tensor.dims[k]);
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
