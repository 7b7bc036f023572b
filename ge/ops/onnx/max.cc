#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> Fold(DimTable& d, Dim a, Dim b) { return d.Max(a, b); }

Status InferMax(InferContext& c) { return InferFolded(c, Fold); }

Work EffortMax(const Node&, std::span<const Type> in, std::span<const Type> out) {
  return {out.empty() ? 0 : static_cast<double>(in.size()) * ElementsOf(out[0]), BytesOf(in, out)};
}

}  // namespace

// The largest of any number of tensors, with broadcasting.
GE_OP(max) = {
    "", "Max",    13,       {{"data_0", kNumeric, "T", Arity::kVariadic}}, {{"max", kNumeric, "T"}},
    {}, InferMax, EffortMax};

}  // namespace ge
