// DualOracle: an output of a model as Reals, along two directions at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/adcheck/interpreter.h"
#include "tools/adcheck/model.h"

namespace ge::adcheck {

class DualOracle {
 public:
  static Result<std::unique_ptr<DualOracle>> Make(const std::string& text,
                                                  const std::string& entry);
  // Directions by input; a missing one is zero.
  Result<std::vector<Real>> Run(const Arrays& inputs, const Arrays& left, const Arrays& right,
                                const std::string& of);
  uint64_t executed() const { return interpreter_->executed(); }

 private:
  explicit DualOracle(Graph graph) : graph_(std::move(graph)) {}
  Graph graph_;
  FunctionId fn_ = 0;
  std::unique_ptr<Interpreter> interpreter_;
};

}  // namespace ge::adcheck
