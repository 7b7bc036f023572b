// What operators take of work for each element of their results: where prices of the portable
// engine and of others that know no better start.
#include "ge/ops/work.h"

#include <gtest/gtest.h>

#include <sstream>

namespace ge {
namespace {

Type Floats(std::vector<int64_t> dims) { return TensorType(DType::kFloat, dims); }

const OpDef* Named(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? FindOp("", name)
                                  : FindOp(name.substr(0, dot), name.substr(dot + 1));
}

Work Of(const std::string& name, const std::vector<Type>& in, const std::vector<Type>& out,
        std::vector<Attr> attrs = {}) {
  const OpDef* op = Named(name);
  if (op == nullptr) return {-1, -1};
  Node n;
  n.domain = op->domain;
  n.op = op->name;
  n.attrs = std::move(attrs);
  return WorkOf(*op, n, in, out);
}

TEST(Work, PerElementOfTheFirstResult) {
  const std::pair<int, const char*> table[] = {
      {0,
       "CenterCropPad Compress Concat ConcatFromSequence Constant ConstantOfShape "
       "DepthToSpace Expand EyeLike Flatten Gather GatherElements GatherND Identity If Loop "
       "NonMaxSuppression NonZero OneHot Optional OptionalGetElement OptionalHasElement Pad "
       "Reshape ReverseSequence Scan ScatterElements ScatterND SequenceAt SequenceConstruct "
       "SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap Shape Slice "
       "SpaceToDepth SplitToSequence Squeeze StringConcat StringNormalizer StringSplit "
       "TensorScatter TfIdfVectorizer Tile Transpose Trilu Unique Unsqueeze "
       "ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.CastMap ai.onnx.ml.CategoryMapper "
       "ai.onnx.ml.DictVectorizer ai.onnx.ml.FeatureVectorizer ai.onnx.ml.OneHotEncoder "
       "ai.onnx.ml.ZipMap ge.Call ge.CallIndirect ge.Copy ge.Gradient ge.Partial ge.Read "
       "ge.StopGradient"},
      {1,
       "Abs BitwiseNot Ceil Floor IsInf IsNaN Neg Not Range Relu Round Sign ThresholdedRelu "
       "Where ai.onnx.ml.Binarizer ai.onnx.ml.Imputer ge.ReluGrad"},
      {2,
       "BatchNormalization Clip DequantizeLinear Hardmax LeakyRelu NegativeLogLikelihoodLoss "
       "PRelu ai.onnx.ml.Scaler"},
      {3, "QuantizeLinear RotaryEmbedding Shrink Softsign"},
      {4, "HardSigmoid LpNormalization MelWeightMatrix Reciprocal Sqrt ai.onnx.ml.Normalizer"},
      {5,
       "HardSwish RMSNormalization SimplifiedLayerNormalization "
       "ge.BatchNormalizationTraining"},
      {6, "ge.MomentumStep"},
      {8,
       "AffineGrid GroupNormalization InstanceNormalization LayerNormalization "
       "MeanVarianceNormalization ai.onnx.ml.LabelEncoder"},
      {9, "ge.AdagradStep ge.BatchNormalizationGrad ge.LionStep ge.RmsPropStep"},
      {10, "Exp Log Mod ge.LarsStep"},
      {12, "Celu Elu Resize Selu Sigmoid Swish"},
      {14, "LogSoftmax Softmax ge.AdamStep"},
      {15, "Acos Asin Atan Cos Cosh Sin Sinh Tan Tanh"},
      {20, "Acosh Asinh Atanh Bernoulli Erf ImageDecoder Pow Softplus ge.LambStep"},
      {25, "Gelu LRN"},
      {35, "Mish"},
      {40, "Multinomial"},
      {64, "ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor"},
      {100, "RegexFullMatch com.microsoft.Tokenizer"},
      {1000,
       "ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor ai.onnx.ml.TreeEnsemble "
       "ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor"},
  };
  const std::vector<Type> in(3, Floats({7})), out = {Floats({2, 3}), Floats({5})};
  const Type unknown = UnrankedTensor(DType::kFloat);
  for (const auto& [flops, names] : table) {
    std::istringstream words(names);
    for (std::string name; words >> name;) {
      EXPECT_EQ(Of(name, in, out).flops, 6.0 * flops) << name;
      EXPECT_EQ(Of(name, in, out).bytes, 4.0 * (21 + 11)) << name;
      EXPECT_EQ(Of(name, in, {unknown}).flops, 0) << name;
      EXPECT_EQ(Of(name, {}, {}).flops, 0) << name;
    }
  }
}

TEST(Work, OfWhatIsNoMultipleOfTheResult) {
  const Type x = Floats({2, 3, 3});
  EXPECT_EQ(Of("Det", {x}, {Floats({2})}).flops, 18 * 3 * 2 / 3);
  EXPECT_EQ(Of("Det", {UnrankedTensor(DType::kFloat)}, {Floats({2})}).flops, 0);
  EXPECT_EQ(Of("MatMul", {Floats({3}), Floats({3, 5})}, {Floats({5})}).flops, 2 * 3 * 5);
  EXPECT_EQ(Of("com.microsoft.Inverse", {Floats({3})}, {Floats({3})}).flops, 0);
  EXPECT_EQ(Of("com.microsoft.Inverse", {x}, {x}).flops, 18 * 3 * 4);
  for (const char* name : {"ReduceSum", "ReduceMax", "ge.SumToShape"}) {
    EXPECT_EQ(Of(name, {x}, {Floats({1})}).flops, 18) << name;
  }
  for (const char* name : {"Max", "Mean", "Min", "Sum"}) {
    EXPECT_EQ(Of(name, {x, x, x}, {x}).flops, 3 * 18) << name;
    EXPECT_EQ(Of(name, {x, x, x}, {}).flops, 0) << name;
  }
  // Of two heads, whose values have 4 columns each.
  const std::vector<Type> heads = {Floats({1, 3, 6}), Floats({1, 3, 10}), Floats({1, 3, 8})};
  const std::vector<Attr> two = {{"kv_num_heads", int64_t{2}}};
  EXPECT_EQ(Of("LinearAttention", heads, {heads[2]}, two).flops, (6 * 30 + 2 * 18) * 4);
  std::vector<Type> flat = heads;
  flat[2] = Floats({3, 8});
  EXPECT_EQ(Of("LinearAttention", flat, {heads[2]}, two).flops, 0);
  for (const int64_t ratio : {0, 1, 3}) {  // samples of a side; 0: as many as it takes
    const double side = ratio > 0 ? static_cast<double>(ratio) : 2;
    EXPECT_EQ(Of("RoiAlign", {x}, {x}, {{"sampling_ratio", ratio}}).flops, 8 * side * side * 18);
  }
  // Three frames of three frequencies, half of a spectrum of six.
  const Type spectrum = Floats({1, 3, 3, 2});
  const std::vector<Attr> half = {{"onesided", int64_t{1}}}, whole = {{"onesided", int64_t{0}}};
  EXPECT_EQ(Of("STFT", {Floats({1, 8, 1})}, {spectrum}, half).flops, 4 * 6 * 18);
  EXPECT_EQ(Of("STFT", {Floats({1, 8, 1})}, {spectrum}, whole).flops, 4 * 3 * 18);
}

TEST(Work, BytesAreThoseOfEachTensorOnce) {
  const Type codes = TensorType(DType::kInt4, std::vector<int64_t>{6});
  EXPECT_EQ(BytesOf(std::vector<Type>{codes, Floats({2, 3})}, std::vector<Type>{Floats({5})}),
            3 + 24 + 20);
  EXPECT_EQ(ElementsOf(Floats({2, 0})), 0);
  EXPECT_EQ(ElementsOf(Floats({})), 1);
}

}  // namespace
}  // namespace ge
