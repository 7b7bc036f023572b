// Operators whose results do not follow their inputs, or only by jumps: no cotangent goes back.
#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

void PutZero(std::vector<Rule>* rules, const char* reason, const char* domain,
             std::initializer_list<const char*> ops) {
  for (const char* op : ops) rules->push_back({domain, op, nullptr, {{kAllInputs, reason}}});
}

}  // namespace

GE_GRAD(zero) {
  std::vector<Rule> rules;
  PutZero(&rules, "it answers true or false", "",
          {"And", "Or", "Xor", "Not", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
           "IsInf", "IsNaN", "RegexFullMatch", "OptionalHasElement"});
  PutZero(&rules, "it answers whole numbers", "",
          {"ArgMax", "ArgMin", "NonZero", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr",
           "BitwiseXor", "SequenceLength"});
  PutZero(&rules, "which boxes are kept changes only by jumps", "", {"NonMaxSuppression"});
  PutZero(&rules, "it is constant between jumps", "",
          {"Ceil", "Floor", "Round", "Sign", "Hardmax"});
  PutZero(&rules, "it is constant between jumps", "ai.onnx.ml",
          {"Binarizer", "LabelEncoder", "OneHotEncoder"});
  PutZero(&rules, "what is drawn at random is not followed", "",
          {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
           "RandomUniformLike"});
  PutZero(&rules, "it reads nothing that a gradient could be for", "",
          {"Constant", "ConstantOfShape", "EyeLike", "BlackmanWindow", "HammingWindow",
           "HannWindow", "MelWeightMatrix", "ImageDecoder", "SequenceEmpty"});
  PutZero(&rules, "text is no number", "",
          {"StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"});
  PutZero(&rules, "text is no number", "ai.onnx.ml", {"CategoryMapper"});
  PutZero(&rules, "a state is read, whatever was computed before", "ge", {"Read"});
  PutZero(&rules, "it says that there is none", "ge", {"StopGradient"});
  return rules;
}

}  // namespace ge::grad
