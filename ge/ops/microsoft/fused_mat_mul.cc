#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

// How one operand is turned before the product: axis 0 behind the batch axes (transBatch), then the
// last two axes swapped (trans). Vectors stay as they are.
std::vector<int64_t> FusedMatMulPerm(const Node& n, bool left, size_t rank) {
  std::vector<int64_t> perm;
  for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(i));
  if (rank < 2) return perm;
  if (AttrInt(n, left ? "transBatchA" : "transBatchB") != 0) {
    std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  }
  if (AttrInt(n, left ? "transA" : "transB") != 0) std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

std::vector<Dim> FusedMatMulDims(InferContext& c, bool left) {
  const Type& t = c.input_type(left ? 0 : 1);
  std::vector<Dim> dims;
  for (int64_t axis : FusedMatMulPerm(c.node(), left, t.rank())) {
    dims.push_back(t.dims[static_cast<size_t>(axis)]);
  }
  return dims;
}

Status InferFusedMatMul(InferContext& c) {
  for (const char* flag : {"transA", "transB", "transBatchA", "transBatchB"}) {
    GE_RETURN_IF_ERROR(WantFlag(c.node(), flag));
  }
  GE_RETURN_IF_ERROR(WantFiniteAttr(c.node(), "alpha"));
  const Type &ta = c.input_type(0), &tb = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(ta, 1, "FusedMatMul: input 'A'"));
  GE_RETURN_IF_ERROR(WantRank(tb, 1, "FusedMatMul: input 'B'"));
  if (!ta.ranked || !tb.ranked) {
    c.SetOutput(0, UnrankedTensor(ta.dtype));
    return {};
  }
  const std::vector<Dim> a = FusedMatMulDims(c, true), b = FusedMatMulDims(c, false);
  const Dim inner_a = a.back(), inner_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (inner_a.known() && inner_b.known() && inner_a != inner_b) {
    return Bad(c.node(),
               fmt::format("inner sizes {} and {} of {} and {} (after transposition) "
                           "differ, wanted equal; transpose or reshape one",
                           inner_a.value, inner_b.value, Show(c.dims(), a), Show(c.dims(), b)));
  }
  std::vector<std::vector<Dim>> batches(2);
  if (a.size() > 2) batches[0].assign(a.begin(), a.end() - 2);
  if (b.size() > 2) batches[1].assign(b.begin(), b.end() - 2);
  GE_ASSIGN_OR_RETURN(std::vector<Dim> dims, BroadcastDims(c, batches));
  if (a.size() > 1) dims.push_back(a[a.size() - 2]);
  if (b.size() > 1) dims.push_back(b.back());
  return SetTensor(c, 0, ta.dtype, std::move(dims));
}

std::vector<ValueId> DecomposeFusedMatMul(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0));
  const double alpha = AttrFloat(node, "alpha");
  // Scaled in more than 16 bits, so that the result is rounded once.
  const DType step = alpha == 1 ? wanted : StepDType(wanted);
  const bool rows = AttrInt(node, "transA") == 0 && AttrInt(node, "transBatchA") == 0;
  if (rows && s.Rank(s.In(0)) >= 2 && s.Rank(s.In(1)) == 2) {
    // One product with the matrix as it lies, which is how weights come.
    const bool transposed = AttrInt(node, "transB") != 0;
    const ValueId y = s.RowsBy(s.Cast(s.In(0), step), s.Cast(s.In(1), step), transposed, alpha);
    return {s.Cast(y, wanted)};
  }
  const auto turned = [&](bool left) {
    const ValueId v = s.Cast(s.In(left ? 0 : 1), step);
    return s.Transpose(v, FusedMatMulPerm(node, left, s.ShapeOf(v).size()));
  };
  const ValueId a = turned(true), b = turned(false);
  return {s.Cast(s.Times(s.MatMul(a, b), alpha), wanted)};
}

OpDef FusedMatMulRecord() {
  OpDef op = MicrosoftRecord("FusedMatMul", InferFusedMatMul, DecomposeFusedMatMul);
  op.inputs = {{"A", kFloats, "T"}, {"B", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f},
              {"transA", AttrKind::kInt, 0},
              {"transB", AttrKind::kInt, 0},
              {"transBatchA", AttrKind::kInt, 0},
              {"transBatchB", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// alpha * A' * B', the operands turned on demand; vectors and batches as in MatMul.
GE_OP(microsoft_fused_mat_mul) = FusedMatMulRecord();

}  // namespace ge
