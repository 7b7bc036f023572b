// Why a run fails, and whether two runs fail for the same reason. Pure; any thread may call.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/control/value.h"

namespace ge::tool {

struct Failure {
  enum class Kind : uint8_t { kNone, kMismatch, kNan, kError, kSignal, kHang, kCheck };
  Kind kind = Kind::kNone;
  std::string text;  // for people
  std::string key;   // the message without names and numbers, the signal, a command's exit code
  std::vector<size_t> wrong;  // results, by position
  explicit operator bool() const { return kind != Kind::kNone; }
  bool IsLike(const Failure& other) const { return kind == other.kind && key == other.key; }
};
// "mismatch", "nan", "error", "signal", "hang", "check".
const char* FailureName(Failure::Kind kind);

// Of a run beside what is right, by position; what is not known there is not compared. `bound`: of
// a float's difference, by the largest magnitude of its tensor.
Failure FailureOf(const Result<std::vector<FlowValue>>& found, const std::vector<FlowValue>& wanted,
                  const std::vector<std::string>& names, double bound);

// The bound of the least precise float among the values. `rounds`: see RelativeBound.
double BoundOfValues(const std::vector<FlowValue>& values, bool rounds);

// A run that could not begin: nothing can be said of it.
bool NeverBegan(const Status& status);

}  // namespace ge::tool
