#include "plugins/units/reduce/loss.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool HasTypes(const Parser& g, const ge_node& n, Why* why) {
  const bool weighted = n.n_in > 2 && n.in[2] != 0, more = n.n_out > 1 && n.out[1] != 0;
  const bool fits = n.n_in > 1 && n.in[1] != 0 && g.IsReal(g.dtype(n.in[0])) &&
                    (g.dtype(n.in[1]) == GE_I32 || g.dtype(n.in[1]) == GE_I64) &&
                    (!weighted || g.IsReal(g.dtype(n.in[2]))) && g.IsReal(g.dtype(n.out[0])) &&
                    (!more || g.IsReal(g.dtype(n.out[1])));
  return fits || why->Say(GE_WHY_DTYPE, "only float32, and labels of int32 and int64");
}

bool ParseLoss(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (!HasTypes(g, n, why)) return false;
  LossSpec s;
  s.softmax = gp::View(n.op) == "SoftmaxCrossEntropyLoss";
  const std::string_view how = gp::AttrString(n, "reduction");
  s.how = how == "none"  ? LossSpec::How::kNone
          : how == "sum" ? LossSpec::How::kSum
                         : LossSpec::How::kMean;
  if (s.how == LossSpec::How::kMean && how != "mean") {
    return why->Say(GE_WHY_ATTRIBUTE, "reduction is not known");
  }
  const Dims x = g.dims(n.in[0]), labels = g.dims(n.in[1]);
  if (x.size() < 2) return why->Say(GE_WHY_SHAPE, "scores of rank 2 or more are wanted");
  s.batch = x[0];
  s.classes = x[1];
  s.area = Product(x) / (s.batch * s.classes);
  const uint32_t weights = n.n_in > 2 ? n.in[2] : 0, more = n.n_out > 1 ? n.out[1] : 0;
  if (Product(labels) != s.batch * s.area ||
      (weights != 0 && Product(g.dims(weights)) != s.classes)) {
    return why->Say(GE_WHY_SHAPE, "labels or weights do not fit the scores");
  }
  const ge_attr* ignored = gp::FindAttr(n, "ignore_index", GE_ATTR_INT);
  s.ignores = ignored != nullptr;
  if (s.ignores) s.ignored = gp::AttrInt(n, "ignore_index");
  u->in = {n.in[0], n.in[1], weights};
  u->out.push_back(s.softmax ? more : 0);
  u->spec = s;
  return true;
}

constexpr Operator kLossOperators[] = {
    {"SoftmaxCrossEntropyLoss", ParseLoss, Types::kAny, 0},
    {"NegativeLogLikelihoodLoss", ParseLoss, Types::kAny, 0},
};
}  // namespace

const UnitKind LossSpec::kKind = {.name = "loss", .operators = kLossOperators};

}  // namespace ge_engines
