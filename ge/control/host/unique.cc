#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// Orders rows of equal length by their elements; NaN is the greatest number, and one value.
template <typename T>
int CompareRows(const T* a, const T* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      const bool na = std::isnan(a[i]), nb = std::isnan(b[i]);
      if (na != nb) return na ? 1 : -1;
      if (na) continue;
    }
    if (a[i] < b[i]) return -1;
    if (b[i] < a[i]) return 1;
  }
  return 0;
}

// 16-bit floats by their bits, since sign and magnitude order them: kInfinity is what a NaN
// exceeds.
template <uint16_t kInfinity>
int CompareHalves(const std::byte* a, const std::byte* b, int64_t n) {
  const auto key = [](const std::byte* p, int64_t i) {
    uint16_t bits;
    std::memcpy(&bits, p + 2 * i, 2);
    const int magnitude = bits & 0x7fff;
    if (magnitude > kInfinity) return 0x10000;
    return bits >= 0x8000 ? -magnitude : magnitude;
  };
  for (int64_t i = 0; i < n; ++i) {
    const int x = key(a, i), y = key(b, i);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

using Compare = int (*)(const std::byte*, const std::byte*, int64_t);
template <typename T>
int CompareBytes(const std::byte* a, const std::byte* b, int64_t n) {
  return CompareRows(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b), n);
}

Compare CompareOf(DType t) {
  switch (t) {
    case DType::kFloat:
      return CompareBytes<float>;
    case DType::kDouble:
      return CompareBytes<double>;
    case DType::kFloat16:
      return CompareHalves<0x7c00>;
    case DType::kBfloat16:
      return CompareHalves<0x7f80>;
    case DType::kInt8:
      return CompareBytes<int8_t>;
    case DType::kInt16:
      return CompareBytes<int16_t>;
    case DType::kInt32:
      return CompareBytes<int32_t>;
    case DType::kInt64:
      return CompareBytes<int64_t>;
    case DType::kUint8:
    case DType::kBool:
      return CompareBytes<uint8_t>;
    case DType::kUint16:
      return CompareBytes<uint16_t>;
    case DType::kUint32:
      return CompareBytes<uint32_t>;
    case DType::kUint64:
      return CompareBytes<uint64_t>;
    default:
      return nullptr;
  }
}

Status SetInts(HostCall* c, size_t i, const std::vector<int64_t>& v) {
  if (i >= c->outputs.size() || c->node.outputs[i] == 0) return {};
  std::byte* to = nullptr;
  const auto n = static_cast<int64_t>(v.size());
  GE_RETURN_IF_ERROR(c->pool->NewTensor(DType::kInt64, {n}, &c->outputs[i], &to));
  if (n > 0) std::memcpy(to, v.data(), v.size() * sizeof(int64_t));
  return {};
}

// The slices of x along an axis, each in one piece.
std::vector<std::byte> Rows(const FlowValue& x, size_t axis, int64_t size) {
  std::vector<std::byte> rows(static_cast<size_t>(x.count() * size));
  const int64_t outer = x.dims.Product(0, axis), n = x.dims[axis];
  const int64_t inner = x.dims.Product(axis + 1, x.dims.size()) * size;
  for (int64_t o = 0; inner > 0 && o < outer; ++o) {
    for (int64_t k = 0; k < n; ++k) {
      std::memcpy(rows.data() + (k * outer + o) * inner, x.data + (o * n + k) * inner,
                  static_cast<size_t>(inner));
    }
  }
  return rows;
}

// Which row each group begins with, which group each row is in, and the groups' sizes.
struct Groups {
  std::vector<int64_t> first, inverse, counts;
};
Groups GroupRows(const std::byte* rows, int64_t n, int64_t row_bytes, int64_t row_elements,
                 Compare compare, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto row = [&](int64_t i) { return rows + i * row_bytes; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return compare(row(a), row(b), row_elements) < 0; });
  std::vector<std::vector<int64_t>> groups;
  for (const int64_t i : order) {
    if (groups.empty() || compare(row(groups.back()[0]), row(i), row_elements) != 0) {
      groups.emplace_back();
    }
    groups.back().push_back(i);
  }
  if (!sorted) {  // in the order in which they occur
    std::sort(groups.begin(), groups.end(),
              [](const auto& a, const auto& b) { return a[0] < b[0]; });
  }
  Groups out;
  out.inverse.resize(static_cast<size_t>(n));
  for (const auto& g : groups) {
    for (const int64_t i : g) {
      out.inverse[static_cast<size_t>(i)] = static_cast<int64_t>(out.first.size());
    }
    out.first.push_back(g[0]);
    out.counts.push_back(static_cast<int64_t>(g.size()));
  }
  return out;
}

// Texts are grouped by where they stand among those that occur: as bytes, they sort as ONNX does.
struct Ranked {
  FlowValue ranks;
  std::vector<std::string> texts;  // by rank
};
Result<Ranked> RankTexts(FlowPool* pool, const FlowValue& x) {
  Ranked out;
  GE_RETURN_IF_ERROR(pool->Room(2 * BytesOf(*x.strings)));
  out.texts = *x.strings;
  std::sort(out.texts.begin(), out.texts.end());
  out.texts.erase(std::unique(out.texts.begin(), out.texts.end()), out.texts.end());
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(pool->NewTensor(DType::kInt64, x.dims, &out.ranks, &to));
  for (const std::string& text : *x.strings) {
    const int64_t rank =
        std::lower_bound(out.texts.begin(), out.texts.end(), text) - out.texts.begin();
    std::memcpy(to, &rank, sizeof rank);
    to += sizeof rank;
  }
  return out;
}

Status RunUnique(HostCall& c);

Status RunUniqueOfTexts(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const Ranked ranked, RankTexts(c.pool, c.in(0)));
  const FlowValue* input = &ranked.ranks;
  HostCall call{c.graph, c.node, {&input, 1}, c.pool, std::vector<FlowValue>(c.outputs.size())};
  GE_RETURN_IF_ERROR(RunUnique(call));
  std::vector<std::string> texts;
  for (const int64_t rank : IntsOf(call.outputs[0])) {
    texts.push_back(ranked.texts[static_cast<size_t>(rank)]);
  }
  GE_RETURN_IF_ERROR(c.pool->NewStrings(call.outputs[0].dims, std::move(texts), &c.outputs[0]));
  for (size_t i = 1; i < c.outputs.size(); ++i) c.outputs[i] = std::move(call.outputs[i]);
  return {};
}

Status RunUnique(HostCall& c) {
  const FlowValue& x = c.in(0);
  if (x.strings) return RunUniqueOfTexts(c);
  const Compare compare = CompareOf(x.dtype);
  if (compare == nullptr) {
    return Status(Code::kUnsupported, fmt::format("Unique of {} is not run", Describe(x)));
  }
  const bool flat = !HasAttr(c.node, "axis");
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = flat ? 0 : AttrInt(c.node, "axis");
  if (!flat && (axis < -rank || axis >= rank)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute 'axis' is {}, wanted {} to {}", axis, -rank, rank - 1));
  }
  if (axis < 0) axis += rank;
  FlowValue shaped = x;
  if (flat) shaped.dims = {x.count()};
  const auto at = static_cast<size_t>(axis);
  const int64_t size = DTypeBits(x.dtype) / 8, n = shaped.dims[at];
  // The rows, and for each its place in three orders and a group of its own at worst.
  constexpr uint64_t kEach = 5 * sizeof(int64_t) + sizeof(std::vector<int64_t>) + 32;
  GE_RETURN_IF_ERROR(c.pool->Room(x.bytes + static_cast<uint64_t>(n) * kEach));
  const std::vector<std::byte> rows = Rows(shaped, at, size);
  const int64_t elements = n > 0 ? shaped.count() / n : 0;
  const Groups g =
      GroupRows(rows.data(), n, elements * size, elements, compare, AttrInt(c.node, "sorted") != 0);
  FlowDims dims = shaped.dims;
  dims[at] = static_cast<int64_t>(g.first.size());
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(x.dtype, dims, &c.outputs[0], &to));
  const int64_t outer = shaped.dims.Product(0, at);
  const int64_t inner = shaped.dims.Product(at + 1, shaped.dims.size()) * size;
  for (int64_t o = 0; inner > 0 && o < outer; ++o) {
    for (const int64_t k : g.first) {
      std::memcpy(to, shaped.data + (o * n + k) * inner, static_cast<size_t>(inner));
      to += inner;
    }
  }
  GE_RETURN_IF_ERROR(SetInts(&c, 1, g.first));
  GE_RETURN_IF_ERROR(SetInts(&c, 2, g.inverse));
  return SetInts(&c, 3, g.counts);
}

}  // namespace

GE_HOST_OP(unique) = {"", "Unique", RunUnique};

}  // namespace ge
