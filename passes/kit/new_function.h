// NewFunction: a function being made for control flow to name: its parameters first, then nodes,
// then its results. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/kit/fn.h"

namespace ge::passes {

// Shared by the functions made by one run of a pass.
struct PassRun {
  const ge_edit* edit = nullptr;
  const char* prefix = "";  // of their names, as in "grad.FWD.3"
  uint32_t next_name = 0;
};

// Whether the model marks the function as recursive.
bool CallsItself(const PassRun& run, uint32_t fn);

class NewFunction {
 public:
  // kind: its relation to `of`, as "FWD" or "BWD"; of 0, a function of its own. Marks functions
  // that call each other in a circle.
  NewFunction(PassRun& run, const char* kind, uint32_t of, bool recursive = false);
  Fn& fn() { return *fn_; }
  Val Param(const Type& type) { return fn_->Param("p" + std::to_string(params_++), type); }
  void Results(const std::vector<Val>& results);  // as they are, maybe to be replaced
  // Answers the function.
  uint32_t Finish(const std::vector<Val>& results);

  // Functions that a node names, by role.
  struct Bodies {
    std::vector<uint32_t> fn;
    std::vector<ge_str> role;
    ge_links Links() const;
  };
  static uint32_t Body(const ge_node& n, const char* role);  // 0 = none

 private:
  const ge_edit* edit_;
  std::unique_ptr<Fn> fn_;
  int params_ = 0;
};

// The attributes of a node of a picture.
Attrs AttrsOf(const ge_node& n);

}  // namespace ge::passes
