// One node at a time: what the rules say of types, contents and bad shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "ge/ops/infer_context_testing.h"

namespace ge {
namespace {

using Ints = std::vector<int64_t>;

Attr I(std::string name, int64_t v) { return A(std::move(name), v); }
Attr L(std::string name, Ints v) { return A(std::move(name), std::move(v)); }
Attr S(std::string name, std::string v) { return A(std::move(name), std::move(v)); }

struct RuleCase {
  const char* op;
  std::vector<std::string> inputs;
  std::vector<Attr> attrs;
  std::string answer;  // of a refusal: "! " and a part of the message
  size_t outputs = 1;
};

// The text of a value with every symbol (a capital letter by itself) replaced by a number.
std::string Bound(const std::string& text, const std::map<char, int64_t>& numbers) {
  std::string out;
  for (char ch : text) {
    const auto it = numbers.find(ch);
    out += it == numbers.end() ? std::string(1, ch) : std::to_string(it->second);
  }
  return out;
}

// What was inferred with symbols, at given numbers, is what is inferred from the numbers.
void CheckBinding(const RuleCase& k, TestContext* symbolic, std::map<char, int64_t> numbers) {
  std::vector<std::string> inputs;
  for (const std::string& in : k.inputs) inputs.push_back(Bound(in, numbers));
  TestContext bound(k.op, inputs, k.attrs, k.outputs);
  const std::string answer = bound.Run();
  if (answer.rfind("! ", 0) == 0) return;  // these numbers make no legal graph
  std::map<SymbolId, int64_t> values;
  for (const auto& [letter, number] : numbers) {
    const SymbolId id = symbolic->graph.dims.FindSymbol(std::string(1, letter));
    if (id) values[id] = number;
  }
  for (size_t i = 0; i < k.outputs; ++i) {
    const Type& made = symbolic->output_type(i);
    const Type& exact = bound.output_type(i);
    if (!made.ranked) continue;
    ASSERT_EQ(made.rank(), exact.rank()) << k.op << " " << answer;
    for (size_t axis = 0; axis < made.rank(); ++axis) {
      const auto size = symbolic->graph.dims.Evaluate(made.dims[axis], values);
      if (!size || !exact.dims[axis].known()) continue;
      EXPECT_EQ(*size, exact.dims[axis].value) << k.op << " axis " << axis << ": " << answer;
    }
  }
}

void Check(const std::vector<RuleCase>& cases) {
  for (const RuleCase& k : cases) {
    TestContext c(k.op, k.inputs, k.attrs, k.outputs);
    const std::string answer = c.Run();
    std::string what = k.op;
    for (const std::string& in : k.inputs) what += " " + in;
    if (k.answer.rfind("! ", 0) == 0) {
      const bool refused = answer.rfind("! ", 0) == 0;
      EXPECT_TRUE(refused && answer.find(k.answer.substr(2)) != std::string::npos)
          << what << "\n  found  " << answer << "\n  wanted " << k.answer;
    } else {
      EXPECT_EQ(answer, k.answer) << what;
      for (int64_t seed = 0; seed < 40; ++seed) {
        std::map<char, int64_t> numbers;
        for (char letter : std::string("CHMNSW")) numbers[letter] = (seed * letter) % 41;
        CheckBinding(k, &c, numbers);
      }
    }
  }
}

TEST(InferElementwise, BroadcastsAndFolds) {
  Check({
      {"Relu", {"f32[N,3]"}, {}, "f32[N,3]"},
      {"Relu", {"f32[?]"}, {}, "f32[?]"},
      {"Relu", {"f32[]"}, {}, "f32[]"},
      {"Sigmoid", {"i32[2]"}, {}, "! has dtype i32"},
      {"Add", {"f32[N,1,4]", "f32[3,1]"}, {}, "f32[N,3,4]"},
      {"Add", {"f32[N]", "f32[5]"}, {}, "f32[5]"},
      {"Add", {"f32[N]", "f32[M]"}, {}, "f32[open0]"},
      {"Add", {"f32[0]", "f32[1]"}, {}, "f32[0]"},
      {"Add", {"f32[2,3]", "f32[4]"}, {}, "! shapes [2,3] and [4] do not broadcast: sizes 3 and 4"},
      {"Add", {"f32[?]", "f32[4]"}, {}, "f32[?]"},
      {"Add", {"i64[2]={N,3}", "i64[]={1}"}, {}, "i64[2]={N+1,4}"},
      {"Sub", {"i64[]={N}", "i64[]={N}"}, {}, "i64[]={0}"},
      {"Mul", {"i64[1]={2}", "i64[2]={N,5}"}, {}, "i64[2]={2*N,10}"},
      {"Mul", {"i32[]={65536}", "i32[]={65536}"}, {}, "i32[]"},
      {"Mul", {"i64[]={4611686018427387904}", "i64[]={4}"}, {}, "i64[]"},
      {"Div", {"i64[]={-7}", "i64[]={2}"}, {}, "i64[]={-3}"},
      {"Div", {"i64[]={N}", "i64[]={2}"}, {}, "i64[]={floordiv(N,2)}"},
      {"Div", {"i64[]={N}", "i64[]={-2}"}, {}, "i64[]"},
      {"Div", {"i64[]={7}", "i64[]={0}"}, {}, "i64[]"},
      {"Max", {"i64[2]={3,9}", "i64[1]={5}", "i64[]={1}"}, {}, "i64[2]={5,9}"},
      {"Equal", {"i64[2]={N,3}", "i64[]={-1}"}, {}, "bool[2]={0,0}"},
      {"Equal", {"i64[]={N}", "i64[]={3}"}, {}, "bool[]"},
      {"Pow", {"f32[2,1]", "i64[3]"}, {}, "f32[2,3]"},
      {"Clip", {"f32[N]", "f32[]", "f32[2]"}, {}, "! input 'max' has shape [2], wanted a scalar"},
      {"HardSigmoid", {"f32[3]"}, {A("alpha", HUGE_VAL)}, "! not finite"},
      {"Softmax", {"f32[N,3]"}, {I("axis", -2)}, "f32[N,3]"},
      {"Softmax", {"f32[N,3]"}, {I("axis", 2)}, "! attribute 'axis' is 2, wanted -2 to 1"},
      {"Dropout", {"f32[N]", "f32[]=(0.5)"}, {}, "f32[N]; bool[N]", 2},
      {"Dropout", {"f32[N]", "f32[]=(1.5)"}, {}, "! input 'ratio'"},
      {"Cast", {"i64[2]={N,300}"}, {I("to", 6)}, "i32[2]={N,300}"},
      {"Cast", {"f32[2]"}, {I("to", 24), S("round_mode", "down")}, "f8e8m0[2]"},
      {"Cast", {"f32[2]"}, {I("to", 24), S("round_mode", "nearest")}, "f8e8m0[2]"},
      {"Cast", {"f32[2]"}, {I("to", 24), S("round_mode", "up")}, "f8e8m0[2]"},
      {"Cast", {"f32[2]"}, {I("to", 24), S("round_mode", "floor")}, "! 'round_mode' is 'floor'"},
      {"Cast", {"i64[2]={1,300}"}, {I("to", 3)}, "i8[2]"},
      {"Cast", {"i64[2]={1,127}"}, {I("to", 3)}, "i8[2]={1,127}"},
      {"Cast", {"i64[2]={1,128}"}, {I("to", 3)}, "i8[2]"},
      {"Cast", {"i64[2]={1,255}"}, {I("to", 2)}, "u8[2]={1,255}"},
      {"Cast", {"i64[2]={1,256}"}, {I("to", 2)}, "u8[2]"},
      {"Cast", {"i64[2]={1,-1}"}, {I("to", 2)}, "u8[2]"},
      {"Cast", {"i64[2]={0,300}"}, {I("to", 9)}, "bool[2]={0,1}"},
      {"Cast", {"f32[N]"}, {I("to", 99)}, "! attribute 'to' is 99"},
      {"Identity", {"i64[1]={N}"}, {}, "i64[1]={N}"},
      {"ge.Copy", {"f32[N,2]"}, {}, "f32[N,2]"},
  });
}

TEST(InferMovement, ShapesAndContents) {
  Check({
      {"Shape", {"f32[N,3,8]"}, {}, "i64[3]={N,3,8}"},
      {"Shape", {"f32[N,3,8]"}, {I("start", -2)}, "i64[2]={3,8}"},
      {"Shape", {"f32[N,3,8]"}, {I("start", 2), I("end", 1)}, "i64[0]={}"},
      {"Shape", {"f32[?]"}, {}, "i64[open0]"},
      {"Gather", {"i64[3]={N,3,8}", "i64[]={-1}"}, {}, "i64[]={8}"},
      {"Gather", {"f32[5,6,7]", "i64[N,2]"}, {I("axis", 1)}, "f32[5,N,2,7]"},
      {"Gather", {"f32[5]", "i64[1]={5}"}, {}, "! input 'indices' holds 5, wanted -5 to 4"},
      {"Gather", {"f32[]", "i64[1]"}, {}, "! has rank 0, wanted at least 1"},
      {"Gather", {"f32[5]", "i64[1]"}, {I("axis", 1)}, "! attribute 'axis' is 1"},
      {"Concat", {"i64[1]={N}", "i64[2]={3,-1}"}, {I("axis", 0)}, "i64[3]={N,3,-1}"},
      {"Concat", {"f32[2,N]", "f32[2,3]"}, {I("axis", -1)}, "f32[2,N+3]"},
      {"Concat", {"f32[N,3]", "f32[4,3]"}, {I("axis", 1)}, "f32[4,6]"},
      {"Concat", {"f32[5,3]", "f32[4,3]"}, {I("axis", 1)}, "! found 5 and 4, wanted equal"},
      {"Concat", {"f32[5,3]", "f32[4]"}, {I("axis", 0)}, "! has shape [4], wanted rank 2"},
      {"Concat", {"f32[5,3]", "f32[?]"}, {I("axis", 0)}, "f32[open0,3]"},
      {"Squeeze", {"i64[1]={N}", "i64[1]={0}"}, {}, "i64[]={N}"},
      {"Squeeze", {"f32[1,N,1]", "i64[2]={0,-1}"}, {}, "f32[N]"},
      {"Squeeze", {"f32[1,2,1]"}, {}, "f32[2]"},
      {"Squeeze", {"f32[1,N,1]"}, {}, "f32[?]"},
      {"Squeeze", {"f32[1,2]", "i64[1]={1}"}, {}, "! has size 2, wanted 1"},
      {"Squeeze", {"f32[1,2]", "i64[2]={0,-2}"}, {}, "! axis 0 is given twice"},
      {"Squeeze", {"f32[1,2,1]", "i64[1]"}, {}, "f32[data0,data1]"},
      {"Unsqueeze", {"i64[]={N}", "i64[1]={0}"}, {}, "i64[1]={N}"},
      {"Unsqueeze", {"f32[2,3]", "i64[2]={-1,0}"}, {}, "f32[1,2,3,1]"},
      {"Unsqueeze", {"f32[2]", "i64[1]={3}"}, {}, "! is 3, wanted -2 to 1"},
      {"Transpose", {"f32[N,2,3]"}, {}, "f32[3,2,N]"},
      {"Transpose", {"f32[N,2,3]"}, {L("perm", {0, 2, 1})}, "f32[N,3,2]"},
      {"Transpose", {"f32[N,2,3]"}, {L("perm", {0, 2})}, "! has 2 entries, wanted 3"},
      {"Transpose", {"f32[N,2]"}, {L("perm", {1, 1})}, "! holds 1 twice"},
      {"Transpose", {"f32[N,2]"}, {L("perm", {0, 2})}, "! holds 2, wanted each of 0 to 1"},
      {"Flatten", {"f32[N,2,3]"}, {}, "f32[N,6]"},
      {"Flatten", {"f32[]"}, {I("axis", 0)}, "f32[1,1]"},
      {"Flatten", {"f32[2,3]"}, {I("axis", 3)}, "! attribute 'axis' is 3, wanted -2 to 2"},
  });
}

TEST(InferMaking, ShapesAndContents) {
  Check({
      {"Expand", {"f32[3,1]", "i64[3]={N,1,4}"}, {}, "f32[N,3,4]"},
      {"Size", {"f32[65536,65536]"}, {}, "i64[]={4294967296}"},
      {"Div", {"i64[1]={8}", "i64[1]={N}"}, {}, "i64[1]"},
      {"Div", {"i64[1]={8}", "i64[1]={3}"}, {}, "i64[1]={2}"},
      {"AffineGrid", {"f32[1,2,3]", "i64[?]"}, {}, "f32[data0,data1,data2,2]"},
      {"AffineGrid", {"f32[1,3,4]", "i64[?]"}, {}, "f32[data0,data1,data2,data3,3]"},
      {"Or", {"bool[2]={0,1}", "bool[2]={N,N}"}, {}, "bool[2]"},
      {"Or", {"bool[2]={N,N}", "bool[2]={0,1}"}, {}, "bool[2]"},
      {"Or", {"bool[2]={0,1}", "bool[2]={0,0}"}, {}, "bool[2]={0,1}"},
      {"And", {"bool[2]={0,1}", "bool[2]={N,N}"}, {}, "bool[2]"},
      {"Xor", {"bool[2]={0,1}", "bool[2]={N,N}"}, {}, "bool[2]"},
      {"RotaryEmbedding", {"f32[1,2,3,4]", "f32[1,3,2]", "f32[1,3,2]", ""}, {}, "f32[1,2,3,4]"},
      {"Abs", {"i64[3]={N,-3,4}"}, {}, "i64[3]={N,3,4}"},
      {"Where", {"bool[2]={1,0}", "i64[2]={3,N}", "i64[2]={5,6}"}, {}, "i64[2]={3,6}"},
      {"Where", {"bool[2]={1,0}", "i64[?]", "i64[2]={5,6}"}, {}, "i64[?]"},
      {"Unique", {"f32[?]"}, {I("axis", 0)}, "f32[?]"},
      {"Size", {"f32[3,N]"}, {}, "i64[]={3*N}"},
      {"Expand", {"i64[1]={7}", "i64[1]={3}"}, {}, "i64[3]={7,7,7}"},
      {"Expand", {"f32[3,1]", "i64[3]"}, {}, "f32[data0,data1,data2]"},
      {"Expand", {"f32[3]", "i64[1]={-1}"}, {}, "! wanted no negative size"},
      {"ConstantOfShape", {"i64[2]={N,3}"}, {}, "f32[N,3]"},
      {"ConstantOfShape", {"i64[2]"}, {}, "f32[data0,data1]"},
      {"ConstantOfShape", {"i64[1]={-3}"}, {}, "! wanted no negative size"},
      {"Range", {"i64[]={0}", "i64[]={N}", "i64[]={1}"}, {}, "i64[N]"},
      {"Range", {"i64[]={3}", "i64[]={10}", "i64[]={3}"}, {}, "i64[3]={3,6,9}"},
      {"Range", {"i64[]={10}", "i64[]={4}", "i64[]={-2}"}, {}, "i64[3]={10,8,6}"},
      {"Range", {"i64[]={5}", "i64[]={2}", "i64[]={1}"}, {}, "i64[0]={}"},
      {"Range", {"i64[]={5}", "i64[]={2}", "i64[]={0}"}, {}, "! wanted a step other than 0"},
      {"Range", {"f32[]=(0)", "f32[]=(1)", "f32[]=(0.25)"}, {}, "f32[4]"},
      {"Range", {"f16[]=(3c00)", "f16[]=(4900)", "f16[]=(3800)"}, {}, "f16[18]"},
      {"Range", {"f16[]=(0001)", "f16[]=(7c00)", "f16[]=(3800)"}, {}, "! not finite"},
      {"Range", {"bf16[]=(4120)", "bf16[]=(3f80)", "bf16[]=(c040)"}, {}, "bf16[3]"},
      {"Range", {"i64[]", "i64[]", "i64[]={1}"}, {}, "i64[data0]"},
      {"Constant", {}, {L("value_ints", {4, 5})}, "i64[2]={4,5}"},
      {"Constant", {}, {A("value_float", 1.5)}, "f32[]"},
      {"Constant", {}, {}, "! found 0 attributes, wanted exactly one"},
  });
}

TEST(InferReshape, CopiesDeducesAndRefuses) {
  Check({
      {"Reshape", {"f32[N,12,64]", "i64[3]={0,-1,768}"}, {}, "f32[N,1,768]"},
      {"Reshape", {"f32[N,S,768]", "i64[4]={0,0,12,64}"}, {}, "f32[N,S,12,64]"},
      {"Reshape", {"f32[N,S,768]", "i64[4]={N,-1,12,64}"}, {}, "f32[N,S,12,64]"},
      {"Reshape", {"f32[N,4,6]", "i64[2]={-1,8}"}, {}, "f32[3*N,8]"},
      {"Reshape", {"f32[2,3]", "i64[2]={-1,4}"}, {}, "! element counts differ"},
      {"Reshape", {"f32[2,3]", "i64[2]={-1,-1}"}, {}, "! at most one -1"},
      {"Reshape", {"f32[2,3]", "i64[1]={-2}"}, {}, "! wanted sizes and at most one -1"},
      {"Reshape", {"f32[2,3]", "i64[1]={5}"}, {}, "! shape [2,3] cannot become [5]"},
      // The 0 copies the batch, so -1 stands for what the other axes have.
      {"Reshape", {"f32[0,3]", "i64[2]={0,-1}"}, {}, "f32[0,3]"},
      {"Reshape", {"f32[0,3]", "i64[2]={0,-1}"}, {I("allowzero", 1)}, "! no -1 beside a size of 0"},
      {"Reshape", {"f32[0,3]", "i64[2]={3,-1}"}, {}, "f32[3,0]"},
      {"Reshape", {"f32[2,0]", "i64[2]={0,7}"}, {I("allowzero", 1)}, "f32[0,7]"},
      {"Reshape", {"f32[2,3]", "i64[3]={2,3,0}"}, {}, "! the 0 at place 2"},
      {"Reshape", {"f32[]", "i64[2]={1,-1}"}, {}, "f32[1,1]"},
      {"Reshape", {"f32[1]", "i64[0]={}"}, {}, "f32[]"},
      {"Reshape", {"f32[2,3]", "i64[2]"}, {}, "f32[data0,data1]"},
      {"Reshape", {"f32[2,3]", "i64[M]"}, {}, "f32[?]"},
      {"Reshape", {"i64[2]={N,4}", "i64[2]={2,1}"}, {}, "i64[2,1]={N,4}"},
      {"Reshape", {"f32[4]", "i64[2,2]"}, {}, "! wanted rank 1"},
  });
}

TEST(InferSlice, KnownAndSymbolicPositions) {
  const std::string far = "9223372036854775807";
  Check({
      {"Slice", {"i64[4]={N,3,8,9}", "i64[1]={2}", "i64[1]={" + far + "}"}, {}, "i64[2]={8,9}"},
      {"Slice",
       {"i64[4]={N,3,8,9}", "i64[1]={-1}", "i64[1]={-9}", "i64[1]={0}", "i64[1]={-2}"},
       {},
       "i64[2]={9,3}"},
      {"Slice",
       {"f32[N,10]", "i64[1]={2}", "i64[1]={-1}", "i64[1]={1}", "i64[1]={3}"},
       {},
       "f32[N,3]"},
      {"Slice", {"f32[N,10]", "i64[1]={0}", "i64[1]={-1}"}, {}, "f32[max(N-1,0),10]"},
      {"Slice",
       {"f32[N,10]", "i64[1]={0}", "i64[1]={" + far + "}", "i64[1]={0}", "i64[1]={2}"},
       {},
       "f32[floordiv(N+1,2),10]"},
      {"Slice", {"f32[1,512]", "i64[1]={0}", "i64[1]={S}", "i64[1]={1}"}, {}, "f32[1,min(S,512)]"},
      {"Slice",
       {"f32[N]", "i64[1]={-1}", "i64[1]={-" + far + "}", "i64[1]={0}", "i64[1]={-1}"},
       {},
       "f32[N]"},
      {"Slice",
       {"f32[10]", "i64[1]={-100}", "i64[1]={-100}", "i64[1]={0}", "i64[1]={-1}"},
       {},
       "f32[1]"},
      {"Slice",
       {"f32[0]", "i64[1]={-1}", "i64[1]={-9}", "i64[1]={0}", "i64[1]={-1}"},
       {},
       "f32[0]"},
      {"Slice", {"f32[10]", "i64[1]={7}", "i64[1]={3}"}, {}, "f32[0]"},
      {"Slice",
       {"f32[10]", "i64[1]={1}", "i64[1]={3}", "i64[1]={0}", "i64[1]={0}"},
       {},
       "! wanted no step of 0"},
      {"Slice",
       {"f32[10]", "i64[1]={1}", "i64[1]={3}", "i64[1]={1}"},
       {},
       "! is 1, wanted -1 to 0"},
      {"Slice", {"f32[10]", "i64[1]={1}", "i64[2]={3,4}"}, {}, "! input 'ends' has 2 entries"},
      {"Slice", {"f32[4,5]", "i64[1]", "i64[1]={3}", "i64[1]={1}"}, {}, "f32[4,data0]"},
      {"Slice", {"f32[4,5]", "i64[1]", "i64[1]", "i64[1]"}, {}, "f32[data0,data1]"},
      {"Slice", {"f32[?]", "i64[1]={0}", "i64[1]={3}"}, {}, "f32[?]"},
  });
}

TEST(InferSplit, GivenAndEqualParts) {
  Check({
      {"Split", {"f32[2,6]", "i64[2]={2,4}"}, {I("axis", 1)}, "f32[2,2]; f32[2,4]", 2},
      {"Split", {"f32[7]"}, {I("num_outputs", 3)}, "f32[3]; f32[3]; f32[1]", 3},
      {"Split", {"i64[2]={N,3}"}, {I("num_outputs", 2)}, "i64[1]={N}; i64[1]={3}", 2},
      {"Split", {"f32[N,4]", "i64[2]"}, {}, "f32[data0,4]; f32[data1,4]", 2},
      {"Split", {"f32[6]", "i64[2]={2,3}"}, {}, "! the sum 5, wanted 6", 2},
      {"Split", {"f32[6]", "i64[2]={7,-1}"}, {}, "! wanted no negative size", 2},
      {"Split", {"f32[6]", "i64[3]={2,2,2}"}, {}, "! has 3 entries, wanted 2", 2},
      {"Split", {"f32[6]"}, {}, "! wanted one: num_outputs=2", 2},
      {"Split", {"f32[6]"}, {I("num_outputs", 3)}, "! is 3, wanted 2", 2},
      {"Split", {"f32[4]"}, {I("num_outputs", 3), I("axis", 1)}, "! attribute 'axis' is 1", 3},
  });
}

TEST(InferReduce, AxesAsInput) {
  Check({
      {"ReduceMean", {"f32[N,3,4]", "i64[1]={-1}"}, {}, "f32[N,3,1]"},
      {"ReduceMean", {"f32[N,3,4]", "i64[2]={0,1}"}, {I("keepdims", 0)}, "f32[4]"},
      {"ReduceSum", {"f32[N,3]"}, {}, "f32[1,1]"},
      {"ReduceSum", {"f32[N,3]", "i64[0]={}"}, {I("noop_with_empty_axes", 1)}, "f32[N,3]"},
      {"ReduceSum", {"f32[]"}, {I("keepdims", 0)}, "f32[]"},
      {"ReduceMax", {"f32[N,3]", "i64[1]"}, {}, "f32[data0,data1]"},
      {"ReduceMax", {"f32[N,3]", "i64[1]"}, {I("keepdims", 0)}, "f32[data0]"},
      {"ReduceMax", {"f32[N,3]", "i64[1]={2}"}, {}, "! is 2, wanted -2 to 1"},
      {"ReduceMax", {"f32[N,3]", "i64[2]={1,-1}"}, {}, "! axis 1 is given twice"},
      {"ReduceMax", {"f32[0,3]", "i64[1]={0}"}, {}, "f32[1,3]"},
      {"ReduceSum", {"i64[2]={3,4}", "i64[1]={0}"}, {}, "i64[1]={7}"},
      {"ReduceSum", {"i64[2]={3,4}", "i64[1]"}, {}, "i64[data0]"},
  });
}

TEST(InferWindows, Conv) {
  Check({
      {"Conv",
       {"f32[N,3,224,224]", "f32[64,3,7,7]", "f32[64]"},
       {L("strides", {2, 2}), L("pads", {3, 3, 3, 3})},
       "f32[N,64,112,112]"},
      {"Conv", {"f32[1,3,H,W]", "f32[8,3,3,3]"}, {L("pads", {1, 1, 1, 1})}, "f32[1,8,H,W]"},
      {"Conv",
       {"f32[1,3,H,8]", "f32[8,3,3,3]"},
       {L("strides", {2, 2})},
       "f32[1,8,floordiv(H+1,2)-1,3]"},
      {"Conv",
       {"f32[1,3,H,7]", "f32[8,3,3,3]"},
       {S("auto_pad", "SAME_UPPER"), L("strides", {2, 2})},
       "f32[1,8,floordiv(H+1,2),4]"},
      {"Conv", {"f32[1,4,5]", "f32[6,2,2]"}, {I("group", 2), L("dilations", {3})}, "f32[1,6,2]"},
      {"Conv", {"f32[0,3,5]", "f32[6,3,2]"}, {}, "f32[0,6,4]"},
      {"Conv", {"f32[?]", "f32[6,3,2]"}, {}, "f32[open0,6,open1]"},
      {"Conv", {"f32[1,4,5]", "f32[6,3,2]"}, {}, "! has 4 channels, wanted 3"},
      {"Conv", {"f32[1,4,5]", "f32[5,2,2]"}, {I("group", 2)}, "! 5 filters, wanted a multiple"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]"}, {I("group", 0)}, "! 'group' is 0"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]"}, {L("strides", {0})}, "! 'strides' is [0], wanted"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]"}, {L("strides", {1, 1})}, "! 'strides' has 2 entries"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]"}, {L("pads", {-1, 0})}, "! 'pads' is [-1,0]"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]"}, {L("pads", {1})}, "! 'pads' has 1 entries, wanted 2"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,7]"}, {}, "! would have output size -1"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2,2]"}, {}, "! wanted equal ranks"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]"}, {L("kernel_shape", {3})}, "! wanted 2: 'W' has shape"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]", "f32[7]"}, {}, "! input 'B' has shape [7], wanted [6]"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,2]"}, {S("auto_pad", "SAME")}, "! 'auto_pad' is 'SAME'"},
      {"Conv", {"f32[1,4,5]", "f32[6,4,3]"}, {L("dilations", {INT64_MAX})}, "! overflows"},
  });
}

TEST(InferWindows, ConvTransposeAndPooling) {
  const Attr k33 = L("kernel_shape", {3, 3});
  Check({
      {"ConvTranspose",
       {"f32[1,4,H,5]", "f32[4,2,3,3]"},
       {L("strides", {2, 2}), L("pads", {1, 1, 1, 1}), L("output_padding", {1, 1}), I("group", 2)},
       "f32[1,4,2*H,10]"},
      {"ConvTranspose",
       {"f32[1,4,5]", "f32[4,2,3]"},
       {L("strides", {3}), S("auto_pad", "SAME_LOWER")},
       "f32[1,2,15]"},
      {"ConvTranspose",
       {"f32[1,4,5]", "f32[4,2,3]"},
       {L("strides", {3}), L("output_shape", {17})},
       "f32[1,2,17]"},
      {"ConvTranspose",
       {"f32[1,4,5]", "f32[4,2,3]"},
       {L("output_padding", {1})},
       "! 'output_padding' has 1"},
      {"ConvTranspose", {"f32[1,4,5]", "f32[3,2,3]"}, {}, "! found 4 and 3"},
      {"MaxPool",
       {"f32[N,3,32,32]"},
       {k33, L("strides", {2, 2})},
       "f32[N,3,15,15]; i64[N,3,15,15]",
       2},
      {"MaxPool",
       {"f32[N,3,32,32]"},
       {k33, L("strides", {2, 2}), I("ceil_mode", 1)},
       "f32[N,3,16,16]"},
      // The last window would start in the end padding: dropped.
      {"MaxPool",
       {"f32[1,1,4]"},
       {L("kernel_shape", {1}), L("strides", {2}), L("pads", {0, 1}), I("ceil_mode", 1)},
       "f32[1,1,2]"},
      {"AveragePool", {"f32[1,1,10]"}, {L("kernel_shape", {3}), L("dilations", {2})}, "f32[1,1,6]"},
      {"AveragePool",
       {"f32[1,1,H]"},
       {L("kernel_shape", {2}), L("strides", {2}), I("ceil_mode", 1)},
       "f32[1,1,floordiv(H+1,2)]"},
      {"MaxPool",
       {"f32[1,1,6]"},
       {L("kernel_shape", {4}), L("strides", {4}), I("ceil_mode", 1), S("auto_pad", "VALID")},
       "f32[1,1,2]"},
      {"AveragePool", {"f32[1,1,10]"}, {k33}, "! 'kernel_shape' has 2 entries, wanted 1"},
      {"AveragePool", {"f32[1,1]"}, {k33}, "! has rank 2, wanted at least 3"},
      {"MaxPool", {"f32[1,1,10]"}, {L("kernel_shape", {0})}, "! wanted every size >= 1"},
      {"GlobalAveragePool", {"f32[N,8,H,W]"}, {}, "f32[N,8,1,1]"},
      {"GlobalMaxPool", {"f32[N,8,0]"}, {}, "! wanted no empty spatial axis"},
  });
}

TEST(InferNormalization, ChannelsAndModes) {
  Check({
      {"BatchNormalization",
       {"f32[N,8,H]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"},
       {},
       "f32[N,8,H]"},
      {"BatchNormalization",
       {"f32[N,C]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"},
       {I("training_mode", 1)},
       "f32[N,8]; f32[8]; f32[8]",
       3},
      {"BatchNormalization",
       {"f32[N,8]", "f32[7]", "f32[8]", "f32[8]", "f32[8]"},
       {},
       "! input 'scale' has shape [7], wanted [8]"},
      {"BatchNormalization",
       {"f32[N,8]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"},
       {},
       "! wanted training_mode=1",
       2},
  });
}

TEST(InferResize, ScalesAndSizes) {
  Check({
      {"Resize", {"f32[1,3,H,W]", "", "f32[4]=(1,1,2,2)"}, {}, "f32[1,3,2*H,2*W]"},
      {"Resize", {"f32[1,3,H,8]", "", "f32[4]=(1,1,0.5,0.6)"}, {}, "f32[1,3,floordiv(H,2),4]"},
      {"Resize", {"f32[1,3,4,4]", "", "", "i64[4]={1,3,H,W}"}, {}, "f32[1,3,H,W]"},
      {"Resize", {"f32[1,3,4,4]", "", "", "i64[4]"}, {}, "f32[data0,data1,data2,data3]"},
      {"Resize", {"f32[1,3,4,4]", "", "", "i64[2]={9,8}"}, {L("axes", {2, 3})}, "f32[1,3,9,8]"},
      {"Resize",
       {"f32[1,3,4,2]", "", "", "i64[2]={9,9}"},
       {L("axes", {2, 3}), S("keep_aspect_ratio_policy", "not_larger")},
       "f32[1,3,9,5]"},
      {"Resize", {"f32[1,3,4,4]", "", "f32[0]=()", "i64[4]={1,3,8,8}"}, {}, "f32[1,3,8,8]"},
      {"Resize", {"f32[1,3,4,4]", "", "f32[4]=(1,1,2,2)", "i64[4]={1,3,8,8}"}, {}, "! wanted one"},
      {"Resize", {"f32[1,3,4,4]"}, {}, "! neither input 'scales' nor 'sizes'"},
      {"Resize", {"f32[1,3,4,4]", "", "f32[3]=(1,2,2)"}, {}, "! 'scales' has 3 entries, wanted 4"},
      {"Resize", {"f32[4]", "", "f32[1]=(-1)"}, {}, "! finite scales above 0"},
      {"Resize", {"f32[4]", "", "f32[1]=(0.1)"}, {}, "f32[0]"},
      {"Resize", {"f32[4]", "", "", "i64[1]={0}"}, {}, "! wanted sizes of at least 1"},
      {"Resize", {"f32[4]", "", "f32[1]=(2)"}, {S("mode", "area")}, "! 'mode' is 'area'"},
      {"Resize", {"f32[4]", "", "f32[1]=(2)"}, {L("axes", {1})}, "! is 1, wanted -1 to 0"},
  });
}

TEST(InferProducts, MatMulGemmLstm) {
  Check({
      {"MatMul", {"f32[N,S,768]", "f32[768,64]"}, {}, "f32[N,S,64]"},
      {"MatMul", {"f32[2,1,3,4]", "f32[5,4,6]"}, {}, "f32[2,5,3,6]"},
      {"MatMul", {"f32[4]", "f32[4]"}, {}, "f32[]"},
      {"MatMul", {"f32[4]", "f32[2,4,3]"}, {}, "f32[2,3]"},
      {"MatMul", {"f32[2,3,4]", "f32[4]"}, {}, "f32[2,3]"},
      {"MatMul", {"f32[2,3]", "f32[4,5]"}, {}, "! inner sizes 3 and 4"},
      {"MatMul", {"f32[]", "f32[4]"}, {}, "! has rank 0"},
      {"MatMul", {"f32[2,3,4]", "f32[3,4,5]"}, {}, "! do not broadcast"},
      {"Gemm", {"f32[N,3]", "f32[4,3]", "f32[4]"}, {I("transB", 1)}, "f32[N,4]"},
      {"Gemm", {"f32[N,3]", "f32[4,5]"}, {}, "! inner sizes 3 and 4"},
      {"Gemm", {"f32[N,3,2]", "f32[4,5]"}, {}, "! wanted rank 2"},
      {"Gemm", {"f32[2,3]", "f32[3,4]", "f32[3]"}, {}, "! input 'C' has shape [3]"},
      {"LSTM",
       {"f32[S,N,8]", "f32[2,64,8]", "f32[2,64,16]", "f32[2,128]"},
       {S("direction", "bidirectional"), I("hidden_size", 16)},
       "f32[S,2,N,16]; f32[2,N,16]; f32[2,N,16]",
       3},
      {"LSTM",
       {"f32[N,S,8]", "f32[1,64,8]", "f32[1,64,16]"},
       {I("layout", 1)},
       "f32[N,S,1,16]; f32[N,1,16]",
       2},
      {"LSTM",
       {"f32[S,N,8]", "f32[1,60,8]", "f32[1,64,16]"},
       {},
       "! input 'W' has shape [1,60,8], wanted [1,64,8]"},
      {"LSTM", {"f32[S,N,8]", "f32[1,64,7]", "f32[1,64,16]"}, {}, "! found 8 and 7"},
      {"LSTM",
       {"f32[S,N,8]", "f32[1,64,8]", "f32[1,64,16]"},
       {S("direction", "up")},
       "! 'direction' is 'up'"},
      {"LSTM",
       {"f32[S,N,8]", "f32[1,64,8]", "f32[1,64,16]"},
       {A("activations", std::vector<std::string>{"Tanh"})},
       "! has 1 entries, wanted 3"},
      {"LSTM", {"f32[S,N,8]", "f32[1,64,8]", "f32[1,64,16]"}, {A("clip", 0.0)}, "! 'clip' is 0"},
      {"LSTM", {"f32[S,8]", "f32[1,64,8]", "f32[1,64,16]"}, {}, "! input 'X' has shape [S,8]"},
  });
}

TEST(InferConstant, OfTensors) {
  const int64_t values[] = {7, 8};
  TestContext c("Constant", {}, {});
  const ConstId id = c.graph.AddConst(
      MakeConst(TensorType(DType::kInt64, std::vector<int64_t>{2}), values, sizeof values));
  c.node_.attrs = {A("value", ConstRef{id})};
  EXPECT_EQ(c.Run(), "i64[2]={7,8}");

  const int32_t one = 1;
  TestContext fill("ConstantOfShape", {"i64[1]={3}"}, {});
  const ConstId fill_id = fill.graph.AddConst(
      MakeConst(TensorType(DType::kInt32, std::vector<int64_t>{1}), &one, sizeof one));
  fill.node_.attrs = {A("value", ConstRef{fill_id})};
  EXPECT_EQ(fill.Run(), "i32[3]={1,1,1}");
}

TEST(InferState, ReadAndAssign) {
  for (const bool fits : {true, false}) {
    TestContext assign("ge.Assign", {fits ? "f32[2,N]" : "f32[3,N]"}, {}, 0);
    State s;
    s.type = TensorType(DType::kFloat, std::vector<int64_t>{2, 4});
    assign.graph.states.resize(1);
    assign.graph.states.push_back(s);
    assign.node_.effects.push_back({EffectKind::kState, 1, 0});
    const std::string answer = assign.Run();
    const size_t at = answer.find("wanted f32[2,4] as the state is");
    EXPECT_EQ(answer.empty(), fits);
    EXPECT_EQ(at == answer.npos, fits) << answer;
    TestContext read("ge.Read", {}, {});
    read.graph.states = assign.graph.states;
    read.node_.effects.push_back({fits ? EffectKind::kState : EffectKind::kRng, 1, 0});
    EXPECT_EQ(read.Run().substr(0, 2), fits ? "f3" : "! ");
  }
}

// A body with the given results; its parameters carry no types here.
void AddBody(TestContext* c, const char* role, size_t params, std::vector<Type> results) {
  Function& f = c->graph.AddFunction(role);
  for (size_t i = 0; i < params; ++i) f.params.push_back(AddValue(&f, Type()));
  for (Type& t : results) f.results.push_back(AddValue(&f, std::move(t)));
  c->node_.callees.push_back({role, f.id});
}

TEST(InferControl, IfUnifiesItsBranches) {
  const auto f32 = [](std::vector<int64_t> dims) { return TensorType(DType::kFloat, dims); };
  TestContext c("If", {"bool[]", "f32[4]"}, {});
  AddBody(&c, "then_branch", 1, {f32({2, 3})});
  EXPECT_NE(c.Run().find("no function is given for 'else_branch'"), std::string::npos);
  AddBody(&c, "else_branch", 1, {f32({2, 4})});
  EXPECT_EQ(c.Run(), "f32[2,data0]");
  TestContext bad("If", {"bool[]"}, {});
  AddBody(&bad, "then_branch", 0, {f32({2})});
  AddBody(&bad, "else_branch", 0, {TensorType(DType::kInt64, std::vector<int64_t>{2})});
  EXPECT_NE(bad.Run().find("found f32[2] and i64[2]"), std::string::npos);
}

TEST(InferControl, LoopStacksWhatItScans) {
  const auto f32 = [](std::vector<int64_t> dims) { return TensorType(DType::kFloat, dims); };
  TestContext c("Loop", {"i64[]", "", "f32[5]", "f32[9]"}, {I("captures", 1)}, 2);
  AddBody(&c, "body", 4, {TensorType(DType::kBool, std::vector<int64_t>{}), f32({5}), f32({7})});
  EXPECT_EQ(c.Run(), "f32[5]; f32[data0,7]");
  TestContext scan("Scan", {"f32[5]", "f32[N,3]"}, {I("num_scan_inputs", 1)}, 2);
  AddBody(&scan, "body", 2, {f32({5}), f32({7})});
  EXPECT_EQ(scan.Run(), "f32[5]; f32[N,7]");
}

}  // namespace
}  // namespace ge
