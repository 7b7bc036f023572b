// ai.onnx.ml: its versions at import, and text labels, which leave their classifier there.
#include <gtest/gtest.h>

#include "frontend/onnx/model_testing.h"
#include "frontend/text/text.h"

namespace ge {
namespace {

using testing::AddAttr;
using testing::AddNode;
using testing::TestModel;

struct MlModel : TestModel {
  explicit MlModel(int64_t version) : TestModel(15) {
    auto* import = m.add_opset_import();
    import->set_domain("ai.onnx.ml");
    import->set_version(version);
  }
  wire::Node* Add(const std::string& op, const std::string& in, const std::string& out) {
    wire::Node* n = AddNode(g(), op, in, out);
    n->set_domain("ai.onnx.ml");
    return n;
  }
  // The graph as text, or the refusal.
  std::string Imported() const {
    const auto graph = Import();
    return graph.ok() ? PrintText(*graph) : graph.status().ToString();
  }
};

void AddTexts(wire::Node* n, const std::string& name, const std::vector<std::string>& texts) {
  auto* a = AddAttr(n, name, 8);
  for (const std::string& t : texts) a->add_strings(t);
}

TEST(UpgradeMl, TextLabelsBecomeALabelEncoder) {
  MlModel m(1);
  m.Input("x", {"N", 2});
  AddTexts(m.Add("LinearClassifier", "x", "label scores"), "classlabels_strings", {"a", "b"});
  m.Output("label");
  const std::string text = m.Imported();
  EXPECT_NE(text.find("{classlabels_ints=[0, 1]}"), std::string::npos) << text;
  EXPECT_NE(text.find("label = ai.onnx.ml.LabelEncoder("), std::string::npos) << text;
  EXPECT_NE(text.find("values_strings=[\"a\", \"b\"]"), std::string::npos) << text;
  EXPECT_NE(text.find("opset \"ai.onnx.ml\" 5"), std::string::npos) << text;
}

TEST(UpgradeMl, TextLabelsWithoutScores) {
  MlModel m(1);
  m.Input("x", {"N", 2});
  AddTexts(m.Add("SVMClassifier", "x", "label"), "classlabels_strings", {"a", "b"});
  m.Output("label");
  const std::string text = m.Imported();
  EXPECT_NE(text.find("classlabels_ints=[0, 1]"), std::string::npos) << text;
  EXPECT_NE(text.find("label = ai.onnx.ml.LabelEncoder("), std::string::npos) << text;
}

TEST(UpgradeMl, OneTextLabelIsRefused) {
  MlModel m(3);
  m.Input("x", {"N", 2});
  AddTexts(m.Add("TreeEnsembleClassifier", "x", "label scores"), "classlabels_strings", {"only"});
  m.Output("label");
  EXPECT_NE(m.Imported().find("holds 'only' alone, wanted 2 labels or more"), std::string::npos);
}

TEST(UpgradeMl, TheFirstLabelEncoderGoesByTheTypeOfItsInput) {
  const std::pair<int, const char*> wanted[] = {
      {8, "keys_strings=[\"a\", \"b\"], values_int64s=[0, 1]"},
      {7, "keys_int64s=[0, 1], values_strings=[\"a\", \"b\"]"}};
  for (const auto& [type, attrs] : wanted) {
    MlModel m(1);
    m.Input("x", {3}, type);
    AddTexts(m.Add("LabelEncoder", "x", "y"), "classes_strings", {"a", "b"});
    m.Output("y");
    const std::string text = m.Imported();
    EXPECT_NE(text.find(attrs), std::string::npos) << text;
  }
  MlModel m(1);
  m.Input("x", {3});
  m.Add("SomethingElse", "x", "unknown");
  AddTexts(m.Add("LabelEncoder", "unknown", "y"), "classes_strings", {"a", "b"});
  m.Output("y");
  EXPECT_NE(m.Imported().find("the type of its input is not stated"), std::string::npos);
}

TEST(UpgradeMl, NewerVersionsAreReadAsTheNewest) {
  for (const int64_t version : {6, 100}) {
    MlModel m(version);
    m.Input("x", {3});
    m.Add("Binarizer", "x", "y");
    m.Output("y");
    const bool refused =
        m.Imported().find("version 100 of ai.onnx.ml, wanted 1 to 5 (newer ones") !=
        std::string::npos;
    EXPECT_EQ(refused, version == 100) << m.Imported();
  }
}

}  // namespace
}  // namespace ge
