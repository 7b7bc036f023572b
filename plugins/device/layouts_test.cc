// Images in blocks of channels on the simulated vendor, whose kernels leave NaNs in the padding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "plugins/device/pipeline_testing.h"

namespace ge_engines::device {
namespace {

using Bytes = std::vector<unsigned char>;
constexpr unsigned kSeed = 11;

mock::Tensor Numbers(int32_t dtype, const std::vector<int64_t>& dims, unsigned seed) {
  std::mt19937 random(kSeed + seed);
  mock::Tensor t(dtype, dims);
  if (dtype == GE_F32) {
    for (int64_t i = 0; i < t.count(); ++i) {
      t.as<float>()[i] = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    }
  } else {  // any bits
    for (unsigned char& byte : t.bytes) byte = static_cast<unsigned char>(random());
  }
  return t;
}

// y = conv(pool(relu(conv(x)))) + pool(...), of so many channels.
struct Net {
  mock::Graph graph;
  mock::Tensor x;
  uint32_t y = 0;

  explicit Net(int64_t channels, int64_t in_channels = 3)
      : x(Numbers(GE_F32, {2, in_channels, 6, 6}, 1)) {
    const auto conv = [&](uint32_t from, std::vector<int64_t> weights,
                          const std::vector<int64_t>& dims) {
      const std::vector<int64_t> kernel = {weights[2], weights[3]}, one = {1, 1};
      const int64_t pad = weights[2] / 2;
      const uint32_t w = graph.Constant(Numbers(GE_F32, std::move(weights), 2));
      const std::vector<mock::Attr> attrs = {
          mock::Attr::String("auto_pad", "NOTSET"), mock::Attr::Int("group", 1),
          mock::Attr::Ints("kernel_shape", kernel), mock::Attr::Ints("pads", {pad, pad, pad, pad}),
          mock::Attr::Ints("strides", one),         mock::Attr::Ints("dilations", one)};
      return graph.Op1("Conv", {from, w}, {GE_F32, dims}, attrs);
    };
    const std::vector<int64_t> large = {2, channels, 6, 6}, small = {2, channels, 3, 3};
    const uint32_t in = graph.Input(GE_F32, x.dims);
    const uint32_t a = conv(in, {channels, in_channels, 3, 3}, large);
    const uint32_t b = graph.Op1("Relu", {a}, {GE_F32, large});
    const uint32_t c =
        graph.Op1("MaxPool", {b}, {GE_F32, small},
                  {mock::Attr::String("auto_pad", "NOTSET"), mock::Attr::Int("ceil_mode", 0),
                   mock::Attr::Int("storage_order", 0), mock::Attr::Ints("kernel_shape", {2, 2}),
                   mock::Attr::Ints("pads", {0, 0, 0, 0}), mock::Attr::Ints("strides", {2, 2}),
                   mock::Attr::Ints("dilations", {1, 1})});
    const uint32_t d = conv(c, {channels, channels, 1, 1}, small);
    y = graph.Op1("Add", {d, c}, {GE_F32, small});
    graph.Output(y);
  }
  uint32_t in() const { return graph.in[0]; }
};

// The growable offers of single nodes, each with the choice that has the wanted layouts for the
// values `at`, and any for others: inside they are the engine's.
std::vector<mock::Taken> TakeAll(const mock::Answer& answer, const mock::Graph& graph,
                                 const std::vector<std::pair<uint32_t, uint32_t>>& at) {
  std::vector<mock::Taken> taken;
  for (uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      const mock::Offer& o = answer.offers[i];
      if (o.converts() || !o.growable() || o.nodes != std::vector<uint32_t>{node}) continue;
      uint32_t choice = 0;
      const auto fits = [&] {
        return std::all_of(at.begin(), at.end(), [&](const auto& want) {
          const auto& [value, layout] = want;
          const auto& in = graph.nodes[node].in;
          const bool mine =
              std::count(in.begin(), in.end(), value) > 0 || graph.ProducerOf(value) == node;
          return !mine || mock::LayoutOf(answer, {i, choice}, value) == layout;
        });
      };
      while (!fits() && choice + 1 < o.choices.size()) ++choice;
      EXPECT_TRUE(fits()) << graph.nodes[node].op << " is not offered so";
      taken.push_back({i, choice});
      break;
    }
  }
  return taken;
}

size_t Conversions(Machine* m) {
  const std::vector<std::string> order = m->simulator().order();
  return static_cast<size_t>(std::count(order.begin(), order.end(), "layout"));
}

// Runs the whole net as one segment, x and y in these layouts; the bytes of y.
Bytes Ran(Machine* m, const Net& net, uint32_t x_layout, uint32_t y_layout) {
  const mock::Answer answer = m->engine().Query(net.graph);
  EXPECT_EQ(answer.illegal, std::vector<std::string>());
  const auto taken = TakeAll(answer, net.graph, {{net.in(), x_layout}, {net.y, y_layout}});
  EXPECT_EQ(taken.size(), net.graph.nodes.size());
  const auto exec = mock::Compiler(m->engine(), net.graph, answer)
                        .Compile(mock::MakeSegment(net.graph, answer, taken));
  EXPECT_EQ(exec->rc, GE_OK) << exec->error;
  mock::Launch launch(*exec);
  launch.SetInput(0, x_layout == 0 ? net.x.bytes
                                   : mock::Relayout(answer.layouts[x_layout], GE_F32, net.x.dims,
                                                    net.x.bytes, false, 0xFF));
  EXPECT_EQ(launch.Run(), GE_OK) << launch.error();
  EXPECT_EQ(m->host().TakeComplaints(), std::vector<std::string>());
  return launch.Output(0);
}

Bytes PlainRun(const Net& net) {
  Machine m("layouts=0");
  const Bytes y = Ran(&m, net, 0, 0);
  EXPECT_EQ(Conversions(&m), 0u);
  return y;
}

// One conversion of what comes, one of what goes, none between; the same bits as plain.
TEST(Layouts, OfAChainChangeAtItsBordersAlone) {
  for (const int64_t channels : {2, 15, 16, 17, 33}) {
    const Net net(channels);
    Machine m("layouts=1");
    EXPECT_EQ(Ran(&m, net, 0, 0), PlainRun(net)) << channels;
    EXPECT_EQ(Conversions(&m), 2u) << channels;
    EXPECT_EQ(m.End().size(), 0u);
  }
}

// What comes in blocks is not converted; what leaves in blocks has zeros for padding, and is copied
// only for these.
TEST(Layouts, OfBordersAreThoseOfTheHost) {
  for (const int64_t channels : {15, 16, 17}) {
    const Net net(channels);
    Machine m("layouts=1");
    const mock::Answer answer = m.engine().Query(net.graph);
    ASSERT_EQ(answer.layouts.size(), 2u);
    const Bytes wanted = PlainRun(net);
    const std::vector<int64_t> dims = net.graph.values[net.y].type.dims;
    EXPECT_EQ(Ran(&m, net, 1, 0), wanted) << channels;
    EXPECT_EQ(Conversions(&m), 1u) << channels;
    EXPECT_EQ(Ran(&m, net, 1, 1),
              mock::Relayout(answer.layouts[1], GE_F32, dims, wanted, false, 0x00))
        << channels;
    EXPECT_EQ(Conversions(&m), channels % 16 == 0 ? 1u : 2u) << channels;
  }
}

// An image of one channel has no blocks at a border; inside it is brought into some.
TEST(Layouts, OfOneChannelStayPlainAtBorders) {
  const Net net(17, 1);
  Machine m("layouts=1");
  const mock::Answer answer = m.engine().Query(net.graph);
  for (const mock::Offer& o : answer.offers) {
    for (const mock::Choice& c : o.choices) {
      for (const auto& [value, layout] : c.layouts) EXPECT_NE(value, net.in());
    }
  }
  EXPECT_EQ(Ran(&m, net, 0, 0), PlainRun(net));
  EXPECT_EQ(m.End().size(), 0u);
}

TEST(Layouts, AreConvertedExactlyBothWays) {
  for (const int64_t channels : {1, 15, 16, 17, 33}) {
    for (const int32_t dtype : {GE_F32, GE_F16, GE_BF16, GE_U8}) {
      for (const int64_t pixels : {1, 5}) {
        Net net(17);
        const mock::Tensor plain = Numbers(dtype, {2, channels, 3, pixels}, 7);
        const uint32_t v = net.graph.Input(dtype, plain.dims);
        Machine m("layouts=1;device=all");
        const mock::Answer answer = m.engine().Query(net.graph);
        const Bytes laid =
            mock::Relayout(answer.layouts[1], dtype, plain.dims, plain.bytes, false, 0x00);
        int ways = 0;
        for (uint32_t i = 0; i < answer.offers.size(); ++i) {
          const mock::Offer& o = answer.offers[i];
          if (!o.converts()) continue;
          const auto exec = mock::Compiler(m.engine(), net.graph, answer)
                                .Compile(mock::MakeConversion(answer, i, v));
          ASSERT_EQ(exec->rc, GE_OK) << exec->error;
          mock::Launch launch(*exec);
          const bool from_plain = o.convert_from == 0;
          Bytes given = plain.bytes;
          if (!from_plain) {
            given = mock::Relayout(answer.layouts[1], dtype, plain.dims, plain.bytes, false, 0xFF);
          }
          launch.SetInput(0, given);
          ASSERT_EQ(launch.Run(), GE_OK) << launch.error();
          EXPECT_EQ(launch.Output(0), from_plain ? laid : plain.bytes) << channels << " " << dtype;
          ++ways;
        }
        EXPECT_EQ(ways, 4);  // of two devices
        EXPECT_EQ(m.host().TakeComplaints(), std::vector<std::string>());
      }
    }
  }
}

TEST(Layouts, ThatWereNotOfferedAreRefused) {
  const Net net(17);
  for (const std::string options : {"layouts=0", "layouts=1"}) {
    Machine m(options);
    mock::Answer answer = m.engine().Query(net.graph);
    mock::Layout other;
    other.kind = GE_LAYOUT_BLOCKED;
    other.perm = {0, 1, 2, 3};
    other.block_axis = {1};
    other.block_size = {options == "layouts=0" ? 16u : 8u};
    answer.layouts.push_back(other);
    mock::Segment s = mock::MakeSegment(net.graph, answer, {{0, 0}});
    s.in[0].layout = static_cast<uint32_t>(answer.layouts.size() - 1);
    const auto exec = mock::Compiler(m.engine(), net.graph, answer).Compile(s);
    EXPECT_EQ(exec->rc, GE_UNIMPLEMENTED);
    EXPECT_NE(exec->error.find("a border is in a layout that was not offered"), std::string::npos)
        << exec->error;
  }
}

}  // namespace
}  // namespace ge_engines::device
