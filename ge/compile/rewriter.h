// Rewriter: the REWRITE passes as a model's load, bind and pieces run them, with the folding that
// they may do. Thread-safe, as its evaluator is.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/stage/pass.h"
#include "ge/stage/runner.h"

namespace ge {

class Rewriter {
 public:
  // `options` may name passes to skip; INVALID_ARGUMENT from Run where one is unknown. The
  // evaluator outlives this.
  Rewriter(Runner::Options options, Evaluator* evaluator)
      : options_(std::move(options)), evaluator_(evaluator) {}
  // All passes. Folding spends from the innermost FoldingScope; where there is none (a dump), from
  // a budget for `model_bytes`. A folded result may not be larger than `largest_bytes`.
  Status Run(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
             int64_t largest_bytes = PassContext().fold_limit_bytes) const;
  // Those that run only when they are asked for.
  Status RunAsked(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times) const;
  // Those for the parts of a node alone.
  Status RunParts(Graph* graph, uint64_t model_bytes) const;

 private:
  Status RunWith(Runner::Options options, const std::vector<std::unique_ptr<Pass>>& passes,
                 Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
                 int64_t largest_bytes = PassContext().fold_limit_bytes) const;
  Runner::Options options_;
  Evaluator* evaluator_;
};

}  // namespace ge
