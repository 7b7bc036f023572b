// Pieces of a recorded run: a segment of its plan, or one node, as a graph of its own with the
// recorded values that it read and made. Any thread may call.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "tools/ge/capsule/recorded.h"

namespace ge::tool {

// A value that a node of a piece hands to another one of it.
struct InnerValue {
  ValueId value = 0;
  CapsuleTensor tensor;
  std::span<const std::byte> recorded;
};

struct Piece {
  Graph graph;  // its entry is "main"
  FunctionId fn = 0;
  std::vector<CapsuleTensor> input_tensors, outputs;
  std::vector<TensorView> inputs;                    // views of the capsule
  std::vector<std::span<const std::byte>> recorded;  // outputs' bytes, of the capsule
  std::vector<InnerValue> inner;                     // those that were recorded
  bool ended = false;  // the recorded run ended before the outputs were made: `recorded` is empty
  std::vector<std::string> nodes;  // names, of origins where they have none, or "Conv#12"
  std::string engine;              // of the segment
};

class Pieces {
 public:
  // The graph that the plan is of. The recorded run outlives the result.
  static Result<Pieces> Of(const Recorded& r);
  size_t segments() const { return recorded_->plan.functions[0].segments.size(); }
  // FAILED_PRECONDITION: a value that it reads or makes was not recorded; the message names it.
  // INVALID_ARGUMENT: no such segment, or one without nodes.
  Result<Piece> Segment(size_t segment) const;
  // All nodes, with every recorded value as an output. FAILED_PRECONDITION as of Segment.
  Result<Piece> All() const;
  // The names of a segment's nodes, as of Piece.
  std::vector<std::string> LabelsOf(const PlanSegment& segment) const;
  // By the node's name. INVALID_ARGUMENT: no node has it.
  Result<Piece> Named(const std::string& node) const;

 private:
  Result<Piece> Make(const std::vector<NodeId>& nodes, const std::vector<ValueId>& inputs,
                     const std::vector<ValueId>& outputs, size_t segment, bool whole) const;
  Result<const CapsuleTensor*> TensorOf(ValueId value, size_t segment, bool whole) const;

  const Recorded* recorded_ = nullptr;
  Graph graph_;
  FunctionId fn_ = 0;
  std::map<ValueId, const CapsuleTensor*> by_value_;
};

}  // namespace ge::tool
