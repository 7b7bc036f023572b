// Whether data fit the net: shapes, dtypes, counts and classes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/base/checked.h"
#include "tools/ge/samples/convert.h"
#include "tools/ge/samples/samples.h"

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
std::string Advice(const Dims& have, const Wanted& wanted, bool channels_last) {
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

Status CheckClasses(const DataRequest& r, const Rows& y, const std::string& what) {
  constexpr uint64_t kPart = 1024;
  int64_t labels[kPart];
  const uint64_t n = static_cast<uint64_t>(y.count) * y.row_size(),
                 each = static_cast<uint64_t>(DTypeBits(y.dtype)) / 8;
  for (uint64_t from = 0; from < n && r.classes > 0; from += kPart) {
    const uint64_t part = std::min(kPart, n - from);
    ConvertNumbers(y.dtype, y.bytes.data() + from * each, part, DType::kInt64,
                   reinterpret_cast<std::byte*>(labels));
    for (uint64_t i = 0; i < part; ++i) {
      if (labels[i] >= 0 && labels[i] < r.classes) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("label {} of {} is {}, wanted 0 to {}, as the net has {} classes",
                                from + i, what, labels[i], r.classes - 1, r.classes));
    }
  }
  return {};
}

// Whole numbers that become narrower ones keep their values.
Status CheckRange(const Rows& rows, const Wanted& wanted, const std::string& what) {
  if (wanted.dtype != DType::kInt32 || rows.dtype == DType::kInt32) return {};
  const auto each = static_cast<uint64_t>(DTypeBits(rows.dtype)) / 8;
  for (uint64_t i = 0; i < rows.bytes.size() / each; ++i) {
    int64_t v = 0;
    ConvertNumbers(rows.dtype, rows.bytes.data() + i * each, 1, DType::kInt64,
                   reinterpret_cast<std::byte*>(&v));
    if (v >= INT32_MIN && v <= INT32_MAX) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("number {} of {} for the net's '{}' is {}, which its dtype {} does "
                              "not hold",
                              i, what, wanted.name, v, DTypeName(wanted.dtype)));
  }
  return {};
}

}  // namespace

std::string DimsText(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t d : dims) text += (text.empty() ? "" : "x") + std::to_string(d);
  return text.empty() ? "one number" : text;
}

Status FitRows(const Rows& head, const Wanted& wanted, bool channels_last,
               const std::string& what) {
  // Sequences and vectors have no channels that could lie elsewhere.
  const bool last = channels_last && wanted.dims.size() > 2;
  if (!SameOrder(head.dims, last ? ChannelsLast(wanted.dims) : wanted.dims)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format(
            "{}: its samples are of {} each, wanted {} as the net's '{}'{}{}", what,
            DimsText(head.dims), DimsText(last ? ChannelsLast(wanted.dims) : wanted.dims),
            wanted.name,
            last ? fmt::format(" is {} and --layout nhwc is given", DimsText(wanted.dims)) : "",
            Advice(head.dims, wanted, last)));
  }
  if (CanConvert(head.dtype, wanted.dtype)) return {};
  const bool whole = wanted.dtype == DType::kInt64 || wanted.dtype == DType::kInt32;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{} is of {}, wanted {} as the net's '{}' is {}", what, DTypeName(head.dtype),
                  whole ? "whole numbers" : "its dtype", wanted.name, DTypeName(wanted.dtype)));
}

void PutChannelsFirst(const Wanted& wanted, Rows* rows) {
  if (wanted.dims.size() < 3) return;
  const auto channels = static_cast<uint64_t>(wanted.dims[0]);
  const uint64_t n = rows->row_size(), size = rows->row_bytes();
  rows->dims = wanted.dims;
  if (n == 0 || channels == 1 || channels == n) return;
  const uint64_t area = n / channels, each = size / n;
  std::vector<std::byte> row(size);
  for (int64_t i = 0; i < rows->count; ++i) {
    std::byte* at = rows->bytes.data() + static_cast<uint64_t>(i) * size;
    for (uint64_t p = 0; p < area; ++p) {
      for (uint64_t c = 0; c < channels; ++c) {
        std::memcpy(row.data() + (c * area + p) * each, at + (p * channels + c) * each, each);
      }
    }
    std::memcpy(at, row.data(), size);
  }
}

Status CheckSamples(const DataRequest& r, const std::string& what, const Samples& samples) {
  if (samples.count() == 0) return {};
  for (size_t i = 0; i < samples.x.size(); ++i) {
    if (samples.x[i].count != samples.count()) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("'{}' has {} {} for the input '{}' and {} for '{}', wanted as many", r.source,
                      samples.count(), what, r.x[0].name, samples.x[i].count, r.x[i].name));
    }
    GE_RETURN_IF_ERROR(CheckRange(samples.x[i], r.x[i], what));
  }
  if (!r.y) return {};
  if (samples.y.count == 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} have no labels; loss {} wants some", what, r.loss));
  }
  if (samples.y.count != samples.count()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}', {}, has {} samples and {} labels, wanted one for each",
                              r.source, what, samples.count(), samples.y.count));
  }
  return r.classifies ? CheckClasses(r, samples.y, what) : Status();
}

}  // namespace ge::tool
