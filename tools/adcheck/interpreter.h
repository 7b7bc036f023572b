// Interpreter: the oracle. It runs functions of a Graph node by node in Reals: by ref's kernel in
// Reals or, without one, by the node's decomposition. It runs control flow and calls itself. It
// knows no gradient rule and counts its nodes. One thread.
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

// A tensor, or a function with its captures. Elements of float64 and float32 are Reals.
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
  // `graph` is typed (ParseAndInfer of model.h) and outlives this.
  explicit Interpreter(const Graph& graph);
  ~Interpreter();
  // UNSUPPORTED if a node has neither a kernel nor a decomposition here.
  Result<std::vector<Thing>> Run(FunctionId fn, const std::vector<Thing>& args, int depth = 0);
  // Nodes run so far: also those of mere control flow, but not the parts of a decomposition.
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

}  // namespace ge::adcheck
