#include "plugins/units/told_steps.h"

namespace ge_engines {

ToldSteps::Told& ToldSteps::At(uint32_t step) {
  if (told_.size() <= step) told_.resize(step + 1);
  return told_[step];
}

void ToldSteps::AddNodes(uint32_t step, const Ids& nodes) {
  Told& told = At(step);
  if (told.nodes.empty()) told.nodes = nodes;
}

void ToldSteps::AddValue(uint32_t step, const ge_made& made) { At(step).made.push_back(made); }

void ToldSteps::Finish(uint32_t n_step) {
  told_.resize(n_step);
  records_.assign(n_step, {});
  for (uint32_t k = 0; k < n_step; ++k) {
    ge_step& r = records_[k];
    r.h = GE_HDR(ge_step, GE_TAG_STEP);
    r.node = told_[k].nodes.data();
    r.n_node = static_cast<uint32_t>(told_[k].nodes.size());
    r.made = told_[k].made.data();
    r.n_made = static_cast<uint32_t>(told_[k].made.size());
  }
}

}  // namespace ge_engines
