#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

void RepeatContent(InferContext& c, Dim times) {
  const auto content = Content(c, 0);
  if (!content || !times.known() || times.value > static_cast<int64_t>(kMaxKnownInts)) return;
  if (content->size() * static_cast<size_t>(times.value) > kMaxKnownInts) return;
  std::vector<Dim> all;
  for (int64_t i = 0; i < times.value; ++i) {
    all.insert(all.end(), content->begin(), content->end());
  }
  SetContent(c, 0, c.input_type(0).dtype, std::move(all));
}

Status InferTile(InferContext& c) {
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const Dim rank = KnownDim(static_cast<int64_t>(x.rank()));
  GE_RETURN_IF_ERROR(WantShape(c, 1, "repeats", std::span(&rank, 1)));
  const auto repeats = Content(c, 1);
  std::vector<Dim> dims = x.dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!repeats || repeats->size() != dims.size()) {
      dims[d] = c.FreshDim("tile", true);
      continue;
    }
    const Dim times = (*repeats)[d];
    if (times.known() && times.value < 0) {
      return Bad(c.node(), fmt::format("input 'repeats' holds {}, wanted 0 or more", times.value));
    }
    GE_ASSIGN_OR_RETURN(dims[d], Checked(c.node(), c.dims().Mul(dims[d], times), "a tiled size"));
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  if (x.rank() == 1 && repeats && repeats->size() == 1) RepeatContent(c, repeats->front());
  return {};
}

}  // namespace

// The tensor as often beside itself along each axis as repeats says.
GE_OP(tile) = {"",
               "Tile",
               13,
               {{"input", kClassic, "T"}, {"repeats", Bit(DType::kInt64), "T1"}},
               {{"output", kClassic, "T"}},
               {},
               InferTile,
               PerOutput<0>};

}  // namespace ge
