#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesBitCast = kAnyDType & ~Bit(DType::kString);

Status InferBitCast(InferContext& c) {
  const int64_t to = AttrInt(c.node(), "to");
  const auto dtype = static_cast<DType>(to);
  if (to < 1 || to >= kDTypeCount || !(kTypesBitCast & Bit(dtype))) {
    return Bad(c.node(), fmt::format("attribute 'to' is {}, wanted the number of a dtype of fixed "
                                     "size (1 to {}, but not {} for strings)",
                                     to, kDTypeCount - 1, static_cast<int>(DType::kString)));
  }
  const DType from = c.input_type(0).dtype;
  if (DTypeBits(from) != DTypeBits(dtype)) {
    return Bad(c.node(),
               fmt::format("attribute 'to' is {} of {} bits, wanted a dtype of {} bits as {} has",
                           DTypeName(dtype), DTypeBits(dtype), DTypeBits(from), DTypeName(from)));
  }
  Type t = c.input_type(0);
  t.dtype = dtype;
  c.SetOutput(0, std::move(t));
  return {};
}

}  // namespace

// The same bits under another dtype of the same size.
GE_OP(bit_cast) = {"",
                   "BitCast",
                   26,
                   {{"input", kTypesBitCast, "T1"}},
                   {{"output", kTypesBitCast, "T2"}},
                   {{"to", AttrKind::kInt, true}},
                   InferBitCast};

}  // namespace ge
