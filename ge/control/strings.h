// Code shared by host operators on strings.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/checked.h"
#include "ge/control/host_op.h"

namespace ge {

// INVALID_ARGUMENT when input `i` is no tensor of strings.
inline Result<const std::vector<std::string>*> StringsAt(const HostCall& call, size_t i) {
  if (call.has(i) && call.in(i).is_tensor() && call.in(i).strings != nullptr)
    return call.in(i).strings.get();
  return Status(Code::kInvalidArgument,
                fmt::format("input {} is {}, wanted strings", i,
                            call.has(i) ? Describe(call.in(i)) : "nothing"));
}

// Two shapes that broadcast, and where element k of the result lies in each.
class PairBroadcast {
 public:
  static Result<PairBroadcast> Make(const FlowDims& left, const FlowDims& right) {
    PairBroadcast p;
    const size_t rank = std::max(left.size(), right.size());
    std::vector<int64_t> dims(rank);
    for (size_t i = 0; i < rank; ++i) {
      const int64_t da = i + left.size() < rank ? 1 : left[i + left.size() - rank];
      const int64_t db = i + right.size() < rank ? 1 : right[i + right.size() - rank];
      if (da != db && da != 1 && db != 1) {
        return Status(Code::kInvalidArgument,
                      fmt::format("shapes [{}] and [{}] do not broadcast", fmt::join(left, ","),
                                  fmt::join(right, ",")));
      }
      dims[i] = da == 1 ? db : da;
    }
    if (!CheckedProduct(dims)) {
      return Status(Code::kLimitExceeded,
                    fmt::format("shapes [{}] and [{}] broadcast to more elements than 63 bits "
                                "count",
                                fmt::join(left, ","), fmt::join(right, ",")));
    }
    p.dims = dims;
    p.a_ = left;
    p.b_ = right;
    return p;
  }
  size_t A(int64_t k) const { return At(a_, k); }
  size_t B(int64_t k) const { return At(b_, k); }
  FlowDims dims;

 private:
  size_t At(const FlowDims& of, int64_t k) const {
    int64_t at = 0, step = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      const int64_t i = k % dims[d];
      k /= dims[d];
      if (d + of.size() < dims.size()) continue;
      const int64_t size = of[d + of.size() - dims.size()];
      at += size == 1 ? 0 : i * step;
      step *= size;
    }
    return static_cast<size_t>(at);
  }
  FlowDims a_, b_;
};

}  // namespace ge
