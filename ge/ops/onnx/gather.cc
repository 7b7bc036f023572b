#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Indices known now must lie in [-size, size); the others are checked when the node runs.
Status CheckIndices(InferContext& c, Dim size) {
  const auto indices = Content(c, 1);
  if (!indices || !size.known()) return {};
  for (const Dim& d : *indices) {
    if (d.known() && (d.value < -size.value || d.value >= size.value)) {
      return Bad(c.node(), "input 'indices' holds " + std::to_string(d.value) + ", wanted " +
                               std::to_string(-size.value) + " to " +
                               std::to_string(size.value - 1) + ": the axis has size " +
                               std::to_string(size.value));
    }
  }
  return {};
}

void PickContent(InferContext& c) {
  const auto data = Content(c, 0);
  const auto indices = Numbers(c, 1);
  if (!data || !indices) return;
  const auto size = static_cast<int64_t>(data->size());
  std::vector<Dim> picked;
  for (int64_t i : *indices) {
    if (i < -size || i >= size) return;
    picked.push_back((*data)[static_cast<size_t>(i < 0 ? i + size : i)]);
  }
  SetContent(c, 0, c.input_type(0).dtype, std::move(picked));
}

Status InferGather(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& indices = c.input_type(1);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 1, "Gather: input 'data'"));
  const auto at =
      NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()), "attribute 'axis'");
  if (!at.ok()) return Bad(c.node(), at.status().message());
  GE_RETURN_IF_ERROR(CheckIndices(c, x.dims[static_cast<size_t>(*at)]));
  if (!indices.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  std::vector<Dim> dims(x.dims.begin(), x.dims.begin() + *at);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + *at + 1, x.dims.end());
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  if (x.rank() == 1) PickContent(c);
  return {};
}

}  // namespace

// Slices of data along one axis, in the order of the indices; negative indices count from the end.
GE_OP(gather) = {"",
                 "Gather",
                 13,
                 {{"data", kClassic, "T"}, {"indices", kIndex, "Tind"}},
                 {{"output", kClassic, "T"}},
                 {{"axis", AttrKind::kInt, 0}},
                 InferGather,
                 PerOutput<0>};

}  // namespace ge
