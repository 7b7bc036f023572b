#include "ge/capsule/plain_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ge/base/checked.h"

namespace ge {
namespace {

// The distance of each index from the first, by axis: a layout's places are sums of them.
struct Places {
  std::vector<std::vector<int64_t>> of;  // [axis][index], in elements
  int64_t elements = 1;                  // with the padding of blocks
};

Places PlacesOf(const PlanLayout& layout, std::span<const int64_t> dims) {
  Places p;
  std::vector<int64_t> outer(dims.begin(), dims.end());  // by axis: its size outside of the blocks
  for (size_t b = 0; b < layout.block_axis.size(); ++b) {
    int64_t& size = outer[layout.block_axis[b]];
    size = (size + layout.block_size[b] - 1) / layout.block_size[b];
  }
  for (const int64_t d : dims) p.of.emplace_back(static_cast<size_t>(d), 0);
  std::vector<int64_t> inside(dims.size(), 1);  // elements of an axis in the blocks seen so far
  for (size_t b = layout.block_axis.size(); b-- > 0;) {
    const uint32_t axis = layout.block_axis[b];
    const int64_t size = layout.block_size[b];
    auto& places = p.of[axis];
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] += static_cast<int64_t>(i) / inside[axis] % size * p.elements;
    }
    inside[axis] *= size;
    p.elements *= size;
  }
  for (size_t k = layout.perm.size(); k-- > 0;) {
    const uint32_t axis = layout.perm[k];
    auto& places = p.of[axis];
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] += static_cast<int64_t>(i) / inside[axis] * p.elements;
    }
    p.elements *= outer[axis];
  }
  return p;
}

// Whether the sizes of `layout` are those of a layout of `dims`, and no product overflows.
bool Fits(const PlanLayout& layout, std::span<const int64_t> dims) {
  std::vector<bool> seen(dims.size());
  for (size_t k = 0; k < layout.perm.size(); ++k) {
    if (layout.perm[k] >= dims.size() || seen[layout.perm[k]]) return false;
    seen[layout.perm[k]] = true;
  }
  std::vector<int64_t> padded(dims.begin(), dims.end());
  for (size_t b = 0; b < layout.block_axis.size(); ++b) {
    constexpr uint32_t kMostBlock = 1 << 16;
    const uint32_t size = layout.block_size[b];
    if (layout.block_axis[b] >= dims.size() || size == 0 || size > kMostBlock) return false;
    int64_t& d = padded[layout.block_axis[b]];
    if (d > INT64_MAX - kMostBlock) return false;
    d = (d + size - 1) / size * size;
  }
  return CheckedProduct(padded).has_value();
}

template <typename T>
void Gather(const Places& p, std::span<const int64_t> dims, size_t axis, const T* from, T** to) {
  const auto& places = p.of[axis];
  if (axis + 1 == dims.size()) {
    for (const int64_t at : places) *(*to)++ = from[at];
    return;
  }
  for (const int64_t at : places) Gather(p, dims, axis + 1, from + at, to);
}

template <typename T>
void GatherAs(const Places& p, std::span<const int64_t> dims, const std::byte* from,
              std::byte* to) {
  T* at = reinterpret_cast<T*>(to);
  Gather(p, dims, 0, reinterpret_cast<const T*>(from), &at);
}

}  // namespace

bool IsKnownLayout(const PlanLayout* layout, DType dtype, size_t rank) {
  if (layout == nullptr || layout->kind == PlanLayout::Kind::kPlain) return true;
  return layout->kind != PlanLayout::Kind::kOpaque && layout->perm.size() == rank && rank > 0 &&
         layout->block_axis.size() == layout->block_size.size() && DTypeBits(dtype) >= 8 &&
         DTypeBits(dtype) <= 64;
}

Result<std::span<const std::byte>> PlainBytes(const PlanLayout* layout, DType dtype,
                                              std::span<const int64_t> dims,
                                              std::span<const std::byte> from,
                                              AlignedBytes* memory) {
  const auto count = CheckedProduct(dims);
  const auto bytes = count ? DTypeBytes(dtype, *count) : std::nullopt;
  const auto small = [&](int64_t wanted) {
    return Status(Code::kDataCorrupt, fmt::format("a value of {} bytes lies in a place of {} bytes",
                                                  wanted, from.size()));
  };
  if (!bytes) return Status(Code::kDataCorrupt, "a value's size does not fit in 63 bits");
  if (layout == nullptr || layout->kind == PlanLayout::Kind::kPlain) {
    if (from.size() < static_cast<uint64_t>(*bytes)) return small(*bytes);
    return from.first(static_cast<size_t>(*bytes));
  }
  if (!Fits(*layout, dims)) {
    return Status(Code::kDataCorrupt, "a value's layout is none of its sizes");
  }
  if (*bytes == 0) return from.first(0);
  const Places places = PlacesOf(*layout, dims);
  const auto wanted = DTypeBytes(dtype, places.elements);
  if (!wanted || from.size() < static_cast<uint64_t>(*wanted)) return small(wanted.value_or(-1));
  *memory = AllocateAligned(static_cast<uint64_t>(*bytes), 64);
  if (!*memory) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for the {} bytes of a value in plain order", *bytes));
  }
  switch (DTypeBits(dtype)) {
    case 8:
      GatherAs<uint8_t>(places, dims, from.data(), memory->get());
      break;
    case 16:
      GatherAs<uint16_t>(places, dims, from.data(), memory->get());
      break;
    case 32:
      GatherAs<uint32_t>(places, dims, from.data(), memory->get());
      break;
    default:
      GatherAs<uint64_t>(places, dims, from.data(), memory->get());
  }
  return std::span<const std::byte>(memory->get(), static_cast<size_t>(*bytes));
}

}  // namespace ge
