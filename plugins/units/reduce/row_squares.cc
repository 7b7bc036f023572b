#include "plugins/units/reduce/row_squares.h"

#include "plugins/units/parser.h"
#include "plugins/units/reduce/reduce.h"

namespace ge_engines {

bool ParseRowSquares(const Parser& parser, uint32_t i, Unit* unit, Why* why) {
  const ge_node& n = parser.node(i);
  auto& s = unit->spec.emplace<RowSquareSpec>();
  s.root = gp::View(n.op) == "ReduceL2";
  Dims axes;
  if (!ReducedAxes(parser, n, &axes, why)) return false;
  const Dims x = parser.dims(n.in[0]);
  s.n = 1;
  for (size_t k = 0, first = x.size() - axes.size(); k < axes.size(); ++k) {
    if (axes[k] != static_cast<int64_t>(first + k)) {
      return why->Say(GE_WHY_ATTRIBUTE, "other axes than the last ones");
    }
    s.n *= x[first + k];
  }
  s.rows = Product(unit->dims);
  return true;
}

namespace {

constexpr Operator kRowSquaresOperators[] = {
    {"ReduceL2", ParseRowSquares},
    {"ReduceSumSquare", ParseRowSquares},
};
}  // namespace

const UnitKind RowSquareSpec::kKind = {.name = "row_squares", .operators = kRowSquaresOperators};

}  // namespace ge_engines
