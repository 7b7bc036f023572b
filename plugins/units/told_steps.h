// ToldSteps: which nodes each step of a program runs and which values are whole behind it, for
// hosts that look into a launch (ge_step). The builder fills it and ends with Finish; nothing
// changes it after that, so any thread may read the records.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/units/layout.h"

namespace ge_engines {

class ToldSteps {
 public:
  // Step `step` runs work of `nodes`.
  void AddNodes(uint32_t step, const Ids& nodes);
  void AddValue(uint32_t step, const ge_made& made);
  // Writes the records of `n_step` steps.
  void Finish(uint32_t n_step);

  const ge_step* records() const { return records_.data(); }

 private:
  struct Told {
    Ids nodes;
    std::vector<ge_made> made;
  };
  Told& At(uint32_t step);
  std::vector<Told> told_;  // by step
  std::vector<ge_step> records_;
};

}  // namespace ge_engines
