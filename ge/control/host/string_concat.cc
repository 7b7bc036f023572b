#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunStringConcat(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  GE_ASSIGN_OR_RETURN(const auto* y, StringsAt(c, 1));
  GE_ASSIGN_OR_RETURN(const PairBroadcast pairs, PairBroadcast::Make(c.in(0).dims, c.in(1).dims));
  const int64_t n = pairs.dims.Product(0, pairs.dims.size());
  GE_RETURN_IF_ERROR(c.pool->Room(static_cast<uint64_t>(n) * sizeof(std::string)));
  uint64_t bytes = 0;
  for (int64_t k = 0; k < n; ++k) {
    bytes += sizeof(std::string) + (*x)[pairs.A(k)].size() + (*y)[pairs.B(k)].size();
  }
  GE_RETURN_IF_ERROR(c.pool->Room(bytes));
  std::vector<std::string> z;
  z.reserve(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) z.push_back((*x)[pairs.A(k)] + (*y)[pairs.B(k)]);
  return c.pool->NewStrings(pairs.dims, std::move(z), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(string_concat) = {"", "StringConcat", RunStringConcat};

}  // namespace ge
