#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Positions known now must leave room for the update in mode linear.
Status CheckWriteIndices(InferContext& c, Dim room, Dim length, bool circular) {
  if (c.input_count() < 3 || !c.has_input(2)) return {};
  const Dim batch = c.input_type(0).dims[0];
  GE_RETURN_IF_ERROR(WantShape(c, 2, "write_indices", std::span(&batch, 1)));
  const auto known = Content(c, 2);
  if (!known || !room.known() || !length.known() || circular) return {};
  for (const Dim& d : *known) {
    if (d.known() && (d.value < 0 || d.value > room.value - length.value)) {
      return Bad(c.node(),
                 fmt::format("input 'write_indices' holds {}, wanted 0 to {}: {} rows go "
                             "into {}",
                             d.value, room.value - length.value, length.value, room.value));
    }
  }
  return {};
}

Status InferTensorScatter(InferContext& c) {
  const Type& past = c.input_type(0);
  const Type& update = c.input_type(1);
  const std::string_view mode = AttrString(c.node(), "mode");
  if (mode != "linear" && mode != "circular") {
    return Bad(c.node(),
               fmt::format("attribute 'mode' is '{:.64}', wanted linear or circular", mode));
  }
  if (!past.ranked) return InferSame(c);
  const auto at = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(past.rank()),
                                "attribute 'axis'");
  if (!at.ok()) return Bad(c.node(), at.status().message());
  if (*at == 0) return Bad(c.node(), "attribute 'axis' is the batch axis 0, wanted another one");
  const auto axis = static_cast<size_t>(*at);
  if (update.ranked && update.rank() == past.rank()) {
    std::vector<Dim> wanted = past.dims;
    wanted[axis] = update.dims[axis];
    GE_RETURN_IF_ERROR(WantShape(c, 1, "update", wanted));
    const Dim length = update.dims[axis], room = past.dims[axis];
    if (length.known() && room.known() && length.value > room.value) {
      return Bad(c.node(),
                 fmt::format("input 'update' has size {} at axis {}, wanted at most {} as "
                             "'past_cache'",
                             length.value, axis, room.value));
    }
    GE_RETURN_IF_ERROR(CheckWriteIndices(c, room, length, mode == "circular"));
  } else if (update.ranked) {
    GE_RETURN_IF_ERROR(WantShape(c, 1, "update", past.dims));
  }
  return InferSame(c);
}

OpDef TensorScatterRecord() {
  OpDef op{"", "TensorScatter", 24, {}, {}, {}};
  const DTypeSet types = kAnyDType & ~Bit(DType::kUint2) & ~Bit(DType::kInt2);
  op.inputs = {{"past_cache", types, "T"},
               {"update", types, "T"},
               {"write_indices", Bit(DType::kInt64), "", Arity::kOptional}};
  op.outputs = {{"present_cache", types, "T"}};
  op.attrs = {{"axis", AttrKind::kInt, -2}, {"mode", AttrKind::kString, "linear"}};
  op.infer = InferTensorScatter;
  op.work = PerOutput<0>;
  return op;
}

}  // namespace

// A cache in which each sample's rows from its write index on are replaced; circular wraps around.
GE_OP(tensor_scatter) = TensorScatterRecord();

}  // namespace ge
