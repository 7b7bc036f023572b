// PriorFit: what shipped priors say of work, without any row of this machine. Filled once, then
// only asked, by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ge/price/price_fit.h"
#include "ge/price/price_row.h"
#include "ge/price/priors.h"

namespace ge {

class PriorFit {
 public:
  PriorFit() = default;
  PriorFit(const PriorFit& other) : books_(other.books_) {}
  PriorFit& operator=(const PriorFit&) = delete;
  // Replaces those of this engine.
  void Set(const PriceBook& book, std::vector<PriorRow> rows);
  bool empty() const { return books_.empty(); }
  bool Has(const PriceBook& book) const { return books_.count(book) != 0; }
  // Tells the priors of a book from others; 0 where there are none.
  uint64_t Id(const PriceBook& book) const;
  // log(measured / asked) of such work elsewhere; nothing where no prior says anything of it.
  std::optional<double> Log(const PriceBook& book, const WorkName& work);

  struct Book {
    std::vector<PriorRow> rows;
    uint64_t id = 0;
  };
  const std::map<PriceBook, Book>& books() const { return books_; }

 private:
  std::map<PriceBook, Book> books_;
  std::optional<PriceFit> fit_;  // made when first asked
};

}  // namespace ge
