// Level 8: random graphs, against ref in double precision: random covers by the engine's offers and
// unions of them, and whole models through ge.h, where the host chooses.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sdk/conform/case.h"
#include "sdk/conform/covers.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/oracle.h"
#include "sdk/conform/random_graph.h"
#include "sdk/conform/runtime_library.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

constexpr int kGraphs = 8;  // a case
// A chain of a dozen operators, each with roundings of its own.
constexpr Bound kDeep = {Rule::kInputs, 48, 1, 0.02};

// How a graph failed, so that it can be built again.
std::string Failed(const Sample& sample, uint64_t seed, const std::string& why) {
  std::string ops;
  for (const mock::Node& n : sample.graph.nodes) ops += (ops.empty() ? "" : " ") + n.op;
  return fmt::format("random graph {} ({}): {}", seed, ops, why);
}

Outcome Covers(Subject& s, int argument) {
  const auto flavour = static_cast<Flavour>(argument % kFlavours);
  RigOptions options;
  options.engine.numerics = GE_NUMERICS_EXACT;
  Rig rig(s, options);
  if (!rig.ready()) return rig.outcome();
  int taken = 0, nodes = 0;
  for (int k = 0; k < kGraphs; ++k) {
    const uint64_t seed = s.Seed(static_cast<uint64_t>(argument * 1000 + k));
    const Sample sample = RandomSample(flavour, seed);
    const mock::Answer answer = rig.engine().Query(sample.graph);
    if (answer.rc != GE_OK) return Fail(Failed(sample, seed, "query: " + answer.error));
    if (!answer.illegal.empty()) return Fail(Failed(sample, seed, "query: " + answer.illegal[0]));
    Oracle oracle(rig.ref(), sample, kDeep);
    std::string why;
    if (!oracle.Prepare(&why)) return Fail(Failed(sample, seed, why));
    Random r(seed);
    for (int draw = 0; draw < 3; ++draw) {
      const auto groups =
          RandomCover(sample.graph, answer, draw == 0 ? 1 : 0.8, draw == 0 ? 1 : 0.5, &r);
      Values values;
      if (!RunGraph(rig.engine(), rig.ref(), sample.graph, answer, groups, sample.inputs, &values,
                    &why)) {
        return rig.Judged(Fail(Failed(sample, seed, why)));
      }
      for (uint32_t v : sample.graph.out) {
        why = oracle.Differs(v, values.at(v));
        if (why.empty()) continue;
        why = fmt::format("{} segments: output v{}: {}", groups.size(), v, why);
        return rig.Judged(Fail(Failed(sample, seed, why)));
      }
      nodes += static_cast<int>(sample.graph.nodes.size());
      for (const Group& group : groups) {
        for (const mock::Taken& t : group) {
          taken += static_cast<int>(answer.offers[t.offer].nodes.size());
        }
      }
    }
    const Outcome judged = rig.Judged(Pass());
    if (IsBad(judged.verdict)) return {judged.verdict, Failed(sample, seed, judged.reason)};
  }
  if (taken == 0) return rig.Judged(Unsupported("it takes no node of these graphs"));
  return rig.Closed(Pass(fmt::format("{} of {} nodes", taken, nodes)));
}

// How many nodes the report says that engines other than ref have.
int64_t TakenNodes(const std::string& report) {
  const auto json = nlohmann::json::parse(report, nullptr, false);
  int64_t n = 0;
  if (!json.is_object() || !json.contains("engines") || !json["engines"].is_object()) return 0;
  for (const auto& [name, nodes] : json["engines"].items()) {
    if (name != "ref" && nodes.is_number()) n += nodes.get<int64_t>();
  }
  return n;
}

Outcome Models(Subject& s, int argument) {
  const auto flavour = static_cast<Flavour>(argument % kFlavours);
  Rig rig(s);  // says first whether there is an engine at all
  if (!rig.ready()) return rig.outcome();
  RuntimeLibrary library;
  std::string why = library.Open(s.setup().library);
  if (!why.empty()) return Unsupported(why);
  const std::string own =
      s.setup().plugin + (s.setup().options.empty() ? "" : ":" + s.setup().options);
  const bool is_ref = s.setup().plugin == s.setup().ref;
  const std::string engines = is_ref ? s.setup().ref : own + "," + s.setup().ref;
  int64_t taken = 0;
  for (int k = 0; k < kGraphs; ++k) {
    const uint64_t seed = s.Seed(static_cast<uint64_t>(argument * 1000 + 500 + k));
    const Sample sample = RandomSample(flavour, seed);
    Oracle oracle(rig.ref(), sample, kDeep);
    if (!oracle.Prepare(&why)) return Fail(Failed(sample, seed, why));
    RuntimeLibrary::Run run;
    why = library.RunText(TextOf(sample.graph), {engines, "", ""}, sample.inputs,
                          sample.graph.out.size(), &run);
    if (!why.empty()) return Fail(Failed(sample, seed, "the model does not run: " + why));
    for (size_t i = 0; i < sample.graph.out.size(); ++i) {
      why = oracle.Differs(sample.graph.out[i], run.outputs[i]);
      if (!why.empty()) return Fail(Failed(sample, seed, fmt::format("output {}: {}", i, why)));
    }
    taken += is_ref ? static_cast<int64_t>(sample.graph.nodes.size()) : TakenNodes(run.report);
  }
  if (taken == 0) return Unsupported("ref is cheaper for every node of these models");
  return rig.Judged(Pass(fmt::format("{} nodes were its own", taken)));
}

}  // namespace

std::vector<Case> RandomCases() {
  std::vector<Case> cases;
  for (int i = 0; i < 2 * kFlavours; ++i) {
    const std::string name = NameOf(static_cast<Flavour>(i % kFlavours));
    cases.push_back({8, fmt::format("graphs-{}-{}", name, 1 + i / kFlavours), Covers, i});
  }
  for (int i = 0; i < kFlavours; ++i) {
    cases.push_back({8, std::string("models-") + NameOf(static_cast<Flavour>(i)), Models, i});
  }
  return cases;
}

}  // namespace ge::conform
