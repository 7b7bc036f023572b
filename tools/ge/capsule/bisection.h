// The parts of ge bisect: each looks for one kind of fault in a recorded run and answers a verdict,
// or none where that kind is not at fault. One thread; every trial has a process of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "tools/ge/capsule/piece.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/trial.h"
#include "tools/ge/capsule/verdict.h"

namespace ge::tool {

using MaybeVerdict = std::optional<Verdict>;

// What is bisected, and how far it has come.
struct Bisected {
  const Recorded& r;
  const Options& options;  // as asked
  std::vector<TensorView> inputs;
  uint64_t graphs = 0, judged = 0, unjudged = 0;

  void Say(const std::string& text) const;
  // Options of a trial on these engines.
  Options On(const std::string& engines) const;
  Options OnReference() const { return On(options.against); }
  // Engines that may run a segment of `engine`: those named on the command line, else that one.
  Options OnOwn(const std::string& engine) const;
  bool rounds() const { return r.manifest.precision == "bf16"; }
  // Of a graph: that of the least precise float which a node reads or makes. Where 16 bits are in
  // between, two right answers in float32 are as far apart.
  double BoundOf(const Graph& graph) const;
};

// Why nothing can be said of a trial: not what it computed, but that it never began, or how long it
// takes.
bool SaysNothing(const Status& status, bool may_hang);
// How the first of several outputs that differs does so; empty where none does.
std::string WhyDifferent(const std::vector<CapsuleTensor>& tensors, const TrialAnswer& found,
                         const TrialAnswer& wanted, double bound);

// The loaded model on the reference beside the values of --expect.
Result<MaybeVerdict> FaultyModel(Bisected* b);
// The graphs behind each pass, on the reference.
Result<MaybeVerdict> FaultyPass(Bisected* b);
// The segments of the plan.
Result<MaybeVerdict> FaultySegment(Bisected* b);
// Why a segment that is right by itself was wrong in the run: what it read or made was overwritten,
// its pack was another one's, or it keeps something from launch to launch. `wanted`: its right
// outputs. `why`: how the recorded ones differ.
Result<Verdict> FaultOfTheWhole(const Bisected& b, size_t segment, const Piece& piece,
                                const TrialAnswer& wanted, double bound, std::string why);
// Why a segment is wrong by itself: inner values in one place, writes outside of its places, a
// pack, else its engine.
Result<Verdict> FaultOfTheSegment(const Bisected& b, const Piece& piece, const TrialAnswer& wanted,
                                  double bound, std::string why);

}  // namespace ge::tool
