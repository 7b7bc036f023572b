// CheckpointedLoop: keeps the rounds of a Loop or Scan for the backward pass in windows, so
// memory grows with the root of their number. Forward: a Loop or Scan of windows, each a Loop or
// Scan of `every` rounds, outputs the carried values at the beginning of each window; the rest
// at the end is an iteration of its own. Back: a Scan over the windows from the last to the
// first runs each once more, now keeping everything its backward pass reads. Cotangents and sums
// go through all of it in the order without windows, so gradients have the same bits. One
// thread.
#pragma once

#include <string>
#include <vector>

#include "passes/grad/control/iteration.h"

namespace ge::grad {

class CheckpointedLoop {
 public:
  explicit CheckpointedLoop(Iteration& it) : it_(it), l_(it.l_), fn_(it.r_.fn()) {}
  // Whether the context wants windows and there is more than one. `refused`: why not.
  bool Applies(std::string* refused);
  // Replaces the node. Answers as Iteration::PutBack does.
  std::vector<Val> Through();

 private:
  // A value of r_.fn(), a vector of one; `known` where not below 0.
  struct Count {
    int64_t known = -1;
    Val v;
  };
  enum Side { kInput, kOutput };

  int64_t KnownRounds() const;
  bool MayEnd() const;
  bool ReadsNumber() const;
  std::string Obstacle() const;
  int64_t Axis(Side side, size_t i) const;  // of scanned values, from the front; -1 = not known
  bool FromLast(Side side, size_t i) const;
  Type WithWindow(Type type, int64_t axis) const;

  Val Scalar(const Count& count);
  void CountRounds();
  Val PartOf(Val value, int64_t axis, bool from_last, bool rest);
  Val Split(Val value, int64_t axis);
  Val Merge(Val value, int64_t axis);
  Val Whole(Val windows, Val rest, int64_t axis, bool from_last);

  uint32_t PlainBody();
  uint32_t WindowBody();
  void PutWindows();
  void PutRest();
  std::vector<Val> Results();
  Attrs ScanAttrs(size_t stacks) const;

  std::vector<Val> CotangentsOf(bool rest);
  uint32_t BackBody();
  std::vector<Val> BackThroughWindows(const std::vector<Val>& states);

  Iteration& it_;
  const Layout& l_;
  Fn& fn_;
  int64_t every_ = 0;
  bool bounded_ = true;  // a Loop may have no greatest number of rounds
  bool may_end_ = false;
  bool from_base_ = false;  // the body reads the number of the round
  bool has_rest_ = true;
  Count windows_, in_windows_, rest_;  // there may be fewer where a condition ends it
  std::vector<Kept> saved_;            // carried values
  // Outputs of the windows, as in Iteration, and beside that:
  std::vector<Val> out_;
  std::vector<Stack> saved_stacks_;
  uint32_t node_ = 0;
  Val numbers_, go_;           // the number of each; whether it goes on behind them
  std::vector<Val> elements_;  // by windows
  std::vector<Val> rest_in_;
  Val base_;  // the number of the first round left
  Iteration::Forward rest_run_;
};

}  // namespace ge::grad
