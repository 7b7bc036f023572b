#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

constexpr DTypeSet kEyeTypes = kNumeric | Bit(DType::kBool);

Status InferEyeLike(InferContext& c) {
  const Type& x = c.input_type(0);
  const int64_t wanted = AttrInt(c.node(), "dtype", static_cast<int64_t>(x.dtype));
  if (wanted < 1 || wanted >= kDTypeCount || (kEyeTypes & Bit(static_cast<DType>(wanted))) == 0) {
    return Bad(c.node(), fmt::format("attribute 'dtype' is {}, wanted the number of a numeric type "
                                     "or of bool",
                                     wanted));
  }
  const auto dtype = static_cast<DType>(wanted);
  if (!x.ranked)
    return SetTensor(c, 0, dtype, {c.FreshDim("eye", false), c.FreshDim("eye", false)});
  if (x.rank() != 2) {
    return Bad(c.node(), "input 'input' has shape " + Show(c.dims(), x.dims) + ", wanted rank 2");
  }
  return SetTensor(c, 0, dtype, x.dims);
}

}  // namespace

// Ones on the k-th diagonal of a matrix of the input's shape, zeros elsewhere.
GE_OP(eye_like) = {"",
                   "EyeLike",
                   22,
                   {{"input", kEyeTypes, "T1"}},
                   {{"output", kEyeTypes, "T2"}},
                   {{"dtype", AttrKind::kInt}, {"k", AttrKind::kInt, 0}},
                   InferEyeLike,
                   PerOutput<0>};

}  // namespace ge
