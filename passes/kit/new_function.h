// NewFunction: a function that is being made for control flow to name: its parameters first, then
// nodes, then its results. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

class NewFunction {
 public:
  // kind: what it is of `of`, "FWD" or "BWD"; of 0, a function of its own. Functions that call each
  // other in a circle are marked so.
  NewFunction(Context& context, const char* kind, uint32_t of, bool recursive = false);
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
  Context& context_;
  std::unique_ptr<Fn> fn_;
  int params_ = 0;
};

// What a node of a sweep reads now, and its attributes.
std::vector<Val> InputsOf(Reverse& r, const ge_node& n);
Attrs AttrsOf(const ge_node& n);
// The forward node in the place of `n`, with `residuals` more outputs, which are answered.
std::vector<Val> PutForwardNode(Reverse& r, const ge_node& n, const std::vector<Val>& in,
                                const Attrs& attrs, const NewFunction::Bodies& bodies,
                                size_t residuals);

}  // namespace ge::grad
