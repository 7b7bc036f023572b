// Prepared: a Python object for a prepared run. Its arrays stay bound from run to run. With the GIL
// held; one thread at a time, others are refused.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "call.h"
#include "ge/ge.h"

namespace graphengine {

class Prepared {
 public:
  // Throws graphengine.Error.
  explicit Prepared(std::unique_ptr<Call> call);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // Runs on the present contents of the bound arrays; returns the same arrays each time.
  nanobind::object Run();
  // Binds another array of the same type and dims.
  void SetInput(const std::string& name, nanobind::handle array);

 private:
  std::unique_ptr<Call> call_;                         // its arrays, until others are bound
  std::vector<std::unique_ptr<BorrowedArray>> bound_;  // by input, null where it is the call's
  nanobind::dict outputs_;
  std::vector<ge_tensor> wanted_;  // the outputs' dims, as the arrays have them
  struct Destroy {
    void operator()(ge_prepared* prepared) const { ge_prepared_destroy(prepared); }
  };
  std::unique_ptr<ge_prepared, Destroy> prepared_;  // goes before the arrays
};

}  // namespace graphengine
