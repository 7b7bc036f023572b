// Interpreter: functions of a Graph, node by node, in Reals: the oracle. A node is run by ref's
// kernel in Reals, or, where it has none, by its decomposition; control flow and calls are run
// here. It knows no rule of a gradient. It counts what it runs. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "tools/adcheck/real.h"

namespace ge::adcheck {

// A tensor, or a function with what it has captured. Elements of float64 and float32 are Reals.
struct Thing {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::shared_ptr<std::vector<char>> data;
  FunctionId fn = 0;
  std::vector<Thing> captured;

  explicit operator bool() const { return data != nullptr || fn != 0; }
  int64_t count() const;
  Real* reals() const { return reinterpret_cast<Real*>(data->data()); }
  bool truth() const { return (*data)[0] != 0; }
  int64_t integer() const;
  static bool IsReal(DType dtype) { return dtype == DType::kDouble || dtype == DType::kFloat; }
  static Thing Make(DType dtype, std::vector<int64_t> dims);
};

class KernelCache;

class Interpreter {
 public:
  // `graph` is typed (ParseAndInfer) and outlives this.
  explicit Interpreter(const Graph& graph);
  ~Interpreter();
  // UNSUPPORTED where a node has neither kernel nor decomposition here.
  Result<std::vector<Thing>> Run(FunctionId fn, const std::vector<Thing>& args, int depth = 0);
  // Nodes run so far, those that only name control flow included; parts of a decomposition are not.
  uint64_t executed() const { return executed_; }

 private:
  using Things = std::vector<Thing>;
  Result<Things> Node_(const Node& n, const Function& function, const Things& in, int depth);
  Result<Things> If(const Node& n, const Things& in, int depth);
  Result<Things> Loop(const Node& n, const Function& function, const Things& in, int depth);
  Result<Things> Scan(const Node& n, const Function& function, const Things& in, int depth);
  Thing Constant(ConstId id) const;

  const Graph& graph_;
  std::unique_ptr<KernelCache> kernels_;
  uint64_t executed_ = 0;
};

// The graph of a text, verified, with defaults and types.
Result<Graph> ParseAndInfer(const std::string& text);

}  // namespace ge::adcheck
