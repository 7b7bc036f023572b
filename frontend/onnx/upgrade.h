// UpgradeToCanonical: nodes of the model's own opset -> nodes of the canonical opset. One
// small adapter per changed operator, in frontend/onnx/adapt/. A node that cannot keep its
// meaning is refused by name. An operator with one version passes at any opset: exporters
// write some into models of opsets older than the operator. Internal to frontend/onnx; used by
// one thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/onnx/import_state.h"
#include "ge/ops/op.h"

namespace ge {

inline constexpr int64_t kCanonicalMlOpset = 5;  // of ai.onnx.ml, by onnx 1.23

// Known facts of a value before INFER: enough to give new constants their type.
struct ValueHint {
  DType dtype = DType::kUndefined;
  int rank = -1;
};

// One node on its way to the canonical opset. An adapter changes `node` in place and may put nodes
// before and after it.
class NodeUpgrade {
 public:
  // `read` tells for each value of the original function whether anything reads it.
  NodeUpgrade(Graph* graph, FunctionId fn, OpsetPair from, std::vector<ValueHint>* hints,
              const std::vector<bool>& read, Node n)
      : node(std::move(n)),
        opset(from.onnx),
        ml_opset(from.ml),
        graph_(graph),
        fn_(fn),
        hints_(hints),
        read_(read) {}

  Node node;
  const int64_t opset;     // of ai.onnx, by the model or the function that the node comes from
  const int64_t ml_opset;  // of ai.onnx.ml; 0 when none is stated

  bool has_input(size_t i) const { return i < node.inputs.size() && node.inputs[i] != 0; }
  bool has_output(size_t i) const { return i < node.outputs.size() && node.outputs[i] != 0; }
  // By a node, or as a result.
  bool output_is_read(size_t i) const { return has_output(i) && read_[node.outputs[i]]; }
  ValueHint input_hint(size_t i) const;
  // What the file declares of it; no tensor when that is nothing.
  const Type& input_type(size_t i) const { return graph_->fn(fn_).value(node.inputs[i]).type; }
  // The payload of a constant input; nullptr when it is not constant.
  const Const* input_const(size_t i) const;

  // Takes the attribute out of the node.
  std::optional<std::vector<int64_t>> TakeInts(std::string_view name);
  std::optional<double> TakeFloat(std::string_view name);
  std::optional<std::vector<double>> TakeFloats(std::string_view name);
  std::optional<int64_t> TakeInt(std::string_view name);
  std::optional<std::vector<std::string>> TakeStrings(std::string_view name);
  void SetAttr(std::string name, Attr::Payload value);
  // Sets input `i`, filling the slots before it with absent ones.
  void SetInput(size_t i, ValueId value);

  ValueId IntsConst(const std::vector<int64_t>& values);  // i64[n]
  ValueId IntScalar(int64_t value);
  ValueId FloatsConst(const std::vector<float>& values);  // f32[n]
  // A scalar of one of the floating types, rounded to it. INVALID_GRAPH-free: the caller has
  // checked IsPlainFloat.
  ValueId FloatScalar(DType dtype, double value);

  // A node before (or after) this one; answers its single output.
  ValueId Before(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs = {});
  ValueId NewValue(ValueHint hint = {});
  void AddBefore(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                 std::vector<ValueId> outputs);
  void AddAfter(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                std::vector<ValueId> outputs);

  // INVALID_GRAPH when the node has more inputs than its operator had at that opset.
  Status WantInputs(size_t at_most) const;
  Status Unsupported(const std::string& what) const;
  Status Invalid(const std::string& what) const;

  std::vector<Node> before, after;

 private:
  Node MakeNode(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                std::vector<ValueId> outputs);
  Function& fn() { return graph_->fn(fn_); }

  Graph* graph_;
  FunctionId fn_;
  std::vector<ValueHint>* hints_;
  const std::vector<bool>& read_;
};

bool IsPlainFloat(DType dtype);  // f16, bf16, f32, f64

using UpgradeFn = Status (*)(NodeUpgrade& u);

// The meaning (or the interface) has been the present one since opset `since`, but for additions
// with harmless defaults: older nodes go through `adapt`. No adapter: the canonical version
// contains every older one, but for the changes of first_opsets.cc.
struct UpgradeRule {
  std::string_view op;
  int64_t since;
  UpgradeFn adapt;
};
std::span<const UpgradeRule> UpgradeRules();
// The oldest opset whose nodes of this operator have the canonical form.
int64_t OldestOpsetOf(const OpDef& op);

// Adapters, by file in adapt/.
Status UpgradeAffine(NodeUpgrade& upgrade);
Status UpgradeAxes(NodeUpgrade& upgrade);  // Squeeze, Unsqueeze, Reduce*
Status UpgradeBatchNormalization(NodeUpgrade& upgrade);
Status UpgradeClip(NodeUpgrade& upgrade);
Status UpgradeCrop(NodeUpgrade& upgrade);
Status UpgradeDft(NodeUpgrade& upgrade);
Status UpgradeDropout(NodeUpgrade& upgrade);
Status UpgradeImageScaler(NodeUpgrade& upgrade);
Status UpgradePad(NodeUpgrade& upgrade);
Status UpgradeParametricSoftplus(NodeUpgrade& upgrade);
Status UpgradeFirstOpsets(NodeUpgrade& upgrade);  // of every operator, before opset 7
Status UpgradeGridSample(NodeUpgrade& upgrade);
Status UpgradeGroupNormalization(NodeUpgrade& upgrade);
Status UpgradeResize(NodeUpgrade& upgrade);
Status UpgradeRoiAlign(NodeUpgrade& upgrade);
Status UpgradeScale(NodeUpgrade& upgrade);
Status UpgradeScaledTanh(NodeUpgrade& upgrade);
Status UpgradeScan(NodeUpgrade& upgrade);
Status UpgradeScatter(NodeUpgrade& upgrade);
Status UpgradeSlice(NodeUpgrade& upgrade);
Status UpgradeSoftmax(NodeUpgrade& upgrade);  // Softmax, LogSoftmax, Hardmax
Status UpgradeSplit(NodeUpgrade& upgrade);
Status UpgradeTopK(NodeUpgrade& upgrade);
Status UpgradeUpsample(NodeUpgrade& upgrade);
// Every operator of ai.onnx.ml.
Status UpgradeMachineLearning(NodeUpgrade& upgrade);

// Hints for the outputs of a node of any opset, as far as its inputs tell.
void HintOutputs(const Graph& graph, const Node& n, std::vector<ValueHint>* hints);

// Upgrades `fn` and, before the nodes that read their results, the bodies it calls.
Status UpgradeToCanonical(ImportState* state, FunctionId fn);

}  // namespace ge
