// ShapeProgram: how a graph bound in part becomes the graph of one more signature without the
// passes: what they made of an earlier one, with other sizes. It holds where all that they did was
// to compute what sizes and constants decide: each node that is left is one of the part's, with the
// same operator, attributes and wiring, and each constant is the part's own or made by nodes that
// are gone. Those nodes, the cone, are folded for each signature, by the passes themselves where
// inference does not say what they give, and types are inferred on the part, so that a shape that
// does not fit is refused as ever and what comes out means what the part means, whatever the sizes.
// Whether the passes would have done more at these sizes is looked at, too: dims must be 0, 1 or
// more where they were, and constants that count by their content be alike as they were; else the
// long way is taken. Not so where the data decide sizes: any of them may be 0 or 1 once, and the
// long way takes longer than a run. Owned by PartBound; used under the session's compile mutex.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/compile/compiled/reshape_inputs.h"
#include "ge/ir/graph.h"

namespace ge {

class ShapeProgram {
 public:
  using Shapes = std::vector<std::vector<int64_t>>;
  using Fold = std::function<Status(Graph*)>;  // the passes at bind
  // Small constants count by what they hold: who folds them makes them anew.
  static bool SamePayload(const Const& left, const Const& right);

  // `made` is what became of `part` at some signature, handed back by the plan for it. Null where
  // the passes did something else, or what they did may depend on more. `of_data`: the data decide
  // its sizes.
  static std::unique_ptr<ShapeProgram> Make(const Graph& part, FunctionId fn, ReshapeInputs made,
                                            bool of_data);

  // Whether the reshape has the graph of these shapes now, with its view. False where the long way
  // is to be taken; the part is then as before. Fails when the call is to end.
  Result<bool> Bind(Graph* part, const Entry& entry, const Shapes& shapes, const Fold& fold,
                    ReshapeInputs* reshape);
  // The same for the part's function as it is at such shapes, its types inferred.
  Result<bool> BindSized(const Function& part, const Fold& fold, ReshapeInputs* reshape);
  // What Bind handed over, once the plan is made. Without a graph the program is of no more use.
  void TakeBack(ReshapeInputs reshape);
  bool usable() const { return reshape_.is_back(); }

 private:
  struct Made {  // a constant that the cone gives
    ConstId constant = 0;
    ValueId value = 0;
    ValueId part = 0;   // the part's value
    size_t result = 0;  // of the cone
  };
  class Maker;
  class Narrower;

  // Whether the graph is at the part's sizes now. What the cone gives is dropped where it is not.
  Result<bool> Take(const Function& part, const Fold& fold);
  Status HandOver(ReshapeInputs* reshape);
  void DropMade();  // their contents, which may be large
  bool Fits(const std::vector<Dim>& now, const std::vector<Dim>& then);
  bool TakeTypes(const Function& part);
  // What the cone gives. False where the passes cannot tell.
  Result<bool> FoldCone(const Function& part, const Fold& fold, std::vector<Const>* made) const;
  bool TakeMade(std::vector<Const> made);
  // What each made constant is like: the first that has its content, of the graph's own or made.
  std::vector<uint64_t> Likenesses() const;

  FunctionId fn_ = 0;
  bool of_data_ = false;
  ReshapeInputs reshape_;           // the graph of the signature before
  std::vector<ValueId> from_;       // by value of the graph: the part's, 0 for a constant
  Graph cone_;                      // one function; its results in the order of made_[i].result
  std::vector<ValueId> cone_from_;  // by value of the cone: the part's, 0 for a constant
  std::vector<Made> made_;
  std::vector<uint64_t> own_;    // contents of the graph's own constants that count, ascending
  std::vector<uint64_t> alike_;  // Likenesses of the signature that the program is made of
};

}  // namespace ge
