#include "ge/session/piece_programs.h"

#include <algorithm>
#include <utility>

namespace ge {
namespace {

// Contents that the cut took in as constants differ from piece to piece; weights are the same
// bytes.
bool SameConstants(const Graph& a, const Graph& b) {
  return std::equal(a.consts.begin(), a.consts.end(), b.consts.begin(), b.consts.end(),
                    ShapeProgram::SamePayload);
}

}  // namespace

PiecePrograms::Cut* PiecePrograms::At(uint64_t cut) {
  if (cuts_.size() >= kMostCuts && cuts_.count(cut) == 0) {
    cuts_.erase(std::min_element(cuts_.begin(), cuts_.end(), [](const auto& a, const auto& b) {
      return a.second.last_asked < b.second.last_asked;
    }));
  }
  Cut& at = cuts_[cut];
  at.last_asked = ++asked_;
  return &at;
}

Result<bool> PiecePrograms::Bind(const FlowPlanned& piece, const ShapeProgram::Fold& fold,
                                 ReshapeInputs* reshape) {
  Cut& at = *At(piece.cut);
  if (at.program && SameConstants(at.part, piece.graph)) {
    return at.program->BindSized(piece.graph.fn(at.fn), fold, reshape);
  }
  if (at.met && !at.program && at.refused < kMostRefused) {
    at.part = piece.graph;
    at.fn = piece.fn;
  }
  at.met = true;
  return false;
}

void PiecePrograms::TakeBack(uint64_t cut, ReshapeInputs reshape) {
  const auto found = cuts_.find(cut);
  if (found == cuts_.end()) return;
  Cut& at = found->second;
  if (at.program) {
    if (at.program->usable()) return;  // it was not asked
    at.program->TakeBack(std::move(reshape));
    if (!at.program->usable()) at.program.reset();
  } else if (at.fn != 0) {
    at.program = ShapeProgram::Make(at.part, at.fn, std::move(reshape), /*of_data=*/true);
    if (!at.program) ++at.refused;
  }
  if (!at.program) {
    at.part = {};
    at.fn = 0;
  }
}

}  // namespace ge
