#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// dtype of the attribute's one element and, when it is an integer, the element.
struct Fill {
  DType dtype = DType::kFloat;
  std::optional<Dim> element;
};

Result<Fill> ReadFill(InferContext& c) {
  Fill fill;
  const Attr* a = c.node().attr("value");
  const auto* ref = a ? std::get_if<ConstRef>(&a->value) : nullptr;
  if (ref == nullptr) return fill;
  const Const& k = c.tensor_attr(*ref);
  if (ElementCount(k.type) != 1) {
    return Bad(c.node(), fmt::format("attribute 'value' is {}, wanted a tensor of one element",
                                     TypeToString(k.type, c.dims())));
  }
  fill.dtype = k.type.dtype;
  if (auto content = ConstInts(k)) fill.element = content->front();
  return fill;
}

Status InferConstantOfShape(InferContext& c) {
  GE_ASSIGN_OR_RETURN(Fill fill, ReadFill(c));
  const Type& shape = c.input_type(0);
  if (shape.ranked && shape.rank() != 1) {
    return Bad(c.node(), "input 'input' has shape " + Show(c.dims(), shape.dims) +
                             ", wanted rank 1: a list of sizes");
  }
  auto sizes = Content(c, 0);
  if (!sizes) {
    if (!shape.is_static()) {
      c.SetOutput(0, UnrankedTensor(fill.dtype));
      return {};
    }
    if (shape.dims[0].value > static_cast<int64_t>(kMaxRank)) {
      return SetTensor(c, 0, fill.dtype, std::vector<Dim>(kMaxRank + 1));
    }
    sizes.emplace();
    for (int64_t i = 0; i < shape.dims[0].value; ++i) sizes->push_back(c.FreshDim("size", true));
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, fill.dtype, *sizes));
  const auto count = ElementCount(TensorType(fill.dtype, *sizes));
  if (fill.element && count && *count <= static_cast<int64_t>(kMaxKnownInts)) {
    SetContent(c, 0, fill.dtype, std::vector<Dim>(static_cast<size_t>(*count), *fill.element));
  }
  return {};
}

}  // namespace

// A tensor of the given sizes full of one value (0.0f by default).
GE_OP(constant_of_shape) = {"",
                            "ConstantOfShape",
                            25,
                            {{"input", Bit(DType::kInt64), "T1"}},
                            {{"output", kAnyDType & ~kComplexes & ~Bit(DType::kString), "T2"}},
                            {{"value", AttrKind::kTensor}},
                            InferConstantOfShape,
                            PerOutput<0>};

}  // namespace ge
