#include "ge/control/strings.h"

namespace ge {
namespace {

// Of texts; numbers are the engines'.
Status RunConcat(HostCall& c) {
  GE_RETURN_IF_ERROR(StringsAt(c, 0).status());
  const FlowDims& first = c.in(0).dims;
  const auto rank = static_cast<int64_t>(first.size());
  int64_t axis = AttrInt(c.node, "axis"), length = 0;
  if (axis < -rank || axis >= rank) {
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute 'axis' is {}, wanted {} to {}", axis, -rank, rank - 1));
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  uint64_t count = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, i));
    FlowDims dims = c.in(i).dims;
    length += dims.size() > at ? dims[at] : 0;
    count += x->size();
    if (dims.size() > at) dims[at] = first[at];
    if (!(dims == first)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input {} is {}, input 0 {}: they may differ along axis {} alone",
                                i, Describe(c.in(i)), Describe(c.in(0)), at));
    }
  }
  GE_RETURN_IF_ERROR(c.pool->Room(count * sizeof(std::string)));
  std::vector<std::string> y;
  for (int64_t o = 0, outer = first.Product(0, at); o < outer; ++o) {
    for (const FlowValue* v : c.inputs) {
      const int64_t part = v->dims.Product(at, v->dims.size());
      const auto from = v->strings->begin() + o * part;
      y.insert(y.end(), from, from + part);
    }
  }
  FlowDims dims = first;
  dims[at] = length;
  return c.pool->NewStrings(dims, std::move(y), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(concat) = {"", "Concat", RunConcat, true};

}  // namespace ge
