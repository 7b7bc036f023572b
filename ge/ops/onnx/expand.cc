#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferExpand(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& shape = c.input_type(1);
  if (shape.ranked && shape.rank() != 1) {
    return Bad(c.node(), "input 'shape' has shape " + Show(c.dims(), shape.dims) +
                             ", wanted rank 1: a list of sizes");
  }
  const auto sizes = Content(c, 1);
  if (!sizes || !x.ranked) {
    if (!x.ranked || !shape.is_static()) {
      c.SetOutput(0, UnrankedTensor(x.dtype));
      return {};
    }
    const size_t rank = std::max(x.rank(), static_cast<size_t>(shape.dims[0].value));
    std::vector<Dim> dims;
    for (size_t i = 0; i < std::min(rank, kMaxRank + 1); ++i) {
      dims.push_back(c.FreshDim("expand", true));
    }
    return SetTensor(c, 0, x.dtype, std::move(dims));
  }
  for (const Dim& d : *sizes) {
    if (d.known() && d.value < 0) {
      return Bad(c.node(),
                 "input 'shape' holds " + Show(c.dims(), *sizes) + ", wanted no negative size");
    }
  }
  const std::vector<Dim> shapes[] = {x.dims, *sizes};
  GE_ASSIGN_OR_RETURN(std::vector<Dim> dims, BroadcastDims(c, shapes));
  const auto count = ElementCount(TensorType(x.dtype, dims));
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  const auto content = Content(c, 0);
  if (content && content->size() == 1 && count && *count <= static_cast<int64_t>(kMaxKnownInts)) {
    SetContent(c, 0, x.dtype, std::vector<Dim>(static_cast<size_t>(*count), content->front()));
  }
  return {};
}

}  // namespace

// Broadcasts a tensor and a shape against each other (a 1 in the shape keeps the input's size).
GE_OP(expand) = {"",
                 "Expand",
                 13,
                 {{"input", kClassic, "T"}, {"shape", Bit(DType::kInt64)}},
                 {{"output", kClassic, "T"}},
                 {},
                 InferExpand,
                 PerOutput<0>};

}  // namespace ge
