// A segment at fault: the first one whose recorded values are not those that the reference makes of
// the recorded values which it read.
#include <fmt/format.h>

#include <algorithm>

#include "tools/ge/capsule/bisection.h"
#include "tools/ge/capsule/own_errors.h"

namespace ge::tool {
namespace {

Trial TrialOf(const Piece& piece, Options options) {
  Trial t;
  t.graph = piece.graph;
  t.entry = "main";
  t.inputs = piece.inputs;
  t.options = std::move(options);
  return t;
}

// The segment in which the recorded run ended: does it end so by itself?
Result<MaybeVerdict> JudgeEnd(const Bisected& b, size_t i, const Piece& piece) {
  const Trial trial = TrialOf(piece, b.OnOwn(piece.engine));
  std::string why =
      "the recorded run ended in this segment, which runs to its end by itself: what it reads was "
      "overwritten, or the fault comes and goes";
  bool again = false;
  for (uint32_t run = 0; run < b.options.runs && !again; ++run) {
    const auto found = RunTrial(b.r, trial, b.options.seconds_a_trial);
    if (SaysNothing(found.status(), true)) {
      return Status(found.status().code(), fmt::format("segment {} on '{}': {}", i, piece.engine,
                                                       found.status().message()));
    }
    again = !found.ok();
    if (again) why = found.status().message();
  }
  b.Say(fmt::format("  segment {:<4} {:<10} {}", i, piece.engine, why));
  Verdict v = MadeVerdict(again ? "engine" : "memory", why);
  v.engine = piece.engine;
  v.nodes = piece.nodes;
  return MaybeVerdict(std::move(v));
}

// How the first of the values that are wrong by themselves differs, and its nodes.
const OwnError* FirstWrong(const std::vector<OwnError>& errors) {
  for (const OwnError& e : errors) {
    if (!e.compared.within) return &e;
  }
  return nullptr;
}

// The nodes at fault in a segment that is wrong by itself: those between recorded values, or one of
// them that is wrong alone.
std::vector<std::string> NodesAtFault(const Bisected& b, const Piece& piece, const OwnError& error,
                                      double bound) {
  if (error.ids.size() < 2) return error.nodes;
  const auto alone =
      WrongAlone(b.r, piece, error.ids, b.OnReference(), b.OnOwn(piece.engine), bound);
  return alone.ok() && !alone->empty() ? *alone : error.nodes;
}

// Wrong beside the reference: is it wrong by itself?
Result<MaybeVerdict> JudgeWrong(const Bisected& b, size_t i, const Piece& piece,
                                const OwnError& error, double bound, const std::string& why) {
  const Trial reference = TrialOf(piece, b.OnReference()),
              own = TrialOf(piece, b.OnOwn(piece.engine));
  // Of the segment's own inputs, whatever was recorded inside of it.
  GE_ASSIGN_OR_RETURN(const TrialAnswer wanted,
                      RunTrial(b.r, reference, b.options.seconds_a_trial));
  bool wrong = false;
  for (uint32_t run = 0; run < b.options.runs && !wrong; ++run) {
    const auto again = RunTrial(b.r, own, b.options.seconds_a_trial);
    if (SaysNothing(again.status(), true)) {
      return Status(again.status().code(),
                    fmt::format("segment {} differs: {}; run again on '{}': {}", i, why,
                                piece.engine, again.status().message()));
    }
    wrong = !again.ok() || !WhyDifferent(piece.outputs, *again, wanted, bound).empty();
  }
  Verdict v;
  if (wrong) {
    GE_ASSIGN_OR_RETURN(v, FaultOfTheSegment(b, piece, wanted, bound, why));
  } else {
    GE_ASSIGN_OR_RETURN(v, FaultOfTheWhole(b, i, piece, wanted, bound, why));
  }
  if (v.engine.empty()) v.engine = piece.engine;
  if (v.nodes.empty()) {
    v.nodes = v.kind == "engine" && wrong ? NodesAtFault(b, piece, error, bound) : error.nodes;
  }
  return MaybeVerdict(std::move(v));
}

Result<MaybeVerdict> Judge(Bisected* b, size_t i, const Piece& piece) {
  const double bound = b->BoundOf(piece.graph);
  Options reference = b->OnReference();
  reference.seconds_a_trial = b->options.seconds_a_trial;
  const auto errors = OwnErrorsOf(b->r, piece, reference, bound, b->rounds());
  const OwnError* wrong = errors.ok() ? FirstWrong(*errors) : nullptr;
  const std::string why = wrong != nullptr ? TextOf(wrong->compared) : "";
  b->Say(fmt::format("  segment {:<4} {:<10} {:<26} {}", i, piece.engine,
                     fmt::format("{} nodes from {}", piece.nodes.size(), piece.nodes[0]),
                     !errors.ok()       ? "not judged: " + errors.status().message()
                     : wrong == nullptr ? "right"
                                        : why));
  ++(errors.ok() ? b->judged : b->unjudged);
  if (wrong == nullptr) return MaybeVerdict();
  return JudgeWrong(*b, i, piece, *wrong, bound, why);
}

}  // namespace

Result<MaybeVerdict> FaultySegment(Bisected* b) {
  GE_ASSIGN_OR_RETURN(const Pieces pieces, Pieces::Of(b->r));
  for (size_t i = 0; i < pieces.segments(); ++i) {
    const auto piece = pieces.Segment(i);
    if (piece.status().code() == Code::kInvalidArgument) continue;  // a copy
    if (piece.status().code() == Code::kFailedPrecondition) {
      b->Say(fmt::format("  segment {:<4} not judged: {}", i, piece.status().message()));
      ++b->unjudged;
      continue;
    }
    GE_RETURN_IF_ERROR(piece.status());
    b->judged += piece->ended;
    GE_ASSIGN_OR_RETURN(auto verdict, piece->ended ? JudgeEnd(*b, i, *piece) : Judge(b, i, *piece));
    if (verdict) return MaybeVerdict(std::move(verdict));
  }
  return MaybeVerdict();
}

}  // namespace ge::tool
