// Pass: a named rewrite of a Graph, and what it may ask of the host while it runs.
// A pass sees ge/ir and ge/ops only; it never sees an engine.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/edit.h"

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

struct PassContext {
  Evaluator* evaluator = nullptr;       // null: nothing can be folded by running it
  int64_t fold_limit_bytes = 64 << 20;  // a folded result may not be larger
  // Called when a pass has read a mapped constant for the last time, so that its pages can leave
  // memory; null: they stay.
  void (*done_reading)(const void* data, uint64_t bytes) = nullptr;
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;     // "fold-constants", as its file and class
  virtual std::string_view summary() const = 0;  // one line for --help and docs/passes.md
  virtual Status Run(Transaction& t, const PassContext& context) = 0;
};

// The passes of passes/pipeline.def, in its order.
std::vector<std::unique_ptr<Pass>> MakePipeline();
// Those for the parts that PLACE made of a node: constants among them fold. No recognition, which
// would make the node again.
std::vector<std::unique_ptr<Pass>> MakePartsPipeline();

}  // namespace ge
