// Which nodes the host runs: operators on texts and sequences, and no engine's work.
#include "ge/control/host_op.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

// A node whose inputs and outputs have these types; one of no kind is left out.
struct One {
  One(const char* domain, const char* op, const std::vector<Type>& in,
      const std::vector<Type>& out) {
    fn.values.resize(1);
    node.domain = domain;
    node.op = op;
    for (const Type& t : in) node.inputs.push_back(Put(t));
    for (const Type& t : out) node.outputs.push_back(Put(t));
  }
  ValueId Put(const Type& t) {
    if (t.kind == TypeKind::kUnknown) return 0;
    fn.values.push_back({});
    fn.values.back().type = t;
    return static_cast<ValueId>(fn.values.size() - 1);
  }
  bool OnHost() const { return FindHostOp(fn, node) != nullptr; }
  Function fn;
  Node node;
};

const Type kNumber = UnrankedTensor(DType::kFloat), kText = UnrankedTensor(DType::kString);

Type Sequence() {
  Type t;
  t.kind = TypeKind::kSequence;
  t.elems = {kNumber};
  return t;
}

TEST(HostOp, OfNumbersAreTheEngines) {
  const std::pair<const char*, const char*> both[] = {{"", "Cast"},
                                                      {"", "CastLike"},
                                                      {"", "Concat"},
                                                      {"", "Equal"},
                                                      {"", "Gather"},
                                                      {"", "Identity"},
                                                      {"", "Reshape"},
                                                      {"ai.onnx.ml", "LabelEncoder"},
                                                      {"ai.onnx.ml", "OneHotEncoder"}};
  for (const auto& [domain, op] : both) {
    EXPECT_FALSE(One(domain, op, {kNumber, kNumber}, {kNumber}).OnHost()) << op;
    EXPECT_FALSE(One(domain, op, {kNumber, Type()}, {Type(), kNumber}).OnHost()) << op;
    EXPECT_TRUE(One(domain, op, {kText, kNumber}, {kNumber}).OnHost()) << op;
    EXPECT_TRUE(One(domain, op, {kNumber, kText}, {kNumber}).OnHost()) << op;
    EXPECT_TRUE(One(domain, op, {kNumber, kNumber}, {kText}).OnHost()) << op;
    EXPECT_TRUE(One(domain, op, {Sequence()}, {Sequence()}).OnHost()) << op;
    EXPECT_FALSE(IsHostOnly(domain, op)) << op;
  }
}

TEST(HostOp, OfOtherThingsAreItsOwn) {
  for (const char* op : {"Unique", "NonZero", "Compress", "NonMaxSuppression", "SequenceAt"}) {
    EXPECT_TRUE(One("", op, {kNumber}, {kNumber}).OnHost()) << op;
    EXPECT_TRUE(IsHostOnly("", op)) << op;
    EXPECT_FALSE(One("com.acme", op, {kNumber}, {kNumber}).OnHost()) << op;
  }
  EXPECT_TRUE(One("com.microsoft", "Unique", {kNumber}, {kNumber}).OnHost());
  EXPECT_FALSE(One("", "Add", {kText, kText}, {kText}).OnHost());
  EXPECT_FALSE(IsHostOnly("", "Add"));
}

TEST(HostOp, ControlIsWhatHasBodiesOrCallsAValue) {
  One call("ge", "CallIndirect", {kNumber}, {kNumber}),
      plain("", "CallIndirect", {kNumber}, {kNumber}), branch("", "If", {kNumber}, {kNumber});
  EXPECT_TRUE(IsControl(call.node));
  EXPECT_FALSE(IsControl(plain.node));
  branch.node.callees.push_back({"then_branch", 1});
  EXPECT_TRUE(IsControl(branch.node));
}

}  // namespace
}  // namespace ge
