#include <fmt/format.h>

#include "ge/ops/families/maps.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferCastMap(InferContext& c) {
  const Node& n = c.node();
  const std::string_view to = AttrString(n, "cast_to");
  const std::string_view form = AttrString(n, "map_form");
  if (to != "TO_FLOAT" && to != "TO_STRING" && to != "TO_INT64") {
    return Bad(n, fmt::format("attribute 'cast_to' is '{:.64}', wanted TO_FLOAT, TO_STRING or "
                              "TO_INT64",
                              to));
  }
  if (form != "DENSE" && form != "SPARSE") {
    return Bad(n, fmt::format("attribute 'map_form' is '{:.64}', wanted DENSE or SPARSE", form));
  }
  const int64_t most = AttrInt(n, "max_map");
  if (form == "SPARSE" && (most < 1 || most > kMostColumnsAsked)) {
    return Bad(n,
               fmt::format("attribute 'max_map' is {}, wanted 1 to {}", most, kMostColumnsAsked));
  }
  GE_RETURN_IF_ERROR(
      WantMap(c, Bit(DType::kInt64), Bit(DType::kString) | Bit(DType::kFloat)).status());
  const DType dtype = to == "TO_FLOAT"    ? DType::kFloat
                      : to == "TO_STRING" ? DType::kString
                                          : DType::kInt64;
  const Dim width = form == "SPARSE" ? KnownDim(most) : c.FreshDim("entries", true);
  return SetTensor(c, 0, dtype, {KnownDim(1), width});
}

}  // namespace

// The values of a map in the order of its keys or at the places that they say, as one row.
GE_OP(onnx_ml_cast_map) = {"ai.onnx.ml",
                           "CastMap",
                           1,
                           {{"X", kAnyType}},
                           {{"Y", Bit(DType::kString) | Bit(DType::kFloat) | Bit(DType::kInt64)}},
                           {{"cast_to", AttrKind::kString, "TO_FLOAT"},
                            {"map_form", AttrKind::kString, "DENSE"},
                            {"max_map", AttrKind::kInt, 1}},
                           InferCastMap,
                           PerOutput<0>};

}  // namespace ge
