#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferKvAppend(InferContext& c) {
  const Type &cache = c.input_type(0), &length = c.input_type(1), &rows = c.input_type(2);
  GE_RETURN_IF_ERROR(InferSame(c));
  if (length.ranked && length.rank() != 0) {
    return Bad(c.node(),
               fmt::format("input 'length' is {}, wanted i64[]", TypeToString(length, c.dims())));
  }
  if (!cache.ranked || !rows.ranked) return {};
  const auto at = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(cache.rank()),
                                "attribute 'axis'");
  if (!at.ok()) return Bad(c.node(), at.status().message());
  const auto axis = static_cast<size_t>(*at);
  std::vector<Dim> wanted = cache.dims;
  if (rows.rank() == cache.rank()) wanted[axis] = rows.dims[axis];
  GE_RETURN_IF_ERROR(WantShape(c, 2, "new", wanted));
  const Dim count = wanted[axis], room = cache.dims[axis];
  const auto known = Content(c, 1);
  const int64_t first = known && known->size() == 1 && (*known)[0].known() ? (*known)[0].value : 0;
  if (!count.known() || !room.known() || (first >= 0 && count.value <= room.value - first)) {
    return {};
  }
  return Bad(c.node(),
             fmt::format("{} rows from row {} on go into a cache of {} at axis {}; wanted "
                         "room for them",
                         count.value, first, room.value, axis));
}

Work EffortKvAppend(const Node&, std::span<const Type> in, std::span<const Type>) {
  return {0, 2 * BytesOf(in.subspan(2), {})};  // what the cache held stays where it is
}

OpDef KvAppendRecord() {
  const DTypeSet types = kNumeric | Bit(DType::kBool);
  OpDef op{"ge", "KvAppend", 1, {}, {}, {}};
  op.inputs = {{"cache", types, "T"}, {"length", Bit(DType::kInt64)}, {"new", types, "T"}};
  op.outputs = {{"cache_with_new", types, "T"}};
  op.attrs = {{"axis", AttrKind::kInt, -2}};
  op.infer = InferKvAppend;
  op.work = EffortKvAppend;
  return op;
}

}  // namespace

// A cache whose rows [0, length) along `axis` are in use, with S more: rows [length, length + S)
// are `new`, all others are kept. Rows behind those in use carry no meaning: what a run writes
// there harms nobody as long as nobody makes the length greater, so a state that is appended to is
// written where it lies, before the run is known to succeed. The new length is Add(length, S); a
// node of its own, since every engine has it. length + S beyond the cache is an error of the run.
GE_OP(kv_append) = KvAppendRecord();

}  // namespace ge
