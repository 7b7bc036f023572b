// Tests my_plugin on a host of its own, ge/ge_mock_host.hpp: what it offers, what it declines and
// what it computes. The host complains where the plugin breaks the contract: a write outside of
// what it was given, a pointer kept too long, an error without a text.
#include <cmath>
#include <cstdio>
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

// A graph of one node over inputs of this type.
mock::Graph OneNode(const std::string& op, uint32_t inputs, const mock::Type& type) {
  mock::Graph g;
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < inputs; ++i) in.push_back(g.Input(type.dtype, type.dims));
  g.Output(g.Op1(op, in, type));
  return g;
}

void Takes(mock::Engine& engine, const mock::Graph& g, const std::string& what) {
  const mock::Answer answer = engine.Query(g);
  Expect(answer.rc == GE_OK && answer.offers.size() == 1 && answer.illegal.empty(),
         what + " is taken", answer.error);
  Expect(answer.offers.size() == 1 && answer.offers[0].priced, what + " has a price");
}

void Declines(mock::Engine& engine, const mock::Graph& g, uint32_t why, const std::string& what) {
  const mock::Answer answer = engine.Query(g);
  Expect(answer.rc == GE_OK && answer.offers.empty() && answer.declines.size() == 1 &&
             answer.declines[0].why == why,
         what + " is declined", answer.error);
}

// What the engine makes of x.
std::vector<float> Compute(mock::Engine& engine, const std::vector<float>& x) {
  const mock::Dims dims = {static_cast<int64_t>(x.size())};
  const mock::Graph g = OneNode("Relu", 1, {GE_F32, dims});
  const mock::Answer answer = engine.Query(g);
  mock::Compiler compiler(engine, g, answer);
  const auto exec = compiler.Compile(mock::MakeSegment(g, answer, {{0, 0}}));
  Expect(exec->rc == GE_OK, "compile", exec->error);
  if (exec->rc != GE_OK) return {};
  mock::Launch launch(*exec);
  launch.SetInput(0, mock::Tensor::Of(GE_F32, dims, x).bytes);
  Expect(launch.Run() == GE_OK, "enqueue", launch.error());
  const std::vector<unsigned char> bytes = launch.Output(0);
  std::vector<float> y(x.size());
  std::copy_n(bytes.data(), y.size() * sizeof(float), reinterpret_cast<unsigned char*>(y.data()));
  return y;
}

void TestEngine(mock::Engine& engine) {
  Takes(engine, OneNode("Relu", 1, {GE_F32, {2, 3}}), "Relu of f32");
  Takes(engine, OneNode("Relu", 1, {GE_F32, {}}), "a scalar");
  Takes(engine, OneNode("Relu", 1, {GE_F32, {0, 3}}), "a tensor without elements");
  Declines(engine, OneNode("Add", 2, {GE_F32, {2, 3}}), GE_WHY_OP, "Add");
  Declines(engine, OneNode("Relu", 1, {GE_F16, {2, 3}}), GE_WHY_DTYPE, "Relu of f16");
  Declines(engine, OneNode("Relu", 1, {GE_F32, {-1, 3}}), GE_WHY_DYNAMIC, "an unknown dim");
  const std::vector<float> y = Compute(engine, {-1, 0, 2.5f, -INFINITY, NAN});
  Expect(y.size() == 5 && y[0] == 0 && y[1] == 0 && y[2] == 2.5f && y[3] == 0 && std::isnan(y[4]),
         "Relu of five numbers");
  Expect(Compute(engine, {}).empty(), "Relu of none");
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
    if (engine.created() == GE_OK) TestEngine(engine);
  }
  for (const std::string& text : host.TakeComplaints()) Expect(false, "the host complains", text);
  std::printf("%d faults\n", g_faults);
  return g_faults == 0 ? 0 : 1;
}
