#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferIdentity(InferContext& c) {
  c.SetOutput(0, c.input_type(0));
  PassContent(c);
  return {};
}

}  // namespace

// The same value, of any kind.
GE_OP(identity) = {
    "", "Identity",    25,          {{"input", kAnyType, "V"}}, {{"output", kAnyType, "V"}},
    {}, InferIdentity, PerOutput<0>};

}  // namespace ge
