#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Contents joined along the first axis stand one after the other.
void JoinContents(InferContext& c) {
  std::vector<Dim> all;
  for (size_t i = 0; i < c.input_count(); ++i) {
    auto content = Content(c, i);
    if (!content || all.size() + content->size() > kMaxKnownInts) return;
    all.insert(all.end(), content->begin(), content->end());
  }
  SetContent(c, 0, c.input_type(0).dtype, std::move(all));
}

Status InferConcat(InferContext& c) {
  const DType dtype = c.input_type(0).dtype;
  std::vector<Dim> dims;
  int64_t axis = 0;
  bool unranked = false, first = true;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Type& t = c.input_type(i);
    if (!t.ranked) {
      unranked = true;
      continue;
    }
    if (first) {
      auto at = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(t.rank()),
                              "attribute 'axis'");
      if (!at.ok()) return Bad(c.node(), at.status().message());
      axis = *at;
      dims = t.dims;
      first = false;
      continue;
    }
    const std::string name = "input " + std::to_string(i);
    if (t.rank() != dims.size()) {
      return Bad(c.node(), name + " has shape " + Show(c.dims(), t.dims) + ", wanted rank " +
                               std::to_string(dims.size()) + " as the inputs before it");
    }
    for (size_t k = 0; k < dims.size(); ++k) {
      if (k == static_cast<size_t>(axis)) {
        GE_ASSIGN_OR_RETURN(dims[k],
                            Checked(c.node(), c.dims().Add(dims[k], t.dims[k]), "the joined axis"));
      } else {
        GE_ASSIGN_OR_RETURN(dims[k], SameDim(c, dims[k], t.dims[k],
                                             "axis " + std::to_string(k) + " of " + name +
                                                 " against the inputs before it"));
      }
    }
  }
  if (first) {
    c.SetOutput(0, UnrankedTensor(dtype));
    return {};
  }
  if (unranked) dims[static_cast<size_t>(axis)] = c.FreshDim("concat", false);
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, std::move(dims)));
  if (axis == 0 && !unranked) JoinContents(c);
  return {};
}

}  // namespace

// Joins tensors along one axis.
GE_OP(concat) = {"",
                 "Concat",
                 13,
                 {{"inputs", kClassic, "T", Arity::kVariadic}},
                 {{"concat_result", kClassic, "T"}},
                 {{"axis", AttrKind::kInt, true}},
                 InferConcat,
                 PerOutput<0>};

}  // namespace ge
