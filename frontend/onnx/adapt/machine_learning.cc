// The domain ai.onnx.ml: what its versions 1 to 5 meant, as version 5.
#include <fmt/format.h>

#include <numeric>

#include "frontend/onnx/upgrade.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

std::vector<int64_t> CountUp(size_t n) {
  std::vector<int64_t> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}

// Version 1 had one list of texts, which are numbered; the input's type says which way it goes.
Status UpgradeLabelEncoder(NodeUpgrade& u) {
  if (u.ml_opset > 1) return {};
  auto classes = u.TakeStrings("classes_strings");
  if (!classes) return {};  // the operator's record says what is missing
  std::vector<int64_t> numbers = CountUp(classes->size());
  switch (u.input_hint(0).dtype) {
    case DType::kString:
      u.SetAttr("keys_strings", *std::move(classes));
      u.SetAttr("values_int64s", std::move(numbers));
      return {};
    case DType::kInt64:
      u.SetAttr("keys_int64s", std::move(numbers));
      u.SetAttr("values_strings", *std::move(classes));
      return {};
    default:
      return u.Unsupported(
          "version 1 of ai.onnx.ml maps texts to numbers or numbers to texts, and the type of its "
          "input is not stated; export the model for version 2 or later, or declare that value");
  }
}

// Engines know no texts: the node answers places in the list of labels, a LabelEncoder the texts.
Status SplitTextLabels(NodeUpgrade& u, const char* ints) {
  const Attr* given = u.node.attr(ints);
  const auto* numbers = given ? std::get_if<std::vector<int64_t>>(&given->value) : nullptr;
  if (numbers != nullptr && !numbers->empty()) return {};
  auto texts = u.TakeStrings("classlabels_strings");
  if (!texts || texts->empty() || !u.has_output(0)) return {};
  if (texts->size() == 1) {
    return u.Unsupported(
        fmt::format("attribute 'classlabels_strings' holds '{:.64}' alone, wanted "
                    "2 labels or more: it does not say what the other class is "
                    "called",
                    texts->front()));
  }
  const std::vector<int64_t> places = CountUp(texts->size());
  u.SetAttr(ints, places);
  const ValueId label = u.node.outputs[0];
  u.node.outputs[0] = u.NewValue({DType::kInt64, 1});
  u.AddAfter("LabelEncoder", {u.node.outputs[0]},
             {{"keys_int64s", places}, {"values_strings", *std::move(texts)}}, {label});
  u.after.back().domain = u.node.domain;
  return {};
}

}  // namespace

Status UpgradeMachineLearning(NodeUpgrade& upgrade) {
  const std::string& op = upgrade.node.op;
  if (op == "LabelEncoder") return UpgradeLabelEncoder(upgrade);
  if (op == "LinearClassifier" || op == "SVMClassifier") {
    return SplitTextLabels(upgrade, "classlabels_ints");
  }
  if (op == "TreeEnsembleClassifier") return SplitTextLabels(upgrade, "classlabels_int64s");
  return {};
}

}  // namespace ge
