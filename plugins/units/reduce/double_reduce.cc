#include "plugins/units/reduce/double_reduce.h"

#include "plugins/units/parser.h"
#include "plugins/units/reduce/reduce.h"

namespace ge_engines {

namespace {

bool ParseDoubleReduce(const Parser& g, uint32_t i, Unit* u, Why* why) {
  static constexpr std::string_view kOps[] = {
      "ReduceSum", "ReduceMean", "ReduceMax",       "ReduceMin",    "ReduceProd",
      "ReduceL1",  "ReduceL2",   "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"};
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<DoubleReduceSpec>();
  return Named(gp::View(n.op), kOps, &s.reduce) && ReducedAxes(g, n, &s.axes, why);
}

bool ParseDoubleGlobalPool(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<DoubleReduceSpec>();
  s.reduce = gp::View(n.op) == "GlobalAveragePool" ? DoubleReduce::kMean : DoubleReduce::kMax;
  for (int64_t a = 2; a < g.value(n.in[0]).type.rank; ++a) s.axes.push_back(a);
  return !s.axes.empty() || why->Say(GE_WHY_SHAPE, "no spatial axes");
}

constexpr Operator kDoubleReduceOperators[] = {
    {"ReduceSum", ParseDoubleReduce, Types::kDouble},
    {"ReduceMean", ParseDoubleReduce, Types::kDouble},
    {"ReduceMax", ParseDoubleReduce, Types::kDouble},
    {"ReduceMin", ParseDoubleReduce, Types::kDouble},
    {"ReduceProd", ParseDoubleReduce, Types::kDouble},
    {"ReduceL1", ParseDoubleReduce, Types::kDouble},
    {"ReduceL2", ParseDoubleReduce, Types::kDouble},
    {"ReduceSumSquare", ParseDoubleReduce, Types::kDouble},
    {"ReduceLogSum", ParseDoubleReduce, Types::kDouble},
    {"ReduceLogSumExp", ParseDoubleReduce, Types::kDouble},
    {"GlobalAveragePool", ParseDoubleGlobalPool, Types::kDouble},
    {"GlobalMaxPool", ParseDoubleGlobalPool, Types::kDouble},
};
}  // namespace

const UnitKind DoubleReduceSpec::kKind = {.name = "double_reduce",
                                          .operators = kDoubleReduceOperators};

}  // namespace ge_engines
