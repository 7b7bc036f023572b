// Tests my_plugin on a host of its own, ge/ge_mock_host.hpp: what it offers, what it declines, what
// it computes on its device, and that streams and events keep their order. The host complains where
// the plugin breaks the contract: a write outside of what it was given, a pointer kept too long, an
// error without a text.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ge/ge_mock_host.hpp"

namespace {

namespace mock = ge::mock;

int g_faults = 0;

void Expect(bool good, const std::string& what, const std::string& found = "") {
  if (good) return;
  ++g_faults;
  std::printf("FAILED  %s: %s\n", what.c_str(), found.c_str());
}

// A graph of one node over inputs of these dims; the last of them may be a constant.
mock::Graph OneNode(const std::string& op, const std::vector<mock::Dims>& in, const mock::Dims& out,
                    const std::vector<float>& constant = {}, int32_t dtype = GE_F32) {
  mock::Graph g;
  std::vector<uint32_t> values;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool last = i + 1 == in.size() && !constant.empty();
    values.push_back(last ? g.Constant(mock::Tensor::Of(dtype, in[i], constant))
                          : g.Input(dtype, in[i]));
  }
  g.Output(g.Op1(op, values, {dtype, out}));
  return g;
}

void Declines(mock::Engine& engine, const mock::Graph& g, uint32_t why, const std::string& what) {
  const mock::Answer answer = engine.Query(g);
  Expect(answer.rc == GE_OK && answer.offers.empty() && answer.declines.size() == 1 &&
             answer.declines[0].why == why,
         what + " is declined", answer.error);
}

// A compiled graph of one node, with all that it needs.
struct Compiled {
  Compiled(mock::Engine& engine, mock::Graph of) : graph(std::move(of)) {
    answer = engine.Query(graph);
    Expect(answer.rc == GE_OK && answer.offers.size() == 1 && answer.illegal.empty(),
           graph.nodes[0].op + " is taken", answer.error);
    if (answer.offers.size() != 1) return;
    exec =
        mock::Compiler(engine, graph, answer).Compile(mock::MakeSegment(graph, answer, {{0, 0}}));
    Expect(exec->rc == GE_OK, "compile", exec->error);
  }
  mock::Graph graph;
  mock::Answer answer;
  std::unique_ptr<mock::Exec> exec;
};

std::vector<float> Floats(const std::vector<unsigned char>& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()));
  return out;
}
std::vector<unsigned char> Bytes(const std::vector<float>& x) {
  return mock::Tensor::Of(GE_F32, {static_cast<int64_t>(x.size())}, x).bytes;
}

// The node's result: the host copies inputs to the device, waits for an event and copies back.
void Computes(mock::Engine& engine, mock::Graph graph, const std::vector<std::vector<float>>& in,
              const std::vector<float>& wanted) {
  const Compiled c(engine, std::move(graph));
  if (c.exec == nullptr || c.exec->rc != GE_OK) return;
  mock::Launch launch(*c.exec);
  for (uint32_t i = 0; i < in.size(); ++i) launch.SetInput(i, Bytes(in[i]));
  Expect(launch.Run() == GE_OK, "enqueue", launch.error());
  Expect(Floats(launch.Output(0)) == wanted, c.graph.nodes[0].op + " of the numbers given");
}

// What is queued on one stream runs behind what another one has signalled; a result that is not
// there yet would be the garbage which Begin leaves.
void KeepsOrder(mock::Engine& engine) {
  const Compiled c(engine, OneNode("Relu", {{3}}, {3}));
  if (c.exec == nullptr || c.exec->rc != GE_OK) return;
  mock::Launch launch(*c.exec);
  launch.SetInput(0, Bytes({-1, 2, -3}));
  launch.Begin();
  mock::Event made(engine, 0), done(engine, 0);
  mock::Stream first(engine, 0), second(engine, 0);
  Expect(done.Wait(1, 0) == GE_PENDING, "an event that nobody signalled is pending");
  Expect(launch.Enqueue(&first) == GE_OK && first.Signal(made, 1) == GE_OK, "the first stream");
  Expect(second.Wait(made, 1) == GE_OK && second.Signal(done, 1) == GE_OK, "the second one");
  Expect(done.Wait(1, UINT64_MAX) == GE_OK, "event_wait");
  Expect(Floats(launch.Output(0)) == std::vector<float>{0, 2, 0}, "the work is done by then");
}

// A launch that is told to stop fails late: enqueue has returned long ago.
void FailsLate(mock::Engine& engine) {
  const Compiled c(engine, OneNode("Relu", {{3}}, {3}));
  if (c.exec == nullptr || c.exec->rc != GE_OK) return;
  const uint32_t stop = 1;
  mock::LaunchOptions options;
  options.stop = &stop;
  mock::Launch launch(*c.exec, options);
  mock::Event done(engine, 0);
  mock::Stream stream(engine, 0);
  std::string why;
  Expect(launch.Enqueue(&stream) == GE_OK && stream.Signal(done, 1) == GE_OK, "calls return");
  Expect(done.Wait(1, UINT64_MAX, &why) == GE_CANCELLED && !why.empty(), "event_wait tells", why);
}

// Two launches and what orders them, recorded once and launched twice.
void Captures(mock::Engine& engine) {
  const Compiled c(engine, OneNode("Relu", {{3}}, {3}));
  if (c.exec == nullptr || c.exec->rc != GE_OK) return;
  const ge_engine_api& api = engine.api();
  mock::Launch launch(*c.exec);
  launch.SetInput(0, Bytes({-1, 2, -3}));
  launch.Begin();
  mock::Event done(engine, 0);
  mock::Stream stream(engine, 0);
  ge_stream* const streams[] = {stream.get()};
  ge_capture* capture = nullptr;
  Expect(api.capture_begin(engine.handle(), streams, 1, nullptr) == GE_OK, "capture_begin");
  Expect(launch.Enqueue(&stream) == GE_OK, "enqueue into a capture");
  Expect(api.capture_end(engine.handle(), &capture, nullptr) == GE_OK, "capture_end");
  Expect(stream.Signal(done, 1) == GE_OK && done.Wait(1, UINT64_MAX) == GE_OK,
         "the stream is free");
  Expect(std::isnan(Floats(launch.Output(0))[0]), "nothing has run yet");
  for (const float x : {5.0F, 7.0F}) {
    launch.SetInput(0, Bytes({x, x, -x}));
    launch.Begin();
    const uint64_t value = static_cast<uint64_t>(x);
    Expect(api.capture_launch(capture, stream.get(), nullptr) == GE_OK, "capture_launch");
    Expect(stream.Signal(done, value) == GE_OK && done.Wait(value, UINT64_MAX) == GE_OK, "its end");
    Expect(Floats(launch.Output(0)) == std::vector<float>{x, x, 0}, "what it computes");
  }
  api.capture_destroy(capture);
}

void Stamps(mock::Engine& engine, mock::Host& host) {
  const ge_engine_api& api = engine.api();
  const auto now = [&] { return host.api()->now_ns(host.api()->host); };
  ge_stamps* stamps = nullptr;
  mock::Event done(engine, 0);
  mock::Stream stream(engine, 0);
  uint64_t ns[2] = {};
  Expect(api.stamps_create(engine.handle(), 0, 2, &stamps, nullptr) == GE_OK, "stamps_create");
  const uint64_t before = now();
  for (uint32_t i = 0; i < 2; ++i) {
    Expect(api.stream_stamp(stream.get(), stamps, i, nullptr) == GE_OK, "stream_stamp");
  }
  Expect(stream.Signal(done, 1) == GE_OK && done.Wait(1, UINT64_MAX) == GE_OK, "their end");
  Expect(api.stamps_read(stamps, 0, 2, ns, nullptr) == GE_OK, "stamps_read");
  Expect(before <= ns[0] && ns[0] <= ns[1] && ns[1] <= now(), "the order of times");
  api.stamps_destroy(stamps);
}

void TestEngine(mock::Engine& engine, mock::Host& host) {
  Computes(engine, OneNode("Relu", {{2, 2}}, {2, 2}), {{-1, 0, 2.5F, -INFINITY}}, {0, 0, 2.5F, 0});
  Computes(engine, OneNode("Mul", {{2, 2}, {2, 2}}, {2, 2}), {{1, 2, 3, 4}, {5, 6, 7, 8}},
           {5, 12, 21, 32});
  Computes(engine, OneNode("Add", {{2, 2}, {2}}, {2, 2}, {10, 20}), {{1, 2, 3, 4}},
           {11, 22, 13, 24});
  Computes(engine, OneNode("MatMul", {{2, 2}, {2, 1}}, {2, 1}, {1, 10}), {{1, 2, 3, 4}}, {21, 43});
  Computes(engine, OneNode("Add", {{0, 3}, {0, 3}}, {0, 3}), {{}, {}}, {});
  Declines(engine, OneNode("Sub", {{2}, {2}}, {2}), GE_WHY_OP, "Sub");
  Declines(engine, OneNode("Relu", {{2}}, {2}, {}, GE_F16), GE_WHY_DTYPE, "Relu of f16");
  Declines(engine, OneNode("Relu", {{-1}}, {-1}), GE_WHY_DYNAMIC, "an unknown dim");
  Declines(engine, OneNode("Add", {{2, 1}, {1, 2}}, {2, 2}), GE_WHY_SHAPE, "an outer sum");
  KeepsOrder(engine);
  FailsLate(engine);
  Captures(engine);
  Stamps(engine, host);
}

}  // namespace

int main() {
  mock::Host host;
  std::string why;
  const ge_plugin_desc* desc = mock::AskPlugin(&ge_plugin_query, host, {}, &why);
  Expect(desc != nullptr, "the plugin answers this host", why);
  if (desc != nullptr) {
    mock::Engine engine(desc, host);
    Expect(engine.created() == GE_OK, "engine_create", engine.error());
    if (engine.created() == GE_OK) TestEngine(engine, host);
  }
  for (const std::string& text : host.TakeComplaints()) Expect(false, "the host complains", text);
  std::printf("%d faults\n", g_faults);
  return g_faults == 0 ? 0 : 1;
}
