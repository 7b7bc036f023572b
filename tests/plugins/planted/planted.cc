// Faults planted by the linker into a copy of ge-test: what stands in for ReadProto, MakePipeline
// and Check does as the real one, and then one thing wrong that the variable GE_PLANTED names. With
// no name it is ge-test. tests/e2e/plugins/planted.sh demands that the steps of ./test fail with
// each; nothing of it is linked into what ships.
#include <cstdlib>
#include <string_view>

#include "frontend/proto/proto.h"
#include "ge/plan/check/check.h"
#include "ge/stage/pass.h"

namespace ge {
namespace {

std::string_view Planted() {
  const char* name = std::getenv("GE_PLANTED");
  return name != nullptr ? name : "";
}

// Erases nodes with an effect whose outputs nobody reads: what a pass does that forgets effects.
class DropEffects final : public Pass {
 public:
  std::string_view name() const override { return "drop-effects"; }
  std::string_view summary() const override { return "planted fault"; }
  Status Run(Transaction& t, const PassContext&) override {
    for (FunctionId fn = 1; fn < t.graph().functions.size(); ++fn) {
      const Function& f = t.graph().fn(fn);
      std::vector<bool> read(f.values.size(), false);
      for (const ValueId v : f.results) read[v] = true;
      for (const Node& n : f.nodes) {
        for (const ValueId v : n.inputs) read[v] = true;
      }
      for (size_t i = f.nodes.size(); i-- > 0;) {
        const Node& n = f.nodes[i];
        bool needed = n.id == 0 || n.effects.empty();
        for (const ValueId v : n.outputs) needed |= v != 0 && read[v];
        if (!needed) t.Erase(fn, n.id);
      }
    }
    return {};
  }
};

// Forgets one field of what was read.
void Forget(std::string_view field, Graph* g) {
  for (Function& f : g->functions) {
    for (Node& n : f.nodes) {
      if (field == "effects") n.effects.clear();
      if (field == "after") n.after.clear();
      if (field == "origin") n.origin.clear();
      if (field == "hints") n.hints = {};
    }
    if (field == "recursive") f.recursive = false;
  }
  for (State& s : g->states) {
    if (field == "trainable") s.trainable = false;
  }
  for (Entry& e : g->entries) {
    if (field == "role") e.role = Entry::Role::kInfer;
  }
}

}  // namespace
}  // namespace ge

// --wrap=NAME sends whoever calls NAME to __wrap_NAME, and __real_NAME is the one that was meant.
#define GE_READ _ZN2ge9ReadProtoESt4spanIKSt4byteLm18446744073709551615EERKNS_11ReadOptionsE
#define GE_PIPELINE _ZN2ge12MakePipelineEv
#define GE_CHECK _ZN2ge5CheckERKNS_4PlanE
#define GE_JOIN(a, b) a##b
#define GE_NAMED(prefix, name) GE_JOIN(prefix, name)

extern "C" {

ge::Result<ge::Graph> GE_NAMED(__real_, GE_READ)(std::span<const std::byte>,
                                                 const ge::ReadOptions&);
std::vector<std::unique_ptr<ge::Pass>> GE_NAMED(__real_, GE_PIPELINE)();
ge::Result<ge::CheckReport> GE_NAMED(__real_, GE_CHECK)(const ge::Plan&);

ge::Result<ge::Graph> GE_NAMED(__wrap_, GE_READ)(std::span<const std::byte> bytes,
                                                 const ge::ReadOptions& options) {
  auto graph = GE_NAMED(__real_, GE_READ)(bytes, options);
  constexpr std::string_view kPrefix = "forget-";
  if (graph.ok() && ge::Planted().starts_with(kPrefix)) {
    ge::Forget(ge::Planted().substr(kPrefix.size()), &*graph);
  }
  return graph;
}

std::vector<std::unique_ptr<ge::Pass>> GE_NAMED(__wrap_, GE_PIPELINE)() {
  auto passes = GE_NAMED(__real_, GE_PIPELINE)();
  if (ge::Planted() == "drop-effects") passes.push_back(std::make_unique<ge::DropEffects>());
  return passes;
}

ge::Result<ge::CheckReport> GE_NAMED(__wrap_, GE_CHECK)(const ge::Plan& plan) {
  auto report = GE_NAMED(__real_, GE_CHECK)(plan);
  if (report.ok() || ge::Planted() != "accept-all") return report;
  return ge::CheckReport{{0}, {0}, 0};
}
}
