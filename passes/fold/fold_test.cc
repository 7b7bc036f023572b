#include <cmath>
#include <cstring>
#include <set>

#include "ge/base/interrupt.h"
#include "ge/infer/infer.h"
#include "ge/stage/runner.h"
#include "ge/verify/verify.h"
#include "passes/fold/fold_batchnorm.h"
#include "passes/fold/fold_constants.h"
#include "passes/fold/fold_shapes.h"
#include "passes/pass_graph_testing.h"

namespace ge {
namespace {

void ExpectVerified(const Graph& g) {
  const Status s = Verify(g);
  EXPECT_TRUE(s.ok()) << s.ToString();
}

// Evaluates Neg on f32 and refuses the rest.
class NegOnly : public Evaluator {
 public:
  Result<std::vector<Const>> Evaluate(const Graph&, const Function&, const Node& node,
                                      const std::vector<const Const*>& inputs) override {
    ++calls;
    if (node.op != "Neg") return Status(Code::kUnsupported, "only Neg");
    ConstScratch scratch;
    const std::byte* data = ConstBytes(*inputs[0], &scratch);
    std::vector<float> out(static_cast<size_t>(*ElementCount(inputs[0]->type)));
    std::memcpy(out.data(), data, out.size() * 4);
    for (float& v : out) v = -v;
    std::vector<Const> result;
    result.push_back(MakeConst(inputs[0]->type, out.data(), out.size() * 4));
    return result;
  }
  int calls = 0;
};

// A chain of Neg on a constant of 8 bytes.
PassGraph NegChain(int nodes) {
  PassGraph p;
  ValueId v = p.Floats("c", {2}, {1, 2});
  for (int i = 0; i < nodes; ++i) v = p.Add("Neg", {v});
  p.Result(p.Add("Add", {p.Param("x"), v}), "y");
  return p;
}

std::vector<std::string>& Notes() {
  static std::vector<std::string> notes;
  return notes;
}

TEST(FoldBudget, BytesEndFoldingOnceForAllRounds) {
  PassGraph p = NegChain(5);
  NegOnly neg;
  FoldBudget budget(/*bytes=*/20, /*work=*/1e9);  // two results of 8 bytes
  PassContext context;
  context.evaluator = &neg;
  context.budget = &budget;
  context.note = [](std::string_view text) { Notes().emplace_back(text); };
  Notes().clear();
  p.Run<FoldConstants>(context);
  EXPECT_EQ(p.Ops(), "Neg Neg Neg Add");
  EXPECT_EQ(neg.calls, 2);
  EXPECT_EQ(budget.spent_bytes(), 16);
  p.Run<FoldConstants>(context);  // a later round
  EXPECT_EQ(p.Ops(), "Neg Neg Neg Add");
  ASSERT_EQ(Notes().size(), 1u);  // the next one is not constant, and this one is said once
  EXPECT_NE(Notes()[0].find("'Neg3' has constant inputs and is not folded"), std::string::npos)
      << Notes()[0];
  ExpectVerified(p.g);
}

TEST(FoldBudget, WorkEndsFolding) {
  PassGraph p = NegChain(5);
  NegOnly neg;
  // An evaluation, two flops, 16 bytes read and written.
  FoldBudget budget(int64_t{1} << 30, 3 * (FoldBudget::kWorkOfOne + 2 + 16));
  PassContext context;
  context.evaluator = &neg;
  context.budget = &budget;
  p.Run<FoldConstants>(context);
  EXPECT_EQ(p.Ops(), "Neg Neg Add");
}

TEST(FoldBudget, OneNodeBeyondAllIsNotRun) {
  PassGraph p;
  const ValueId a = p.Floats("a", {1000, 1000}, std::vector<float>(1000000, 1));
  const ValueId y = p.Add("MatMul", {a, a}, {}, p.F32({1000, 1000}));
  p.Result(p.Add("Add", {p.Param("x", p.F32({1000, 1000})), y}, {}, p.F32({1000, 1000})), "y");
  NegOnly neg;
  FoldBudget budget(int64_t{1} << 30, 1.9e9);  // 2e9 flops are wanted
  PassContext context;
  context.evaluator = &neg;
  context.budget = &budget;
  p.Run<FoldConstants>(context);
  EXPECT_EQ(neg.calls, 0);
  EXPECT_EQ(budget.spent_work(), 0);
}

TEST(FoldBudget, CancelEndsFolding) {
  PassGraph p = NegChain(5);
  NegOnly neg;
  PassContext context;
  context.evaluator = &neg;
  Interrupt stop;
  stop.Cancel();
  const InterruptScope scope(&stop);
  Transaction t(&p.g, "fold-constants");
  EXPECT_EQ(FoldConstants().Run(t, context).code(), Code::kCancelled);
  EXPECT_EQ(neg.calls, 0);
}

TEST(FoldShapes, KnownIntegersBecomeConstants) {
  PassGraph p;
  const ValueId x = p.Param("x", p.F32({2, 3}));
  const ValueId shape = p.Add("Shape", {x}, {}, Type{});
  p.Result(p.Add("Reshape", {x, shape}, {}, Type{}), "y");
  ASSERT_TRUE(Infer(&p.g).ok()) << Infer(&p.g).ToString();
  EXPECT_GT(p.Run<FoldShapes>(), 0);
  EXPECT_EQ(p.Ops(), "Reshape");
  const Const& c = p.g.consts[p.F().value(p.F().nodes[0].inputs[1]).constant];
  int64_t dims[2];
  ASSERT_EQ(c.bytes, sizeof dims);
  std::memcpy(dims, c.data, sizeof dims);
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 3);
  ExpectVerified(p.g);
}

TEST(FoldShapes, SymbolsStay) {
  PassGraph p;
  Symbol s;
  s.name = "N";
  const Dim n = p.g.dims.OfSymbol(p.g.dims.AddSymbol(s));
  const ValueId x = p.Param("x", TensorType(DType::kFloat, std::vector<Dim>{n, KnownDim(3)}));
  p.Result(p.Add("Shape", {x}, {}, Type{}), "y");
  ASSERT_TRUE(Infer(&p.g).ok());
  EXPECT_EQ(p.Run<FoldShapes>(), 0);
}

TEST(FoldConstants, ChainsAreEvaluatedAndResultsKeepTheirNames) {
  PassGraph p;
  const ValueId x = p.Param("x");
  const ValueId a = p.Add("Neg", {p.Floats("w", {2}, {1, 2})});
  p.Result(p.Add("Neg", {a}), "same");
  p.Result(p.Add("Add", {x, a}), "y");
  NegOnly neg;
  PassContext context;
  context.evaluator = &neg;
  EXPECT_GT(p.Run<FoldConstants>(context), 0);
  EXPECT_EQ(p.Ops(), "Add");
  EXPECT_EQ(neg.calls, 2);
  EXPECT_EQ(p.F().value(p.F().results[0]).name, "same");
  EXPECT_EQ(p.ConstFloats(p.F().results[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(p.ConstFloats(p.F().nodes[0].inputs[1]), (std::vector<float>{-1, -2}));
  Compact(&p.g);
  ExpectVerified(p.g);
}

TEST(FoldConstants, ConstantNodesNeedNoEvaluator) {
  PassGraph p;
  const Type i64 = TensorType(DType::kInt64, std::vector<int64_t>{2});
  const ValueId c = p.Add("Constant", {}, {Attr{"value_ints", std::vector<int64_t>{0, -1}}}, i64);
  p.Result(p.Add("Reshape", {p.Param("x"), c}), "y");
  EXPECT_GT(p.Run<FoldConstants>(), 0);
  EXPECT_EQ(p.Ops(), "Reshape");
  EXPECT_NE(p.F().value(p.F().nodes[0].inputs[1]).constant, 0u);
  ExpectVerified(p.g);
}

// Where only the data decide how large a result is, its inputs decide whether it is computed.
TEST(FoldConstants, ResultsOfUnknownSizeAreThoseOfSmallInputs) {
  for (const int64_t n : {int64_t{2}, int64_t{16} << 10, (int64_t{16} << 10) + 1}) {
    PassGraph p;
    NegOnly neg;
    PassContext context;
    context.evaluator = &neg;
    const ValueId w = p.Floats("w", {n}, std::vector<float>(static_cast<size_t>(n), 1));
    p.Result(p.Add("Neg", {w}, {}, UnrankedTensor(DType::kFloat)), "y");
    const bool small = n * 4 <= 64 << 10;
    EXPECT_EQ(p.Run<FoldConstants>(context) > 0, small) << n;
    EXPECT_EQ(neg.calls, small ? 1 : 0) << n;
  }
}

TEST(FoldConstants, LeavesAlone) {
  PassGraph p;
  NegOnly neg;
  PassContext context;
  context.evaluator = &neg;
  context.fold.bytes = 16;
  const ValueId big = p.Floats("big", {8}, std::vector<float>(8, 1));
  p.Result(p.Add("Neg", {big}, {}, p.F32({8})), "too_big");
  p.Result(p.Add("Neg", {p.Param("x")}), "not_constant");
  const ValueId w = p.Floats("w", {2}, {1, 2});
  p.Result(p.Add("Tanh", {w}), "refused");
  p.Result(p.Add("Neg", {w}), "effect");
  p.F().nodes.back().effects = {Effect{EffectKind::kIo, 1, 0}};
  EXPECT_EQ(p.Run<FoldConstants>(context), 0);
  EXPECT_EQ(neg.calls, 1) << "only Tanh was asked for";
}

// Lists decide shapes; a fill of rank 2 has elements that nobody's shape follows from.
TEST(FoldConstants, FillsStayWhereSizesAreData) {
  for (const bool fills : {true, false}) {
    PassGraph p;
    NegOnly neg;
    PassContext context;
    context.evaluator = &neg;
    context.fold.fills = fills;
    const auto fill = [&](const std::vector<int64_t>& dims, const char* name) {
      const Type type = TensorType(DType::kInt64, std::vector<int64_t>{std::ssize(dims)});
      Const shape = MakeConst(type, dims.data(), dims.size() * sizeof(int64_t), name);
      const ValueId v = AddConstValue(&p.g, &p.F(), std::move(shape));
      p.Result(p.Add("ConstantOfShape", {v}, {}, p.F32(dims)), name);
    };
    fill({3}, "list");
    fill({0, 3}, "grid");
    EXPECT_EQ(p.Run<FoldConstants>(context), fills ? 4 : 2);  // each: readers, and the node
    EXPECT_EQ(p.Ops(), fills ? "" : "ConstantOfShape");
  }
}

// Conv (or ConvTranspose) then BatchNormalization over `channels` outputs.
struct ConvNorm {
  ConvNorm(const std::string& op, const std::vector<int64_t>& weight_dims, int64_t channels,
           int64_t group, bool bias) {
    const ValueId x = p.Param("x", p.F32({1, 4, 5, 5}));
    int64_t count = 1;
    for (int64_t d : weight_dims) count *= d;
    for (int64_t i = 0; i < count; ++i) w.push_back(0.25f * static_cast<float>(i) - 1);
    std::vector<ValueId> in{x, p.Floats("w", weight_dims, w)};
    std::vector<float> b, s, mean, var;
    for (int64_t i = 0; i < channels; ++i) {
      const auto f = static_cast<float>(i);
      bias_data.push_back(bias ? f + 1 : 0);
      s.push_back(0.5f + f);
      b.push_back(f - 2);
      mean.push_back(0.1f * f);
      var.push_back(1 + f);
      factor.push_back(s[i] / std::sqrt(static_cast<double>(var[i]) + 1e-3));
      shift.push_back(b[i] - mean[i] * factor[i]);
    }
    if (bias) in.push_back(p.Floats("b", {channels}, bias_data));
    const Type out = p.F32({1, channels, 5, 5});
    conv = p.Add(op, in, {Attr{"group", group}}, out);
    const ValueId norm =
        p.Add("BatchNormalization",
              {conv, p.Floats("scale", {channels}, s), p.Floats("shift", {channels}, b),
               p.Floats("mean", {channels}, mean), p.Floats("var", {channels}, var)},
              {Attr{"epsilon", 1e-3}}, out);
    p.Result(norm, "y");
  }
  // Checks weights by the output channel of each (first, second) dim pair, and the bias.
  void ExpectFolded(size_t step, const std::vector<int>& channel_of) {
    ASSERT_EQ(p.F().nodes.size(), 1u);
    const auto& in = p.F().nodes[0].inputs;
    const std::vector<float> folded = p.ConstFloats(in[1]), bias = p.ConstFloats(in[2]);
    ASSERT_EQ(folded.size(), w.size());
    for (size_t i = 0; i < w.size(); ++i) {
      EXPECT_EQ(folded[i], static_cast<float>(w[i] * factor[channel_of[i / step]])) << i;
    }
    for (size_t i = 0; i < bias.size(); ++i) {
      EXPECT_EQ(bias[i], static_cast<float>(bias_data[i] * factor[i] + shift[i])) << i;
    }
    EXPECT_EQ(p.F().value(p.F().results[0]).name, "y");
    EXPECT_EQ(p.F().nodes[0].origin[0].from_nodes, std::vector<std::string>{"BatchNormalization2"});
    Compact(&p.g);
    ExpectVerified(p.g);
  }
  PassGraph p;
  std::vector<float> w, bias_data;
  std::vector<double> factor, shift;
  ValueId conv = 0;
};

TEST(FoldBatchnorm, IntoConv) {
  ConvNorm c("Conv", {3, 4, 1, 1}, 3, 1, true);
  EXPECT_GT(c.p.Run<FoldBatchnorm>(), 0);
  c.ExpectFolded(4, {0, 1, 2});
}

TEST(FoldBatchnorm, IntoConvWithoutBias) {
  ConvNorm c("Conv", {6, 2, 1, 1}, 6, 2, false);
  EXPECT_GT(c.p.Run<FoldBatchnorm>(), 0);
  c.ExpectFolded(2, {0, 1, 2, 3, 4, 5});
}

TEST(FoldBatchnorm, IntoGroupedConvTranspose) {
  ConvNorm c("ConvTranspose", {4, 3, 1, 1}, 6, 2, true);  // [in, out/group]
  EXPECT_GT(c.p.Run<FoldBatchnorm>(), 0);
  c.ExpectFolded(1, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
}

uint64_t pages_let_go = 0;

TEST(FoldBatchnorm, LetsMappedPagesGo) {
  ConvNorm c("Conv", {3, 4, 1, 1}, 3, 1, true);
  c.p.g.consts[1].mapped = true;
  PassContext context;
  pages_let_go = 0;
  context.done_reading = [](const void*, uint64_t bytes) { pages_let_go += bytes; };
  EXPECT_GT(c.p.Run<FoldBatchnorm>(context), 0);
  EXPECT_EQ(pages_let_go, 48u);
}

TEST(FoldBatchnorm, StaysWhenTheConvolutionHasAnotherReader) {
  ConvNorm c("Conv", {3, 4, 1, 1}, 3, 1, true);
  c.p.Result(c.p.Add("Relu", {c.conv}, {}, c.p.F32({1, 3, 5, 5})), "z");
  EXPECT_EQ(c.p.Run<FoldBatchnorm>(), 0);
}

TEST(FoldBatchnorm, StaysWhenItTrainsOrItsWeightsAreComputed) {
  ConvNorm trains("Conv", {3, 4, 1, 1}, 3, 1, true);
  for (Attr& a : trains.p.F().nodes[1].attrs) {
    if (a.name == "training_mode") a.value = int64_t{1};
  }
  EXPECT_EQ(trains.p.Run<FoldBatchnorm>(), 0);
  ConvNorm computed("Conv", {3, 4, 1, 1}, 3, 1, true);
  computed.p.F().nodes[0].inputs[1] = computed.p.Param("w2", computed.p.F32({3, 4, 1, 1}));
  EXPECT_EQ(computed.p.Run<FoldBatchnorm>(), 0);
  ConvNorm negative("Conv", {3, 4, 1, 1}, 3, 1, true);
  negative.p.F().nodes[1].inputs[4] = negative.p.Floats("bad", {3}, {-1, 1, 1});
  EXPECT_EQ(negative.p.Run<FoldBatchnorm>(), 0);
}

TEST(Pipeline, PassesHaveDistinctNamesAndReachAFixedPoint) {
  const auto passes = MakePipeline();
  std::set<std::string_view> names;
  for (const auto& pass : passes) {
    EXPECT_TRUE(names.insert(pass->name()).second);
    EXPECT_FALSE(pass->summary().empty());
  }
  EXPECT_EQ(names.size(), 20u);
  ConvNorm c("Conv", {3, 4, 1, 1}, 3, 1, true);
  c.p.F().value(c.p.F().nodes[1].outputs[0]).name = "normal";
  const ValueId id = c.p.Add("Identity", {c.p.F().results[0]}, {}, c.p.F32({1, 3, 5, 5}));
  c.p.F().results.clear();
  c.p.Result(id, "y");
  Runner runner({});
  const Status s = runner.RunPasses(
      &c.p.g, passes, {}, [](const Graph& g) { return Verify(g); },
      [](Graph* g) { return Infer(g); });
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(c.p.Ops(), "Conv");
  EXPECT_EQ(c.p.g.consts.size(), 3u) << "the absent one, weight and bias";
}

}  // namespace
}  // namespace ge
