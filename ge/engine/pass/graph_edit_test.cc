#include "ge/engine/pass/graph_edit.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "frontend/text/text.h"
#include "ge/infer/infer.h"
#include "ge/verify/verify_calls.h"

namespace ge {
namespace {

class GraphEditTest : public testing::Test {
 protected:
  GraphEditTest() : edit_("made", nullptr, {InferNode, VerifyCalls}), e_(edit_.api()) {
    fn_ = Function("main");
    e_->entry(e_->host, ge_text("main"), fn_, GE_ROLE_INFER);
  }
  uint32_t Function(const char* name, uint32_t flags = 0) {
    ge_function f{};
    f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
    f.name = ge_text(name);
    f.flags = flags;
    uint32_t fn = 0;
    e_->function(e_->host, &f, &fn);
    return fn;
  }
  // f32[size], or of a size by its name.
  uint32_t Param(const char* name, int64_t size, const char* size_name = "") {
    ge_dim d{};
    d.value = size;
    d.name = ge_text(size_name);
    ge_param p{};
    p.name = ge_text(name);
    p.dtype = GE_F32;
    p.rank = 1;
    p.dims = &d;
    uint32_t value = 0;
    e_->param(e_->host, fn_, &p, &value);
    return value;
  }
  uint32_t Node(const char* op, const char* name, uint32_t x, uint32_t y = 0) {
    const uint32_t in[2] = {x, y};
    ge_new_node n{};
    n.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
    n.op = ge_text(op);
    n.name = ge_text(name);
    n.in = in;
    n.n_in = y ? 2 : 1;
    uint32_t out = 0;
    e_->node(e_->host, fn_, 0, &n, nullptr, &out);
    return out;
  }
  ge_rc Result(uint32_t value, const char* name) {
    const ge_str text = ge_text(name);
    return e_->results(e_->host, fn_, &value, &text, 1);
  }
  std::string Text() {
    auto graph = edit_.Copy();
    return graph.ok() ? PrintText(*graph) : graph.status().ToString();
  }
  GraphEdit edit_;
  const ge_edit* e_;
  uint32_t fn_ = 0;
};

TEST_F(GraphEditTest, AFailedCallLeavesNothing) {
  const uint32_t x = Param("x", -1, "n");
  ASSERT_NE(Node("Relu", "a.py:1", x), 0u);
  const std::string before = Text();
  EXPECT_EQ(Node("Relu", "a.py:1", 99), 0u);
  EXPECT_EQ(Node("Nothing", "a.py:2", x), 0u);
  EXPECT_EQ(edit_.failure().code(), Code::kUnsupported);
  EXPECT_EQ(edit_.failure().node(), "a.py:2");
  EXPECT_EQ(Function("main"), 0u);
  // A size that is made before the rest is refused goes again.
  ge_dim d[2]{};
  d[0].value = -1;
  d[0].name = ge_text("m");
  d[1].value = -7;
  ge_param p{};
  p.dtype = GE_F32;
  p.rank = 2;
  p.dims = d;
  uint32_t value = 1;
  EXPECT_NE(e_->param(e_->host, fn_, &p, &value), GE_OK);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(Text(), before);
}

TEST_F(GraphEditTest, NamesAreOfOneNode) {
  const uint32_t x = Param("x", 2);
  Node("Relu", "a.py:1 #2", x);
  Node("Relu", "a.py:1", x);
  Node("Nothing", "a.py:1", x);  // takes no number
  Node("Relu", "a.py:1", x);
  Node("Relu", "a.py:1", x);
  const std::string text = Text();
  for (const char* name : {"\"a.py:1\"", "\"a.py:1 #2\"", "\"a.py:1 #3\"", "\"a.py:1 #4\""}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << "\n" << text;
  }
  EXPECT_EQ(text.find("#5"), std::string::npos);
}

TEST_F(GraphEditTest, WhatIsChangedIsTypedAnew) {
  const uint32_t x = Param("x", -1, "n"), y = Param("y", -1, "m");
  const uint32_t r = Node("Relu", "r", x), s = Node("Neg", "s", r);
  ASSERT_EQ(Result(s, "out"), GE_OK);
  EXPECT_EQ(e_->set_input(e_->host, fn_, 1, 0, y), GE_OK);
  EXPECT_TRUE(ge_is(e_->value(e_->host, fn_, s)->dim[0].name, "m"));
  // Into a circle, and back.
  EXPECT_NE(e_->set_input(e_->host, fn_, 1, 0, s), GE_OK);
  EXPECT_NE(edit_.failure().message().find("->"), std::string::npos);
  EXPECT_TRUE(ge_is(e_->value(e_->host, fn_, s)->dim[0].name, "m"));
}

TEST_F(GraphEditTest, ResultsKeepNamesAndPlaceholders) {
  const uint32_t x = Param("x", 2);
  const uint32_t y = Node("Relu", "", x), z = Node("Greater", "", y, x);
  EXPECT_NE(Result(x, "y"), GE_OK);
  EXPECT_EQ(Result(x, "x"), GE_OK);
  EXPECT_EQ(Result(x, ""), GE_OK);
  EXPECT_EQ(e_->value(e_->host, fn_, x)->name.n, 1u);
  ge_param p{};
  p.of_fn = fn_;
  p.of_value = y;
  uint32_t placeholder = 0;
  ASSERT_TRUE(edit_.AddPlaceholder(fn_, p, &placeholder).ok());
  ASSERT_EQ(Result(placeholder, "y"), GE_OK);
  EXPECT_NE(Result(z, "y"), GE_OK);
  EXPECT_EQ(Result(y, "y"), GE_OK);
  EXPECT_EQ(Result(z, "y"), GE_OK) << "no placeholder stands there any more";
}

TEST_F(GraphEditTest, ACopyIsOfItsMoment) {
  const uint32_t x = Param("x", 2);
  Result(Node("Relu", "r", x), "y");
  const std::string before = Text();
  Result(Node("Neg", "n", x), "z");
  EXPECT_EQ(before.find("Neg"), std::string::npos);
  EXPECT_NE(Text().find("Neg"), std::string::npos);
}

}  // namespace
}  // namespace ge
