// Operators that have a gradient which is not built: each says why, or what to write instead.
#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

void PutRefusal(std::vector<Rule>* rules, const char* reason, const char* domain,
                std::initializer_list<const char*> ops) {
  for (const char* op : ops) rules->push_back({domain, op, nullptr, {{kAllInputs, reason, true}}});
}

// What holds a tensor hands it on; what holds anything else has no cotangent.
void OptionalBack(Back& b) {
  if (!IsFloat(b.type(b.x()).dtype) || !IsFloat(b.type(b.y()).dtype)) {
    return b.Fail("an optional value carries no gradient; use the tensor itself");
  }
  b.Give(0, b.ct());
}

}  // namespace

GE_GRAD(refused) {
  std::vector<Rule> rules = {{"", "OptionalGetElement", OptionalBack}};
  PutRefusal(&rules, "an optional value carries no gradient; use the tensor itself", "",
             {"Optional"});
  PutRefusal(&rules, "a sequence carries no gradient; use Concat, Split or a Scan's results", "",
             {"ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceErase",
              "SequenceInsert", "SequenceMap", "SplitToSequence"});
  PutRefusal(&rules, "the order of distinct elements has no gradient; use TopK and Gather", "",
             {"Unique"});
  PutRefusal(&rules, "the order of distinct elements has no gradient; use TopK and Gather",
             "com.microsoft", {"Unique"});
  PutRefusal(&rules, "bits have no slope", "", {"BitCast"});
  PutRefusal(&rules, "its gradient is not built; write it with GridSample and Conv", "",
             {"DeformConv", "MaxRoiPool", "RoiAlign"});
  PutRefusal(&rules, "its gradient is not built; write it with GridSample", "com.microsoft",
             {"CropAndResize"});
  PutRefusal(&rules,
             "it reads whole numbers; put QuantizeLinear and DequantizeLinear around Conv or "
             "MatMul",
             "", {"ConvInteger", "QLinearConv", "QLinearMatMul"});
  PutRefusal(&rules, "its gradient is not built; write its recurrence as a Scan", "",
             {"LinearAttention", "CausalConvWithState"});
  PutRefusal(&rules, "its gradient is not built; write its recurrence as a Scan", "com.microsoft",
             {"GatedDeltaNet"});
  PutRefusal(&rules, "a trained model of ai.onnx.ml is not trained here", "ai.onnx.ml",
             {"LinearClassifier", "SVMClassifier", "SVMRegressor", "TreeEnsemble",
              "TreeEnsembleClassifier", "TreeEnsembleRegressor"});
  PutRefusal(&rules, "its gradient is not built; use LpNormalization or Concat", "ai.onnx.ml",
             {"FeatureVectorizer", "Normalizer"});
  PutRefusal(&rules, "a map carries no gradient; use tensors", "ai.onnx.ml",
             {"CastMap", "DictVectorizer", "ZipMap"});
  PutRefusal(&rules, "a state that is written has no gradient; take it out of what is derived",
             "ge", {"Assign", "KvAppend"});
  PutRefusal(&rules,
             "which function runs is known too late; use If over ge.Call or, where it is the way "
             "back of a function that calls itself, derive that with recursion=again",
             "ge", {"CallIndirect", "Partial"});
  return rules;
}

}  // namespace ge::grad
