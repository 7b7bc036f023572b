#include "ge/compile/rewrite/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ge/base/file_mapping.h"
#include "ge/base/log.h"
#include "ge/base/text/quoted_list.h"
#include "ge/compile/fold/folding.h"
#include "ge/compile/fold/spill.h"
#include "ge/infer/infer.h"
#include "ge/ops/gradient.h"
#include "ge/stage/pass_order.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

Status VerifyGraph(const Graph& g) { return Verify(g); }
Status InferGraph(Graph* g) { return Infer(g); }

std::string NamesOf(const PassList& passes) {
  std::string out;
  for (const auto& p : passes) out += (out.empty() ? "" : ", ") + std::string(p->name());
  return out;
}

// Nothing computes a ge.Gradient: its pass has to be there.
Status WantGradientsExpanded(const Graph& g, const PassList& passes, bool skipped) {
  constexpr std::string_view kPass = "expand-gradients";
  if (std::any_of(passes.begin(), passes.end(), [&](const auto& p) { return p->name() == kPass; }))
    return {};
  for (const Function& f : g.functions) {
    const auto n = std::find_if(f.nodes.begin(), f.nodes.end(), IsGradient);
    if (n == f.nodes.end()) continue;
    const std::string text =
        skipped ? "which is skipped here; leave it in"
                : "which this session has not loaded: name it with --plugins grad (plugins of "
                  "ge_session_options)";
    return Status(Code::kUnsupported,
                  fmt::format("ge.Gradient in function '{}' is expanded by the pass {} of the "
                              "plugin grad, {}",
                              f.name, kPass, text))
        .AtNode(NodeLabel(*n))
        .AtStage(StageName(StageId::kRewrite));
  }
  return {};
}

}  // namespace

Result<std::vector<PassRequest>> ParsePassRequests(std::string_view list) {
  std::vector<PassRequest> out;
  GE_ASSIGN_OR_RETURN(const auto items, SplitQuoted(list, ','));
  for (const std::string_view item : items) {
    const size_t colon = item.find(':');
    PassRequest request{std::string(item.substr(0, colon)), ""};
    if (colon != std::string_view::npos) request.options = item.substr(colon + 1);
    if (request.name.empty()) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("a pass is asked for as '{}'; write NAME or NAME:option=value", item));
    }
    out.push_back(std::move(request));
  }
  return out;
}

Result<PassList> Rewriter::AllPasses() const {
  PassList all = MakePipeline();
  for (auto& p : MakeAskedPasses()) all.push_back(std::move(p));
  if (options_.plugins) {
    for (auto& p : options_.plugins()) all.push_back(std::move(p));
  }
  GE_RETURN_IF_ERROR(OrderPasses(&all));
  GE_RETURN_IF_ERROR(CheckSkipped(options_.runner.skip, all));
  for (const PassRequest& request : options_.asked) {
    const auto pass = std::find_if(all.begin(), all.end(),
                                   [&](const auto& p) { return p->name() == request.name; });
    if (pass == all.end()) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("there is no pass '{}' to run; the passes are {}; those of a plugin "
                      "are there when --plugins names it",
                      request.name, NamesOf(all)));
    }
    GE_RETURN_IF_ERROR((*pass)->SetOptions(request.options));
  }
  return all;
}

bool Rewriter::Asked(const Pass& pass) const {
  return std::any_of(options_.asked.begin(), options_.asked.end(),
                     [&](const PassRequest& r) { return r.name == pass.name(); });
}

Result<PassList> Rewriter::Passes(PassPhase phase) const {
  Result<PassList> all = AllPasses();
  if (!all.ok()) return Status(all.status()).AtStage(StageName(StageId::kRewrite));
  std::erase_if(*all, [&](const auto& p) {
    if (options_.runner.skip.count(std::string(p->name()))) return true;
    return !(p->phases() & phase) || ((p->phases() & kWhenAsked) && !Asked(*p));
  });
  return all;
}

PassContext Rewriter::Context(PassPhase phase, FoldLimits fold) const {
  PassContext context;
  context.phase = phase;
  context.evaluator = evaluator_;
  context.fold = fold;
  context.infer_node = InferNode;
  context.note = [](std::string_view text) { LogLine(2, text); };
  context.done_reading = [](const void* data, uint64_t bytes) { DropMappedPages(data, bytes); };
  context.put_away = SpillConstant;
  context.price = options_.price;
  context.price_each = options_.price_each;
  context.compare = options_.compare;
  return context;
}

Runner::Options Rewriter::RunnerOptions() const {
  Runner::Options options = options_.runner;
  options.skip.clear();  // they are not among the passes
  return options;
}

bool Rewriter::Strike(const Pass* culprit, const Status& failure) const {
  const bool ended = failure.code() == Code::kCancelled ||
                     failure.code() == Code::kDeadlineExceeded ||
                     failure.code() == Code::kResourceExhausted;
  if (culprit == nullptr || culprit->plugin().empty() || ended || options_.compare) return false;
  if (culprit->kind() == PassKind::kDerive || Asked(*culprit)) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (struck_.insert(std::string(culprit->name())).second) {
    LogLine(1, failure.ToString() + "; the session goes on without it");
  }
  return true;
}

Status Rewriter::Rounds(PassList passes, Work* work) const {
  for (bool again = false;; again = true) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      std::erase_if(passes, [&](const auto& p) { return struck_.count(std::string(p->name())); });
    }
    Runner runner(RunnerOptions());
    std::function<Status(const Graph&)> verify;
    if (work->verify) verify = VerifyGraph;
    Status status = runner.RunPasses(work->graph, passes, work->context, verify, InferGraph);
    work->times->insert(work->times->end(), runner.times().begin(), runner.times().end());
    if (status.ok() && again) {  // what the other passes did before the failure is in there, too
      Compact(work->graph);
      status = VerifyGraph(*work->graph);
    }
    if (status.ok() || !Strike(runner.culprit(), status)) return status;
  }
}

Status Rewriter::Once(const PassList& passes, Work* work, bool* edited) const {
  for (const auto& pass : passes) {
    Runner runner(RunnerOptions());
    int edits = 0;
    const Status status =
        runner.RunOnce(work->graph, *pass, work->context, VerifyGraph, InferGraph, &edits);
    work->times->insert(work->times->end(), runner.times().begin(), runner.times().end());
    GE_RETURN_IF_ERROR(status);
    *edited |= edits > 0;
  }
  return {};
}

// Rules of what derives functions ask for numbers, as for where a Slice begins. Of those that a
// model computes from shapes INFER knows them; weights stay as they are.
Status Rewriter::FoldKnown(PassList* passes, Work* work) const {
  for (auto& p : *passes) {
    if (p->name() != "fold-shapes") continue;
    PassList one;
    one.push_back(std::move(p));
    bool edited = false;
    const Status status = Once(one, work, &edited);
    p = std::move(one[0]);
    return status;
  }
  return {};
}

Status Rewriter::Load(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times) const {
  GE_ASSIGN_OR_RETURN(PassList rounds, Passes(kAtLoad));
  GE_RETURN_IF_ERROR(
      WantGradientsExpanded(*graph, rounds, options_.runner.skip.count("expand-gradients") > 0));
  PassList early, late;
  for (auto& p : rounds) {
    if (p->kind() == PassKind::kDerive) late.push_back(std::move(p));
  }
  std::erase(rounds, nullptr);
  for (auto& p : late) {
    if (RunsBefore(*p, rounds)) early.push_back(std::move(p));
  }
  std::erase(late, nullptr);
  FoldBudget own(model_bytes);
  Work work{graph, Context(kAtLoad), times};
  work.context.budget = FoldingScope::budget() ? FoldingScope::budget() : &own;
  bool edited = false;
  if (!early.empty()) GE_RETURN_IF_ERROR(FoldKnown(&rounds, &work));
  GE_RETURN_IF_ERROR(Once(early, &work, &edited));
  edited = false;
  if (late.empty()) return Rounds(std::move(rounds), &work);
  GE_RETURN_IF_ERROR(Rounds(std::move(rounds), &work));
  GE_RETURN_IF_ERROR(Once(late, &work, &edited));
  if (!edited) return {};
  GE_ASSIGN_OR_RETURN(rounds, Passes(kAtLoad));
  std::erase_if(rounds, [](const auto& p) { return p->kind() == PassKind::kDerive; });
  return Rounds(std::move(rounds), &work);
}

Status Rewriter::Bind(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
                      FoldLimits fold) const {
  GE_ASSIGN_OR_RETURN(PassList passes, Passes(kAtBind));
  FoldBudget own(model_bytes);
  Work work{graph, Context(kAtBind, fold), times};
  work.context.budget = FoldingScope::budget() ? FoldingScope::budget() : &own;
  return Rounds(std::move(passes), &work);
}

Status Rewriter::BindUnverified(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
                                FoldLimits fold) const {
  GE_ASSIGN_OR_RETURN(PassList passes, Passes(kAtBind));
  FoldBudget own(model_bytes);
  Work work{graph, Context(kAtBind, fold), times, /*verify=*/false};
  work.context.budget = FoldingScope::budget() ? FoldingScope::budget() : &own;
  return Rounds(std::move(passes), &work);
}

// A name to skip may be of a pass that is not among these; a load has told unknown ones.
Status Rewriter::BindParts(Graph* graph, uint64_t model_bytes) const {
  PassList passes = MakePartsPipeline();
  std::erase_if(passes,
                [&](const auto& p) { return options_.runner.skip.count(std::string(p->name())); });
  FoldBudget own(model_bytes);
  std::vector<StageTime> times;  // nobody's: the stage that asks for the parts has its own
  Work work{graph, Context(kAtBind), &times};
  work.context.budget = FoldingScope::budget() ? FoldingScope::budget() : &own;
  return Rounds(std::move(passes), &work);
}

}  // namespace ge
