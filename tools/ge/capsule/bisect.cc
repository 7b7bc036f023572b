// ge bisect F.gecap: whose fault is it? The loaded model beside values from elsewhere, the graph
// after each pass, then each segment of the plan on its recorded inputs, all on the reference.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/ge/capsule/bisection.h"
#include "tools/ge/capsule/compared.h"
#include "tools/ge/command.h"

namespace ge::tool {

void Bisected::Say(const std::string& text) const {
  if (!options.json) fmt::print("{}\n", text);
}

Options Bisected::On(const std::string& engines) const {
  Options o = OptionsLike(options, r.manifest);
  o.engines = engines;
  return o;
}

Options Bisected::OnOwn(const std::string& engine) const {
  return On(options.engines.empty() ? engine : options.engines);
}

double Bisected::BoundOf(const Graph& graph) const {
  if (options.rtol >= 0) return options.rtol;
  double bound = rounds() ? RelativeBound(DType::kFloat, true) : 0;
  for (size_t id = 1; id < graph.functions.size(); ++id) {
    const Function& f = graph.fn(static_cast<FunctionId>(id));
    for (const Node& n : f.nodes) {
      for (const auto* values : {&n.inputs, &n.outputs}) {
        for (const ValueId v : *values)
          bound = std::max(bound, RelativeBound(f.value(v).type.dtype));
      }
    }
  }
  return bound;
}

bool SaysNothing(const Status& status, bool may_hang) {
  switch (status.code()) {
    case Code::kUnsupported:
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kResourceExhausted:
    case Code::kIoError:
      return true;
    case Code::kDeadlineExceeded:
      return !may_hang;
    default:
      return false;
  }
}

std::string WhyDifferent(const std::vector<CapsuleTensor>& tensors, const TrialAnswer& found,
                         const TrialAnswer& wanted, double bound) {
  for (size_t i = 0; i < wanted.size() && i < found.size() && i < tensors.size(); ++i) {
    std::string why = WhyDifferent(tensors[i], found[i], wanted[i], bound);
    if (!why.empty()) return why;
  }
  return {};
}

namespace {

Result<Verdict> FindFault(const Recorded& r, const Options& options) {
  Bisected b{r, options, {}};
  GE_ASSIGN_OR_RETURN(b.inputs, RecordedInputs(r));
  for (const auto look : {FaultyModel, FaultyPass, FaultySegment}) {
    GE_ASSIGN_OR_RETURN(MaybeVerdict verdict, look(&b));
    if (verdict) return *std::move(verdict);
  }
  return MadeVerdict(
      "none",
      fmt::format("{} graphs and {} segments are right by themselves{}", b.graphs, b.judged,
                  b.unjudged ? fmt::format("; {} segments could not be judged", b.unjudged) : ""));
}

void PrintVerdict(const Options& o, const Verdict& v) {
  if (o.json) {
    const nlohmann::json j = {{"kind", v.kind}, {"engine", v.engine}, {"nodes", v.nodes},
                              {"pass", v.pass}, {"why", v.why},       {"capsule", o.model}};
    fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  std::string who = v.kind;
  for (const std::string* name : {&v.pass, &v.engine}) {
    if (!name->empty()) who += " " + *name;
  }
  if (!v.nodes.empty()) who += fmt::format(", nodes {}", fmt::join(v.nodes, ", "));
  fmt::print("{}: {}\n", who, v.why);
}

}  // namespace

int Bisect(const Options& options) {
  const auto recorded = OpenRecorded(options.model);
  if (!recorded.ok()) return Fail(recorded.status());
  const auto verdict = FindFault(*recorded, options);
  if (!verdict.ok()) return Fail(verdict.status());
  PrintVerdict(options, *verdict);
  return verdict->kind == "none" ? 0 : 1;
}

}  // namespace ge::tool
