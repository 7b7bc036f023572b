#include "ge/ops/op.h"

#include <gtest/gtest.h>

#include <set>

#include "ge/ops/infer_context_testing.h"

namespace ge {
namespace {

using Ints = std::vector<int64_t>;

TEST(OpTable, HoldsEveryOperatorOnceWithARule) {
  std::set<std::string> names;
  for (const OpDef* op : AllOps()) {
    EXPECT_TRUE(names.insert(std::string(op->domain) + "." + op->name).second) << op->name;
    EXPECT_NE(op->infer, nullptr) << op->name;
    EXPECT_GE(op->since_version, 1) << op->name;
    EXPECT_LE(op->since_version, kCanonicalOpset) << op->name;
    if (*op->domain != 0 && op->domain != std::string_view("ai.onnx.ml")) {
      EXPECT_EQ(op->since_version, 1) << op->domain << " " << op->name;  // such domains have one
    }
    EXPECT_EQ(FindOp(op->domain, op->name), op);
    // A variadic port can only be the last one.
    for (const auto* ports : {&op->inputs, &op->outputs}) {
      for (size_t i = 0; i + 1 < ports->size(); ++i) {
        EXPECT_NE((*ports)[i].arity, Arity::kVariadic) << op->name;
      }
    }
  }
  EXPECT_GE(names.size(), 56u);
  EXPECT_EQ(FindOp("", "Convv"), nullptr);
  EXPECT_EQ(FindOp("ge", "Conv"), nullptr);
}

TEST(OpTable, NamesTheNearest) {
  EXPECT_EQ(NearestOps("", "Convv").front(), "Conv");
  EXPECT_EQ(NearestOps("", "matmul").front(), "MatMul");
  EXPECT_EQ(NearestOps("", "Copy").front(), "ge.Copy");
  EXPECT_TRUE(NearestOps("", "Qqqqqqqqqqqq").empty());
}

struct BadUse {
  const char* op;
  std::vector<std::string> inputs;
  std::vector<Attr> attrs;
  const char* message;
};

TEST(CheckNode, RefusesWhatTheRecordDoesNotSay) {
  const BadUse refusals[] = {
      {"Relu", {}, {}, "Relu: found 0 inputs, wanted 1 (X)"},
      {"Relu", {"f32[1]", "f32[1]"}, {}, "found 2 inputs, wanted 1"},
      {"Clip", {"f32[1]", "", "", "f32[]"}, {}, "found 4 inputs, wanted 1 to 3"},
      {"Concat", {}, {A("axis", int64_t{0})}, "found 0 inputs, wanted at least 1"},
      {"Concat", {"f32[1]", ""}, {A("axis", int64_t{0})}, "input 1 ('inputs') is absent"},
      {"Add", {"f32[1]", ""}, {}, "input 1 ('B') is absent"},
      {"Concat", {"f32[1]"}, {}, "attribute 'axis' is missing, wanted a value of kind int"},
      {"Softmax",
       {"f32[1]"},
       {A("axes", int64_t{0})},
       "unknown attribute 'axes', wanted one of (axis)"},
      {"Softmax", {"f32[1]"}, {A("axis", 1.0)}, "attribute 'axis' is of kind float, wanted int"},
      {"Softmax",
       {"f32[1]"},
       {A("axis", int64_t{0}), A("axis", int64_t{0})},
       "attribute 'axis' is given twice"},
      {"Relu", {"str[1]"}, {}, "input 0 ('X') has dtype str, wanted one of"},
      {"Add", {"f32[1]", "i64[1]"}, {}, "input 1 ('B') has dtype i64, wanted f32 as input 0 has"},
      {"Gather",
       {"f32[1]", "f32[1]"},
       {},
       "input 1 ('indices') has dtype f32, wanted one of i32, i64"},
      {"ge.Read", {}, {}, "no effect is named"},
  };
  for (const BadUse& r : refusals) {
    TestContext c(r.op, r.inputs, r.attrs);
    const std::string answer = c.Run();
    EXPECT_EQ(answer.rfind("! ", 0), 0u) << r.op << ": " << answer;
    EXPECT_NE(answer.find(r.message), std::string::npos) << r.op << ": " << answer;
  }
}

TEST(CheckNode, NamesTheNode) {
  TestContext c("Relu", {}, {});
  const Status s = CheckNodeAgainstOp(c.node_, *FindOp("", "Relu"));
  EXPECT_EQ(s.code(), Code::kInvalidGraph);
  EXPECT_EQ(s.node(), "n");
}

TEST(CheckNode, TakesAnEmptyListOfAnyKind) {
  TestContext c("Conv", {"f32[1,1,4]", "f32[1,1,2]"}, {A("pads", std::vector<double>{})});
  EXPECT_EQ(c.Run(), "f32[1,1,3]");
  TestContext none("StringNormalizer", {"str[3]"}, {A("stopwords", std::vector<int64_t>{})});
  EXPECT_EQ(none.Run().rfind("! ", 0), std::string::npos) << none.Run();
  TestContext one("StringNormalizer", {"str[3]"}, {A("stopwords", std::vector<int64_t>{1})});
  EXPECT_NE(one.Run().find("wanted list of strings"), std::string::npos) << one.Run();
}

TEST(AttrAccess, FallsBack) {
  TestContext c("Conv", {}, {A("group", int64_t{2}), A("pads", Ints{1, 2})});
  EXPECT_EQ(AttrInt(c.node_, "group"), 2);
  EXPECT_EQ(AttrInt(c.node_, "other"), 0);
  EXPECT_EQ(AttrInt(c.node_, "other", 7), 7);
  EXPECT_EQ(AttrFloat(c.node_, "alpha", 0.5), 0.5);
  EXPECT_EQ(AttrString(c.node_, "auto_pad"), "NOTSET");  // the record's
  EXPECT_EQ(AttrString(c.node_, "auto_pad", "VALID"), "VALID");
  c.node_.attrs[0].value = AttrRef{"groups"};
  EXPECT_EQ(AttrInt(c.node_, "group"), 1);
  EXPECT_EQ(AttrInts(c.node_, "pads"), (Ints{1, 2}));
  EXPECT_TRUE(AttrInts(c.node_, "strides").empty());
  EXPECT_TRUE(HasAttr(c.node_, "pads"));
}

double FlopsOf(const char* op, const std::vector<std::string>& in, std::vector<Attr> attrs = {}) {
  TestContext c(op, in, std::move(attrs));
  const std::string out = c.Run();
  std::vector<Type> types;
  for (size_t i = 0; i < in.size(); ++i) types.push_back(c.input_type(i));
  TestContext result("Relu", {out}, {});
  const OpDef* def = FindOp(c.node_.domain, c.node_.op);
  const Type made[] = {result.input_type(0)};
  return WorkOf(*def, c.node_, types, made).flops;
}

TEST(WorkOfNodes, CountsMultipliesAndAdds) {
  EXPECT_EQ(FlopsOf("MatMul", {"f32[8,3]", "f32[3,5]"}), 2.0 * 8 * 3 * 5);
  EXPECT_EQ(FlopsOf("Conv", {"f32[1,4,6,6]", "f32[8,2,3,3]"}, {A("group", int64_t{2})}),
            2.0 * 2 * 9 * 8 * 16);
  EXPECT_EQ(FlopsOf("ConvTranspose", {"f32[1,4,5,5]", "f32[4,3,2,2]"}), 2.0 * 12 * 100);
  EXPECT_EQ(FlopsOf("MaxPool", {"f32[1,1,4,4]"}, {A("kernel_shape", Ints{2, 2})}), 4.0 * 9);
  EXPECT_EQ(FlopsOf("Gemm", {"f32[2,3]", "f32[3,4]"}), (2.0 * 3 + 2) * 8);
  EXPECT_EQ(FlopsOf("Add", {"f32[2,3]", "f32[3]"}), 6);
  EXPECT_EQ(FlopsOf("ReduceSum", {"f32[2,3]"}), 6);
  EXPECT_EQ(FlopsOf("Add", {"f32[N,3]", "f32[3]"}), 0);
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) {
    EXPECT_EQ(FlopsOf(op, {"f32[2,3]", "f32[3]", "f32[1]"}), 3 * 6) << op;
  }
  EXPECT_EQ(FlopsOf("Pad", {"f32[2,3]", "i64[4]={0,0,0,1}"}), 0);
  EXPECT_EQ(FlopsOf("Bernoulli", {"f32[2,3]"}), 20.0 * 6);
  for (const char* op : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    EXPECT_EQ(FlopsOf(op, {"i64[]={8}"}), 20.0 * 8) << op;
  }
  // A multiply and an add for each weight of a filter, per window.
  EXPECT_EQ(FlopsOf("ge.ConvGradWeight", {"f32[1,4,6,6]", "f32[1,8,4,4]", "i64[4]={8,2,3,3}"},
                    {A("group", int64_t{2})}),
            2.0 * 2 * 9 * 8 * 16);
}

}  // namespace
}  // namespace ge
