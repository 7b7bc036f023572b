// CheapestCut: items with two choices, a price for each choice, and a price for two items that
// differ; finds the cheapest choice for all together, by a minimum cut. Prices are at least 0;
// infinite ones are allowed. Owned by its caller; one thread.
#pragma once

#include <cstddef>
#include <vector>

namespace ge {

class CheapestCut {
 public:
  using Item = size_t;

  // Adds an item with the prices of leaving it as it is and of changing it.
  Item Add(double kept_price, double changed_price);
  // Paid where `kept` stays as it is and `changed` does not.
  void PayIfApart(Item kept, Item changed, double price) {
    pairs_.push_back({kept, changed, price});
  }
  // By item: whether it changes. Among equal choices, one with fewer changes.
  std::vector<bool> Solve() const;

 private:
  struct Pair {
    Item kept, changed;
    double price;
  };
  std::vector<double> kept_, changed_;
  std::vector<Pair> pairs_;
};

}  // namespace ge
