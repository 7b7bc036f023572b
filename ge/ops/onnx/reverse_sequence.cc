#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Lengths known now must lie in [0, time]; the others are checked when the node runs.
Status CheckLengths(InferContext& c, Dim time) {
  const auto lengths = Content(c, 1);
  if (!lengths || !time.known()) return {};
  for (const Dim& d : *lengths) {
    if (d.known() && (d.value < 0 || d.value > time.value)) {
      return Bad(c.node(),
                 fmt::format("input 'sequence_lens' holds {}, wanted 0 to {}: the size of "
                             "the time axis",
                             d.value, time.value));
    }
  }
  return {};
}

Status InferReverseSequence(InferContext& c) {
  const Type& x = c.input_type(0);
  const int64_t batch = AttrInt(c.node(), "batch_axis"), time = AttrInt(c.node(), "time_axis");
  if (batch < 0 || batch > 1 || time != 1 - batch) {
    return Bad(c.node(),
               fmt::format("attributes 'batch_axis' and 'time_axis' are {} and {}, wanted "
                           "0 and 1 or 1 and 0",
                           batch, time));
  }
  GE_RETURN_IF_ERROR(WantRank(x, 2, "ReverseSequence: input 'input'"));
  if (x.ranked) {
    const Dim samples = x.dims[static_cast<size_t>(batch)];
    GE_RETURN_IF_ERROR(WantShape(c, 1, "sequence_lens", std::span(&samples, 1)));
    GE_RETURN_IF_ERROR(CheckLengths(c, x.dims[static_cast<size_t>(time)]));
  }
  return InferSame(c);
}

}  // namespace

// The first sequence_lens[b] steps of each sample in reverse order, the others as they are.
GE_OP(reverse_sequence) = {"",
                           "ReverseSequence",
                           28,
                           {{"input", kClassic, "T"}, {"sequence_lens", Bit(DType::kInt64)}},
                           {{"Y", kClassic, "T"}},
                           {{"batch_axis", AttrKind::kInt, 1}, {"time_axis", AttrKind::kInt, 0}},
                           InferReverseSequence,
                           PerOutput<0>};

}  // namespace ge
