#include <fmt/format.h>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferOneHotEncoder(InferContext& c) {
  const Node& n = c.node();
  const Type& x = c.input_type(0);
  const bool text = x.dtype == DType::kString;
  const char* mine = text ? "cats_strings" : "cats_int64s";
  const char* other = text ? "cats_int64s" : "cats_strings";
  const size_t found = ListLength(n, mine);
  if (found == 0 || ListLength(n, other) > 0) {
    return Bad(n, fmt::format("attribute '{}' has {} entries and '{}' {}, wanted categories of {} "
                              "in the first alone",
                              mine, found, other, ListLength(n, other), DTypeName(x.dtype)));
  }
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(DType::kFloat));
    return {};
  }
  std::vector<Dim> dims = x.dims;
  dims.push_back(KnownDim(static_cast<int64_t>(found)));
  return SetTensor(c, 0, DType::kFloat, std::move(dims));
}

}  // namespace

// A new last axis with 1 where the category is that of the element, else 0.
GE_OP(onnx_ml_one_hot_encoder) = {"ai.onnx.ml",
                                  "OneHotEncoder",
                                  1,
                                  {{"X", kFeatures | Bit(DType::kString), "T"}},
                                  {{"Y", Bit(DType::kFloat)}},
                                  {{"cats_int64s", AttrKind::kInts},
                                   {"cats_strings", AttrKind::kStrings},
                                   {"zeros", AttrKind::kInt, 1}},
                                  InferOneHotEncoder,
                                  PerOutput<0>};

}  // namespace ge
