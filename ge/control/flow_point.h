// FlowPoint: a point of a function, reached by runs with the same history. It keeps the cuts made
// there, by structure, and the pieces: a cut at given shapes with its plan. A missing piece is made
// from a cut that holds for its shapes, else from a new one. All pieces of a cut share the points
// behind it. Used under its function's lock; pieces handed out stay valid when the point lets go of
// them, since runs may stand in them.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ge/control/cut.h"
#include "ge/control/flow.h"

namespace ge {

class FlowPoint;

// A cut and the point behind it.
struct FlowStructure {
  FlowCut cut;                                                  // its rest has moved to `next`
  uint64_t number = 0;                                          // of the flow's cuts
  std::vector<std::pair<ValueId, const FlowValue*>> constants;  // that the host reads
  std::shared_ptr<FlowPoint> next;  // null: the function's results are at hand
};

struct FlowPiece {
  // Of each value of cut.in: rank and dims, or a mark for no tensor. Others may have any shape.
  std::vector<uint64_t> shapes;
  std::vector<FlowValue> contents;  // of cut.by_content, then of cut.chosen_by
  std::shared_ptr<const FlowStructure> structure;
  std::shared_ptr<FlowPlan> plan;  // null: nothing to plan
  std::vector<std::vector<Type>> types;
  const FlowCut& cut() const { return structure->cut; }
};

class FlowPoint {
 public:
  // `arguments`: parameters of the function.
  FlowPoint(Flow* flow, FlowRest rest, std::set<ValueId> arguments)
      : flow_(*flow), rest_(std::move(rest)), arguments_(std::move(arguments)) {}
  // For these values, by number.
  Result<std::shared_ptr<const FlowPiece>> Find(const std::vector<FlowValue>& values);

 private:
  using Piece = std::shared_ptr<FlowPiece>;
  using Structure = std::shared_ptr<FlowStructure>;
  class AtHand;
  Result<Piece> Make(const std::vector<FlowValue>& values);
  // A piece of the given structure; null where the structure does not hold.
  Result<Piece> MakeOf(const Structure& of, const AtHand& at_hand);
  Result<Structure> Cut(const AtHand& at_hand);
  // The piece holding for these values, now the latest; null where there is none.
  Piece Known(const std::vector<FlowValue>& values);
  void Add(Piece piece);
  void ForgetStructures(const std::function<bool(const FlowStructure&)>& which);
  void ForgetOldest();
  // Whether contents of arguments may go on deciding conditions; counts the present contents.
  bool StillChooses(const Piece& piece);
  void Learn();
  Flow& flow_;
  const FlowRest rest_;
  const std::set<ValueId> arguments_;
  std::list<Piece> pieces_;  // the latest first
  // By structure and shapes.
  std::unordered_multimap<uint64_t, std::list<Piece>::iterator> by_shapes_;
  std::vector<Structure> structures_;  // the latest first
  std::set<std::string> chosen_by_;    // contents of arguments that decided conditions
  bool chooses_ = true;
  size_t found_ = 0, made_ = 0;  // pieces that hold for certain contents alone
  bool contents_change_ = false;
};

// A constant as a value of a run.
Result<FlowValue> ValueOf(const Const& constant);

}  // namespace ge
