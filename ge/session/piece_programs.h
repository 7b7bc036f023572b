// PiecePrograms: for pieces of one cut of control flow at data-dependent sizes, repeats the passes'
// work on the next piece without the passes (shape_program.h). It looks at a cut from its second
// piece on: many are met once. Used under the session's compile mutex.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "ge/base/status.h"
#include "ge/compile/compiled/reshape_inputs.h"
#include "ge/control/flow.h"
#include "ge/ir/graph.h"
#include "ge/session/shape_program.h"

namespace ge {

class PiecePrograms {
 public:
  // True, and *reshape has the passes' result for the piece; false where the passes must run. Fails
  // when the call is to end.
  Result<bool> Bind(const FlowPlanned& piece, const ShapeProgram::Fold& fold,
                    ReshapeInputs* reshape);
  // After each Bind: the plan's ReshapeInputs, empty where no plan was made.
  void TakeBack(uint64_t cut, ReshapeInputs reshape);

 private:
  struct Cut {
    uint64_t last_asked = 0;
    bool met = false;
    int refused = 0;  // how often no program could be made
    FunctionId fn = 0;
    Graph part;  // a piece before the passes; none while fn is 0
    std::unique_ptr<ShapeProgram> program;
  };
  // Each attempt needs a plan made with all passes.
  static constexpr int kMostRefused = 3;
  // A part and a program take some kilobytes a node.
  static constexpr size_t kMostCuts = 64;
  Cut* At(uint64_t cut);

  std::map<uint64_t, Cut> cuts_;
  uint64_t asked_ = 0;
};

}  // namespace ge
