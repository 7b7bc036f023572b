// FrontierTables: look-up tables of the frontier search, prepared once for a set of allowed offers.
// Not for use outside ge/place/frontier*.cc. Immutable after Prepare; the model must outlive it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ge/place/frontier_state.h"
#include "ge/place/model.h"

namespace ge::place {

struct FrontierTables {
  // False when the graph is too wide for the packed state.
  bool Prepare(const Model& model, const std::vector<bool>& allowed);

  std::vector<FrontierStep> steps;
  std::vector<double> setups, launches, savings;  // ascending; savings[0] = 0
  std::vector<uint32_t> setup_of, launch_of;      // by offer
  std::vector<uint16_t> saving_of;
  // The least that any cover pays for the nodes from a position on.
  std::vector<double> least_after;
  // By offer and part: the sum in least_after for the later parts, although they are paid for, plus
  // their possible savings.
  std::vector<std::vector<double>> credit;
  // Pairs of disjoint patterns (lower first, ascending), each reaching the other: no legal cover
  // holds both.
  std::vector<std::pair<uint32_t, uint32_t>> cyclic_pairs;
  bool all_pairs_known = true;  // false: some are listed unchecked: checking would take too long

 private:
  bool MakeSteps(const Model& model, const std::vector<bool>& allowed);
  bool MakePrices(const Model& model, const std::vector<bool>& allowed);
  void MakeBounds(const Model& model, const std::vector<bool>& allowed);
  void MakeCyclicPairs(const Model& model, const std::vector<bool>& allowed);
};

}  // namespace ge::place
