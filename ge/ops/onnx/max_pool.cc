#include "ge/ops/families/pooling.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesMaxPool = kFloats | Bit(DType::kInt8) | Bit(DType::kUint8);

Status InferMaxPool(InferContext& c) {
  const int64_t order = AttrInt(c.node(), "storage_order");
  if (order != 0 && order != 1) {
    return Bad(c.node(), "attribute 'storage_order' is " + std::to_string(order) +
                             ", wanted 0 (row major) or 1 (column major)");
  }
  return InferPool(c);
}

}  // namespace

// The largest of each window, padding excluded; Indices are flat positions in X.
GE_OP(max_pool) = {
    "",
    "MaxPool",
    22,
    {{"X", kTypesMaxPool, "T"}},
    {{"Y", kTypesMaxPool, "T"}, {"Indices", Bit(DType::kInt64), "I", Arity::kOptional}},
    PoolAttrs({"storage_order", AttrKind::kInt, 0}),
    InferMaxPool,
    PoolWork};

}  // namespace ge
