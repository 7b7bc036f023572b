// ShapeProgram: turns a part-bound graph into the graph of one more signature without running the
// passes, by repeating their work on an earlier signature with other sizes. Condition: they only
// computed values decided by sizes and constants. Each node left is then one of the part's, with
// the same operator, attributes and wiring, and each constant is the part's own or made by removed
// nodes. The removed nodes, the cone, are folded for each signature, by the passes themselves where
// inference does not give the values. Types are inferred on the part, so shapes that do not fit are
// refused as ever and the result means the same as the part at all sizes. It also checks whether
// the passes would do more at these sizes: dims must be 0, 1 or more where they were, and constants
// compared by content must be alike as they were; else all passes run. Data-dependent sizes are
// exempt: any of them may be 0 or 1 once, and the passes take longer than a run. Owned by
// PartBound; used under the session's compile mutex.
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
  // Small constants compare by content: folding makes them anew.
  static bool SamePayload(const Const& left, const Const& right);

  // `made` is the result of `part` at some signature, handed back by its plan. Null where the
  // passes did something else, or their work may depend on more. `of_data`: the data decide its
  // sizes.
  static std::unique_ptr<ShapeProgram> Make(const Graph& part, FunctionId fn, ReshapeInputs made,
                                            bool of_data);

  // Whether the reshape now has the graph of these shapes, with its view. False where all passes
  // must run; the part is then as before. Fails when the call is to end.
  Result<bool> Bind(Graph* part, const Entry& entry, const Shapes& shapes, const Fold& fold,
                    ReshapeInputs* reshape);
  // The same for the part's function at such shapes already, its types inferred.
  Result<bool> BindSized(const Function& part, const Fold& fold, ReshapeInputs* reshape);
  // Takes back Bind's inputs, once the plan is made. Without a graph the program is useless.
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

  // Whether the graph is at the part's sizes now. Drops the cone's constants if not.
  Result<bool> Take(const Function& part, const Fold& fold);
  Status HandOver(ReshapeInputs* reshape);
  void DropMade();  // their contents, which may be large
  bool Fits(const std::vector<Dim>& now, const std::vector<Dim>& then);
  bool TakeTypes(const Function& part);
  // The constants computed by the cone. False where the passes cannot tell.
  Result<bool> FoldCone(const Function& part, const Fold& fold, std::vector<Const>* made) const;
  bool TakeMade(std::vector<Const> made);
  // For each made constant the first one of equal content, the graph's own or made.
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
