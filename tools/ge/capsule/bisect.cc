// ge bisect F.gecap: whose fault is it? The graph after each pass is run on the reference engine,
// then each segment of the plan by itself, on its recorded inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "ge/capsule/graph_members.h"
#include "tools/ge/capsule/differences.h"
#include "tools/ge/capsule/piece.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/trial.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

using Outputs = std::vector<std::vector<std::byte>>;

struct Verdict {
  std::string kind = "none";  // "pass", "engine", "memory", "model"
  std::string pass, engine, why;
  std::vector<std::string> nodes;
};

Verdict Made(std::string kind, std::string why) {
  Verdict v;
  v.kind = std::move(kind);
  v.why = std::move(why);
  return v;
}

// The bound of the least precise float that a node reads or makes: where 16 bits are in between,
// two right answers in float32 are as far apart.
double BoundOf(const Graph& graph) {
  double bound = 0;
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

// How one of several outputs differs by more than its type's bound; empty where none does.
std::string WhyDifferent(const std::vector<CapsuleTensor>& tensors, const Outputs& found,
                         const Outputs& wanted, double bound) {
  for (size_t i = 0; i < wanted.size() && i < found.size() && i < tensors.size(); ++i) {
    const CapsuleTensor& t = tensors[i];
    if (found[i].size() != wanted[i].size()) {
      return fmt::format("'{}' has {} bytes, wanted {}", t.name, found[i].size(), wanted[i].size());
    }
    const Difference d = DifferenceOf(t.dtype, found[i], wanted[i]);
    if (d.equal() || (RelativeBound(t.dtype) > 0 && d.relative() <= bound)) continue;
    return fmt::format("'{}' differs in {} of {} elements, by {:.3g} where the largest is {:.3g}",
                       t.name, d.differing, d.elements, d.greatest, d.largest);
  }
  return {};
}

Outputs Copied(const std::vector<std::span<const std::byte>>& from) {
  Outputs out;
  for (const auto bytes : from) out.emplace_back(bytes.begin(), bytes.end());
  return out;
}

// Why nothing can be said of a trial: not what it computed, but that it never began, or how long it
// takes.
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

class Bisection {
 public:
  Bisection(const Recorded& r, const Options& options) : r_(r), options_(options) {}

  Result<Verdict> Run() {
    GE_ASSIGN_OR_RETURN(inputs_, RecordedInputs(r_));
    GE_ASSIGN_OR_RETURN(auto pass, FaultyPass());
    if (pass) return *std::move(pass);
    GE_ASSIGN_OR_RETURN(auto segment, FaultySegment());
    return segment ? *std::move(segment) : Made("none", Sound());
  }

 private:
  void Say(const std::string& text) const {
    if (!options_.json) fmt::print("{}\n", text);
  }
  double Bound(double of_types) const {
    if (options_.rtol >= 0) return options_.rtol;
    const bool rounds = r_.manifest.precision == "bf16";
    return rounds ? std::max(of_types, RelativeBound(DType::kFloat, true)) : of_types;
  }
  std::string Sound() const {
    return fmt::format(
        "{} graphs and {} segments are right by themselves{}", graphs_, judged_,
        unjudged_ ? fmt::format("; {} segments could not be judged", unjudged_) : "");
  }

  Options On(const std::string& engines) const {
    Options o = OptionsLike(options_, r_.manifest);
    o.engines = engines;
    return o;
  }
  Result<Outputs> OnReference(const std::string& member) const {
    GE_ASSIGN_OR_RETURN(Graph graph, ReadGraphMember(r_.capsule, member));
    return RunTrial(r_, {std::move(graph), r_.manifest.entry, inputs_, On(options_.against), true},
                    options_.seconds_a_trial);
  }

  // The graphs between the loaded one and the plan, without the one whose states are inputs.
  std::vector<const CapsuleGraph*> PassGraphs() const {
    std::vector<const CapsuleGraph*> graphs;
    for (const CapsuleGraph& g : r_.manifest.graphs) {
      if (g.stage.starts_with("pass/")) graphs.push_back(&g);
    }
    return graphs;
  }

  // Of the model, and of the checked graph, where all types are known.
  Result<double> BoundOfPasses(const CapsuleGraph& loaded) const {
    GE_ASSIGN_OR_RETURN(const CapsuleGraph* checked, GraphOf(r_.manifest, "check"));
    GE_ASSIGN_OR_RETURN(const Graph first, ReadGraphMember(r_.capsule, loaded.member));
    GE_ASSIGN_OR_RETURN(const Graph last, ReadGraphMember(r_.capsule, checked->member));
    return options_.rtol >= 0 ? options_.rtol : std::max(BoundOf(first), BoundOf(last));
  }

  // Halves the passes: the first whose graph computes something else than the loaded one.
  Result<std::optional<Verdict>> FaultyPass() {
    GE_ASSIGN_OR_RETURN(const CapsuleGraph* loaded, GraphOf(r_.manifest, "load"));
    const auto wanted = OnReference(loaded->member);
    if (!wanted.ok()) {
      Say(fmt::format("the loaded model does not run on {}: {}", options_.against,
                      wanted.status().message()));
      return std::optional<Verdict>();
    }
    const std::vector<const CapsuleGraph*> graphs = PassGraphs();
    GE_ASSIGN_OR_RETURN(const double bound, BoundOfPasses(*loaded));
    std::string why;
    const auto differs = [&](size_t i) -> Result<bool> {
      ++graphs_;
      const auto found = OnReference(graphs[i]->member);
      if (SaysNothing(found.status(), false)) {
        return Status(found.status().code(),
                      fmt::format("after {}: {}", graphs[i]->stage, found.status().message()));
      }
      why = found.ok() ? WhyDifferent(r_.manifest.outputs, *found, *wanted, bound)
                       : found.status().message();
      Say(fmt::format("  after {:<40} {}", graphs[i]->stage, why.empty() ? "right" : why));
      return !why.empty();
    };
    if (graphs.empty()) return std::optional<Verdict>();
    GE_ASSIGN_OR_RETURN(const bool any, differs(graphs.size() - 1));
    if (!any) return std::optional<Verdict>();
    size_t right = 0, wrong = graphs.size() - 1;  // the first wrong one is in [right, wrong]
    std::string last = why;
    while (right < wrong) {
      const size_t middle = (right + wrong) / 2;
      GE_ASSIGN_OR_RETURN(const bool bad, differs(middle));
      if (bad) last = why;
      (bad ? wrong : right) = bad ? middle : middle + 1;
    }
    Verdict v = Made("pass", last);
    v.pass = graphs[wrong]->stage.substr(5);
    return std::optional<Verdict>(std::move(v));
  }

  Result<std::optional<Verdict>> FaultySegment() {
    GE_ASSIGN_OR_RETURN(const Pieces pieces, Pieces::Of(r_));
    for (size_t i = 0; i < pieces.segments(); ++i) {
      auto piece = pieces.Segment(i);
      if (piece.status().code() == Code::kInvalidArgument) continue;  // a copy
      if (piece.status().code() == Code::kFailedPrecondition) {
        Say(fmt::format("  segment {:<4} not judged: {}", i, piece.status().message()));
        ++unjudged_;
        continue;
      }
      GE_RETURN_IF_ERROR(piece.status());
      ++judged_;
      GE_ASSIGN_OR_RETURN(auto verdict, piece->ended ? JudgeEnd(i, *std::move(piece))
                                                     : Judge(i, *std::move(piece)));
      if (verdict) return verdict;
    }
    return std::optional<Verdict>();
  }

  // The segment in which the recorded run ended: does it end so by itself?
  Result<std::optional<Verdict>> JudgeEnd(size_t i, Piece piece) {
    const Trial trial{std::move(piece.graph), "main", std::move(piece.inputs),
                      On(options_.engines.empty() ? piece.engine : options_.engines)};
    const auto again = RunTrial(r_, trial, options_.seconds_a_trial);
    if (SaysNothing(again.status(), true)) {
      return Status(again.status().code(), fmt::format("segment {} on '{}': {}", i, piece.engine,
                                                       again.status().message()));
    }
    const std::string why =
        again.ok()
            ? "the recorded run ended in this segment, which runs to its end by itself: what "
              "it reads was overwritten, or the fault comes and goes"
            : again.status().message();
    Say(fmt::format("  segment {:<4} {:<10} {}", i, piece.engine, why));
    Verdict v = Made(again.ok() ? "memory" : "engine", why);
    v.engine = piece.engine;
    v.nodes = std::move(piece.nodes);
    return std::optional<Verdict>(std::move(v));
  }

  // Wrong beside the reference: the engine's fault where it is wrong by itself, too.
  Result<std::optional<Verdict>> Judge(size_t i, Piece piece) {
    const std::string engine = piece.engine;
    const Outputs recorded = Copied(piece.recorded);
    const double bound = Bound(BoundOf(piece.graph));
    Trial trial{std::move(piece.graph), "main", std::move(piece.inputs), On(options_.against)};
    const auto wanted = RunTrial(r_, trial, options_.seconds_a_trial);
    std::string why =
        wanted.ok() ? WhyDifferent(piece.outputs, recorded, *wanted, bound) : std::string();
    Say(fmt::format("  segment {:<4} {:<10} {:<26} {}", i, engine,
                    fmt::format("{} nodes from {}", piece.nodes.size(), piece.nodes[0]),
                    !wanted.ok()  ? "not judged: " + wanted.status().message()
                    : why.empty() ? "right"
                                  : why));
    if (!wanted.ok()) {
      --judged_;
      ++unjudged_;
      return std::optional<Verdict>();
    }
    if (why.empty()) return std::optional<Verdict>();
    trial.options = On(options_.engines.empty() ? engine : options_.engines);
    const auto again = RunTrial(r_, trial, options_.seconds_a_trial);
    if (SaysNothing(again.status(), true)) {
      return Status(again.status().code(),
                    fmt::format("segment {} differs: {}; run again on '{}': {}", i, why, engine,
                                again.status().message()));
    }
    const bool wrong_again =
        !again.ok() || !WhyDifferent(piece.outputs, *again, *wanted, bound).empty();
    Verdict v = Made(wrong_again ? "engine" : "memory", why);
    v.engine = engine;
    if (!wrong_again) {
      v.why +=
          "; by itself the segment is right: what it reads or makes was overwritten, or the "
          "fault comes and goes";
    }
    v.nodes = std::move(piece.nodes);
    return std::optional<Verdict>(std::move(v));
  }

  const Recorded& r_;
  const Options& options_;
  std::vector<TensorView> inputs_;
  uint64_t graphs_ = 0, judged_ = 0, unjudged_ = 0;
};

void PrintVerdict(const Options& o, const Verdict& v) {
  if (o.json) {
    const nlohmann::json j = {{"kind", v.kind}, {"engine", v.engine}, {"nodes", v.nodes},
                              {"pass", v.pass}, {"why", v.why},       {"capsule", o.model}};
    fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  if (v.kind == "none") fmt::print("none: {}\n", v.why);
  if (v.kind == "pass") fmt::print("pass {}: {}\n", v.pass, v.why);
  if (v.kind != "engine" && v.kind != "memory") return;
  fmt::print("{} {}, nodes {}: {}\n", v.kind, v.engine, fmt::join(v.nodes, ", "), v.why);
}

}  // namespace

int Bisect(const Options& options) {
  const auto recorded = OpenRecorded(options.model);
  if (!recorded.ok()) return Fail(recorded.status());
  Bisection bisection(*recorded, options);
  const auto verdict = bisection.Run();
  if (!verdict.ok()) return Fail(verdict.status());
  PrintVerdict(options, *verdict);
  return verdict->kind == "none" ? 0 : 1;
}

}  // namespace ge::tool
