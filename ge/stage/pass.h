// Pass: a named rewrite of a Graph, and what it may ask of the host while it runs.
// A pass sees ge/ir and ge/ops only; it never sees an engine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/ops/edit.h"

namespace ge {

// Runs one node on host memory (implemented by session through the plugin ABI, by ref).
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // `inputs` are constants by slot (null = absent); answers one constant per node output.
  virtual Result<std::vector<Const>> Evaluate(const Graph& graph, const Function& function,
                                              const Node& node,
                                              const std::vector<const Const*>& inputs) = 0;
};

// What may be spent on constants that passes make anew: one budget for one load, one bind, or all
// the pieces that one run has to plan. So a small model cannot ask for any memory or time before it
// runs; what is beyond the budget is computed by each run, which can be cancelled. One thread.
class FoldBudget {
 public:
  // A model of 5 KB may then ask for 256 MiB and a few seconds. Of the models of
  // tools/bench/models.json resnet50 asks for most at load, 0.92 of its own bytes; none spends 1 %
  // of its work.
  static constexpr int64_t kBytes = 256 << 20, kBytesPerModelByte = 8;
  // A flop, or a byte read or written, counts one; an evaluation as much as it takes to set up.
  static constexpr double kWork = 4e9, kWorkPerModelByte = 256, kWorkOfOne = 2e5;

  explicit FoldBudget(uint64_t model_bytes)
      : bytes_(static_cast<double>(kBytes) +
               static_cast<double>(kBytesPerModelByte) * static_cast<double>(model_bytes)),
        work_(kWork + kWorkPerModelByte * static_cast<double>(model_bytes)) {}
  FoldBudget(int64_t bytes, double work) : bytes_(static_cast<double>(bytes)), work_(work) {}

  // Both or neither; false when there is not enough left.
  bool Take(int64_t bytes, double work) {
    const auto b = static_cast<double>(bytes);
    if (spent_bytes_ + b > bytes_ || spent_work_ + work > work_) return false;
    spent_bytes_ += b;
    spent_work_ += work;
    return true;
  }
  double bytes() const { return bytes_; }
  double work() const { return work_; }
  double spent_bytes() const { return spent_bytes_; }
  double spent_work() const { return spent_work_; }
  // True the first time for a node: what is left alone is said once, not in each round.
  bool IsNews(FunctionId fn, NodeId node) { return said_.insert({fn, node}).second; }

 private:
  double bytes_, work_, spent_bytes_ = 0, spent_work_ = 0;
  std::set<std::pair<FunctionId, NodeId>> said_;
};

// When a pass runs: bits.
enum PassPhase : uint8_t {
  kAtLoad = 1,     // when a model is loaded
  kAtBind = 2,     // when shapes are known, of the model or of a piece of it
  kWhenAsked = 4,  // with the others: only where it is asked for by name
};

// What folding may make.
struct FoldLimits {
  int64_t bytes = 64 << 20;  // of a result
  // Also fills (ConstantOfShape, Expand) of rank 2 and more. Where sizes are data such a one would
  // be a constant at one size and a node at the next, and each mix of them a structure of its own.
  bool fills = true;
};

struct PassContext {
  PassPhase phase = kAtLoad;
  Evaluator* evaluator = nullptr;  // null: nothing can be folded by running it
  FoldLimits fold;
  FoldBudget* budget = nullptr;  // null: without limit, in tests alone
  // Types a node's outputs by those of its inputs, as INFER does. Null: in tests alone.
  Status (*infer_node)(Graph* graph, FunctionId fn, size_t node) = nullptr;
  // Where it is said what a budget has left alone; null: nowhere.
  void (*note)(std::string_view text) = nullptr;
  // Called when a pass has read a mapped constant for the last time, so that its pages can leave
  // memory; null: they stay.
  void (*done_reading)(const void* data, uint64_t bytes) = nullptr;
  // Called with a large constant that a pass has made: its payload may move to where it can leave
  // memory, so that a pass which makes many does not hold them all. Null: they stay.
  void (*put_away)(Const* c) = nullptr;
  // What the cheapest plan of these nodes by themselves (none = the whole function) costs in ns.
  // UNSUPPORTED where sizes are not known or no engine takes a node. Null: nobody can say.
  std::function<Result<double>(const Graph& graph, FunctionId fn, const std::vector<NodeId>& nodes)>
      price;
  // What each node of the function costs by itself in ns, by position, as the cheapest engine asks;
  // infinity where nobody takes it. `as`: types that values are taken to have instead of their own;
  // free sizes count as small ones. Null: nobody can say, or each result is to be rounded as its
  // operator says (exact numerics).
  std::function<Result<std::vector<double>>(const Graph& graph, FunctionId fn,
                                            const std::map<ValueId, Type>& as)>
      price_each;
  // Whether the entries of both graphs give the same values on made-up inputs; INTERNAL where they
  // do not. Null: nobody tries.
  std::function<Status(const Graph& before, const Graph& after)> compare;
};

// What a pass is for. All but the last keep the values that entries give.
enum class PassKind : uint8_t {
  kCanonicalise,  // fewer or simpler nodes
  kLower,         // other operators
  kDerive,        // functions, entries, states beside or in place of what is there
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;     // "fold-constants", as its file and class
  virtual std::string_view summary() const = 0;  // one line for --help and docs/passes.md
  virtual PassKind kind() const { return PassKind::kCanonicalise; }
  virtual uint8_t phases() const { return kAtLoad | kAtBind; }
  // Names of passes ahead of which and behind which it runs; those that are not there do not count.
  virtual std::vector<std::string> before() const { return {}; }
  virtual std::vector<std::string> after() const { return {}; }
  // The plugin that brought it; empty = ours.
  virtual std::string_view plugin() const { return {}; }
  // "option=value;option=value", as asked for. INVALID_ARGUMENT where it has no such option.
  virtual Status SetOptions(std::string_view options);
  virtual Status Run(Transaction& transaction, const PassContext& context) = 0;
};
// "pass 'fold-constants'", "pass 'square' of plugin 'acme'".
std::string PassLabel(const Pass& pass);

using PassList = std::vector<std::unique_ptr<Pass>>;

// The passes of passes/pipeline.def, in its order.
std::vector<std::unique_ptr<Pass>> MakePipeline();
// Those for the parts that PLACE made of a node: constants among them fold. No recognition, which
// would make the node again.
std::vector<std::unique_ptr<Pass>> MakePartsPipeline();
// Those that change what a model takes and gives, and so run only when they are asked for.
std::vector<std::unique_ptr<Pass>> MakeAskedPasses();

}  // namespace ge
