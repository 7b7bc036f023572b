#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

// So many differences, 4 MiB of f32, are written out; more of them by one product.
constexpr int64_t kMostCDistDifferences = int64_t{1} << 20;

Status InferCDist(InferContext& c) {
  const std::string_view metric = AttrString(c.node(), "metric");
  if (metric != "euclidean" && metric != "sqeuclidean") {
    return NotComputed(c.node(), fmt::format("attribute 'metric' is '{:.64}', which is not "
                                             "computed here; wanted euclidean or sqeuclidean",
                                             metric));
  }
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "A", 2, 2));
  GE_RETURN_IF_ERROR(WantRankOf(c, 1, "B", 2, 2));
  const Type &a = c.input_type(0), &b = c.input_type(1);
  if (a.ranked && b.ranked) {
    GE_RETURN_IF_ERROR(SameDim(c, a.dims[1], b.dims[1], "columns of 'A' and 'B'").status());
  }
  const Type& any = a.ranked ? a : b;
  if (any.ranked && any.dims[1].known() && any.dims[1].value == 0) {
    return Bad(c.node(), fmt::format("inputs 'A' and 'B' have shapes {} and {}, wanted a column "
                                     "at least",
                                     Show(c.dims(), a.dims), Show(c.dims(), b.dims)));
  }
  return SetTensor(c, 0, a.dtype,
                   {a.ranked ? a.dims[0] : c.FreshDim("rows", false),
                    b.ranked ? b.dims[0] : c.FreshDim("rows", false)});
}

// A difference, a product and a sum for each pair of elements.
Work EffortCDist(const Node&, std::span<const Type> in, std::span<const Type> out) {
  const bool known = in.size() > 1 && in[1].is_static() && in[1].rank() == 2 && !out.empty();
  const double columns = known ? static_cast<double>(in[1].dims[1].value) : 0;
  return {known ? 3 * columns * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

ValueId CDistSquares(Steps* s, ValueId x, int64_t axis) {
  return s->Reduce("ReduceSum", s->Pair("Mul", x, x), {axis});
}

// Sums of squares as they stand.
ValueId CDistByDifferences(Steps* s) {
  const Steps::Shape a = s->ShapeOf(s->In(0)), b = s->ShapeOf(s->In(1));
  const ValueId d =
      s->Pair("Sub", s->Reshape(s->In(0), {a[0], 1, a[1]}), s->Reshape(s->In(1), {1, b[0], b[1]}));
  return s->Reshape(CDistSquares(s, d, 2), {a[0], b[0]});
}

// |a|^2 + |b|^2 - 2ab about the middle of B: what cancels is as small as the points lie near each
// other, and no tensor of three axes is made.
ValueId CDistByProduct(Steps* s) {
  const ValueId middle = s->Reduce("ReduceMean", s->In(1), {0});
  const ValueId a = s->Pair("Sub", s->In(0), middle), b = s->Pair("Sub", s->In(1), middle);
  const ValueId row = s->Reshape(CDistSquares(s, b, 1), {1, s->Size(b, 0)});
  const ValueId sum = s->Pair("Add", s->RowsBy(a, b, true, -2, row), CDistSquares(s, a, 1));
  return s->Map("Relu", {sum});  // roundings may leave a little below 0
}

std::vector<ValueId> DecomposeCDist(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const int64_t columns = s.Size(s.In(0), 1), others = s.Size(s.In(1), 0);
  const int64_t most = kMostCDistDifferences / std::max<int64_t>(1, columns);
  const bool few = s.Size(s.In(0), 0) <= most / std::max<int64_t>(1, others);
  const ValueId squares = few ? CDistByDifferences(&s) : CDistByProduct(&s);
  const bool root = AttrString(node, "metric") == "euclidean";
  return {root ? s.Map("Sqrt", {squares}) : squares};
}

OpDef CDistRecord() {
  constexpr DTypeSet kTypes = Bit(DType::kFloat) | Bit(DType::kDouble);
  OpDef op = MicrosoftRecord("CDist", InferCDist, DecomposeCDist);
  op.inputs = {{"A", kTypes, "T"}, {"B", kTypes, "T"}};
  op.outputs = {{"C", kTypes, "T"}};
  op.attrs = {{"metric", AttrKind::kString, "sqeuclidean"}};
  op.work = EffortCDist;
  return op;
}

}  // namespace

// The distance of each row of A from each row of B.
GE_OP(microsoft_c_dist) = CDistRecord();

}  // namespace ge
