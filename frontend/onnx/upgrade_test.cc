// Older operators -> the canonical opset, printed as short lines of text.
#include "frontend/onnx/upgrade.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/onnx/model_testing.h"

namespace ge {
namespace {

using testing::AddAttr;
using testing::AddFloat;
using testing::AddInt;
using testing::AddInts;
using testing::AddNode;
using testing::SetRaw;
using testing::TestModel;

std::string ConstText(const Const& c) {
  std::string text;
  auto each = [&](auto zero) {
    for (uint64_t i = 0; i < c.bytes / sizeof zero; ++i) {
      memcpy(&zero, c.data + i * sizeof zero, sizeof zero);
      text += fmt::format("{}{}", i ? "," : "", zero);
    }
  };
  switch (c.type.dtype) {
    case DType::kFloat:
      each(0.0f);
      break;
    case DType::kDouble:
      each(0.0);
      break;
    case DType::kFloat16:
      each(uint16_t{0});
      break;
    default:
      each(int64_t{0});
  }
  return fmt::format("{}{}{{{}}}", DTypeName(c.type.dtype), c.type.rank() ? "s" : "", text);
}

// "Clip(x, f32{0}, f32{6}) -> y" for each node.
std::string Lines(const Graph& g) {
  const Function& f = g.fn(g.FindEntry("main")->fn);
  auto name = [&](ValueId v) -> std::string {
    const Value& value = f.value(v);
    if (v == 0) return "-";
    if (value.constant && value.name.empty()) return ConstText(g.consts[value.constant]);
    return value.name.empty() ? "%" : value.name;
  };
  std::string text;
  for (const Node& n : f.nodes) {
    text += n.op + "(";
    for (size_t i = 0; i < n.inputs.size(); ++i) text += (i ? ", " : "") + name(n.inputs[i]);
    for (const Attr& a : n.attrs) {
      text += "; " + a.name + "=";
      if (auto* i = std::get_if<int64_t>(&a.value)) text += std::to_string(*i);
      if (auto* s = std::get_if<std::string>(&a.value)) text += *s;
      if (auto* d = std::get_if<double>(&a.value)) text += fmt::format("{:.4g}", *d);
    }
    text += ") ->";
    for (ValueId v : n.outputs) text += " " + name(v);
    text += "\n";
  }
  return text;
}

// A model of one node `op` with input x and the outputs given.
struct OneNode : TestModel {
  wire::Node* n;
  OneNode(int64_t opset, const std::string& op, const std::string& inputs,
          const std::string& outputs, std::vector<testing::TestDim> dims = {2, 3, 4}, int dtype = 1)
      : TestModel(opset) {
    Input("x", dims, dtype);
    n = AddNode(g(), op, inputs, outputs, "n");
    for (const std::string& name : n->output()) {
      if (!name.empty()) Output(name);
    }
  }
  std::string Upgraded() const {
    auto graph = Import();
    return graph.ok() ? Lines(*graph) : graph.status().ToString();
  }
};

TEST(Upgrade, NoAxesAreAllForSqueezeAndNoneForUnsqueeze) {
  for (const char* op : {"Squeeze", "Unsqueeze"}) {
    OneNode m(12, op, "x", "y", {1, 3});
    AddInts(m.n, "axes", {});
    const bool none = op == std::string("Unsqueeze");
    EXPECT_EQ(m.Upgraded(), std::string(op) + (none ? "(x, i64s{}) -> y\n" : "(x) -> y\n"));
  }
}

TEST(Upgrade, ClipBoundsBecomeInputsOfTheInputsType) {
  OneNode m(10, "Clip", "x", "y");
  AddFloat(m.n, "min", 0);
  AddFloat(m.n, "max", 6);
  EXPECT_EQ(m.Upgraded(), "Clip(x, f32{0}, f32{6}) -> y\n");
  OneNode half(6 + 1, "Clip", "x", "y", {4}, 10);
  AddFloat(half.n, "max", 6);
  EXPECT_EQ(half.Upgraded(), "Clip(x, -, f16{17920}) -> y\n");  // 0x4600
  EXPECT_EQ(OneNode(10, "Clip", "x", "y").Upgraded(), "Clip(x) -> y\n");
  OneNode far(10, "Relu", "x", "h", {4}, 11);
  AddFloat(AddNode(far.g(), "Clip", "h", "y", "c"), "min", 1);
  EXPECT_EQ(far.Upgraded(), "Relu(x) -> h\nClip(h, f64{1}) -> y\n");
  OneNode unknown(10, "Mystery", "x", "h");
  AddFloat(AddNode(unknown.g(), "Clip", "h", "y", "c"), "min", 1);
  EXPECT_NE(unknown.Upgraded().find("UNSUPPORTED: load: node 'c': Clip of opset 10"),
            std::string::npos)
      << unknown.Upgraded();
  OneNode now(11, "Clip", "x x x", "y");
  EXPECT_EQ(now.Upgraded(), "Clip(x, x, x) -> y\n");
}

TEST(Upgrade, AxesBecomeAnInput) {
  for (const char* op : {"Squeeze", "Unsqueeze", "ReduceSum"}) {
    OneNode m(11, op, "x", "y");
    AddInts(m.n, "axes", {0, 2});
    EXPECT_EQ(m.Upgraded(), std::string(op) + "(x, i64s{0,2}) -> y\n");
    EXPECT_EQ(OneNode(13, op, "x x", "y").Upgraded(), std::string(op) + "(x, x) -> y\n");
  }
  OneNode mean(17, "ReduceMean", "x", "y");
  AddInts(mean.n, "axes", {-1});
  AddInt(mean.n, "keepdims", 0);
  EXPECT_EQ(mean.Upgraded(), "ReduceMean(x, i64s{-1}; keepdims=0) -> y\n");
  EXPECT_EQ(OneNode(17, "ReduceMax", "x", "y").Upgraded(), "ReduceMax(x) -> y\n");
  EXPECT_NE(OneNode(11, "Squeeze", "x x", "y").Upgraded().find("2 inputs, wanted at most 1"),
            std::string::npos);
}

TEST(Upgrade, SoftmaxOfTheFlattenedMatrix) {
  OneNode last(11, "Softmax", "x", "y");
  AddInt(last.n, "axis", 2);
  EXPECT_EQ(last.Upgraded(), "Softmax(x; axis=-1) -> y\n");
  OneNode matrix(11, "Softmax", "x", "y", {"N", 5});
  EXPECT_EQ(matrix.Upgraded(), "Softmax(x; axis=-1) -> y\n");
  const std::string expanded =
      "Shape(x) -> %\nFlatten(x; axis=1) -> %\nSoftmax(%; axis=-1) -> %\n"
      "Reshape(%, %; allowzero=1) -> y\n";
  EXPECT_EQ(OneNode(12, "Softmax", "x", "y").Upgraded(), expanded);
  OneNode wrong(11, "Softmax", "x", "y");
  AddInt(wrong.n, "axis", 3);
  EXPECT_NE(wrong.Upgraded().find("axis is 3, wanted -3 to 2"), std::string::npos);
  OneNode now(13, "Softmax", "x", "y");
  AddInt(now.n, "axis", 1);
  EXPECT_EQ(now.Upgraded(), "Softmax(x; axis=1) -> y\n");
}

TEST(Upgrade, BatchNormalization) {
  OneNode m(7, "BatchNormalization", "x x x x x", "y");
  AddInt(m.n, "spatial", 1);
  AddFloat(m.n, "epsilon", 0.5f);
  EXPECT_EQ(m.Upgraded(), "BatchNormalization(x, x, x, x, x; epsilon=0.5) -> y\n");
  OneNode each(8, "BatchNormalization", "x x x x x", "y");
  AddInt(each.n, "spatial", 0);
  AddFloat(each.n, "epsilon", 0.5f);
  EXPECT_EQ(each.Upgraded(),
            "Sub(x, x) -> %\nAdd(x, f32{0.5}) -> %\nSqrt(%) -> %\nDiv(%, %) -> %\n"
            "Mul(%, x) -> %\nAdd(%, x) -> y\n");
  OneNode training(9, "BatchNormalization", "x x x x x", "y m v a b");
  for (int i = 0; i < 2; ++i) training.g()->mutable_output()->RemoveLast();
  EXPECT_EQ(training.Upgraded(), "BatchNormalization(x, x, x, x, x; training_mode=1) -> y m v\n");
  OneNode both(8, "BatchNormalization", "x x x x x", "y m v a b");
  AddInt(both.n, "spatial", 0);
  EXPECT_NE(both.Upgraded().find("training mode, and spatial = 0"), std::string::npos);
  OneNode saved(9, "BatchNormalization", "x x x x x", "y m v a b");
  EXPECT_NE(saved.Upgraded().find("output 3 is read, a statistic saved"), std::string::npos);
  OneNode inference(9, "BatchNormalization", "x x x x x", "y");
  inference.n->add_output();
  EXPECT_EQ(inference.Upgraded(), "BatchNormalization(x, x, x, x, x) -> y\n");
}

TEST(Upgrade, DropoutKeepsTheTypeOfItsOldMask) {
  OneNode m(11, "Dropout", "x", "y mask");
  AddFloat(m.n, "ratio", 0.25f);
  EXPECT_EQ(m.Upgraded(), "Dropout(x, f32{0.25}) -> y mask\n");
  EXPECT_EQ(OneNode(9, "Dropout", "x", "y mask").Upgraded(),
            "Dropout(x, f32{0.5}) -> y %\nCast(%; to=1) -> mask\n");
  EXPECT_EQ(OneNode(10, "Dropout", "x", "y mask").Upgraded(), "Dropout(x, f32{0.5}) -> y mask\n");
}

// What is an input now was an attribute: a node that has both would lose one of them.
TEST(Upgrade, RefusesInputsOfLaterOpsets) {
  struct {
    int64_t opset;
    const char *op, *inputs, *why;
  } const cases[] = {{10, "Clip", "x x", "2 inputs, wanted at most 1"},
                     {11, "Dropout", "x x", "2 inputs, wanted at most 1"},
                     {10, "Pad", "x x", "2 inputs, wanted at most 1"},
                     {9, "Slice", "x x x", "3 inputs, wanted at most 1"},
                     {11, "Softmax", "x x", "2 inputs, wanted at most 1"},
                     {11, "Split", "x x", "2 inputs, wanted at most 1"},
                     {9, "TopK", "x x", "2 inputs, wanted at most 1"},
                     {11, "Unsqueeze", "x x", "2 inputs, wanted at most 1"},
                     {19, "DFT", "x x x", "3 inputs, wanted at most 2"},
                     {20, "GroupNormalization", "x x x x", "4 inputs, wanted at most 3"}};
  for (const auto& c : cases) {
    const std::string found = OneNode(c.opset, c.op, c.inputs, "y").Upgraded();
    EXPECT_NE(found.find(c.why), std::string::npos) << c.op << ": " << found;
  }
}

TEST(Upgrade, ScatterGotALongerName) {
  EXPECT_EQ(OneNode(10, "Scatter", "x x x", "y").Upgraded(), "ScatterElements(x, x, x) -> y\n");
  EXPECT_NE(OneNode(11, "Scatter", "x x x", "y").Upgraded().find("opset 11 removed it"),
            std::string::npos);
}

// What adapters must know of a value they hear from the nodes before it.
TEST(Upgrade, HearsOfTypesAndRanksThroughNodes) {
  OneNode parts(10, "Split", "x", "a b");
  AddFloat(AddNode(parts.g(), "Clip", "b", "y", "c"), "min", 1);
  EXPECT_EQ(parts.Upgraded(), "Split(x; num_outputs=2) -> a b\nClip(b, f32{1}) -> y\n");
  OneNode product(11, "MatMul", "x x", "h");
  AddInt(AddNode(product.g(), "Softmax", "h", "y", "s"), "axis", 2);
  EXPECT_EQ(product.Upgraded(), "MatMul(x, x) -> h\nSoftmax(h; axis=-1) -> y\n");
  OneNode matrices(11, "MatMul", "x x", "h", {3, 3});
  AddInt(AddNode(matrices.g(), "Softmax", "h", "y", "s"), "axis", 1);
  EXPECT_EQ(matrices.Upgraded(), "MatMul(x, x) -> h\nSoftmax(h; axis=-1) -> y\n");
}

TEST(Upgrade, PadsBecomeInputs) {
  OneNode m(10, "Pad", "x", "y", {4});
  AddInts(m.n, "pads", {1, 2});
  EXPECT_EQ(m.Upgraded(), "Pad(x, i64s{1,2}) -> y\n");
  AddFloat(m.n, "value", 0.5f);
  EXPECT_EQ(m.Upgraded(), "Pad(x, i64s{1,2}, f32{0.5}) -> y\n");
  EXPECT_NE(OneNode(10, "Pad", "x", "y").Upgraded().find("must have the attribute pads"),
            std::string::npos);
  OneNode unknown(10, "Mystery", "x", "h");
  wire::Node* pad = AddNode(unknown.g(), "Pad", "h", "y", "p");
  AddInts(pad, "pads", {1, 2});
  AddFloat(pad, "value", 1);
  EXPECT_NE(unknown.Upgraded().find("the element type of its input must be known"),
            std::string::npos)
      << unknown.Upgraded();
}

TEST(Upgrade, GroupNormalizationScalesEachChannel) {
  OneNode m(20, "GroupNormalization", "x x x", "y");
  AddInt(m.n, "num_groups", 2);
  const std::string wide =
      "Unsqueeze(x, i64s{1}) -> %\nExpand(%, %) -> %\nReshape(%, i64s{-1}) -> %\n";
  EXPECT_EQ(
      m.Upgraded(),
      "Shape(x; start=1; end=2) -> %\nDiv(%, i64s{2}) -> %\nConcat(i64s{2}, %; axis=0) -> %\n" +
          wide + wide + "GroupNormalization(x, %, %; num_groups=2) -> y\n");
  EXPECT_NE(OneNode(20, "GroupNormalization", "x x x", "y").Upgraded().find("num_groups is 0"),
            std::string::npos);
  OneNode now(21, "GroupNormalization", "x x x", "y");
  AddInt(now.n, "num_groups", 2);
  EXPECT_EQ(now.Upgraded(), "GroupNormalization(x, x, x; num_groups=2) -> y\n");
}

TEST(Upgrade, ModesOfGridSampleHaveOtherNames) {
  EXPECT_EQ(OneNode(16, "GridSample", "x x", "y").Upgraded(),
            "GridSample(x, x; mode=linear) -> y\n");
  for (const auto& [was, is] : {std::pair{"bicubic", "cubic"}, {"nearest", "nearest"}}) {
    OneNode m(19, "GridSample", "x x", "y");
    AddAttr(m.n, "mode", 3)->set_s(was);
    EXPECT_EQ(m.Upgraded(), std::string("GridSample(x, x; mode=") + is + ") -> y\n");
  }
  OneNode wrong(16, "GridSample", "x x", "y");
  AddAttr(wrong.n, "mode", 3)->set_s("linear");
  EXPECT_NE(wrong.Upgraded().find("mode is 'linear', wanted bilinear"), std::string::npos);
}

TEST(Upgrade, FirstOpsetsBroadcastAlongAnAxis) {
  const auto along = [](int64_t axis) {
    OneNode m(6, "Add", "x b", "y");
    m.Input("b", {3}, 1);
    AddInt(m.n, "broadcast", 1);
    AddInt(m.n, "axis", axis);
    return m.Upgraded();
  };
  EXPECT_EQ(along(1), "Unsqueeze(b, i64s{1}) -> %\nAdd(x, %) -> y\n");
  EXPECT_EQ(along(-2), along(1));
  EXPECT_EQ(along(2), "Add(x, b) -> y\n");
  EXPECT_NE(along(3).find("attribute 'axis' is 3 for ranks 3 and 1"), std::string::npos);
  OneNode slope(6, "PRelu", "x b", "y", {2, 3, 4, 5});
  slope.Input("b", {3}, 1);
  EXPECT_EQ(slope.Upgraded(), "Unsqueeze(b, i64s{1,2}) -> %\nPRelu(x, %) -> y\n");
}

TEST(Upgrade, FirstOpsetsNamedTypesAndHadAttributes) {
  OneNode cast(5, "Cast", "x", "y");
  AddAttr(cast.n, "to", 3)->set_s("INT64");
  EXPECT_EQ(cast.Upgraded(), "Cast(x; to=7) -> y\n");
  OneNode strange(5, "Cast", "x", "y");
  AddAttr(strange.n, "to", 3)->set_s("UNDEFINED");
  EXPECT_NE(strange.Upgraded().find("wanted a type such as FLOAT"), std::string::npos);
  OneNode reshape(4, "Reshape", "x", "y");
  AddInts(reshape.n, "shape", {4, 6});
  AddInts(reshape.n, "consumed_inputs", {0});
  EXPECT_EQ(reshape.Upgraded(), "Reshape(x, i64s{4,6}) -> y\n");
  EXPECT_EQ(OneNode(3, "Concat", "x x", "y").Upgraded(), "Concat(x, x; axis=1) -> y\n");
  EXPECT_NE(OneNode(5, "Tile", "x x x", "y").Upgraded().find("it repeats along one axis"),
            std::string::npos);
  OneNode training(6, "Dropout", "x", "y");
  EXPECT_NE(training.Upgraded().find("'is_test' is 0, which trains"), std::string::npos);
}

TEST(Upgrade, TopKAndRoiAlign) {
  OneNode top(9, "TopK", "x", "v i");
  AddInt(top.n, "k", 2);
  EXPECT_EQ(top.Upgraded(), "TopK(x, i64s{2}) -> v i\n");
  EXPECT_NE(OneNode(9, "TopK", "x", "v i").Upgraded().find("must have the attribute k"),
            std::string::npos);
  EXPECT_EQ(OneNode(15, "RoiAlign", "x x x", "y").Upgraded(),
            "RoiAlign(x, x, x; coordinate_transformation_mode=output_half_pixel) -> y\n");
}

TEST(Upgrade, SliceAndSplit) {
  OneNode slice(9, "Slice", "x", "y");
  AddInts(slice.n, "starts", {1});
  AddInts(slice.n, "ends", {-1});
  AddInts(slice.n, "axes", {2});
  EXPECT_EQ(slice.Upgraded(), "Slice(x, i64s{1}, i64s{-1}, i64s{2}) -> y\n");
  OneNode sizes(11, "Split", "x", "a b");
  AddInts(sizes.n, "split", {1, 2});
  AddInt(sizes.n, "axis", 1);
  EXPECT_EQ(sizes.Upgraded(), "Split(x, i64s{1,2}; axis=1) -> a b\n");
  EXPECT_EQ(OneNode(13, "Split", "x", "a b c").Upgraded(), "Split(x; num_outputs=3) -> a b c\n");
  OneNode equal(11, "Split", "x", "a b");
  AddInts(equal.n, "split", {});
  EXPECT_EQ(equal.Upgraded(), "Split(x; num_outputs=2) -> a b\n");
}

TEST(Upgrade, UpsampleAndOldResize) {
  auto scaled = [](int64_t opset, const char* op, std::vector<float> scales, const char* mode) {
    OneNode m(opset, op, "x s", "y");
    SetRaw(m.g()->add_initializer(), "s", 1, {static_cast<int64_t>(scales.size())}, scales);
    AddAttr(m.n, "mode", 3)->set_s(mode);
    return m.Upgraded();
  };
  const std::string asymmetric = "coordinate_transformation_mode=asymmetric; mode=";
  EXPECT_EQ(scaled(9, "Upsample", {1, 2, 2}, "nearest"),
            "Resize(x, -, s; " + asymmetric + "nearest; nearest_mode=floor) -> y\n");
  EXPECT_EQ(scaled(9, "Upsample", {1, 2, 2}, "linear"),
            "Resize(x, -, s; " + asymmetric + "linear) -> y\n");
  EXPECT_EQ(scaled(10, "Resize", {1, 2, 2}, "nearest"),
            "Resize(x, -, s; " + asymmetric + "nearest; nearest_mode=floor) -> y\n");
  EXPECT_EQ(scaled(10, "Resize", {1, 0.5, 0.5}, "nearest"),
            "Resize(x, -, s; " + asymmetric + "nearest; nearest_mode=ceil) -> y\n");
  EXPECT_EQ(scaled(10, "Resize", {1, 0.5, 2}, "nearest"),
            "Resize(x, -, f32s{1,0.5,1}; " + asymmetric + "nearest; nearest_mode=ceil) -> %\n" +
                "Resize(%, -, f32s{1,1,2}; " + asymmetric + "nearest; nearest_mode=floor) -> y\n");
  OneNode attribute(7, "Upsample", "x", "y");
  for (float s : {1.0f, 2.0f, 2.0f}) {
    if (attribute.n->attribute_size() == 0) AddAttr(attribute.n, "scales", 6);
    attribute.n->mutable_attribute(0)->add_floats(s);
  }
  EXPECT_EQ(attribute.Upgraded(),
            "Resize(x, -, f32s{1,2,2}; " + asymmetric + "nearest; nearest_mode=floor) -> y\n");
  EXPECT_NE(scaled(10, "Upsample", {1, 2, 2}, "nearest").find("opset 10 removed it"),
            std::string::npos);
}

// ---- experimental operators of opsets 1 to 9 ----

OneNode Experimental(const std::string& op, int64_t opset = 7, int dtype = 1) {
  return OneNode(opset, op, "x", "y", {1, 2, 4, 5}, dtype);
}

void AddFloats(wire::Node* n, const std::string& name, const std::vector<float>& values) {
  auto* a = AddAttr(n, name, 6);
  for (float v : values) a->add_floats(v);
}

TEST(Upgrade, AffineScaleAndCurvesAreWhatTheyAreMadeOf) {
  OneNode affine = Experimental("Affine");
  AddFloat(affine.n, "alpha", 2);
  AddFloat(affine.n, "beta", 3);
  EXPECT_EQ(affine.Upgraded(), "Mul(x, f32{2}) -> %\nAdd(%, f32{3}) -> y\n");
  EXPECT_EQ(Experimental("Affine", 1, 11).Upgraded(), "Add(x, f64{0}) -> y\n");
  OneNode scale = Experimental("Scale", 9);
  AddFloat(scale.n, "scale", 0.5);
  EXPECT_EQ(scale.Upgraded(), "Mul(x, f32{0.5}) -> y\n");
  for (const auto& [op, call] :
       {std::pair{"ScaledTanh", "Tanh"}, std::pair{"ParametricSoftplus", "Softplus"}}) {
    OneNode curve = Experimental(op);
    AddFloat(curve.n, "alpha", 2);
    EXPECT_NE(curve.Upgraded().find("attribute 'beta' is absent, wanted a number"),
              std::string::npos);
    AddFloat(curve.n, "beta", 3);
    EXPECT_EQ(curve.Upgraded(),
              std::string("Mul(x, f32{3}) -> %\n") + call + "(%) -> %\nMul(%, f32{2}) -> y\n");
  }
  OneNode unknown(9, "Mystery", "x", "h");
  AddFloat(AddNode(unknown.g(), "Scale", "h", "y", "c"), "scale", 2);
  EXPECT_EQ(unknown.Upgraded(), "Mystery(x) -> h\nCastLike(f32{2}, h) -> %\nMul(h, %) -> y\n");
}

TEST(Upgrade, ImageScalerIsABatchNormalization) {
  OneNode image = Experimental("ImageScaler");
  AddFloat(image.n, "scale", 2);
  AddFloats(image.n, "bias", {1, 3});
  EXPECT_EQ(image.Upgraded(),
            "BatchNormalization(x, f32s{2,2}, f32s{1,3}, f32s{0,0}, f32s{1,1}; epsilon=0) -> y\n");
  OneNode few = Experimental("ImageScaler");
  AddFloats(few.n, "bias", {1});
  EXPECT_NE(few.Upgraded().find("attribute 'bias' has 1 numbers, wanted 2, one a channel"),
            std::string::npos);
  EXPECT_NE(Experimental("ImageScaler").Upgraded().find("attribute 'bias' is absent"),
            std::string::npos);
}

TEST(Upgrade, CropIsASlice) {
  const auto cropped = [](const std::vector<int64_t>& border, const std::vector<int64_t>& scale) {
    OneNode m = Experimental("Crop");
    const auto add = [&](const char* name, const std::vector<int64_t>& values) {
      auto* a = AddAttr(m.n, name, 7);
      for (const int64_t v : values) a->add_ints(v);
    };
    add("border", border);
    if (!scale.empty()) add("scale", scale);
    return m.Upgraded();
  };
  const std::string open = "9223372036854775807";
  EXPECT_EQ(cropped({0, 1, 2, 0}, {}),
            "Slice(x, i64s{1,0}, i64s{" + open + ",-2}, i64s{2,3}) -> y\n");
  EXPECT_EQ(cropped({1, 1, 9, 9}, {2, 3}), "Slice(x, i64s{1,1}, i64s{3,4}, i64s{2,3}) -> y\n");
  for (const auto& [border, scale, wanted] :
       {std::tuple<std::vector<int64_t>, std::vector<int64_t>, std::string>{
            {1, 1, 1}, {}, "attribute 'border' is [1,1,1], wanted 4 numbers that are not negative"},
        {{1, -1, 1, 0}, {}, "attribute 'border' is [1,-1,1,0], wanted 4"},
        {{1, 1, 1, 0}, {2}, "attribute 'scale' is [2], wanted 2 numbers that are not negative"},
        {{3, 0, 3, 0},
         {},
         "attributes 'border' and 'scale' want 3 + 3 of its input's width, which is 5"},
        {{0, 1, 0, 0}, {4, 1}, "want 1 + 4 of its input's height, which is 4"}}) {
    EXPECT_NE(cropped(border, scale).find(wanted), std::string::npos) << cropped(border, scale);
  }
  OneNode matrix(7, "Crop", "x", "y", {4, 5});
  AddInts(matrix.n, "border", {0, 0, 0, 0});
  EXPECT_NE(matrix.Upgraded().find("its input has 2 axes, wanted 4: [N,C,H,W]"), std::string::npos);
}

TEST(Upgrade, ExperimentalOperatorsAreRefusedByName) {
  for (const char* op :
       {"Affine", "Crop", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"}) {
    EXPECT_NE(Experimental(op, 10).Upgraded().find("opset 10 removed it"), std::string::npos) << op;
    EXPECT_NE(Experimental(op, 7, 7).Upgraded().find("its input is i64, wanted f16, f32 or f64"),
              std::string::npos);
    OneNode two(7, op, "x x", "y", {1, 2, 4, 5});
    EXPECT_NE(two.Upgraded().find("it has 2 inputs and 1 outputs, wanted one of each"),
              std::string::npos);
  }
  OneNode kind = Experimental("Scale");
  AddInt(kind.n, "scale", 2);
  EXPECT_NE(kind.Upgraded().find("attribute 'scale' is not known, or of another kind"),
            std::string::npos);
}

TEST(Upgrade, Resize11DropsInputsWithoutMeaning) {
  OneNode m(11, "Resize", "x roi none sizes", "y");
  SetRaw(m.g()->add_initializer(), "roi", 1, {0}, std::vector<float>{});
  SetRaw(m.g()->add_initializer(), "none", 1, {0}, std::vector<float>{});
  SetRaw(m.g()->add_initializer(), "sizes", 7, {3}, std::vector<int64_t>{2, 6, 8});
  EXPECT_EQ(m.Upgraded(), "Resize(x, -, -, sizes) -> y\n");
  AddAttr(m.n, "coordinate_transformation_mode", 3)->set_s("tf_half_pixel_for_nn");
  EXPECT_NE(m.Upgraded().find("removed at opset 13"), std::string::npos);
}

TEST(Upgrade, RefusesWhatNobodyLookedAt) {
  EXPECT_NE(OneNode(8, "Scan", "x x", "y").Upgraded().find("export the model for opset 9"),
            std::string::npos);
  // An operator that nobody knows passes; INFER refuses it by name.
  EXPECT_EQ(OneNode(8, "Mystery", "x", "y").Upgraded(), "Mystery(x) -> y\n");
}

}  // namespace
}  // namespace ge
