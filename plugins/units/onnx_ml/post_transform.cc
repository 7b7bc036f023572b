#include "plugins/units/onnx_ml/post_transform.h"

#include <algorithm>
#include <iterator>

namespace ge_engines {

bool ReadPostTransform(const ge_node& n, PostTransform* how, Why* why) {
  static constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                "PROBIT"};
  const auto* at =
      std::find(std::begin(kNames), std::end(kNames), gp::AttrString(n, "post_transform", "NONE"));
  if (at == std::end(kNames)) return why->Say(GE_WHY_ATTRIBUTE, "a post_transform not known");
  *how = static_cast<PostTransform>(at - std::begin(kNames));
  return true;
}

bool ListsDiffer(Why* why) {
  return why->Say(GE_WHY_ATTRIBUTE, "lists that do not fit each other");
}

bool RowsOf(const Parser& parser, const ge_node& n, int64_t* rows, int64_t* features, Why* why) {
  const Dims x = parser.dims(n.in[0]);
  if (parser.dtype(n.in[0]) != GE_F32) return why->Say(GE_WHY_DTYPE, "only float32 features");
  if (x.size() != 1 && x.size() != 2) return why->Say(GE_WHY_SHAPE, "only [N, C] and [C]");
  *rows = x.size() == 2 ? x[0] : 1;
  *features = x.back();
  return true;
}

bool HasOut(const Parser& parser, const ge_node& n, uint32_t slot, int32_t dtype, const Dims& dims,
            Why* why) {
  if (slot >= n.n_out || n.out[slot] == 0) return why->Say(GE_WHY_OP, "an output is left out");
  if (parser.dtype(n.out[slot]) != dtype) return why->Say(GE_WHY_DTYPE, "another type of output");
  return parser.dims(n.out[slot]) == dims || why->Say(GE_WHY_SHAPE, "an output has other dims");
}

}  // namespace ge_engines
