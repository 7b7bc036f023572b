#include "ge/ir/cut.h"

#include <gtest/gtest.h>

#include "frontend/text/text.h"
#include "ge/ops/edit.h"

namespace ge {
namespace {

constexpr char kModel[] = R"(ge 1
opset "" 28
opset "ge" 1
state idle : f32[2] buffer
state kept : f32[2] buffer
fn idle(x: f32[2]) -> (y) {
  y = Neg(x)
}
fn branch(x: f32[2]) -> (y) {
  y = Abs(x)
}
fn main(c: bool[], x: f32[2], z: f32[2]) -> (r, o) effects [state kept] {
  a = Exp(x) "a"
  s: f32[2] = ge.Read() "s" effects [state kept]
  i = If(c, a) "i" calls {then_branch=branch, else_branch=branch}
  b = Mul(a, i) "b"
  r = Add(b, s) "r"
  o = Sub(a, z) "o"
}
entry infer "main" = main
)";

TEST(Cut, LeavesWhatTheResultsNeed) {
  auto g = ParseText(kModel, "cut");
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  Function& f = g->fn(g->entries[0].fn);
  const ValueId b = f.nodes[3].outputs[0];
  // Without the first node, whose value becomes an input behind those of the model.
  std::vector<bool> keep(f.nodes.size(), true);
  keep[0] = false;
  keep = NeededNodes(f, keep, {b});
  EXPECT_EQ(keep, (std::vector<bool>{false, true, true, true, false, false}))
      << "the node with an effect stays";
  keep[1] = false;
  CutFunction(&f, keep, {b});
  DropUncalled(&*g);
  DropUnusedStates(&*g);
  Compact(&*g);
  EXPECT_EQ(PrintText(*g), R"(ge 1
opset "" 28
opset "ge" 1
fn main(c: bool[], a) -> (b) next 7 {
  i = If(c, a) "i" id 3 calls {then_branch=branch, else_branch=branch}
  b = Mul(a, i) "b"
}
fn branch(x: f32[2]) -> (y) {
  y = Abs(x)
}
entry infer "main" = main
)");
}

TEST(Cut, KeepsStatesThatAreUsed) {
  auto g = ParseText(kModel, "cut");
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  DropUncalled(&*g);
  DropUnusedStates(&*g);
  ASSERT_EQ(g->states.size(), 2u);
  EXPECT_EQ(g->states[1].name, "kept");
  const Function& f = g->fn(g->entries[0].fn);
  EXPECT_EQ(f.effects[0].object, 1u);
  EXPECT_EQ(f.nodes[1].effects[0].object, 1u);
  EXPECT_EQ(g->functions.size(), 3u);
}

}  // namespace
}  // namespace ge
