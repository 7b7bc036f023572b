#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldMax(DimTable& d, Dim a, Dim b) { return d.Max(a, b); }

Status InferMax(InferContext& c) { return InferFolded(c, FoldMax); }

}  // namespace

// The largest of any number of tensors, with broadcasting.
GE_OP(max) = {"",
              "Max",
              13,
              {{"data_0", kNumeric, "T", Arity::kVariadic}},
              {{"max", kNumeric, "T"}},
              {},
              InferMax,
              PerOutputAndInput};

}  // namespace ge
