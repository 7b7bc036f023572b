#include "ge/ops/families/feature_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/ops/edit.h"

namespace ge {

Result<Dim> RowsOfFeatures(InferContext& context) {
  const Type& x = context.input_type(0);
  if (!x.ranked) return context.FreshDim("rows", false);
  if (x.rank() != 1 && x.rank() != 2) {
    return Bad(context.node(),
               fmt::format("input 'X' has shape {}, wanted rows of features [N,C] or one "
                           "row [C]",
                           Show(context.dims(), x.dims)));
  }
  return x.rank() == 2 ? x.dims[0] : KnownDim(1);
}

std::optional<int64_t> FeatureCount(const InferContext& context) {
  const Type& x = context.input_type(0);
  if (!x.ranked || x.dims.empty() || !x.dims.back().known()) return std::nullopt;
  return x.dims.back().value;
}

size_t ListLength(const Node& n, std::string_view name) {
  const Attr* a = n.attr(name);
  if (a == nullptr) return 0;
  if (const auto* v = std::get_if<std::vector<int64_t>>(&a->value)) return v->size();
  if (const auto* v = std::get_if<std::vector<double>>(&a->value)) return v->size();
  if (const auto* v = std::get_if<std::vector<std::string>>(&a->value)) return v->size();
  return 0;
}

Status WantLength(const Node& n, std::string_view name, size_t wanted, std::string_view as) {
  const size_t found = ListLength(n, name);
  if (found == wanted) return {};
  return Bad(n,
             fmt::format("attribute '{}' has {} entries, wanted {}: {}", name, found, wanted, as));
}

const Const* TensorAttr(const InferContext& context, std::string_view name) {
  const Attr* a = context.node().attr(name);
  const auto* ref = a ? std::get_if<ConstRef>(&a->value) : nullptr;
  return ref ? &context.tensor_attr(*ref) : nullptr;
}

Result<size_t> WeightCount(const InferContext& context, std::string_view name) {
  const size_t listed = ListLength(context.node(), name);
  const std::string tensor = fmt::format("{}_as_tensor", name);
  const Const* k = TensorAttr(context, tensor);
  if (k == nullptr) return listed;
  const auto count = ElementCount(k->type);
  if (!IsFloat(k->type.dtype) || !count) {
    return Bad(context.node(), fmt::format("attribute '{}' is {}, wanted floats", tensor,
                                           DTypeName(k->type.dtype)));
  }
  if (listed > 0 && *count > 0) {
    return Bad(
        context.node(),
        fmt::format("attributes '{}' and '{}' are both given, wanted one of them", name, tensor));
  }
  return listed + static_cast<size_t>(*count);
}

Status WantPostTransform(const Node& n) {
  const std::string_view name = AttrString(n, "post_transform");
  for (const char* known : {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}) {
    if (name == known) return {};
  }
  return Bad(n, fmt::format("attribute 'post_transform' is '{:.64}', wanted NONE, SOFTMAX, "
                            "LOGISTIC, SOFTMAX_ZERO or PROBIT",
                            name));
}

Result<size_t> ClassLabels(const Node& n, std::string_view ints) {
  const size_t count = ListLength(n, ints), texts = ListLength(n, "classlabels_strings");
  if (texts > 0 && count == 0) {
    return Bad(n, fmt::format("attribute 'classlabels_strings' has {} entries, wanted none: give "
                              "'{}' and map them to texts by a LabelEncoder behind the node, as "
                              "the import of an ONNX model does",
                              texts, ints));
  }
  if (texts > 0 || count == 0) {
    return Bad(n, fmt::format("attribute '{}' has {} entries and 'classlabels_strings' {}, wanted "
                              "labels in one of them",
                              ints, count, texts));
  }
  return count;
}

Status SetClasses(InferContext& context, int64_t columns) {
  GE_ASSIGN_OR_RETURN(const Dim rows, RowsOfFeatures(context));
  GE_RETURN_IF_ERROR(SetTensor(context, 0, DType::kInt64, {rows}));
  return SetTensor(context, 1, DType::kFloat, {rows, KnownDim(columns)});
}

ValueId FloatsConst(Transaction& transaction, FunctionId fn, const Node& n, std::string_view name,
                    const std::vector<int64_t>& dims) {
  const Attr* a = n.attr(name);
  const auto* list = a ? std::get_if<std::vector<double>>(&a->value) : nullptr;
  const Type type = TensorType(DType::kFloat, dims);
  if (list == nullptr || ElementCount(type) != static_cast<int64_t>(list->size())) return 0;
  const std::vector<float> narrow(list->begin(), list->end());
  return transaction.AddConst(fn, MakeConst(type, narrow.data(), narrow.size() * sizeof(float)));
}

}  // namespace ge
