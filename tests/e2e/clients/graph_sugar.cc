// ge.hpp: a graph made by calls, loaded and saved, from C++17: graph_sugar FOLDER. Prints what
// fails and, last, its counts.
#include <ge/ge_plugin_pass.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ge/ge.hpp>
#include <string>

#include "tests/e2e/clients/check.h"
#include "tests/e2e/clients/graph_calls.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int64_t two = 2;
  graphengine::Graph graph("sugar");
  const ge_edit* e = graph.edit();
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t x = AddParam(e, fn, "x", GE_F32, 1, &two, nullptr);
  graph.Check(SetResult(e, fn, Plain(e, fn, "Neg", "s.cc:1", x, 0), "y"));
  graph.Check(AddEntry(e, "main", fn));
  std::string said, node;
  try {
    NodeOf wrong{};
    wrong.op = "Nothing";
    wrong.name = "s.cc:2";
    uint32_t out = 0;
    graph.Check(AddNode(e, fn, &wrong, nullptr, &out));
  } catch (const graphengine::Error& error) {
    said = error.what();
    node = error.node();
  }
  Check(said.find("'Nothing'") != said.npos && node == "s.cc:2", "it throws", __LINE__, nullptr);
  float given[2] = {1, -2};
  const graphengine::Tensor in(GE_F32, {2}, given, sizeof given);
  const std::string path = std::string(argv[1]) + "/sugar.gt";
  graph.Save(path);
  for (int i = 0; i < 2; ++i) {
    graphengine::Session session("ref", 1);
    i == 0 ? session.Load(graph) : session.Load(path);
    const auto out = session.Run({&in});
    const float* y = out[0].data<float>();
    Check(y[0] == -1 && y[1] == 2, "it runs", __LINE__, nullptr);
  }
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
