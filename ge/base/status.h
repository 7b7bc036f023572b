// Status and Result: how every library call reports failure.
// It is not an exception and never aborts; a Status owns its text. Values are movable between
// threads; one object is used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ge {

// Stable codes; ge.h exports the same numbers (GE_STATUS_*).
enum class Code : int32_t {
  kOk = 0,
  kInvalidGraph = 1,       // the model itself is wrong
  kInvalidArgument = 2,    // the caller's argument, feed or option is wrong
  kUnsupported = 3,        // legal, but no loaded part can do it
  kLimitExceeded = 4,      // a size or depth is beyond an option's limit
  kPluginError = 5,        // an engine plugin failed or lied
  kResourceExhausted = 6,  // memory, threads, file handles
  kCancelled = 7,
  kDeadlineExceeded = 8,
  kIoError = 9,
  kDataCorrupt = 10,         // bytes that do not parse
  kFailedPrecondition = 11,  // right call, wrong moment
  kDeviceLost = 12,
  kInternal = 13,  // our own bug
};

// "INVALID_GRAPH" and so on.
std::string_view CodeName(Code code);

// Success is a null pointer, so returning OK costs nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // `message` names the thing, the found value, the wanted value and the fix.
  Status(Code code, std::string message);

  bool ok() const { return detail_ == nullptr; }
  Code code() const { return detail_ ? detail_->code : Code::kOk; }
  const std::string& message() const;  // Without code, node and stage.
  const std::string& node() const;     // The user's own name for the node at fault, or empty.
  const std::string& stage() const;    // The stage that refused, or empty.

  // Fill in only what is still empty, so the innermost place wins.
  Status AtNode(std::string_view node) &&;
  Status AtStage(std::string_view stage) &&;

  // One line: "INVALID_GRAPH: infer: node 'Conv_1': ...". Control characters are escaped and the
  // text is cut at 4 KiB, since parts of it come from files.
  std::string ToString() const;

 private:
  struct Detail {
    Code code;
    std::string message, node, stage;
  };
  std::shared_ptr<Detail> detail_;
};

// Either a value or a Status that is not OK.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit on purpose
    if (status_.ok()) status_ = Status(Code::kInternal, "a Result was made from an OK status");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  // Only after ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace ge

#define GE_CONCAT_INNER(a, b) a##b
#define GE_CONCAT(a, b) GE_CONCAT_INNER(a, b)
// Returns the Status of `expr` from the enclosing function when it is not OK.
#define GE_RETURN_IF_ERROR(expr)             \
  do {                                       \
    ::ge::Status ge_status_ = (expr);        \
    if (!ge_status_.ok()) return ge_status_; \
  } while (0)
// GE_ASSIGN_OR_RETURN(auto x, F()): unwraps a Result or returns its Status.
#define GE_ASSIGN_OR_RETURN(lhs, expr) \
  GE_ASSIGN_OR_RETURN_INNER(GE_CONCAT(ge_result_, __COUNTER__), lhs, expr)
#define GE_ASSIGN_OR_RETURN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                              \
  if (!tmp.ok()) return std::move(tmp).status();  \
  lhs = *std::move(tmp)
