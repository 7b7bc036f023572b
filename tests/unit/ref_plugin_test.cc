// The reference engine through the plugin ABI alone: the .so is loaded, graphs are made by hand.
// Numbers of whole operators are the business of the ONNX node tests; here it is the contract:
// offers, refusals, segments, aliases, errors, and that a run allocates nothing.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "tests/unit/allocation_count.h"
#include "tests/unit/default_attrs.h"

namespace {

using ge::plugin::Str;
using ge::plugin::View;
using Shape = std::vector<int64_t>;

const ge_plugin_desc* LoadRef() {
  static const ge_plugin_desc* desc = []() -> const ge_plugin_desc* {
    const auto exe = std::filesystem::read_symlink("/proc/self/exe");
    const auto path = exe.parent_path().parent_path() / "lib/graphengine/ref.so";
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    auto query = reinterpret_cast<const ge_plugin_desc* (*)(ge_query_args*)>(
        dlsym(handle, "ge_plugin_query"));
    ge_query_args args = {};
    args.h = GE_HDR(ge_query_args, GE_TAG_QUERY_ARGS);
    args.host_header_hash = GE_HEADER_HASH;
    args.host_major = GE_ABI_MAJOR;
    args.host_minor = GE_ABI_MINOR;
    return query == nullptr ? nullptr : query(&args);
  }();
  return desc;
}

// A hand-made graph. Value 0 is the absent one; storage is stable, so views may point into it.
class GraphMaker {
 public:
  GraphMaker() { Add(0, {}); }

  uint32_t Input(int32_t dtype, Shape dims) {
    const uint32_t v = Add(dtype, std::move(dims));
    values_[v].flags = GE_VALUE_INPUT;
    inputs_.push_back(v);
    return v;
  }
  template <class T>
  uint32_t Constant(int32_t dtype, Shape dims, const std::vector<T>& data, size_t misalign = 0) {
    const uint32_t v = Add(dtype, std::move(dims));
    bytes_.emplace_back(data.size() * sizeof(T) + misalign + 1);
    std::memcpy(bytes_.back().data() + misalign, data.data(), data.size() * sizeof(T));
    values_[v].flags = GE_VALUE_CONSTANT;
    values_[v].data = bytes_.back().data() + misalign;
    values_[v].data_bytes = data.size() * sizeof(T);
    return v;
  }
  // One output of the given type; returns its value.
  uint32_t Node(const char* op, std::vector<uint32_t> in, int32_t dtype, Shape dims,
                std::vector<ge_attr> attrs = {}) {
    const uint32_t v = Add(dtype, std::move(dims));
    ports_.push_back(std::move(in));
    ports_.push_back({v});
    ge::test::AddDefaultAttrs(op, &attrs);
    attrs_.push_back(std::move(attrs));
    ge_node n = {};
    n.h = GE_HDR(ge_node, GE_TAG_NODE);
    n.op = Str(op);
    n.version = 28;
    n.id = static_cast<uint32_t>(nodes_.size());
    n.in = ports_[ports_.size() - 2].data();
    n.n_in = static_cast<uint32_t>(ports_[ports_.size() - 2].size());
    n.out = ports_.back().data();
    n.n_out = 1;
    n.attr = attrs_.back().data();
    n.n_attr = static_cast<uint32_t>(attrs_.back().size());
    names_.push_back(std::string("my_") + op);
    n.name = Str(names_.back());
    values_[v].producer = n.id;
    nodes_.push_back(n);
    return v;
  }
  // The last node is one of this domain.
  void Domain(const char* domain) { nodes_.back().domain = Str(domain); }
  static ge_attr IntAttr(const char* name, int64_t i) {
    ge_attr a = {};
    a.name = Str(name);
    a.kind = GE_ATTR_INT;
    a.i = i;
    return a;
  }
  ge_attr IntsAttr(const char* name, Shape list) {
    dims_.push_back(std::move(list));
    ge_attr a = {};
    a.name = Str(name);
    a.kind = GE_ATTR_INTS;
    a.ints = dims_.back().data();
    a.n = static_cast<uint32_t>(dims_.back().size());
    return a;
  }
  static ge_attr TextAttr(const char* name, const char* text) {
    ge_attr a = {};
    a.name = Str(name);
    a.kind = GE_ATTR_STRING;
    a.s = Str(text);
    return a;
  }
  const ge_graph& graph() {
    graph_ = {};
    graph_.h = GE_HDR(ge_graph, GE_TAG_GRAPH);
    graph_.node = nodes_.data();
    graph_.value = values_.data();
    graph_.n_node = static_cast<uint32_t>(nodes_.size());
    graph_.n_value = static_cast<uint32_t>(values_.size());
    graph_.node_stride = sizeof(ge_node);
    graph_.value_stride = sizeof(ge_value);
    return graph_;
  }
  const std::vector<uint32_t>& inputs() const { return inputs_; }
  uint64_t Bytes(uint32_t v) const {
    uint64_t bytes = 0;
    EXPECT_TRUE(ge::plugin::TensorBytes(values_[v].type, &bytes));
    return bytes;
  }

 private:
  uint32_t Add(int32_t dtype, Shape dims) {
    dims_.push_back(std::move(dims));
    ge_value v = {};
    v.h = GE_HDR(ge_value, GE_TAG_VALUE);
    v.type.dtype = dtype;
    v.type.rank = static_cast<int32_t>(dims_.back().size());
    v.type.dims = dims_.back().data();
    v.type.bits = ge::plugin::ElementBits(dtype);
    v.producer = UINT32_MAX;
    values_.push_back(v);
    return static_cast<uint32_t>(values_.size() - 1);
  }

  std::vector<ge_value> values_;
  std::vector<ge_node> nodes_;
  std::deque<Shape> dims_;
  std::deque<std::vector<uint32_t>> ports_;
  std::deque<std::vector<ge_attr>> attrs_;
  std::deque<std::vector<char>> bytes_;
  std::deque<std::string> names_;
  std::vector<uint32_t> inputs_;
  ge_graph graph_;
};

struct Answers {
  std::map<uint32_t, ge_offer> offers;
  std::map<uint32_t, ge_cost> costs;
  std::map<uint32_t, std::pair<uint32_t, std::string>> declines;
};

ge_err NewErr() {
  ge_err err = {};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  return err;
}
std::string Text(const ge_err& err) { return std::string(err.msg, err.msg_len); }

class RefPlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    desc_ = LoadRef();
    ASSERT_NE(desc_, nullptr) << "ref.so does not load: " << dlerror();
    ge_create_args args = {};
    args.h = GE_HDR(ge_create_args, GE_TAG_CREATE_ARGS);
    ASSERT_EQ(desc_->engine_create(&args, &engine_, nullptr), GE_OK);
  }
  void TearDown() override {
    for (ge_exec* e : execs_) desc_->engine->exec_destroy(e);
    if (engine_ != nullptr) desc_->engine_destroy(engine_);
  }

  Answers Query(GraphMaker& g) {
    Answers a;
    ge_sink sink = {};
    sink.h = GE_HDR(ge_sink, GE_TAG_SINK);
    sink.host = &a;
    sink.offer = [](void* host, const ge_offer* o) -> ge_rc {
      static_cast<Answers*>(host)->offers[o->node[0]] = *o;
      static_cast<Answers*>(host)->costs[o->node[0]] = *o->cost;
      return GE_OK;
    };
    sink.decline = [](void* host, const ge_decline* d) -> ge_rc {
      static_cast<Answers*>(host)->declines[d->node] = {d->why, std::string(View(d->text))};
      return GE_OK;
    };
    EXPECT_EQ(desc_->engine->query(engine_, &g.graph(), &sink, nullptr), GE_OK);
    return a;
  }

  // The whole graph as one segment.
  ge_compiled Compile(GraphMaker& g, const std::vector<uint32_t>& outputs) {
    const ge_graph& graph = g.graph();
    std::vector<uint32_t> node(graph.n_node), layout(64);
    std::vector<ge_taken> taken(graph.n_node);
    for (uint32_t i = 0; i < graph.n_node; ++i) {
      node[i] = i;
      taken[i].node = &node[i];
      taken[i].n_node = 1;
    }
    ge_segment s = {};
    s.h = GE_HDR(ge_segment, GE_TAG_SEGMENT);
    s.graph = &graph;
    s.taken = taken.data();
    s.n_taken = graph.n_node;
    s.in = g.inputs().data();
    s.n_in = static_cast<uint32_t>(g.inputs().size());
    s.out = outputs.data();
    s.n_out = static_cast<uint32_t>(outputs.size());
    s.in_layout = s.out_layout = layout.data();
    ge_compiled c = {};
    c.h = GE_HDR(ge_compiled, GE_TAG_COMPILED);
    whys_.push_back(NewErr());
    c.err = &whys_.back();
    EXPECT_EQ(desc_->engine->compile(engine_, &s, 1, sizeof(s), &c, sizeof(c), nullptr), GE_OK);
    if (c.exec != nullptr) execs_.push_back(c.exec);
    return c;
  }

  const ge_plugin_desc* desc_ = nullptr;
  ge_engine* engine_ = nullptr;
  std::vector<ge_exec*> execs_;
  std::deque<ge_err> whys_;  // of what was compiled
};

// Buffers of one launch; internal values lie apart, or on what they may overlay.
class Launch {
 public:
  Launch(GraphMaker& g, const std::vector<uint32_t>& outputs, const ge_compiled& c,
         bool overlay = false) {
    for (uint32_t v : g.inputs()) in_.push_back(New(g.Bytes(v)));
    for (uint32_t v : outputs) out_.push_back(New(g.Bytes(v)));
    for (uint32_t i = 0; i < c.n_internal; ++i) {
      const uint32_t on = c.internal[i].alias_of;
      internal_.push_back(overlay && on != UINT32_MAX ? internal_[on] : New(c.internal[i].bytes));
    }
    launch_ = {};
    launch_.h = GE_HDR(ge_launch, GE_TAG_LAUNCH);
    launch_.workspace = New(c.workspace);
    launch_.n_in = static_cast<uint32_t>(in_.size());
    launch_.n_out = static_cast<uint32_t>(out_.size());
    launch_.n_internal = static_cast<uint32_t>(internal_.size());
    launch_.in = in_.data();
    launch_.out = out_.data();
    launch_.internal = internal_.data();
  }
  template <class T>
  void Set(size_t i, const std::vector<T>& data) {
    ASSERT_EQ(in_[i].bytes, data.size() * sizeof(T));
    if (!data.empty()) std::memcpy(in_[i].ptr, data.data(), in_[i].bytes);
  }
  template <class T>
  std::vector<T> Get(size_t i) const {
    const T* p = static_cast<const T*>(out_[i].ptr);
    return std::vector<T>(p, p + out_[i].bytes / sizeof(T));
  }
  ge_launch* get() { return &launch_; }
  std::vector<ge_buf> in_, out_, internal_;

 private:
  ge_buf New(uint64_t bytes) {
    store_.emplace_back(bytes + 64, char{0x5a});
    ge_buf b = {};
    b.ptr = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(store_.back().data()) + 63) &
                                    ~uintptr_t{63});
    b.bytes = bytes;
    return b;
  }
  std::deque<std::vector<char>> store_;
  ge_launch launch_;
};

TEST_F(RefPlugin, DescribesItself) {
  EXPECT_EQ(desc_->magic, GE_PLUGIN_MAGIC);
  EXPECT_EQ(View(desc_->name), "ref");
  EXPECT_EQ(desc_->engine->devices, nullptr);
}

TEST_F(RefPlugin, RefusesAnotherMajorWithASentence) {
  const auto exe = std::filesystem::read_symlink("/proc/self/exe");
  void* handle =
      dlopen((exe.parent_path().parent_path() / "lib/graphengine/ref.so").c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr);
  auto query =
      reinterpret_cast<const ge_plugin_desc* (*)(ge_query_args*)>(dlsym(handle, "ge_plugin_query"));
  ge_query_args args = {};
  args.host_major = GE_ABI_MAJOR + 1;
  args.host_header_hash = GE_HEADER_HASH;
  EXPECT_EQ(query(&args), nullptr);
  EXPECT_NE(std::string(args.refusal).find("the host has 2."), std::string::npos) << args.refusal;
  // Other structs of the same major version are longer or shorter ones.
  args.host_major = GE_ABI_MAJOR;
  args.host_minor = GE_ABI_MINOR + 3;
  args.host_header_hash = GE_HEADER_HASH + 1;
  EXPECT_NE(query(&args), nullptr);
}

TEST_F(RefPlugin, OffersWhatItKnowsAndSaysWhyNot) {
  GraphMaker g;
  const uint32_t a = g.Input(GE_F32, {2, 3}), s = g.Input(GE_STRING, {2}),
                 d = g.Input(GE_F32, {-1});
  g.Node("Add", {a, a}, GE_F32, {2, 3});
  g.Node("Identity", {s}, GE_STRING, {2});
  g.Node("Relu", {d}, GE_F32, {-1});
  g.Node("NoSuchOp", {a}, GE_F32, {2, 3});
  g.Node("Add", {a, a}, GE_F32, {3, 2});
  const Answers answers = Query(g);
  ASSERT_EQ(answers.offers.size(), 1u);
  EXPECT_EQ(answers.offers.at(0).flags, static_cast<uint32_t>(GE_OFFER_GROWABLE));
  EXPECT_GT(answers.costs.at(0).marginal_ns, 0u);
  EXPECT_EQ(answers.costs.at(0).source, static_cast<uint32_t>(GE_PRICE_ANALYTIC));
  ASSERT_EQ(answers.declines.size(), 4u);
  EXPECT_EQ(answers.declines.at(1).first, static_cast<uint32_t>(GE_WHY_DTYPE));
  EXPECT_EQ(answers.declines.at(2).first, static_cast<uint32_t>(GE_WHY_DYNAMIC));
  EXPECT_EQ(answers.declines.at(3).first, static_cast<uint32_t>(GE_WHY_OP));
  EXPECT_EQ(answers.declines.at(4).first, static_cast<uint32_t>(GE_WHY_SHAPE));
  for (const auto& [node, why] : answers.declines) EXPECT_FALSE(why.second.empty()) << node;
}

// Nodes that this host's rules let nobody have: another host's may.
TEST_F(RefPlugin, SaysWhyNotOfNodesThatNoRuleHasSeen) {
  GraphMaker g;
  const uint32_t x = g.Input(GE_F32, {2, 3}), one = g.Input(GE_F32, {2, 1}),
                 none = g.Input(GE_F32, {2, 0});
  g.Node("Bernoulli", {x}, GE_C64, {2, 3});
  g.Node("EyeLike", {x}, GE_C64, {2, 3});
  g.Node(".Scaler", {x}, GE_F32, {2, 3});
  g.Domain("ai.onnx.m");
  // Widths whose sum wraps to that of the output.
  const int64_t quarter = int64_t{1} << 62;
  g.Node("FeatureVectorizer", {one, one, one, one}, GE_F32, {2, 0},
         {g.IntsAttr("inputdimensions", {quarter, quarter, quarter, quarter})});
  g.Domain("ai.onnx.ml");
  g.Node("Imputer", {none}, GE_F32, {2, 0});
  g.Domain("ai.onnx.ml");
  const Answers answers = Query(g);
  EXPECT_TRUE(answers.offers.empty());
  ASSERT_EQ(answers.declines.size(), 5u);
  EXPECT_EQ(answers.declines.at(0).first, static_cast<uint32_t>(GE_WHY_DTYPE));
  EXPECT_EQ(answers.declines.at(1).first, static_cast<uint32_t>(GE_WHY_DTYPE));
  EXPECT_EQ(answers.declines.at(2).first, static_cast<uint32_t>(GE_WHY_OP));
  EXPECT_EQ(answers.declines.at(3).first, static_cast<uint32_t>(GE_WHY_SHAPE));
  EXPECT_EQ(answers.declines.at(4).first, static_cast<uint32_t>(GE_WHY_ATTRIBUTE));
  for (const auto& [node, why] : answers.declines) EXPECT_FALSE(why.second.empty()) << node;
}

TEST_F(RefPlugin, MovesConstantsFromAnyAddress) {
  GraphMaker g;
  const uint32_t table = g.Constant<float>(GE_F32, {3, 2}, {0, 1, 10, 11, 20, 21}, 1);
  const uint32_t index = g.Input(GE_I64, {2});
  const uint32_t y = g.Node("Gather", {table, index}, GE_F32, {2, 2});
  EXPECT_EQ(Query(g).offers.at(0).const_align, 1u);
  const ge_compiled c = Compile(g, {y});
  ASSERT_EQ(c.rc, GE_OK) << Text(*c.err);
  Launch l(g, {y}, c);
  l.Set<int64_t>(0, {2, -3});
  ASSERT_EQ(desc_->engine->enqueue(c.exec, l.get(), nullptr), GE_OK);
  EXPECT_EQ(l.Get<float>(0), (std::vector<float>{20, 21, 0, 1}));
}

TEST_F(RefPlugin, NamesTheNodeAndTheFirstIndexOutOfRange) {
  GraphMaker g;
  const uint32_t x = g.Input(GE_F32, {3}), index = g.Input(GE_I64, {3});
  const uint32_t y = g.Node("Gather", {x, index}, GE_F32, {3});
  const ge_compiled c = Compile(g, {y});
  ASSERT_EQ(c.rc, GE_OK);
  Launch l(g, {y}, c);
  l.Set<float>(0, {1, 2, 3});
  l.Set<int64_t>(1, {0, 3, -4});
  ge_err err = NewErr();
  EXPECT_EQ(desc_->engine->enqueue(c.exec, l.get(), &err), GE_INVALID_ARGUMENT);
  EXPECT_EQ(err.node, 0u);
  EXPECT_NE(Text(err).find("'my_Gather'"), std::string::npos) << Text(err);
  EXPECT_NE(Text(err).find("indices[1] is 3"), std::string::npos) << Text(err);
}

TEST_F(RefPlugin, DividesIntegersWithoutTrapping) {
  GraphMaker g;
  const uint32_t x = g.Input(GE_I32, {2}), z = g.Input(GE_I32, {2});
  const uint32_t y = g.Node("Div", {x, z}, GE_I32, {2});
  const ge_compiled c = Compile(g, {y});
  Launch l(g, {y}, c);
  l.Set<int32_t>(0, {INT32_MIN, -7});
  l.Set<int32_t>(1, {-1, 2});
  ASSERT_EQ(desc_->engine->enqueue(c.exec, l.get(), nullptr), GE_OK);
  EXPECT_EQ(l.Get<int32_t>(0), (std::vector<int32_t>{INT32_MIN, -3}));
  l.Set<int32_t>(1, {1, 0});
  ge_err err = NewErr();
  EXPECT_EQ(desc_->engine->enqueue(c.exec, l.get(), &err), GE_INVALID_ARGUMENT);
  EXPECT_NE(Text(err).find("divided by zero"), std::string::npos) << Text(err);
}

// x -> Relu -> Reshape -> Neg, and Neg + x.
struct Chain {
  GraphMaker g;
  uint32_t x, relu, flat, neg, y;
  Chain() {
    x = g.Input(GE_F32, {2, 2});
    const uint32_t shape = g.Constant<int64_t>(GE_I64, {1}, {4});
    relu = g.Node("Relu", {x}, GE_F32, {2, 2});
    flat = g.Node("Reshape", {relu, shape}, GE_F32, {4});
    neg = g.Node("Neg", {flat}, GE_F32, {4});
    const uint32_t shape2 = g.Constant<int64_t>(GE_I64, {2}, {2, 2});
    const uint32_t back = g.Node("Reshape", {neg, shape2}, GE_F32, {2, 2});
    y = g.Node("Add", {back, x}, GE_F32, {2, 2});
  }
};

TEST_F(RefPlugin, StatesStepsAndPermittedAliases) {
  Chain chain;
  const ge_compiled c = Compile(chain.g, {chain.y});
  ASSERT_EQ(c.rc, GE_OK) << Text(*c.err);
  EXPECT_EQ(c.n_step, 5u);
  ASSERT_EQ(c.n_internal, 4u);
  const uint32_t first[] = {0, 1, 2, 3}, last[] = {1, 2, 3, 4};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(c.internal[i].first_step, first[i]);
    EXPECT_EQ(c.internal[i].last_step, last[i]);
    EXPECT_EQ(c.internal[i].bytes, 16u);
    // Relu must keep x, which Add reads at the end; the rest may be done in place.
    EXPECT_EQ(c.internal[i].alias_of, i == 0 ? UINT32_MAX : i - 1);
  }
  ASSERT_EQ(c.alias_count, 1u);
  EXPECT_EQ(c.alias[0], 0u);
  EXPECT_EQ(c.alias[1], 0u);
}

TEST_F(RefPlugin, GivesTheSameInPlace) {
  Chain chain;
  const ge_compiled c = Compile(chain.g, {chain.y});
  ASSERT_EQ(c.rc, GE_OK) << Text(*c.err);
  const std::vector<float> x = {-1, 2, 0, 5}, want = {-1, 0, 0, 0};
  for (const bool overlay : {false, true}) {
    Launch l(chain.g, {chain.y}, c, overlay);
    l.Set<float>(0, x);
    if (overlay) l.out_[0].ptr = l.in_[0].ptr;
    ASSERT_EQ(desc_->engine->enqueue(c.exec, l.get(), nullptr), GE_OK);
    EXPECT_EQ(l.Get<float>(0), want) << "overlay " << overlay;
  }
}

TEST_F(RefPlugin, ForbidsAliasesThatABroadcastWouldSpoil) {
  GraphMaker g;
  const uint32_t a = g.Input(GE_F32, {2, 2}), b = g.Input(GE_F32, {2});
  const uint32_t y = g.Node("Sub", {a, b}, GE_F32, {2, 2});
  const uint32_t t = g.Node("Transpose", {y}, GE_F32, {2, 2});
  const ge_compiled c = Compile(g, {t});
  ASSERT_EQ(c.rc, GE_OK);
  ASSERT_EQ(c.n_internal, 1u);
  EXPECT_EQ(c.internal[0].alias_of, UINT32_MAX);
  // t is written after the last read of a, so it may lie there; b is too small.
  ASSERT_EQ(c.alias_count, 1u);
  EXPECT_EQ(c.alias[1], 0u);
}

TEST_F(RefPlugin, TakesEmptyTensorsAndScalars) {
  GraphMaker g;
  const uint32_t empty = g.Input(GE_F32, {0, 3}), s = g.Input(GE_F32, {});
  const uint32_t sum = g.Node("Add", {empty, s}, GE_F32, {0, 3});
  const uint32_t axes = g.Constant<int64_t>(GE_I64, {1}, {0});
  const uint32_t r =
      g.Node("ReduceSum", {sum, axes}, GE_F32, {3}, {GraphMaker::IntAttr("keepdims", 0)});
  const uint32_t m = g.Node("Mul", {s, s}, GE_F32, {});
  const std::vector<uint32_t> outs = {sum, r, m};
  const ge_compiled c = Compile(g, outs);
  ASSERT_EQ(c.rc, GE_OK) << Text(*c.err);
  Launch l(g, outs, c);
  l.Set<float>(1, {3});
  ASSERT_EQ(desc_->engine->enqueue(c.exec, l.get(), nullptr), GE_OK);
  EXPECT_EQ(l.Get<float>(1), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(l.Get<float>(2), (std::vector<float>{9}));
}

TEST_F(RefPlugin, ChecksWhatALaunchBrings) {
  GraphMaker g;
  const uint32_t a = g.Input(GE_F32, {4}), b = g.Input(GE_F32, {4});
  const uint32_t y = g.Node("MatMul", {a, b}, GE_F32, {});
  const ge_compiled c = Compile(g, {y});
  ASSERT_EQ(c.rc, GE_OK) << Text(*c.err);
  ASSERT_GT(c.workspace, 0u);
  Launch l(g, {y}, c);
  ge_err err = NewErr();
  l.get()->workspace.bytes = 0;
  EXPECT_EQ(desc_->engine->enqueue(c.exec, l.get(), &err), GE_INVALID_ARGUMENT);
  l.get()->workspace.bytes = c.workspace;
  l.in_[1].bytes = 12;
  EXPECT_EQ(desc_->engine->enqueue(c.exec, l.get(), &err), GE_INVALID_ARGUMENT);
  EXPECT_NE(Text(err).find("input 1"), std::string::npos) << Text(err);
  l.get()->n_in = 1;
  EXPECT_EQ(desc_->engine->enqueue(c.exec, l.get(), &err), GE_INVALID_ARGUMENT);
}

// Operators with every kind of scratch, in one segment.
struct Net {
  GraphMaker g;
  uint32_t x, y;
  Net() {
    x = g.Input(GE_F32, {1, 2, 4, 4});
    const uint32_t w = g.Constant<float>(GE_F32, {2, 2, 3, 3}, std::vector<float>(36, 0.5f));
    const ge_attr pads = g.IntsAttr("pads", {1, 1, 1, 1});
    const uint32_t conv = g.Node("Conv", {x, w}, GE_F32, {1, 2, 4, 4}, {pads});
    const uint32_t soft = g.Node("Softmax", {conv}, GE_F32, {1, 2, 4, 4});
    const uint32_t scales = g.Constant<float>(GE_F32, {4}, {1, 1, 2, 2});
    const uint32_t big = g.Node("Resize", {soft, 0, scales}, GE_F32, {1, 2, 8, 8},
                                {GraphMaker::TextAttr("mode", "linear")});
    const uint32_t pool =
        g.Node("MaxPool", {big}, GE_F32, {1, 2, 4, 4},
               {g.IntsAttr("kernel_shape", {2, 2}), g.IntsAttr("strides", {2, 2})});
    const uint32_t turned = g.Node("Transpose", {pool}, GE_F32, {4, 4, 2, 1});
    const uint32_t m = g.Constant<float>(GE_F32, {1, 3}, {1, 2, 3});
    const uint32_t mat = g.Node("MatMul", {turned, m}, GE_F32, {4, 4, 2, 3});
    const uint32_t axes = g.Constant<int64_t>(GE_I64, {2}, {0, 1});
    y = g.Node("ReduceMean", {mat, axes}, GE_F32, {1, 1, 2, 3});
  }
};

TEST_F(RefPlugin, AllocatesNothingWhenItRuns) {
  Net net;
  const ge_compiled c = Compile(net.g, {net.y});
  ASSERT_EQ(c.rc, GE_OK) << Text(*c.err);
  Launch l(net.g, {net.y}, c);
  l.Set<float>(0, std::vector<float>(32, 0.25f));
  ASSERT_EQ(desc_->engine->enqueue(c.exec, l.get(), nullptr), GE_OK);
  const std::vector<float> first = l.Get<float>(0);
  if (!ge::AllocationCounting()) GTEST_SKIP() << "allocations are the sanitizer's";
  const uint64_t made = ge::AllocationCount();
  Answers seen = Query(net.g);  // proves that the plugin's allocations are counted
  EXPECT_GT(ge::AllocationCount(), made + seen.offers.size());
  const uint64_t before = ge::AllocationCount();
  for (int i = 0; i < 3; ++i) desc_->engine->enqueue(c.exec, l.get(), nullptr);
  EXPECT_EQ(ge::AllocationCount(), before);
  EXPECT_EQ(l.Get<float>(0), first);
}

TEST_F(RefPlugin, RunsOneExecOnManyThreads) {
  Net net;
  const ge_compiled c = Compile(net.g, {net.y});
  ASSERT_EQ(c.rc, GE_OK);
  std::vector<float> x(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 16 - 1;
  Launch alone(net.g, {net.y}, c);
  alone.Set<float>(0, x);
  ASSERT_EQ(desc_->engine->enqueue(c.exec, alone.get(), nullptr), GE_OK);
  const std::vector<float> want = alone.Get<float>(0);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      Launch l(net.g, {net.y}, c);
      l.Set<float>(0, x);
      for (int i = 0; i < 200; ++i) {
        const ge_rc rc = desc_->engine->enqueue(c.exec, l.get(), nullptr);
        count += rc != GE_OK || l.Get<float>(0) != want;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(RefPlugin, RefusesASegmentThatReadsWhatNobodyComputes) {
  GraphMaker g;
  const uint32_t a = g.Input(GE_F32, {2});
  const uint32_t b = g.Node("Relu", {a}, GE_F32, {2});
  const uint32_t y = g.Node("Neg", {b}, GE_F32, {2});
  const ge_graph& graph = g.graph();
  const uint32_t only_neg = 1, layout[1] = {0}, out[1] = {y};
  ge_taken taken = {0, &only_neg, 1, 0, {}};
  ge_segment s = {};
  s.h = GE_HDR(ge_segment, GE_TAG_SEGMENT);
  s.graph = &graph;
  s.taken = &taken;
  s.n_taken = 1;
  s.in = g.inputs().data();
  s.n_in = 1;
  s.out = out;
  s.n_out = 1;
  s.in_layout = s.out_layout = layout;
  ge_compiled c = {};
  c.h = GE_HDR(ge_compiled, GE_TAG_COMPILED);
  ge_err why = NewErr();
  c.err = &why;
  EXPECT_EQ(desc_->engine->compile(engine_, &s, 1, sizeof(s), &c, sizeof(c), nullptr), GE_OK);
  EXPECT_EQ(c.rc, GE_INVALID_ARGUMENT);
  EXPECT_EQ(c.exec, nullptr);
  EXPECT_NE(Text(why).find("'my_Neg'"), std::string::npos) << Text(why);
}

}  // namespace
