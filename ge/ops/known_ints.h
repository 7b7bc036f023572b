// Known contents of small integer tensors, the material of shape computations. Contents are derived
// data; a rule without knowledge of its output's content sets none. The InferContext owns results;
// one thread per context.
#pragma once

#include "ge/ops/op.h"

namespace ge {

inline constexpr size_t kMaxKnownInts = 1024;  // elements; longer contents are not tracked

// Content of an integer or bool input, known from INFER or from a constant payload.
std::optional<std::vector<Dim>> Content(InferContext& context, size_t i);
// The same when every element is a number.
std::optional<std::vector<int64_t>> Numbers(InferContext& context, size_t i);
// Elements of a small constant of a float dtype, widened.
std::optional<std::vector<double>> ConstFloats(const InferContext& context, size_t i);
// The integer elements of a small constant payload.
std::optional<std::vector<Dim>> ConstInts(const Const& k);
// Sets the content of an output of type `dtype`; sets nothing when an element does not fit the
// dtype (the value at run time wraps) or there are too many.
void SetContent(InferContext& context, size_t output, DType dtype, std::vector<Dim> values);
// Copies the content of input 0 to output 0.
void PassContent(InferContext& context);

using DimFold = std::optional<Dim> (*)(DimTable&, Dim, Dim);
// InferBroadcast, then the content folded over all inputs from left to right. The output's dtype is
// `out`, or that of input 0 when kUndefined.
Status InferFolded(InferContext& context, DimFold fold, DType out = DType::kUndefined);

// Bounds that hold for every binding of the symbols; nullopt when none is known.
std::optional<int64_t> LowerBound(const DimTable& dims, Dim x);
std::optional<int64_t> UpperBound(const DimTable& dims, Dim x);

}  // namespace ge
