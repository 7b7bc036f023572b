#include <fmt/format.h>

#include <algorithm>

#include "ge/base/checked.h"
#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// Of texts; numbers are the engines'.
Status RunReshape(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  const auto count = static_cast<int64_t>(x->size());
  std::vector<int64_t> dims = IntsOf(c.in(1));
  const bool zeros = AttrInt(c.node, "allowzero") != 0;
  const auto wanted = std::count(dims.begin(), dims.end(), -1);
  const auto open = std::find(dims.begin(), dims.end(), -1);
  for (size_t i = 0; i < dims.size() && i < c.in(0).dims.size(); ++i) {
    if (dims[i] == 0 && !zeros) dims[i] = c.in(0).dims[i];
  }
  if (wanted == 1) *open = 1;
  const int64_t known = CheckedProduct(dims).value_or(-1);
  if (wanted == 1 && known > 0 && count % known == 0) *open = count / known;
  if (wanted > 1 || dims.size() > FlowDims::kMost || CheckedProduct(dims) != count) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input 'shape' is [{}], wanted one for {} elements",
                              fmt::join(IntsOf(c.in(1)), ","), count));
  }
  c.outputs[0] = c.in(0);  // the texts themselves are shared
  c.outputs[0].dims = dims;
  return {};
}

}  // namespace

GE_HOST_OP(reshape) = {"", "Reshape", RunReshape, true};

}  // namespace ge
