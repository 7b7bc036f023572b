#include "plugins/units/reduce/fold.h"

#include "plugins/units/parser.h"
#include "plugins/units/reduce/reduce.h"
#include "plugins/units/reduce/row_squares.h"

namespace ge_engines {

namespace {

constexpr std::string_view kFoldOps[] = {"ReduceMax",  "ReduceMin",    "ReduceSum",
                                         "ReduceMean", "ReduceProd",   "ReduceL1",
                                         "ReduceL2",   "ReduceLogSum", "ReduceSumSquare"};

bool ParseFolded(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  FoldSpec spec;
  if (!Named(gp::View(n.op), kFoldOps, &spec.op)) return why->Say(GE_WHY_OP, "unknown");
  const bool extreme = spec.op == FoldOp::kMax || spec.op == FoldOp::kMin;
  const bool wide = t == GE_I32 || t == GE_U32 || t == GE_I64 || t == GE_U64;
  const bool small = t == GE_BOOL || t == GE_I8 || t == GE_U8;
  if (!wide && !(extreme && small) && !g.IsReal(t)) {
    return why->Say(GE_WHY_DTYPE,
                    std::string(gp::DTypeName(t)) +
                        ", only float32, integers of 32 and 64 bits, of extremes those of 8 and "
                        "bool");
  }
  if (!ReducedAxes(g, n, &spec.axes, why)) return false;
  u->spec = spec;
  return true;
}

// Those that another kind has of float32.
bool ParseReduced(const Parser& g, uint32_t i, Unit* u, Why* why) {
  if (g.IsReal(g.dtype(g.node(i).in[0]))) return ParseReduce(g, i, u, why);
  return ParseFolded(g, i, u, why);
}
bool ParseSquares(const Parser& g, uint32_t i, Unit* u, Why* why) {
  Why other;
  if (g.IsReal(g.dtype(g.node(i).in[0])) && ParseRowSquares(g, i, u, &other)) return true;
  return ParseFolded(g, i, u, why);
}

constexpr Operator FoldRow(const char* op, decltype(Operator::parse) parse) {
  return {.op = op, .parse = parse, .types = Types::kAny, .first = true};
}
constexpr Operator kFoldOperators[] = {
    FoldRow("ReduceMax", ParseReduced),   FoldRow("ReduceMin", ParseReduced),
    FoldRow("ReduceSum", ParseReduced),   FoldRow("ReduceMean", ParseReduced),
    FoldRow("ReduceProd", ParseFolded),   FoldRow("ReduceL1", ParseFolded),
    FoldRow("ReduceL2", ParseSquares),    FoldRow("ReduceSumSquare", ParseSquares),
    FoldRow("ReduceLogSum", ParseFolded),
};
}  // namespace

const UnitKind FoldSpec::kKind = {.name = "fold", .operators = kFoldOperators};

}  // namespace ge_engines
