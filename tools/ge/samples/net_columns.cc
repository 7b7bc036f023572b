#include "tools/ge/samples/net_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/ge/samples/convert.h"

namespace ge::tool {
namespace {

constexpr size_t kNone = SIZE_MAX;

std::string Names(const std::vector<RowType>& list) {
  std::string out;
  for (const RowType& c : list) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", c.name);
  return out;
}

size_t Named(const std::vector<RowType>& list, const std::string& name) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return i;
  }
  return kNone;
}

}  // namespace

const RowType& NetColumns::Wanted(size_t input) const {
  return IsLabels(input) ? *inputs_.y : inputs_.x[input];
}

// What is left of both, in order. It is said how to choose where that could mean two things.
Status NetColumns::PairRest(const std::vector<RowType>& columns, std::vector<bool> used) {
  const auto open = static_cast<size_t>(std::count(of_.begin(), of_.end(), kNone));
  const auto left = static_cast<size_t>(std::count(used.begin(), used.end(), false));
  for (size_t i = 0, next = 0; i < of_.size() && open > 0; ++i) {
    if (of_[i] != kNone) continue;
    if (open != left) {
      const std::string name = Wanted(i).name;
      return Status(
          Code::kInvalidArgument,
          fmt::format("'{}' has no column {}; it has {}; choose by 'select {}=COLUMN'", pipe_,
                      IsLabels(i) ? fmt::format("of labels, and loss {} wants some", inputs_.loss)
                                  : fmt::format("for the net's input '{}'", name),
                      Names(columns), IsLabels(i) ? "label" : name));
    }
    while (used[next]) ++next;
    of_[i] = next++;
  }
  return {};
}

Result<NetColumns> NetColumns::Make(const NetInputs& inputs, const std::vector<RowType>& columns,
                                    const std::string& pipe) {
  NetColumns out;
  out.inputs_ = inputs;
  out.pipe_ = pipe;
  std::vector<bool> used(columns.size());
  out.of_.assign(inputs.x.size() + (inputs.y ? 1 : 0), kNone);
  const auto take = [&](size_t input, const std::string& name) {
    const size_t at = Named(columns, name);
    if (out.of_[input] != kNone || at == kNone || used[at]) return;
    out.of_[input] = at;
    used[at] = true;
  };
  for (size_t i = 0; i < out.of_.size(); ++i) take(i, out.Wanted(i).name);
  if (Named(inputs.x, "x") == kNone) take(0, "x");
  if (inputs.y && Named(inputs.x, "y") == kNone) take(inputs.x.size(), "y");
  GE_RETURN_IF_ERROR(out.PairRest(columns, std::move(used)));
  for (size_t i = 0; i < out.of_.size(); ++i) {
    const RowType& c = columns[out.of_[i]];
    GE_RETURN_IF_ERROR(FitRows(c, out.Wanted(i), inputs.channels_last && !out.IsLabels(i),
                               fmt::format("column '{}' of '{}'", c.name, pipe)));
  }
  return out;
}

// Labels are classes of the net, and whole numbers that become narrower ones keep their values.
Status NetColumns::CheckRows(const Batch& batch, size_t input) const {
  const RowType& wanted = Wanted(input);
  const TensorView& t = batch.columns[of_[input]];
  const bool classes = IsLabels(input) && inputs_.classifies && inputs_.classes > 0;
  const bool narrow = wanted.dtype == DType::kInt32 && t.dtype != DType::kInt32;
  if (!classes && !narrow) return {};
  const auto each = static_cast<uint64_t>(DTypeBits(t.dtype)) / 8;
  const auto* from = static_cast<const std::byte*>(t.data);
  for (uint64_t i = 0; i < batch.rows * wanted.count(); ++i) {
    int64_t v = 0;
    ConvertNumbers(t.dtype, from + i * each, 1, DType::kInt64, reinterpret_cast<std::byte*>(&v));
    const bool held = !narrow || (v >= INT32_MIN && v <= INT32_MAX);
    if (held && (!classes || (v >= 0 && v < inputs_.classes))) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format(
            "'{}': the {} at position {} is {}, {}", pipe_,
            classes ? "label" : fmt::format("number for the net's '{}'", wanted.name),
            batch.position + i / wanted.count(), v,
            held ? fmt::format("wanted 0 to {}, as the net has {} classes", inputs_.classes - 1,
                               inputs_.classes)
                 : fmt::format("which its dtype {} does not hold", DTypeName(wanted.dtype))));
  }
  return {};
}

Status NetColumns::Put(const Batch& batch, size_t input, std::byte* to) const {
  GE_RETURN_IF_ERROR(CheckRows(batch, input));
  const RowType& wanted = Wanted(input);
  const TensorView& t = batch.columns[of_[input]];
  ConvertNumbers(t.dtype, static_cast<const std::byte*>(t.data), batch.rows * wanted.count(),
                 wanted.dtype, to);
  if (inputs_.channels_last && !IsLabels(input)) PutChannelsFirst(wanted, batch.rows, to);
  return {};
}

}  // namespace ge::tool
