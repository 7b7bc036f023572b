#include <fmt/format.h>

#include "ge/ops/families/channel_moments.h"
#include "ge/ops/infer_shapes.h"

namespace ge {
namespace {

Status InferAddRows(InferContext& c) {
  const Type &data = c.input_type(0), &indices = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(data, 1, "input 'data'"));
  if (data.ranked && indices.ranked) {
    std::vector<Dim> wanted = indices.dims;
    wanted.insert(wanted.end(), data.dims.begin() + 1, data.dims.end());
    GE_RETURN_IF_ERROR(WantShape(c, 2, "updates", wanted));
  }
  return InferSame(c);
}

Work EffortAddRows(const Node&, std::span<const Type> in, std::span<const Type>) {
  const Work updates{ElementsOf(in[2]), 3 * BytesOf(in.subspan(2), {})};
  return updates;  // all other rows stay where they are
}

// Updates of rows that are not there are zeros for the first one.
std::vector<ValueId> DecomposeAddRows(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type data = p.TypeOf(node.inputs[0]), updates = p.TypeOf(node.inputs[2]);
  Type places = p.TypeOf(node.inputs[1]);
  if (!data.ranked || !places.ranked || !data.dims[0].known() || data.dims[0].value == 0) return {};
  const ValueId index = p.Cast(node.inputs[1], DType::kInt64);
  places.dtype = DType::kInt64;
  const auto number = [&](int64_t v) {
    Type flat = places;
    flat.dims.clear();
    const ValueId one = p.Ints({v}), none = p.Ints({0});
    return p.Add("Squeeze", {one, none}, std::move(flat));
  };
  Type flags = places;
  flags.dtype = DType::kBool;
  const int64_t rows = data.dims[0].value;
  const ValueId low = p.Add("GreaterOrEqual", {index, number(-rows)}, flags);
  const ValueId high = p.Add("Less", {index, number(rows)}, flags);
  const ValueId there = p.Add("And", {low, high}, flags);
  const auto spread = [&](ValueId v, Type type, size_t rank) {
    std::vector<int64_t> axes;
    for (size_t i = type.rank(); i < rank; ++i) {
      axes.push_back(static_cast<int64_t>(i));
      type.dims.push_back(KnownDim(1));
    }
    return axes.empty() ? v : p.Add("Unsqueeze", {v, p.Ints(axes)}, std::move(type));
  };
  const ValueId safe = p.Add("Where", {there, index, number(0)}, places);
  const ValueId kept = p.Add(
      "Where", {spread(there, flags, updates.rank()), node.inputs[2], p.Scalar(data.dtype, 0)},
      updates);
  return {p.Add("ScatterND", {node.inputs[0], spread(safe, places, places.rank() + 1), kept}, data,
                {{"reduction", std::string("add")}})};
}

OpDef AddRowsRecord() {
  OpDef op{"ge", "AddRows", 1, {}, {}, {}, InferAddRows, EffortAddRows};
  op.inputs = {{"data", kMomentTypes, "T"}, {"indices", kIndex}, {"updates", kMomentTypes, "T"}};
  op.outputs = {{"sum", kMomentTypes, "T"}};
  op.decompose = DecomposeAddRows;
  return op;
}

}  // namespace

// Each of `updates` added to the row of `data` that its index names, one after the other; negative
// indices count from the end. What names a row that is not there is left out: the operator cannot
// fail, so that a table may be overwritten where it lies.
GE_OP(add_rows) = AddRowsRecord();

}  // namespace ge
