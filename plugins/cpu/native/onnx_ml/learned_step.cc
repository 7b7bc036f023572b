#include "plugins/cpu/native/onnx_ml/learned_step.h"

#include <algorithm>

namespace ge_engines::cpu::native {

// A step with places {scores, labels or the scores again, x, workspace}.
void AddLearned(NativeBuilder* b, const Unit& u, const std::string& label,
                std::unique_ptr<Kernel> work, uint64_t floats, int threads) {
  b->program().workspace =
      std::max(b->program().workspace, floats * sizeof(float) * static_cast<uint64_t>(threads));
  const BufferRef x = b->GetDense(u.in[0]).place;
  const Rep first = b->NewResult(u.out[0], b->Plain(u.out[0]));
  Rep scores = first;
  if (u.out.size() > 1) {
    scores = b->NewResult(u.out[1], b->Plain(u.out[1]));
    b->AddRep(u.out[1], scores);
  }
  b->AddRep(u.out[0], first);
  b->AddStep(label + " " + b->Sizes(u.dims), std::move(work),
             {scores.place, first.place, x, b->Workspace()});
}

}  // namespace ge_engines::cpu::native
