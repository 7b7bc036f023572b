#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// How many are taken: the content of input 'K', or a size that only the data decide.
Result<Dim> TopKCount(InferContext& c, Dim size) {
  const Type& k = c.input_type(1);
  const auto count = ElementCount(k);
  if (k.ranked && (k.rank() > 1 || (count && *count != 1))) {
    return Bad(c.node(),
               "input 'K' has shape " + Show(c.dims(), k.dims) + ", wanted one element: [1]");
  }
  const auto content = Content(c, 1);
  if (!content || content->size() != 1) return c.FreshDim("top_k", true);
  const Dim taken = content->front();
  if (taken.known() && (taken.value < 0 || (size.known() && taken.value > size.value))) {
    return Bad(c.node(), fmt::format("input 'K' is {}, wanted 0 to {}: the size of the axis",
                                     taken.value, c.dims().ToString(size)));
  }
  return taken;
}

Status InferTopK(InferContext& c) {
  const Type& x = c.input_type(0);
  Type values = UnrankedTensor(x.dtype);
  if (x.ranked) {
    if (x.rank() == 0) return Bad(c.node(), "input 'X' is a scalar, wanted rank 1 or more");
    const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()),
                                    "attribute 'axis'");
    if (!axis.ok()) return Bad(c.node(), axis.status().message());
    std::vector<Dim> dims = x.dims;
    Dim& size = dims[static_cast<size_t>(*axis)];
    GE_ASSIGN_OR_RETURN(size, TopKCount(c, size));
    values = TensorType(x.dtype, std::move(dims));
  }
  for (size_t i = 0; i < c.output_count() && i < 2; ++i) {
    if (!c.has_output(i)) continue;
    Type type = values;
    if (i == 1) type.dtype = DType::kInt64;
    c.SetOutput(i, std::move(type));
  }
  return {};
}

}  // namespace

// The K largest (or least) elements along one axis and their places; of equal ones the first.
GE_OP(top_k) = {
    "",
    "TopK",
    24,
    {{"X", kNumeric, "T"}, {"K", Bit(DType::kInt64)}},
    {{"Values", kNumeric, "T"}, {"Indices", Bit(DType::kInt64), "I"}},
    {{"axis", AttrKind::kInt, -1}, {"largest", AttrKind::kInt, 1}, {"sorted", AttrKind::kInt, 1}},
    InferTopK,
    PerInput<8>};

}  // namespace ge
