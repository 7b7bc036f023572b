#include "ge/stage/runner.h"

#include <gtest/gtest.h>

#include "ge/base/interrupt.h"

namespace ge {
namespace {

const Type kPair = TensorType(DType::kFloat, std::vector<int64_t>{2});

Graph OneNode() {
  Graph g;
  Function& f = g.AddFunction("main");
  AddValue(&f, kPair, "x");
  AddValue(&f, kPair, "y");
  f.params = {1};
  f.results = {2};
  Node n;
  n.id = f.next_node_id++;
  n.op = "Relu";
  n.inputs = {1};
  n.outputs = {2};
  f.nodes.push_back(n);
  g.entries.push_back({"main", 1, Entry::Role::kInfer});
  return g;
}

// Adds `adds` nodes in total, one a run; then fails if told to.
class Grow : public Pass {
 public:
  Grow(int adds, Status status = {}, std::string plugin = "")
      : left_(adds), status_(std::move(status)), plugin_(std::move(plugin)) {}
  std::string_view plugin() const override { return plugin_; }
  std::string_view name() const override { return "grow"; }
  std::string_view summary() const override { return "adds nodes"; }
  Status Run(Transaction& transaction, const PassContext&) override {
    if (left_-- > 0) transaction.AddNode(1, 0, "", "Neg", {2}, {}, {kPair}, {});
    return status_;
  }

 private:
  int left_;
  Status status_;
  std::string plugin_;
};

std::vector<std::unique_ptr<Pass>> One(std::unique_ptr<Pass> p) {
  std::vector<std::unique_ptr<Pass>> v;
  v.push_back(std::move(p));
  return v;
}

TEST(Stages, NamesAndOrder) {
  EXPECT_STREQ(StageName(StageId::kPlace), "place");
  ASSERT_TRUE(StageFromName("memory").ok());
  EXPECT_EQ(*StageFromName("memory"), StageId::kMemory);
  const Status s = StageFromName("memroy").status();
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_NE(s.message().find("load, verify, infer"), std::string::npos);
  EXPECT_EQ(AllStages().front(), StageId::kLoad);
  EXPECT_EQ(AllStages().back(), StageId::kRun);
}

TEST(Runner, StageReportsNameTimeAndDump) {
  std::vector<std::string> seen;
  Runner::Options options;
  options.after = [&](const std::string& n) { seen.push_back(n); };
  Runner r(options);
  EXPECT_TRUE(r.RunStage(StageId::kInfer, [] { return Status(); }, {}).ok());
  const Status s =
      r.RunStage(StageId::kPlace, [] { return Status(Code::kUnsupported, "nobody runs it"); }, {});
  EXPECT_EQ(s.stage(), "place");
  EXPECT_EQ(seen, std::vector<std::string>{"infer"});
  ASSERT_EQ(r.times().size(), 2u);
  EXPECT_EQ(r.times()[0].name, "infer");
}

TEST(Runner, RepeatsPassesToAFixedPoint) {
  Graph g = OneNode();
  Runner r({});
  int inferred = 0;
  EXPECT_TRUE(r.RunPasses(&g, One(std::make_unique<Grow>(3)), {}, {}, [&](Graph*) {
                 ++inferred;
                 return Status();
               }).ok());
  EXPECT_EQ(g.fn(1).nodes.size(), 4u);
  EXPECT_EQ(inferred, 3);
  ASSERT_FALSE(r.times().empty());
  EXPECT_EQ(r.times()[0].name, "rewrite/grow");
  EXPECT_EQ(r.times()[0].edits, 3);
}

TEST(Runner, StopsAfterEightRounds) {
  Graph g = OneNode();
  EXPECT_TRUE(Runner({}).RunPasses(&g, One(std::make_unique<Grow>(1000)), {}, {}, {}).ok());
  EXPECT_EQ(g.fn(1).nodes.size(), 9u);
}

TEST(Runner, SkipsByName) {
  Graph g = OneNode();
  Runner::Options options;
  options.skip = {"grow"};
  EXPECT_TRUE(Runner(options).RunPasses(&g, One(std::make_unique<Grow>(3)), {}, {}, {}).ok());
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
}

TEST(Runner, RefusesToSkipAPassThatIsNone) {
  Graph g = OneNode();
  Runner::Options options;
  options.skip = {"shrink"};
  const Status s = Runner(options).RunPasses(&g, One(std::make_unique<Grow>(3)), {}, {}, {});
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_EQ(s.message(), "there is no pass 'shrink' to skip; the passes are grow");
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
}

TEST(Runner, RollsBackAFailedPass) {
  Graph g = OneNode();
  const Status failure(Code::kResourceExhausted, "no memory");
  const Status s = Runner({}).RunPasses(&g, One(std::make_unique<Grow>(1, failure)), {}, {}, {});
  EXPECT_EQ(s.code(), Code::kResourceExhausted);
  EXPECT_EQ(s.stage(), "rewrite");
  EXPECT_NE(s.message().find("pass 'grow' failed: no memory"), std::string::npos);
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
}

TEST(Runner, RollsBackAnIllegalGraph) {
  Graph g = OneNode();
  auto verify = [](const Graph& graph) {
    return graph.fn(1).nodes.size() > 1 ? Status(Code::kInvalidGraph, "too many") : Status();
  };
  const Status s = Runner({}).RunPasses(&g, One(std::make_unique<Grow>(1)), {}, verify, {});
  EXPECT_EQ(s.code(), Code::kInternal);
  EXPECT_NE(s.message().find("pass 'grow' left an illegal graph (too many)"), std::string::npos);
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
  EXPECT_EQ(g.fn(1).values.size(), 3u);
}

TEST(Runner, AStrangersPassHasToSettle) {
  Graph g = OneNode();
  Runner r({});
  const Status s = r.RunPasses(&g, One(std::make_unique<Grow>(1000, Status(), "acme")), {}, {}, {});
  EXPECT_EQ(s.code(), Code::kPluginError);
  EXPECT_NE(s.message().find("pass 'grow' of plugin 'acme' still changes the graph in round 8"),
            std::string::npos)
      << s.message();
  ASSERT_NE(r.culprit(), nullptr);
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
}

TEST(Runner, AStrangersPassIsRolledBackThoughNobodyElseIs) {
  Graph g = OneNode();
  Runner::Options options;
  options.roll_back = false;
  auto verify = [](const Graph& graph) {
    return graph.fn(1).nodes.size() > 1 ? Status(Code::kInvalidGraph, "too many") : Status();
  };
  Runner r(options);
  const auto passes = One(std::make_unique<Grow>(1, Status(), "acme"));
  const Status s = r.RunPasses(&g, passes, {}, verify, {});
  EXPECT_EQ(s.code(), Code::kPluginError);
  EXPECT_EQ(r.culprit(), passes[0].get());
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
}

// Puts nodes behind x whose size is not known, or takes them away.
class GrowOpen : public Pass {
 public:
  explicit GrowOpen(int rounds, bool ranked = true) : left_(rounds), ranked_(ranked) {}
  std::string_view name() const override { return "grow-open"; }
  std::string_view summary() const override { return "adds nodes of unknown size"; }
  Status Run(Transaction& transaction, const PassContext&) override {
    if (left_-- <= 0) return {};
    Type type = UnrankedTensor(DType::kFloat);
    if (ranked_) {
      type.ranked = true;
      type.dims = {transaction.dims().OfSymbol(transaction.dims().FreshSymbol("N"))};
    }
    transaction.AddNode(1, 0, "", "Neg", {2}, {}, {type}, {});
    return {};
  }

 private:
  int left_;
  bool ranked_;
};

// How often types are inferred and edits verified where a failure throws the graph away.
struct Counts {
  int inferred = 0, verified = 0;
};
Counts CountOf(std::vector<std::unique_ptr<Pass>> passes, PassPhase phase) {
  Graph g = OneNode();
  Counts counts;
  Runner::Options options;
  options.roll_back = false;
  PassContext context;
  context.phase = phase;
  const auto verify = [&](const Graph&) { return ++counts.verified, Status(); };
  const auto infer = [&](Graph*) { return ++counts.inferred, Status(); };
  EXPECT_TRUE(Runner(options).RunPasses(&g, passes, context, verify, infer).ok());
  return counts;
}

TEST(Runner, OpenSizesAreInferredOnceARoundAtBindAndEditsVerifiedOnce) {
  const auto passes = [](int first, int second, bool ranked) {
    auto list = One(std::make_unique<GrowOpen>(first, ranked));
    list.push_back(std::make_unique<GrowOpen>(second, ranked));
    return list;
  };
  Counts c = CountOf(passes(1, 2, true), kAtBind);
  EXPECT_EQ(c.inferred, 2);  // rounds with edits
  EXPECT_EQ(c.verified, 1);
  c = CountOf(passes(1, 2, true), kAtLoad);
  EXPECT_EQ(c.inferred, 3);  // edits
  EXPECT_EQ(c.verified, 1);
  c = CountOf(One(std::make_unique<Grow>(2)), kAtBind);
  EXPECT_EQ(c.inferred, 0);  // all is known
  EXPECT_EQ(c.verified, 1);
  // A value without a rank is wanted at once.
  EXPECT_EQ(CountOf(passes(1, 1, false), kAtBind).inferred, 2);
}

TEST(Runner, ComparesWhatAPassThatKeepsValuesHasDone) {
  Graph g = OneNode();
  PassContext context;
  size_t before = 0, after = 0;
  context.compare = [&](const Graph& was, const Graph& is) {
    before = was.fn(1).nodes.size();
    after = is.fn(1).nodes.size();
    return Status(Code::kInternal, "element 0 is off");
  };
  const Status s = Runner({}).RunPasses(&g, One(std::make_unique<Grow>(1)), context, {}, {});
  EXPECT_EQ(s.message(), "pass 'grow' changed the model's values: element 0 is off");
  EXPECT_EQ(before, 1u);
  EXPECT_EQ(after, 2u);
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
}

TEST(Runner, RunsOnce) {
  Graph g = OneNode();
  Grow grow(5);
  int edits = 0;
  EXPECT_TRUE(Runner({}).RunOnce(&g, grow, {}, {}, {}, &edits).ok());
  EXPECT_EQ(edits, 1);
  EXPECT_EQ(g.fn(1).nodes.size(), 2u);
  Grow fails(1, Status(Code::kUnsupported, "not this model"));
  Runner r({});
  const Status s = r.RunOnce(&g, fails, {}, {}, {}, &edits);
  EXPECT_EQ(s.code(), Code::kUnsupported);
  EXPECT_EQ(s.message(), "pass 'grow' failed: not this model");
  EXPECT_EQ(g.fn(1).nodes.size(), 2u);
}

// Adds a node, a constant and a second node that reads it, and takes all back.
class Tries : public Pass {
 public:
  std::string_view name() const override { return "tries"; }
  std::string_view summary() const override { return "changes nothing in the end"; }
  Status Run(Transaction& transaction, const PassContext&) override {
    const float pair[2] = {1, 2};
    const ValueId c = transaction.AddConst(1, MakeConst(kPair, pair, sizeof pair));
    const ValueId v = transaction.AddNode(1, 0, "", "Neg", {2}, {}, {kPair}, {})[0];
    const NodeId first = transaction.Producer(1, v)->id;
    transaction.Commit();
    const ValueId w = transaction.AddNode(1, first, "", "Add", {v, c}, {}, {kPair}, {})[0];
    const NodeId second = transaction.Producer(1, w)->id;
    transaction.SetInput(1, second, 0, 2);
    transaction.Erase(1, second);
    transaction.Erase(1, first);
    return {};
  }
};

TEST(Runner, WhoTriesAndTakesBackHasSettledAndLeavesNothing) {
  Graph g = OneNode();
  Runner r({});
  EXPECT_TRUE(r.RunPasses(&g, One(std::make_unique<Tries>()), {}, {}, {}).ok());
  EXPECT_EQ(r.times()[0].edits, 0);
  EXPECT_EQ(g.fn(1).nodes.size(), 1u);
  EXPECT_EQ(g.fn(1).values.size(), 3u);
  EXPECT_EQ(g.consts.size(), 1u);
}

TEST(Runner, CanBeInterrupted) {
  Graph g = OneNode();
  Interrupt stop;
  stop.Cancel();
  const InterruptScope scope(&stop);
  Runner r({});
  EXPECT_EQ(r.RunPasses(&g, One(std::make_unique<Grow>(1)), {}, {}, {}).code(), Code::kCancelled);
  EXPECT_EQ(r.RunStage(StageId::kLoad, [] { return Status(); }, {}).code(), Code::kCancelled);
}

}  // namespace
}  // namespace ge
