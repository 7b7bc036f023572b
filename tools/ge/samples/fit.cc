#include "tools/ge/samples/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/base/checked.h"
#include "tools/ge/samples/convert.h"

namespace ge::tool {
namespace {

using Dims = std::vector<int64_t>;

Dims WithoutOnes(const Dims& dims) {
  Dims out;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(out), [](int64_t d) { return d != 1; });
  return out;
}

Dims ChannelsLast(Dims dims) {
  if (dims.size() > 1) std::rotate(dims.begin(), dims.begin() + 1, dims.end());
  return dims;
}

Dims ChannelsFirst(Dims dims) {
  if (dims.size() > 1) std::rotate(dims.begin(), dims.end() - 1, dims.end());
  return dims;
}

// In the same order in memory.
bool SameOrder(const Dims& a, const Dims& b) {
  const Dims x = WithoutOnes(a), y = WithoutOnes(b);
  return x == y || ((x.size() <= 1 || y.size() <= 1) && CheckedProduct(a) == CheckedProduct(b));
}

// As a user types it for numpy: "-1, 3, 8, 8".
std::string ReshapeText(const Dims& dims) {
  std::string text = "-1";
  for (const int64_t d : dims) text += fmt::format(", {}", d);
  return text;
}

// What to do about rows of another shape; begins with "; ", or is empty.
std::string Advice(const Dims& have, const RowType& wanted, bool channels_last) {
  const Dims bare = WithoutOnes(have);
  if (channels_last) {
    return bare == WithoutOnes(wanted.dims)
               ? "; they lie as the net takes them: leave --layout nhwc out"
               : "";
  }
  if (wanted.dims.size() > 2 && bare == WithoutOnes(ChannelsLast(wanted.dims))) {
    return "; their channels come last: give --layout nhwc, which transposes them";
  }
  if (wanted.dims.size() > 1 && bare == WithoutOnes(ChannelsFirst(wanted.dims))) {
    std::string axes = "0";
    for (size_t i = 1; i < wanted.dims.size(); ++i) axes += fmt::format(", {}", i + 1);
    return fmt::format("; save x.transpose({}, 1)", axes);
  }
  if (CheckedProduct(have) != CheckedProduct(wanted.dims)) return "";
  return fmt::format("; where their numbers lie in the net's order, save x.reshape({})",
                     ReshapeText(wanted.dims));
}

}  // namespace

uint64_t RowType::count() const { return static_cast<uint64_t>(CheckedProduct(dims).value_or(0)); }

std::string DimsText(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t d : dims) text += (text.empty() ? "" : "x") + std::to_string(d);
  return text.empty() ? "one number" : text;
}

Status FitRows(const RowType& have, const RowType& wanted, bool channels_last,
               const std::string& what) {
  // Sequences and vectors have no channels that could lie elsewhere.
  const bool last = channels_last && wanted.dims.size() > 2;
  if (!SameOrder(have.dims, last ? ChannelsLast(wanted.dims) : wanted.dims)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format(
            "{}: its samples are of {} each, wanted {} as the net's '{}'{}{}", what,
            DimsText(have.dims), DimsText(last ? ChannelsLast(wanted.dims) : wanted.dims),
            wanted.name,
            last ? fmt::format(" is {} and --layout nhwc is given", DimsText(wanted.dims)) : "",
            Advice(have.dims, wanted, last)));
  }
  if (CanConvert(have.dtype, wanted.dtype)) return {};
  const bool whole = wanted.dtype == DType::kInt64 || wanted.dtype == DType::kInt32;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{} is of {}, wanted {} as the net's '{}' is {}", what, DTypeName(have.dtype),
                  whole ? "whole numbers" : "its dtype", wanted.name, DTypeName(wanted.dtype)));
}

void PutChannelsFirst(const RowType& wanted, uint64_t n, std::byte* rows) {
  if (wanted.dims.size() < 3) return;
  const auto channels = static_cast<uint64_t>(wanted.dims[0]);
  const uint64_t count = wanted.count(), each = static_cast<uint64_t>(DTypeBits(wanted.dtype)) / 8;
  if (count == 0 || channels == 1 || channels == count) return;
  const uint64_t area = count / channels, size = count * each;
  std::vector<std::byte> row(size);
  for (uint64_t i = 0; i < n; ++i) {
    std::byte* at = rows + i * size;
    for (uint64_t p = 0; p < area; ++p) {
      for (uint64_t c = 0; c < channels; ++c) {
        std::memcpy(row.data() + (c * area + p) * each, at + (p * channels + c) * each, each);
      }
    }
    std::memcpy(at, row.data(), size);
  }
}

}  // namespace ge::tool
