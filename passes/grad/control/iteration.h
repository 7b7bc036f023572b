// Iteration: the backward pass through one Loop or Scan. Forward: the same node; its body also
// outputs the values that the backward pass reads of each round, stacked. Back: a Scan from the
// last round to the first. A Context may ask for windows of rounds (loop_checkpoint.h). One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/grad/control/joint.h"
#include "passes/grad/control/stack.h"

namespace ge::grad {

// How the inputs and outputs of a Loop or Scan lie. A body's parameters are `lead` (iteration,
// condition), carried, elements, captures; its results are `lead_out` (condition), carried,
// scanned.
struct Layout {
  bool loop;
  size_t lead, lead_out, carried, elements, captures, scanned;
  size_t inputs() const { return lead + carried + elements + captures; }
  size_t element(size_t i) const { return lead + carried + i; }
  size_t capture(size_t i) const { return lead + carried + elements + i; }
};

// `count` numbers of an attribute, 0 where there are none.
std::vector<int64_t> IntsOf(const ge_node& n, const char* name, size_t count);

class Iteration {
 public:
  Iteration(Reverse& reverse, const ge_node& n);
  bool Through();

 private:
  friend class CheckpointedLoop;
  // A node that runs all rounds, or those from `base` on.
  struct Forward {
    uint32_t node = 0;
    std::vector<Val> out;  // as n_'s
    std::vector<Stack> kept;
    Val rounds;  // the number of each round
  };
  bool FindActive();
  bool FindWithoutFunctions(std::string* refused);
  bool Fixed(const Type& type, const Needs& needs) const;
  void FindKept();
  bool AlwaysGoesOn() const;
  void HandOn(Val condition, std::vector<Val>* results) const;
  uint32_t ForwardBody(bool from_base);
  Attrs AttrsWith(size_t stacks, size_t captures) const;
  // in: as n_'s, of `fn`; base: a scalar, absent = rounds are counted from 0. Replaces n_ where
  // that is in `fn`.
  Forward PutForward(Fn& fn, const std::vector<Val>& in, Val base);
  uint32_t BackBody();
  size_t BackStates() const;
  // cts: by output of n_, absent = zero; sums: gradients of captures are added to these, by
  // captures with a gradient. Answers the cotangents of carried values with a gradient, the sums,
  // and gradients of elements.
  std::vector<Val> PutBack(Fn& fn, const std::vector<Val>& in, const Forward& forward,
                           const std::vector<Val>& cts, const std::vector<Val>& sums);
  std::vector<Val> FirstSums(Fn& fn);
  void GiveBack(const std::vector<Val>& made);

  Reverse& r_;
  const ge_node& n_;
  const Layout l_;
  const uint32_t body_;
  std::vector<Val> in_, cts_;
  std::shared_ptr<Joint> joint_;
  std::vector<bool> active_, seeded_;  // by the body's parameter and result
  std::vector<Type> params_;           // types of the body's parameters
  std::vector<Kept> kept_;  // by each round: residuals of the joint, then parameters in use
  uint32_t forward_body_[2] = {0, 0}, back_body_ = 0;  // 0 = not made yet
};

}  // namespace ge::grad
