// PriorScale: how much longer than priors say work takes on this machine, by the rows that it has.
// Priors come from another processor, so that what was measured here and what is only known from
// there cannot be compared: all that never ran would seem cheap on a slower machine, and a plan
// would wander to it, offer by offer. It knows no file; owned by a PriceCache.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ge/price/price_fit.h"

namespace ge {

class PriorScale {
 public:
  // log(measured / what priors say) of a row. Rows of one signature count as one.
  void Add(const PriceBook& book, const WorkName& work, double log);
  // After the last Add.
  void Finish();
  // What is to be added to log errors of priors of such work: the median of the engine's rows that
  // begin with the same operator, blended by their number with that of all of the engine's, this
  // with that of all engines', and this with none. At most a factor of four.
  double Of(const PriceBook& book, std::string_view family) const;

 private:
  using Kind = std::pair<PriceBook, std::string>;                     // engine and first operator
  std::map<std::pair<Kind, std::string>, std::vector<double>> rows_;  // by signature
  std::map<Kind, double> of_kind_;
  std::map<PriceBook, double> of_book_;
  double all_ = 0;
};

}  // namespace ge
