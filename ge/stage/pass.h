// Pass: a named rewrite of a Graph, and the host services it may use while it runs. A pass sees
// ge/ir and ge/ops only; it never sees an engine.
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

// The budget for constants made by passes: one for one load, one bind, or all the pieces that one
// run plans. So a small model cannot ask for any memory or time before it runs. Each run computes
// the nodes beyond the budget, and a run can be cancelled. One thread.
class FoldBudget {
 public:
  // A model of 5 KB may then ask for 256 MiB and a few seconds. In
  // tools/bench/models.json resnet50 asks for most at load, 0.92 of its own bytes; none
  // spends 1 % of its work.
  static constexpr int64_t kBytes = 256 << 20, kBytesPerModelByte = 8;
  // A flop, or a byte read or written, counts one; an evaluation counts its setup.
  static constexpr double kWork = 4e9, kWorkPerModelByte = 256, kWorkOfOne = 2e5;

  explicit FoldBudget(uint64_t model_bytes)
      : bytes_(static_cast<double>(kBytes) +
               static_cast<double>(kBytesPerModelByte) * static_cast<double>(model_bytes)),
        work_(kWork + kWorkPerModelByte * static_cast<double>(model_bytes)) {}
  FoldBudget(int64_t bytes, double work) : bytes_(static_cast<double>(bytes)), work_(work) {}

  // Takes both or neither; false when there is not enough left.
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
  // True the first time for a node: a skipped node is reported once, not in each round.
  bool IsNews(FunctionId fn, NodeId node) { return said_.insert({fn, node}).second; }

 private:
  double bytes_, work_, spent_bytes_ = 0, spent_work_ = 0;
  std::set<std::pair<FunctionId, NodeId>> said_;
};

// When a pass runs: bits.
enum PassPhase : uint8_t {
  kAtLoad = 1,     // when a model is loaded
  kAtBind = 2,     // when shapes are known, of the model or of a piece of it
  kWhenAsked = 4,  // with the others: only if requested by name
};

// Limits on results of folding.
struct FoldLimits {
  int64_t bytes = 64 << 20;  // of a result
  // Also folds fills (ConstantOfShape, Expand) of rank 2 and more. Where sizes are data one would
  // be a constant at one size and a node at the next, each mix a structure of its own.
  bool fills = true;
};

struct PassContext {
  PassPhase phase = kAtLoad;
  Evaluator* evaluator = nullptr;  // null: nothing can be folded by running it
  FoldLimits fold;
  FoldBudget* budget = nullptr;  // null: without limit, in tests alone
  // Types a node's outputs by those of its inputs, as INFER does. Null: in tests alone.
  Status (*infer_node)(Graph* graph, FunctionId fn, size_t node) = nullptr;
  // Reports nodes skipped for want of budget; null: no report.
  void (*note)(std::string_view text) = nullptr;
  // Called after the last read of a mapped constant by a pass, to let its pages leave memory; null:
  // they stay.
  void (*done_reading)(const void* data, uint64_t bytes) = nullptr;
  // Called with a large constant made by a pass: its payload may move to where it can leave memory,
  // so a pass making many does not hold them all. Null: they stay.
  void (*put_away)(Const* c) = nullptr;
  // The price in ns of the cheapest plan of these nodes by themselves (none = the whole function).
  // UNSUPPORTED where a size is unknown or no engine takes a node. Null: not available.
  std::function<Result<double>(const Graph& graph, FunctionId fn, const std::vector<NodeId>& nodes)>
      price;
  // The price in ns of each node of the function by itself, by position, as the cheapest engine
  // asks; infinity where nobody takes it. `as`: types to assume instead of the values' own; free
  // sizes count as small ones. Null: not available, or each result must be rounded as its operator
  // says (exact numerics).
  std::function<Result<std::vector<double>>(const Graph& graph, FunctionId fn,
                                            const std::map<ValueId, Type>& as)>
      price_each;
  // Whether the entries of both graphs give the same values on made-up inputs; INTERNAL where they
  // do not. Null: not tested.
  std::function<Status(const Graph& before, const Graph& after)> compare;
};

// The purpose of a pass. All kinds but the last keep the values given by entries.
enum class PassKind : uint8_t {
  kCanonicalise,  // fewer or simpler nodes
  kLower,         // other operators
  kDerive,        // functions, entries, states, added or replaced
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;     // "fold-constants", as its file and class
  virtual std::string_view summary() const = 0;  // one line for --help and docs/passes.md
  virtual PassKind kind() const { return PassKind::kCanonicalise; }
  virtual uint8_t phases() const { return kAtLoad | kAtBind; }
  // Names of passes that must run after it and before it; absent ones do not count.
  virtual std::vector<std::string> before() const { return {}; }
  virtual std::vector<std::string> after() const { return {}; }
  // Its plugin; empty = ours.
  virtual std::string_view plugin() const { return {}; }
  // "option=value;option=value", as requested. INVALID_ARGUMENT for an option it does not have.
  virtual Status SetOptions(std::string_view options);
  virtual Status Run(Transaction& transaction, const PassContext& context) = 0;
};
// "pass 'fold-constants'", "pass 'square' of plugin 'acme'".
std::string PassLabel(const Pass& pass);

using PassList = std::vector<std::unique_ptr<Pass>>;

// The passes of passes/pipeline.def, in its order.
std::vector<std::unique_ptr<Pass>> MakePipeline();
// Passes for the parts that PLACE made of a node: constants among them fold. No recognition, which
// would make the node again.
std::vector<std::unique_ptr<Pass>> MakePartsPipeline();
// Passes that change a model's inputs and outputs, and so run only on request.
std::vector<std::unique_ptr<Pass>> MakeAskedPasses();

}  // namespace ge
