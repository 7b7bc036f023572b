#include "ge/stage/runner.h"

#include <algorithm>
#include <optional>

#include "ge/base/clock.h"
#include "ge/base/interrupt.h"

namespace ge {
namespace {

constexpr int kMaxRounds = 8;  // Passes that undo each other stop here.

}  // namespace

Status CheckSkipped(const std::set<std::string>& skip, const PassList& passes) {
  for (const std::string& name : skip) {
    std::string known;
    for (const auto& pass : passes) {
      if (pass->name() == name) break;
      known += (known.empty() ? "" : ", ") + std::string(pass->name());
      if (&pass == &passes.back()) {
        return Status(Code::kInvalidArgument,
                      "there is no pass '" + name + "' to skip; the passes are " + known);
      }
    }
  }
  return {};
}

void Runner::AddTime(const std::string& name, double begin_ms, int edits) {
  const double ms = NowMs() - begin_ms;
  if (options_.timed) options_.timed(name, begin_ms, ms);
  for (StageTime& t : times_) {
    if (t.name == name) {
      t.ms += ms;
      t.edits += edits;
      return;
    }
  }
  times_.push_back(StageTime{name, ms, edits});
}

Status Runner::RunStage(StageId id, const std::function<Status()>& body,
                        const std::function<Status()>& verify) {
  const std::string name = StageName(id);
  GE_RETURN_IF_ERROR(CheckInterrupt().AtStage(name));
  const double begin = NowMs();
  Status status = body();
  AddTime(name, begin, 0);
  if (!status.ok()) return std::move(status).AtStage(name);
  if (verify) {
    const double verify_begin = NowMs();
    status = verify();
    AddTime(name + "/verify", verify_begin, 0);
    if (!status.ok()) return std::move(status).AtStage(name);
  }
  if (options_.after) options_.after(name);
  return {};
}

// What is not known of a graph's computed values.
struct Unknown {
  size_t ranks = 0;  // values without one
  bool any = false;  // sizes, too
};

static Unknown UnknownOf(const Graph& graph) {
  Unknown out;
  for (const Function& f : graph.functions) {
    for (const Node& n : f.nodes) {
      for (const ValueId v : n.outputs) {
        const Type& type = f.value(v).type;
        if (!v || (type.is_tensor() && type.is_static())) continue;
        out.any = true;
        out.ranks += !type.is_tensor() || !type.ranked;
      }
    }
  }
  return out;
}

Status Runner::VerifyAll(const Graph& graph, const std::function<Status(const Graph&)>& verify) {
  const double begin = NowMs();
  const Status status = verify(graph);
  AddTime("rewrite/verify", begin, 0);
  if (status.ok()) return {};
  return Status(Code::kInternal, "the passes left an illegal graph (" + status.message() +
                                     "); run with --skip PASS to find out which")
      .AtNode(status.node());
}

bool Runner::Guarded(const Pass& pass, const PassContext& context) const {
  return options_.roll_back || !pass.plugin().empty() || context.compare;
}

Status Runner::RunPass(Graph* graph, Pass& pass, const Hooks& hooks,
                       const std::optional<Graph>& before, int* edits) {
  const double begin = NowMs();
  Status status;
  bool touched = false;
  Types types = Types::kOpen;
  culprit_ = &pass;
  {
    Transaction t(graph, std::string(pass.name()));
    status = pass.Run(t, hooks.context);
    t.Commit();
    *edits = t.edits();
    touched = t.touched();
    types = t.types_hold() ? Types::kHold : t.typed() ? Types::kSaid : Types::kOpen;
  }
  AddTime("rewrite/" + std::string(pass.name()), begin, *edits);
  if (!status.ok()) {
    return Status(status.code(), PassLabel(pass) + " failed: " + status.message())
        .AtNode(status.node());
  }
  if (*edits && Guarded(pass, hooks.context)) {
    GE_RETURN_IF_ERROR(CheckEdits(graph, pass, hooks, before, types));
  } else if (*edits) {
    GE_RETURN_IF_ERROR(TypeEdits(graph, pass, hooks, types));
  }
  if (!*edits && touched) Compact(graph);  // what it tried and took back
  culprit_ = nullptr;
  return {};
}

// Of a graph whose sizes are known nothing is left to infer. Where some are not, folding may have
// told them, which the passes behind it may learn a round later; of values that have no rank yet,
// as those of a body that was put in place of its call, they want to know at once.
Status Runner::TypeEdits(Graph* graph, const Pass& pass, const Hooks& hooks, Types types) {
  if (types == Types::kHold) return {};
  const Unknown unknown = UnknownOf(*graph);
  stale_ = unknown.any;
  const bool waits = hooks.context.phase == kAtBind && unknown.ranks <= unranked_;
  return stale_ && !waits ? InferStale(graph, pass, hooks) : Status();
}

Status Runner::InferStale(Graph* graph, const Pass& pass, const Hooks& hooks) {
  stale_ = false;
  if (!hooks.reinfer) return {};
  const double begin = NowMs();
  const Status status = hooks.reinfer(graph);
  unranked_ = UnknownOf(*graph).ranks;
  AddTime("rewrite/infer", begin, 0);
  if (status.ok()) return {};
  // Folding may show for the first time that the user's shapes contradict each other.
  return Status(status.code(), "after " + PassLabel(pass) + ": " + status.message())
      .AtNode(status.node());
}

Status Runner::CheckEdits(Graph* graph, const Pass& pass, const Hooks& hooks,
                          const std::optional<Graph>& before, Types types) {
  const bool own = pass.plugin().empty();
  const double begin = NowMs();
  Status status;
  if (hooks.verify) status = hooks.verify(*graph);
  if (!status.ok()) {
    return Status(own ? Code::kInternal : Code::kPluginError,
                  PassLabel(pass) + " left an illegal graph (" + status.message() +
                      "); run with the pass skipped")
        .AtNode(status.node());
  }
  const bool said = types == Types::kSaid && !UnknownOf(*graph).any;
  if (hooks.reinfer && !said && types != Types::kHold) status = hooks.reinfer(graph);
  AddTime("rewrite/verify", begin, 0);
  if (!status.ok()) {
    // Folding may show for the first time that the user's shapes contradict each other.
    return Status(own ? status.code() : Code::kPluginError,
                  "after " + PassLabel(pass) + ": " + status.message())
        .AtNode(status.node());
  }
  if (!hooks.context.compare || !before || pass.kind() == PassKind::kDerive) return {};
  status = hooks.context.compare(*before, *graph);
  if (status.ok()) return {};
  return Status(status.code(), PassLabel(pass) + " changed the model's values: " + status.message())
      .AtNode(status.node());
}

Status Runner::RunRound(Graph* graph, const PassList& passes, const Hooks& hooks,
                        std::optional<Graph>* before, bool first, int* edits) {
  const char* stage = StageName(StageId::kRewrite);
  const Pass* last = nullptr;
  *edits = 0;
  last_editor_ = nullptr;
  for (const auto& pass : passes) {
    const std::string name(pass->name());
    if (options_.skip.count(name)) continue;
    GE_RETURN_IF_ERROR(CheckInterrupt().AtStage(stage));
    if (!*before && Guarded(*pass, hooks.context)) *before = *graph;
    int made = 0;
    Status status = RunPass(graph, *pass, hooks, *before, &made);
    if (!status.ok()) {
      if (*before) *graph = std::move(**before);
      return std::move(status).AtStage(stage);
    }
    if (made) before->reset();
    if (made) last = pass.get();
    if (made && !pass->plugin().empty()) last_editor_ = pass.get();
    *edits += made;
    if (options_.edited && made) options_.edited(name, *graph);
    // A later round that changes nothing has nothing new to show.
    if (options_.after && (made || first)) options_.after(std::string(stage) + "/" + name);
  }
  if (last && stale_) return InferStale(graph, *last, hooks).AtStage(stage);
  return {};
}

Status Runner::RunPasses(Graph* graph, const PassList& passes, const PassContext& context,
                         const std::function<Status(const Graph&)>& verify,
                         const std::function<Status(Graph*)>& reinfer) {
  const char* stage = StageName(StageId::kRewrite);
  culprit_ = nullptr;
  GE_RETURN_IF_ERROR(CheckSkipped(options_.skip, passes).AtStage(stage));
  const bool strangers =
      std::any_of(passes.begin(), passes.end(), [](const auto& p) { return !p->plugin().empty(); });
  std::optional<Graph> at_first;  // where a stranger's pass may not settle
  if (strangers) at_first = *graph;
  std::optional<Graph> before;  // good until a pass makes an edit
  bool any = false;
  int edits = 0;
  unranked_ = UnknownOf(*graph).ranks;
  stale_ = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    GE_RETURN_IF_ERROR(
        RunRound(graph, passes, {context, verify, reinfer}, &before, round == 0, &edits));
    any |= edits > 0;
    if (!edits) break;
  }
  if (edits && last_editor_) {
    *graph = std::move(*at_first);
    culprit_ = last_editor_;
    return Status(Code::kPluginError,
                  PassLabel(*last_editor_) + " still changes the graph in round " +
                      std::to_string(kMaxRounds) + "; it has to leave alone what it has made")
        .AtStage(stage);
  }
  if (any) Compact(graph);
  if (any && verify && !options_.roll_back) return VerifyAll(*graph, verify);
  return {};
}

Status Runner::RunOnce(Graph* graph, Pass& pass, const PassContext& context,
                       const std::function<Status(const Graph&)>& verify,
                       const std::function<Status(Graph*)>& reinfer, int* edits) {
  const char* stage = StageName(StageId::kRewrite);
  culprit_ = nullptr;
  GE_RETURN_IF_ERROR(CheckInterrupt().AtStage(stage));
  std::optional<Graph> before = *graph;
  Status status = RunPass(graph, pass, {context, verify, reinfer}, before, edits);
  if (!status.ok()) {
    *graph = std::move(*before);
    return std::move(status).AtStage(stage);
  }
  if (*edits) Compact(graph);
  if (options_.edited && *edits) options_.edited(std::string(pass.name()), *graph);
  if (options_.after) options_.after(std::string(stage) + "/" + std::string(pass.name()));
  return {};
}

}  // namespace ge
