// Rewriter: runs the REWRITE passes for a model's load, bind and pieces, with the folding they may
// do, and the passes of plugins among them. If a plugin's pass that must keep values fails, it is
// rolled back, reported on stderr and left out from then on; if somebody asked for the pass, its
// failure fails the load. Thread-safe, as its evaluator is.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/stage/pass.h"
#include "ge/stage/runner.h"

namespace ge {

// A requested pass and its options.
struct PassRequest {
  std::string name;
  std::string options;  // "option=value;option=value"
};
// "observe:output=1;of=main,other" -> requests. INVALID_ARGUMENT on an empty item.
Result<std::vector<PassRequest>> ParsePassRequests(std::string_view list);

struct RewriteOptions {
  Runner::Options runner;             // names passes to skip; `roll_back` is for ours alone
  std::function<PassList()> plugins;  // makes those of plugins anew; null = there are none
  std::vector<PassRequest> asked;
  decltype(PassContext::price) price;  // see PassContext
  decltype(PassContext::price_each) price_each;
  decltype(PassContext::compare) compare;  // set: a plugin's pass that fails, fails the whole
};

class Rewriter {
 public:
  // The evaluator outlives this.
  Rewriter(RewriteOptions options, Evaluator* evaluator)
      : options_(std::move(options)), evaluator_(evaluator) {}
  // All calls but the last answer INVALID_ARGUMENT where a requested or skipped pass does not exist
  // or lacks such options, or the passes have no order. Load runs a model's passes: those that
  // derive once, the others until nothing changes. Folding spends from the innermost FoldingScope;
  // without one (a dump), from a budget for `model_bytes`.
  Status Load(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times) const;
  // A bound graph, or a piece of one.
  Status Bind(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
              FoldLimits fold = {}) const;
  // The same; the caller verifies the result.
  Status BindUnverified(Graph* graph, uint64_t model_bytes, std::vector<StageTime>* times,
                        FoldLimits fold = {}) const;
  // Runs the passes for the parts of a node alone.
  Status BindParts(Graph* graph, uint64_t model_bytes) const;

 private:
  struct Work {  // what one call works on
    Graph* graph;
    PassContext context;
    std::vector<StageTime>* times;
    bool verify = true;
  };
  // In order, without skipped passes and those that only run on request.
  Result<PassList> Passes(PassPhase phase) const;
  Result<PassList> AllPasses() const;
  bool Asked(const Pass& pass) const;
  PassContext Context(PassPhase phase, FoldLimits fold = {}) const;
  Status Rounds(PassList passes, Work* work) const;
  Status Once(const PassList& passes, Work* work, bool* edited) const;
  // INFER's numbers as constants, by that pass of the list.
  Status FoldKnown(PassList* passes, Work* work) const;
  // Whether the rounds go on without the pass after this failure.
  bool Strike(const Pass* culprit, const Status& failure) const;
  Runner::Options RunnerOptions() const;

  RewriteOptions options_;
  Evaluator* evaluator_;
  mutable std::mutex mutex_;  // of the following
  mutable std::set<std::string> struck_;
};

}  // namespace ge
