#include <algorithm>

#include "ge/ops/families/conv_grad.h"
#include "ge/ops/families/pooling.h"

namespace ge {
namespace {

Status InferMaxPoolGrad(InferContext& c) {
  const Type &dy = c.input_type(0), &x = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(x, 3, "ge.MaxPoolGrad: input 'X' (N x C x spatial)"));
  if (x.ranked && dy.ranked) {
    if (dy.rank() != x.rank()) {
      return Bad(c.node(), "input 'dY' has shape " + Show(c.dims(), dy.dims) +
                               ", wanted the rank of 'X', " + Show(c.dims(), x.dims));
    }
    const std::vector<Dim> planes = {x.dims[0], x.dims[1]};
    std::vector<Dim> wanted = dy.dims;
    wanted[0] = planes[0];
    wanted[1] = planes[1];
    GE_RETURN_IF_ERROR(WantShape(c, 0, "dY", wanted));
    GE_RETURN_IF_ERROR(WantWindows(c, x.dims, dy, AttrInts(c.node(), "kernel_shape"), true));
  }
  c.SetOutput(0, x);
  return {};
}

// Every element of dY is added where MaxPool's Indices say, 16-bit ones in f32 (StepDType): of
// windows that overlap many fall on one element.
std::vector<ValueId> DecomposeMaxPoolGrad(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type dy = p.TypeOf(node.inputs[0]), x = p.TypeOf(node.inputs[1]);
  if (!dy.is_static() || !x.is_static()) return {};
  const auto many = static_cast<int64_t>(ElementsOf(x)), few = static_cast<int64_t>(ElementsOf(dy));
  if (many == 0 || few == 0) return {AddZeros(&p, x)};
  Type at = dy;
  at.dtype = DType::kInt64;
  std::vector<Attr> attrs = node.attrs;  // places count in rows, whatever the order of Indices was
  std::erase_if(attrs, [](const Attr& attr) { return attr.name == "storage_order"; });
  const ValueId places = t.AddNode(fn, node.id, "", "MaxPool", {node.inputs[1]}, std::move(attrs),
                                   {dy, at}, {&node})[1];
  const std::vector<int64_t> row = {few}, whole = {many};
  std::vector<int64_t> sizes;
  for (const Dim& d : x.dims) sizes.push_back(d.value);
  ValueId index = p.Add("Reshape", {places, p.Ints(row)}, TensorType(DType::kInt64, row));
  const DType step = StepDType(dy.dtype);
  const ValueId dys = p.Cast(node.inputs[0], step);
  ValueId values = p.Add("Reshape", {dys, p.Ints(row)}, TensorType(step, row));
  // Dilated taps may all miss x: MaxPool then says -1, which would be the last element.
  const std::vector<int64_t>& gaps = AttrInts(node, "dilations");
  if (std::any_of(gaps.begin(), gaps.end(), [](int64_t d) { return d > 1; })) {
    const std::vector<int64_t> one = {1};
    const ValueId first = p.Ints({0}), none = AddZeros(&p, TensorType(step, one));
    const ValueId misses = p.Add("Less", {index, first}, TensorType(DType::kBool, row));
    values = p.Add("Where", {misses, none, values}, TensorType(step, row));
    index = p.Add("Max", {index, first}, TensorType(DType::kInt64, row));
  }
  const ValueId zeros = AddZeros(&p, TensorType(step, whole));
  const ValueId sums = p.Add("ScatterElements", {zeros, index, values}, TensorType(step, whole),
                             {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
  Type shaped = x;
  shaped.dtype = step;
  return {p.Cast(p.Add("Reshape", {sums, p.Ints(sizes)}, shaped), x.dtype)};
}

Work WorkOfMaxPoolGrad(const Node& node, std::span<const Type> in, std::span<const Type> out) {
  double window = 1;
  for (const int64_t k : AttrInts(node, "kernel_shape")) window *= static_cast<double>(k);
  return {in.empty() ? 0 : window * ElementsOf(in[0]), BytesOf(in, out)};
}

OpDef MaxPoolGradRecord() {
  OpDef op{"ge", "MaxPoolGrad", 1, {}, {{"dX", kFloats, "T"}}, {}, InferMaxPoolGrad};
  op.inputs = {{"dY", kFloats, "T"}, {"X", kFloats, "T"}};
  op.attrs = PoolAttrs({"storage_order", AttrKind::kInt, 0});
  op.work = WorkOfMaxPoolGrad;
  op.decompose = DecomposeMaxPoolGrad;
  return op;
}

}  // namespace

// dY added up at the first greatest element of each of MaxPool's windows over X.
GE_OP(max_pool_grad) = MaxPoolGradRecord();

}  // namespace ge
