#include <fmt/format.h>

#include "ge/flow/host_op.h"
#include "ge/flow/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunStringConcat(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  GE_ASSIGN_OR_RETURN(const auto* y, StringsAt(c, 1));
  GE_ASSIGN_OR_RETURN(const PairBroadcast pairs, PairBroadcast::Make(c.in(0).dims, c.in(1).dims));
  std::vector<std::string> z;
  for (int64_t k = 0, n = pairs.dims.Product(0, pairs.dims.size()); k < n; ++k) {
    z.push_back((*x)[pairs.A(k)] + (*y)[pairs.B(k)]);
  }
  c.outputs[0] = StringsOf(pairs.dims, std::move(z));
  return {};
}

}  // namespace

GE_HOST_OP(string_concat) = {"", "StringConcat", RunStringConcat};

}  // namespace ge
