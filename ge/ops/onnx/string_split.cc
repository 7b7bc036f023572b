#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferStringSplit(InferContext& c) {
  const Type& x = c.input_type(0);
  Type counts = x;
  counts.dtype = DType::kInt64;
  if (c.has_output(1)) c.SetOutput(1, std::move(counts));
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(DType::kString));
    return {};
  }
  std::vector<Dim> dims = x.dims;
  dims.push_back(c.FreshDim("parts", true));
  return SetTensor(c, 0, DType::kString, std::move(dims));
}

}  // namespace

// Each string cut at a delimiter, or at white space; rows are filled up with empty strings.
GE_OP(string_split) = {"",
                       "StringSplit",
                       20,
                       {{"X", Bit(DType::kString)}},
                       {{"Y", Bit(DType::kString)}, {"Z", Bit(DType::kInt64)}},
                       {{"delimiter", AttrKind::kString, ""}, {"maxsplit", AttrKind::kInt}},
                       InferStringSplit,
                       PerOutput<0>};

}  // namespace ge
