#include "plugins/units/onnx_ml/normalizer.h"

#include "plugins/units/onnx_ml/post_transform.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseNormalizer(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  RowNormSpec s;
  if (!RowsOf(g, n, &s.rows, &s.n, why) || !HasOut(g, n, 0, GE_F32, g.dims(n.in[0]), why)) {
    return false;
  }
  const std::string_view norm = gp::AttrString(n, "norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") {
    return why->Say(GE_WHY_ATTRIBUTE, "a norm not known");
  }
  s.norm = norm == "MAX" ? RowNorm::kMax : norm == "L1" ? RowNorm::kL1 : RowNorm::kL2;
  u->spec = s;
  return true;
}

constexpr Operator kNormalizerOperators[] = {
    {"ai.onnx.ml.Normalizer", ParseNormalizer, Types::kFloat, 0},
};
}  // namespace

const UnitKind RowNormSpec::kKind = {.name = "normalizer", .operators = kNormalizerOperators};

}  // namespace ge_engines
