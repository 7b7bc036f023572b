// A fast device far away, one half-way, and a slow one near by: the plan of the least cost against
// what every priority order of the three makes, in the virtual clock that devsim keeps. No wall
// clock: the same numbers on every machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/graph_session.h"

namespace ge::test {
namespace {

// Text of a graph, node by node; values are called v1, v2 ...
class Net {
 public:
  explicit Net(std::string params) : params_(std::move(params)) {}
  std::string Op(const std::string& op, const std::string& inputs, const std::string& attrs = "") {
    const std::string name = fmt::format("v{}", ++count_);
    body_ +=
        fmt::format("  {} = {}({}){}\n", name, op, inputs, attrs.empty() ? "" : " {" + attrs + "}");
    return name;
  }
  std::string Weight(const std::string& dims) {
    const std::string name = fmt::format("w{}", ++weights_);
    constants_ += fmt::format("const {} : f32[{}] = splat 0.0{}\n", name, dims, 1 + weights_ % 9);
    return name;
  }
  std::string MatMul(const std::string& x, int64_t rows, int64_t columns) {
    return Op("MatMul", x + ", " + Weight(fmt::format("{},{}", rows, columns)));
  }
  std::string Text(const std::string& results) const {
    return fmt::format(
        "ge 1\nopset \"\" 28\n{}fn main({}) -> ({}) {{\n{}}}\nentry infer \"main\" = main\n",
        constants_, params_, results, body_);
  }

 private:
  std::string params_, constants_, body_;
  int count_ = 0, weights_ = 0;
};

struct NamedGraph {
  std::string name, text;
};

std::string ChainOf(int64_t side, const std::vector<std::string>& ops) {
  Net net(fmt::format("x: f32[{0},{0}]", side));
  std::string v = "x";
  for (const std::string& op : ops) v = op == "MatMul" ? net.MatMul(v, side, side) : net.Op(op, v);
  return net.Text(v);
}

// Layers of these widths, each with its bias and an activation.
std::string Layers(int64_t rows, const std::vector<int64_t>& widths,
                   const std::vector<std::string>& activations) {
  Net net(fmt::format("x: f32[{},{}]", rows, widths[0]));
  std::string v = "x";
  for (size_t i = 0; i < activations.size(); ++i) {
    v = net.MatMul(v, widths[i], widths[i + 1]);
    v = net.Op("Add", v + ", " + net.Weight(fmt::format("{}", widths[i + 1])));
    v = net.Op(activations[i], v);
  }
  return net.Text(v);
}

std::string Autoencoder(int64_t rows, std::vector<int64_t> widths) {
  Net net(fmt::format("x: f32[{},{}]", rows, widths[0]));
  std::string v = "x";
  for (size_t i = 1; i < widths.size(); ++i) {
    v = net.Op("Tanh", net.MatMul(v, widths[i - 1], widths[i]));
  }
  std::reverse(widths.begin(), widths.end());
  for (size_t i = 1; i < widths.size(); ++i) {
    v = net.Op("Relu", net.MatMul(v, widths[i - 1], widths[i]));
  }
  return net.Text(v);
}

std::string Attention(int64_t rows, int64_t width, int64_t inner) {
  Net net(fmt::format("x: f32[1,{},{}]", rows, width));
  const std::string q = net.MatMul("x", width, width), k = net.MatMul("x", width, width),
                    v = net.MatMul("x", width, width);
  const std::string s = net.Op("MatMul", q + ", " + net.Op("Transpose", k, "perm=[0, 2, 1]"));
  const std::string a = net.Op("MatMul", net.Op("Softmax", s) + ", " + v);
  const std::string r = net.Op("Add", net.MatMul(a, width, width) + ", x");
  const std::string n =
      net.Op("LayerNormalization", r + ", " + net.Weight(fmt::format("{}", width)));
  const std::string h = net.Op("Gelu", net.MatMul(n, width, inner));
  return net.Text(net.Op("Add", net.MatMul(h, inner, width) + ", " + r));
}

std::string Convolved(Net* net, const std::string& x, int64_t in, int64_t out, int64_t taps,
                      const std::string& attrs) {
  return net->Op("Conv", x + ", " + net->Weight(fmt::format("{},{},{},{}", out, in, taps, taps)),
                 attrs);
}

// Twice the channels and half the side from layer to layer, then ten classes.
std::string Images(int64_t channels, int64_t side, int depth) {
  Net net(fmt::format("x: f32[1,3,{0},{0}]", side));
  std::string v = "x";
  int64_t in = 3;
  for (int64_t out = channels; depth-- > 0; out *= 2) {
    v = net.Op("Relu", Convolved(&net, v, in, out, 3, "pads=[1, 1, 1, 1]"));
    v = net.Op("MaxPool", v, "kernel_shape=[2, 2], strides=[2, 2]");
    in = out;
  }
  v = net.Op("Flatten", net.Op("GlobalAveragePool", v));
  return net.Text(net.Op("Softmax", net.MatMul(v, in, 10)));
}

// Two heads, which end in results of their own.
std::string Detector(int64_t channels, int64_t side) {
  Net net(fmt::format("x: f32[1,3,{0},{0}]", side));
  const char* half = "pads=[1, 1, 1, 1], strides=[2, 2]";
  std::string v = net.Op("Relu", Convolved(&net, "x", 3, channels, 3, half));
  v = net.Op("Relu", Convolved(&net, v, channels, 2 * channels, 3, half));
  v = net.Op("Relu", Convolved(&net, v, 2 * channels, 2 * channels, 3, "pads=[1, 1, 1, 1]"));
  const std::string boxes = net.Op("Exp", Convolved(&net, v, 2 * channels, 4, 1, ""));
  const std::string scores = net.Op("Sigmoid", Convolved(&net, v, 2 * channels, 1, 1, ""));
  return net.Text(boxes + ", " + net.Op("ReduceMax", scores));
}

std::string Residual(int64_t side, int blocks) {
  Net net(fmt::format("x: f32[{0},{0}]", side));
  std::string v = "x";
  for (int i = 0; i < blocks; ++i) {
    const std::string inner = net.MatMul(net.Op("Tanh", net.MatMul(v, side, side)), side, side);
    v = net.Op("Add", inner + ", " + v);
  }
  return net.Text(net.Op("Softmax", v));
}

// Branches of several widths that meet again.
std::string Towers(const std::vector<int64_t>& widths) {
  Net net("x: f32[32,64]");
  std::string ends;
  for (const int64_t width : widths) {
    const std::string v = net.Op("Sigmoid", net.MatMul("x", 64, width));
    ends += (ends.empty() ? "" : ", ") + net.MatMul(v, width, 16);
  }
  const std::string all = net.Op("Concat", ends, "axis=1");
  return net.Text(net.Op("Softmax", net.MatMul(all, 16 * static_cast<int64_t>(widths.size()), 8)));
}

std::string Recurrent(int steps, int64_t rows, int64_t width) {
  std::string params;
  for (int i = 0; i < steps; ++i) {
    params += fmt::format("{}x{}: f32[{},{}]", i == 0 ? "" : ", ", i, rows, width);
  }
  Net net(params);
  const std::string dims = fmt::format("{0},{0}", width), a = net.Weight(dims),
                    b = net.Weight(dims);
  std::string h = "x0";
  for (int i = 1; i < steps; ++i) {
    const std::string before = net.Op("MatMul", h + ", " + a);
    const std::string now = net.Op("MatMul", fmt::format("x{}, {}", i, b));
    h = net.Op("Tanh", net.Op("Add", before + ", " + now));
  }
  return net.Text(net.Op("Softmax", net.MatMul(h, width, 10)));
}

std::vector<NamedGraph> Graphs() {
  const std::string r = "Relu", s = "Softmax", t = "Tanh";
  return {{"layers, narrowing", Layers(64, {64, 256, 128, 16, 8}, {r, r, r, s})},
          {"layers, small", Layers(4, {16, 16, 16, 4}, {r, r, s})},
          {"layers, wide", Layers(128, {128, 512, 512, 10}, {t, t, s})},
          {"layers, widening", Layers(32, {8, 16, 64, 512, 512}, {r, r, r, "Sigmoid"})},
          {"images of 16", Images(8, 16, 2)},
          {"images of 32", Images(8, 32, 3)},
          {"images of 64", Images(8, 64, 4)},
          {"attention 16 x 32", Attention(16, 32, 64)},
          {"attention 32 x 64", Attention(32, 64, 256)},
          {"attention 64 x 128", Attention(64, 128, 512)},
          {"attention 128 x 64", Attention(128, 64, 128)},
          {"autoencoder", Autoencoder(64, {256, 64, 16, 4})},
          {"autoencoder, large", Autoencoder(128, {512, 128, 16})},
          {"residual", Residual(48, 3)},
          {"towers", Towers({8, 64, 512, 1024})},
          {"towers, small", Towers({8, 16, 32, 64})},
          {"recurrent", Recurrent(5, 16, 96)},
          {"recurrent, small", Recurrent(5, 4, 24)},
          {"detector of 32", Detector(8, 32)},
          {"detector of 64", Detector(16, 64)}};
}

// A matrix unit far away, a vector unit half-way, and a processor near by that does everything.
std::vector<std::string> Names() { return {"devsim", "devsim_middle", "devsim_near"}; }
std::string Engines(const std::string& clock) {
  const std::string own[] = {
      "price=8;link_latency_ns=15000;link_gbps=8;ops=MatMul+Conv+Relu+Add+Concat+Transpose",
      "price=30;link_latency_ns=3000;link_gbps=16;ops=Relu+Add+Mul+Tanh+Sigmoid+Gelu+Exp+Softmax+"
      "MaxPool+LayerNormalization+GlobalAveragePool",
      "price=100;link_latency_ns=0;link_gbps=1000000"};
  std::string list;
  for (size_t i = 0; i < 3; ++i) {
    list += fmt::format("{}{}{}.so:{};streams=1;clock={}", i == 0 ? "" : ",", SamplesFolder(),
                        Names()[i], own[i], clock);
  }
  return list;
}

class VirtualClock : public ::testing::Test {
 protected:
  VirtualClock()
      : file_(std::filesystem::temp_directory_path() / fmt::format("ge_clock_{}", getpid())) {}
  ~VirtualClock() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  struct Times {
    uint64_t host_ns = 0, work_ns = 0;
  };
  Times Now() const {
    Times now;
    std::ifstream(file_, std::ios::binary).read(reinterpret_cast<char*>(&now), sizeof now);
    return now;
  }
  struct Ran {
    Times took;
    std::vector<std::vector<float>> out;
  };
  // The second run of a session: weights are there.
  Result<Ran> Run(const std::string& text, const PlaceOptions& place) const;

  const std::filesystem::path file_;
};

Result<VirtualClock::Ran> VirtualClock::Run(const std::string& text,
                                            const PlaceOptions& place) const {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(Engines(file_.string())));
  options.build.place = place;
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadBytes(text, Format::kText));
  const Function& f = session->graph().fn(1);
  std::vector<std::vector<float>> in;
  std::vector<TensorView> views;
  for (const ValueId p : f.params) {
    const Type& type = f.value(p).type;
    in.emplace_back(static_cast<size_t>(ByteCount(type).value_or(0)) / sizeof(float));
    for (size_t i = 0; i < in.back().size(); ++i) in.back()[i] = static_cast<float>(i % 13) / 13;
    views.push_back({type.dtype, type.static_dims(), nullptr, in.back().size() * sizeof(float)});
  }
  for (size_t i = 0; i < in.size(); ++i) views[i].data = in[i].data();
  Ran ran;
  for (int k = 0; k < 2; ++k) {
    std::vector<TensorView> out(f.results.size());
    ran.out.clear();
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t bytes = static_cast<size_t>(ByteCount(f.value(f.results[i]).type).value_or(0));
      ran.out.emplace_back(bytes / sizeof(float));
      out[i].data = ran.out[i].data();
      out[i].bytes = bytes;
    }
    const Times begin = Now();
    GE_RETURN_IF_ERROR(session->Run("", views, out));
    ran.took = {Now().host_ns - begin.host_ns, Now().work_ns - begin.work_ns};
  }
  return ran;
}

std::vector<std::vector<std::string>> Orders() {
  std::vector<std::vector<std::string>> orders;
  std::vector<std::string> order = Names();
  do {
    orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

// How often the plan was better than the best of the orders, as good, and worse.
struct FarNearTally {
  int better = 0, equal = 0, worse = 0;
  void Count(uint64_t ours, uint64_t best) {
    ++(ours < best ? better : ours == best ? equal : worse);
  }
};

// The price of a plan is what its work takes, whoever does it: by that the plan has to be the best.
// Beside it stands how long the host waits, which is less where two devices work at once; PLACE
// does not count on that, so there an order may be ahead.
TEST_F(VirtualClock, ThePlanIsNeverWorseThanAPriorityOrder) {
  FarNearTally work, waited;
  std::printf(
      "virtual ns of a run's work (until the host has it); f fast and far, m half-way, n "
      "slow and near\n%-20s %20s",
      "graph", "plan");
  for (const auto& order : Orders()) {
    std::string letters;
    for (const std::string& name : order) letters += name == "devsim" ? 'f' : name[7];
    std::printf(" %19s", letters.c_str());
  }
  for (const auto& [name, text] : Graphs()) {
    auto ours = Run(text, {});
    ASSERT_TRUE(ours.ok()) << name << ": " << ours.status().ToString();
    std::printf("\n%-20s %9lu (%8lu)", name.c_str(), ours->took.work_ns, ours->took.host_ns);
    EXPECT_GT(ours->took.host_ns, 0u) << name;
    EXPECT_LE(ours->took.host_ns, ours->took.work_ns) << name;
    Times best{UINT64_MAX, UINT64_MAX};
    for (const auto& order : Orders()) {
      PlaceOptions place;
      place.policy = PlacePolicy::kPriority;
      place.order = order;
      auto other = Run(text, place);
      ASSERT_TRUE(other.ok()) << name << ": " << other.status().ToString();
      EXPECT_EQ(other->out, ours->out) << name;
      best.work_ns = std::min(best.work_ns, other->took.work_ns);
      best.host_ns = std::min(best.host_ns, other->took.host_ns);
      std::printf(" %8lu (%8lu)", other->took.work_ns, other->took.host_ns);
    }
    EXPECT_LE(ours->took.work_ns, best.work_ns) << name;
    work.Count(ours->took.work_ns, best.work_ns);
    waited.Count(ours->took.host_ns, best.host_ns);
  }
  std::printf(
      "\nuntil the host has it: better than every order in %d, equal to the best in %d, "
      "worse in %d\n20 graphs by their work: better than every order in %d, equal to the "
      "best in %d, worse in %d\n",
      waited.better, waited.equal, waited.worse, work.better, work.equal, work.worse);
  EXPECT_EQ(work.better + work.equal + work.worse, 20);
  EXPECT_EQ(work.worse, 0);
  EXPECT_GE(work.better, 10);
}

TEST_F(VirtualClock, SaysWhatWorkAndWaysTake) {
  // On the far device alone: in, the work, and back, one after the other.
  PlaceOptions place;
  place.policy = PlacePolicy::kPriority;
  place.order = {"devsim"};
  auto one = Run(ChainOf(16, {"Relu"}), place);
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  auto two = Run(ChainOf(16, {"Relu", "MatMul"}), place);
  ASSERT_TRUE(two.ok()) << two.status().ToString();
  const uint64_t ways = 2 * (15000 + 16 * 16 * 4 / 8);
  EXPECT_GT(one->took.host_ns, ways);
  EXPECT_LT(one->took.host_ns, ways + 1000);
  EXPECT_EQ(one->took.host_ns, one->took.work_ns) << "nothing at once";
  EXPECT_GT(two->took.host_ns, one->took.host_ns) << "the second node takes time, too";
  EXPECT_LT(two->took.host_ns, one->took.host_ns + 1000) << "and no way";
}

TEST_F(VirtualClock, AFileThatCannotBeWrittenIsRefused) {
  auto session = OpenGraph(SamplesFolder() + "devsim.so:clock=/nowhere/clock", RandomGraph(1));
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.status().message().find("clock '/nowhere/clock' cannot be used: No such file"),
            std::string::npos)
      << session.status().ToString();
}

}  // namespace
}  // namespace ge::test
