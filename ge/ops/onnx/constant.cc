#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

template <typename T>
Status List(InferContext& c, DType dtype, const std::vector<T>& values) {
  return SetTensor(c, 0, dtype, {KnownDim(static_cast<int64_t>(values.size()))});
}

Status FromTensor(InferContext& c, ConstRef ref) {
  const Const& k = c.tensor_attr(ref);
  c.SetOutput(0, k.type);
  if (auto content = ConstInts(k)) SetContent(c, 0, k.type.dtype, std::move(*content));
  return {};
}

Status FromInts(InferContext& c, const std::vector<int64_t>& values) {
  GE_RETURN_IF_ERROR(List(c, DType::kInt64, values));
  if (values.size() > kMaxKnownInts) return {};
  std::vector<Dim> content;
  for (int64_t v : values) content.push_back(KnownDim(v));
  SetContent(c, 0, DType::kInt64, std::move(content));
  return {};
}

Status InferConstant(InferContext& c) {
  const Node& n = c.node();
  if (n.attrs.size() != 1) {
    return Bad(n, "found " + std::to_string(n.attrs.size()) +
                      " attributes, wanted exactly one of value, value_float, value_floats, "
                      "value_int, value_ints, value_string, value_strings");
  }
  const Attr& a = n.attrs[0];
  if (auto* v = std::get_if<ConstRef>(&a.value)) return FromTensor(c, *v);
  if (auto* v = std::get_if<int64_t>(&a.value)) {
    GE_RETURN_IF_ERROR(SetTensor(c, 0, DType::kInt64, {}));
    SetContent(c, 0, DType::kInt64, {KnownDim(*v)});
    return {};
  }
  // An empty list does not carry its kind, so the attribute's name decides.
  if (a.name == "value_ints") return FromInts(c, AttrInts(n, a.name));
  if (auto* v = std::get_if<std::vector<double>>(&a.value)) return List(c, DType::kFloat, *v);
  if (auto* v = std::get_if<std::vector<std::string>>(&a.value)) {
    return List(c, DType::kString, *v);
  }
  if (a.name == "value_float") return SetTensor(c, 0, DType::kFloat, {});
  if (a.name == "value_string") return SetTensor(c, 0, DType::kString, {});
  if (a.name == "value_floats") return SetTensor(c, 0, DType::kFloat, {KnownDim(0)});
  if (a.name == "value_strings") return SetTensor(c, 0, DType::kString, {KnownDim(0)});
  return Bad(n, "attribute '" + a.name + "' is a parameter of the function, wanted a value: call " +
                    "the function with it");
}

}  // namespace

// A literal. Sparse literals have no attribute here and are refused by name.
GE_OP(constant) = {"",
                   "Constant",
                   25,
                   {},
                   {{"output", kAnyDType, "T"}},
                   {{"value", AttrKind::kTensor},
                    {"value_float", AttrKind::kFloat},
                    {"value_floats", AttrKind::kFloats},
                    {"value_int", AttrKind::kInt},
                    {"value_ints", AttrKind::kInts},
                    {"value_string", AttrKind::kString},
                    {"value_strings", AttrKind::kStrings}},
                   InferConstant,
                   PerOutput<0>};

}  // namespace ge
