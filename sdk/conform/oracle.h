// Oracle: right results, from ref in double precision, and the error allowed for each element. The
// bound of an element is a multiple of the rounding of its own argument, of the sum of its terms'
// magnitudes, or of its change when inputs move a little. Oracle asks ref again to find the bound,
// so that it follows the numbers of the case. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "execute.h"
#include "net.h"

namespace ge::conform {

enum class Rule {
  kExact,     // bit by bit, NaN for NaN
  kElement,   // of elementwise functions: what its own argument's rounding changes
  kSums,      // of products that are added up: the sum without signs
  kOperands,  // of functions whose parts cancel: the greatest input
  kInputs,    // what small changes of all inputs change
  kCodes      // quantized: one code apart where it lay between two
};
struct Bound {
  Rule rule = Rule::kExact;
  double steps = 4;  // roundings
  double terms = 1;  // that are added up in one element
  // For kInputs in graphs of several nodes: at least this share of the greatest intermediate value
  // counts as an element's change, since cancelling values leave their roundings behind.
  double floor = 0;
};
// For graphs of several nodes, if their numbers are beside the point.
inline constexpr Bound kLoose = {Rule::kInputs, 64, 1, 0.02};

class Oracle {
 public:
  Oracle(mock::Engine& ref, const Sample& sample, const Bound& bound)
      : ref_(ref), sample_(sample), bound_(bound) {}
  // Asks ref. False with *why if ref cannot compute the graph.
  bool Prepare(std::string* why);
  // Values of the graph as ref computes them in their own types.
  const Values& values() const { return plain_; }
  // "", or where `found` differs from value `value`.
  std::string Differs(uint32_t value, const Tensor& found);

 private:
  struct Known {
    Tensor truth;  // in double precision where ref can, else as plain
    std::vector<double> size;
  };
  std::string DiffersExactly(const Tensor& found, const Tensor& wanted, double codes) const;
  double Allowed(const Known& k, int64_t i, int32_t dtype) const;
  void Measure();
  // All values when `change(number, input, index)` has changed each number of an input.
  template <class Change>
  bool RunChanged(const Change& change, Values* out);

  mock::Engine& ref_;
  const Sample& sample_;
  const Bound bound_;
  Sample wide_;  // the same in double precision
  bool is_wide_ = false, measured_ = false;
  Values plain_, truth_;
  std::map<uint32_t, std::vector<double>> size_;
};

// The sample with f64 in place of smaller floats.
Sample Widened(const Sample& sample);

}  // namespace ge::conform
