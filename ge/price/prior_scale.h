// PriorScale: the ratio of this machine's times to the priors, from its measured rows. Priors come
// from another processor, so they cannot be compared with measurements made here: on a slower
// machine everything never run would seem cheap, and a plan would wander to it, offer by offer. It
// knows no file; owned by a PriceCache.
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
  // log(measured / prior) of a row. Rows of one signature count as one.
  void Add(const PriceBook& book, const WorkName& work, double log);
  // What rows of one signature said elsewhere, as Terms gives it.
  struct Term {
    std::string lead;  // the first operator
    double log = 0;
  };
  void Add(const PriceBook& book, const Term& term);
  // Of all rows of a book, one a signature.
  std::vector<Term> Terms(const PriceBook& book) const;
  // After the last Add.
  void Finish();
  // The term to add to log errors of priors of such work: the median of the engine's rows with the
  // same first operator, blended by their number with that of all of the engine's, this with that
  // of all engines', and this with none. At most a factor of four.
  double Of(const PriceBook& book, std::string_view family) const;

 private:
  using Kind = std::pair<PriceBook, std::string>;                     // engine and first operator
  std::map<std::pair<Kind, std::string>, std::vector<double>> rows_;  // by signature
  std::vector<std::pair<Kind, double>> terms_;
  std::map<Kind, double> of_kind_;
  std::map<PriceBook, double> of_book_;
  double all_ = 0;
};

}  // namespace ge
