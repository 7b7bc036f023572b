#include "tools/ge/capsule/reduce/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "tools/ge/capsule/differences.h"

namespace ge::tool {
namespace {

constexpr std::string_view kBySignal = "it ended by signal ";  // of InChild

// Numbers and quoted names differ between a model and a part of it.
std::string MessageClass(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (!quoted && std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
  }
  return out;
}

Failure FailureOfStatus(const Status& status) {
  Failure f;
  f.text = status.message();
  if (!status.node().empty()) f.text = fmt::format("node '{}': {}", status.node(), f.text);
  if (status.code() == Code::kDeadlineExceeded) {
    f.kind = Failure::Kind::kHang;
  } else if (status.message().starts_with(kBySignal)) {
    f.kind = Failure::Kind::kSignal;
    f.key = status.message();
  } else {
    f.kind = Failure::Kind::kError;
    f.key = fmt::format("{}: {}", CodeName(status.code()), MessageClass(status.message()));
  }
  return f;
}

std::span<const std::byte> BytesOf(const FlowValue& v) { return {v.data, v.bytes}; }

}  // namespace

const char* FailureName(Failure::Kind kind) {
  static const char* const kNames[] = {"none",   "mismatch", "nan",  "error",
                                       "signal", "hang",     "check"};
  return kNames[static_cast<size_t>(kind)];
}

Failure FailureOf(const Result<std::vector<FlowValue>>& found, const std::vector<FlowValue>& wanted,
                  const std::vector<std::string>& names, double bound) {
  if (!found.ok()) return FailureOfStatus(found.status());
  Failure f;
  for (size_t i = 0; i < found->size() && i < wanted.size(); ++i) {
    const FlowValue &have = (*found)[i], &want = wanted[i];
    if (!want.is_tensor() || !have.is_tensor()) continue;
    const std::string name = i < names.size() ? names[i] : fmt::format("#{}", i);
    Failure one;
    if (have.dtype != want.dtype || !(have.dims == want.dims) || have.bytes != want.bytes) {
      one.kind = Failure::Kind::kMismatch;
      one.text = fmt::format("'{}' is {}, wanted {}", name, Describe(have), Describe(want));
    } else {
      const Difference d = DifferenceOf(want.dtype, BytesOf(have), BytesOf(want));
      const bool is_float = RelativeBound(want.dtype) > 0;
      if (d.equal() || (is_float && d.relative() <= bound)) continue;
      one.kind = d.unlike > 0 ? Failure::Kind::kNan : Failure::Kind::kMismatch;
      one.text = fmt::format(
          "'{}' differs in {} of {} elements, {}", name, d.differing, d.elements,
          d.unlike > 0 ? fmt::format("{} of them NaN or infinite on one side alone", d.unlike)
          : is_float   ? fmt::format("by {:.3g} where the largest is {:.3g}", d.greatest, d.largest)
                       : std::string("which are no floats"));
    }
    // The model's first wrong result tells; one that is not a number counts for more.
    if (!f || (one.kind == Failure::Kind::kNan && f.kind != Failure::Kind::kNan)) {
      f.kind = one.kind;
      f.text = one.text;
      f.wrong.clear();
    }
    if (one.kind == f.kind) f.wrong.push_back(i);
  }
  return f;
}

double BoundOfValues(const std::vector<FlowValue>& values, bool rounds) {
  double bound = 0;
  for (const FlowValue& v : values) {
    if (v.is_tensor()) bound = std::max(bound, RelativeBound(v.dtype, rounds));
  }
  return bound;
}

bool NeverBegan(const Status& status) {
  switch (status.code()) {
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kResourceExhausted:
    case Code::kIoError:
      return true;
    default:
      return false;
  }
}

}  // namespace ge::tool
