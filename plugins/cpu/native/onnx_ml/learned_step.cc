#include "plugins/cpu/native/onnx_ml/learned_step.h"

#include <algorithm>

namespace ge_engines::cpu::native {

// A step with places {scores, labels or the scores again, x, workspace}.
void AddLearned(NativeBuilder* builder, const Unit& unit, const std::string& label,
                std::unique_ptr<Kernel> kernel, uint64_t floats, int threads) {
  builder->program().workspace = std::max(builder->program().workspace,
                                          floats * sizeof(float) * static_cast<uint64_t>(threads));
  const BufferRef x = builder->GetDense(unit.in[0]).place;
  const Rep first = builder->NewResult(unit.out[0], builder->Plain(unit.out[0]));
  Rep scores = first;
  if (unit.out.size() > 1) {
    scores = builder->NewResult(unit.out[1], builder->Plain(unit.out[1]));
    builder->AddRep(unit.out[1], scores);
  }
  builder->AddRep(unit.out[0], first);
  builder->AddStep(label + " " + builder->Sizes(unit.dims), std::move(kernel),
                   {scores.place, first.place, x, builder->Workspace()});
}

}  // namespace ge_engines::cpu::native
