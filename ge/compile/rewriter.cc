#include "ge/compile/rewriter.h"

#include <string_view>

#include "ge/base/file_mapping.h"
#include "ge/base/log.h"
#include "ge/compile/folding.h"
#include "ge/infer/infer.h"
#include "ge/verify/verify.h"

namespace ge {

Status Rewriter::Run(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
                     int64_t largest_bytes) const {
  return RunWith(options_, MakePipeline(), graph, model_bytes, times, largest_bytes);
}

Status Rewriter::RunAsked(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times) const {
  Runner::Options options = options_;
  options.skip.clear();
  GE_RETURN_IF_ERROR(RunWith(std::move(options), MakeAskedPasses(), graph, model_bytes, times));
  return Run(graph, model_bytes, times);
}

// A name to skip may be of a pass that is not among these; Run has told unknown ones.
Status Rewriter::RunParts(Graph* graph, uint64_t model_bytes) const {
  Runner::Options options = options_;
  std::vector<std::unique_ptr<Pass>> passes = MakePartsPipeline();
  std::erase_if(passes, [&](const auto& p) { return options.skip.count(std::string(p->name())); });
  options.skip.clear();
  std::vector<StageTime> times;  // nobody's: the stage that asks for the parts has its own
  return RunWith(std::move(options), passes, graph, model_bytes, &times);
}

Status Rewriter::RunWith(Runner::Options options, const std::vector<std::unique_ptr<Pass>>& passes,
                         Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
                         int64_t largest_bytes) const {
  Runner runner(std::move(options));
  PassContext context;
  context.evaluator = evaluator_;
  context.fold_limit_bytes = largest_bytes;
  context.infer_node = InferNode;
  FoldBudget own(model_bytes);
  context.budget = FoldingScope::budget() ? FoldingScope::budget() : &own;
  context.note = [](std::string_view text) { LogLine(2, text); };
  context.done_reading = [](const void* data, uint64_t bytes) { DropMappedPages(data, bytes); };
  Status status = runner.RunPasses(
      graph, passes, context, [](const Graph& g) { return Verify(g); },
      [](Graph* g) { return Infer(g); });
  times->insert(times->end(), runner.times().begin(), runner.times().end());
  return status;
}

}  // namespace ge
