#include <algorithm>
#include <span>

#include "frontend/onnx/upgrade.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// How the outputs of an operator follow from its inputs.
enum class Rule : uint8_t {
  kSame,       // dtype and rank of input 0
  kBroadcast,  // dtype of input 0, greatest rank
  kBool,       // bool, greatest rank
  kDtype,      // dtype of input 0, rank unknown
  kMatrix,     // dtype of input 0, rank 2
  kShape,      // i64[n]
  kCast,       // attribute `to`, rank of input 0
  kReduce,     // dtype of input 0; its rank when keepdims is 1
  kFilled,     // attribute `value`, rank unknown
  kMatMul,     // dtype of input 0; the greatest rank when both are at least 2
};

struct HintRule {
  std::string_view op;
  Rule rule;
};

constexpr HintRule kHintRules[] = {
    {"Add", Rule::kBroadcast},
    {"Affine", Rule::kSame},
    {"And", Rule::kBool},
    {"AveragePool", Rule::kSame},
    {"BatchNormalization", Rule::kSame},
    {"Cast", Rule::kCast},
    {"Clip", Rule::kSame},
    {"Concat", Rule::kSame},
    {"ConstantOfShape", Rule::kFilled},
    {"Conv", Rule::kSame},
    {"ConvTranspose", Rule::kSame},
    {"Crop", Rule::kSame},
    {"Div", Rule::kBroadcast},
    {"Dropout", Rule::kSame},
    {"Elu", Rule::kSame},
    {"Equal", Rule::kBool},
    {"Erf", Rule::kSame},
    {"Exp", Rule::kSame},
    {"Expand", Rule::kDtype},
    {"Flatten", Rule::kMatrix},
    {"Gather", Rule::kDtype},
    {"Gemm", Rule::kMatrix},
    {"GlobalAveragePool", Rule::kSame},
    {"GlobalMaxPool", Rule::kSame},
    {"Greater", Rule::kBool},
    {"HardSigmoid", Rule::kSame},
    {"Identity", Rule::kSame},
    {"ImageScaler", Rule::kSame},
    {"LSTM", Rule::kDtype},
    {"LeakyRelu", Rule::kSame},
    {"Less", Rule::kBool},
    {"Log", Rule::kSame},
    {"MatMul", Rule::kMatMul},
    {"Max", Rule::kBroadcast},
    {"MaxPool", Rule::kSame},
    {"Min", Rule::kBroadcast},
    {"Mul", Rule::kBroadcast},
    {"Neg", Rule::kSame},
    {"Not", Rule::kBool},
    {"Or", Rule::kBool},
    {"Pad", Rule::kSame},
    {"ParametricSoftplus", Rule::kSame},
    {"Pow", Rule::kBroadcast},
    {"Range", Rule::kDtype},
    {"Reciprocal", Rule::kSame},
    {"ReduceL2", Rule::kReduce},
    {"ReduceMax", Rule::kReduce},
    {"ReduceMean", Rule::kReduce},
    {"ReduceMin", Rule::kReduce},
    {"ReduceSum", Rule::kReduce},
    {"Relu", Rule::kSame},
    {"Reshape", Rule::kDtype},
    {"Resize", Rule::kSame},
    {"Scale", Rule::kSame},
    {"ScaledTanh", Rule::kSame},
    {"Shape", Rule::kShape},
    {"Sigmoid", Rule::kSame},
    {"Sin", Rule::kSame},
    {"Slice", Rule::kSame},
    {"Softmax", Rule::kSame},
    {"Softplus", Rule::kSame},
    {"Split", Rule::kSame},
    {"Sqrt", Rule::kSame},
    {"Squeeze", Rule::kDtype},
    {"Sub", Rule::kBroadcast},
    {"Tanh", Rule::kSame},
    {"Transpose", Rule::kSame},
    {"Unsqueeze", Rule::kDtype},
    {"Upsample", Rule::kSame},
};

int GreatestRank(const std::vector<ValueHint>& in) {
  int rank = 0;
  for (const ValueHint& h : in) {
    if (h.rank < 0) return -1;
    rank = std::max(rank, h.rank);
  }
  return rank;
}

ValueHint Apply(Rule rule, const Graph& g, const Node& n, const std::vector<ValueHint>& in) {
  ValueHint first = in.empty() ? ValueHint{} : in[0];
  switch (rule) {
    case Rule::kSame:
      return first;
    case Rule::kBroadcast:
      return {first.dtype, GreatestRank(in)};
    case Rule::kBool:
      return {DType::kBool, GreatestRank(in)};
    case Rule::kDtype:
      return {first.dtype, -1};
    case Rule::kMatrix:
      return {first.dtype, 2};
    case Rule::kShape:
      return {DType::kInt64, 1};
    case Rule::kCast: {
      DType to = static_cast<DType>(AttrInt(n, "to"));
      return {IsKnown(to) ? to : DType::kUndefined, first.rank};
    }
    case Rule::kReduce:
      return {first.dtype, AttrInt(n, "keepdims") ? first.rank : -1};
    case Rule::kFilled: {
      const Attr* value = n.attr("value");
      const auto* ref = value ? std::get_if<ConstRef>(&value->value) : nullptr;
      return {ref ? g.consts[ref->id].type.dtype : DType::kFloat, -1};
    }
    case Rule::kMatMul:
      return {first.dtype,
              in.size() == 2 && in[0].rank >= 2 && in[1].rank >= 2 ? GreatestRank(in) : -1};
  }
  return {};
}

}  // namespace

void HintOutputs(const Graph& graph, const Node& n, std::vector<ValueHint>* hints) {
  if (!n.domain.empty()) return;
  auto entry = std::find_if(std::begin(kHintRules), std::end(kHintRules),
                            [&](const HintRule& e) { return e.op == n.op; });
  if (entry == std::end(kHintRules)) return;
  std::vector<ValueHint> in;
  for (ValueId v : n.inputs) in.push_back((*hints)[v]);
  ValueHint out = Apply(entry->rule, graph, n, in);
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    // Only Split has several outputs of one kind; LSTM's share the dtype.
    bool alike = i == 0 || n.op == "Split" || n.op == "LSTM";
    if (n.outputs[i] != 0 && alike) (*hints)[n.outputs[i]] = out;
  }
}

}  // namespace ge
