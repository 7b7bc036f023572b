// What results are right: those of ref in double precision, and how far an element may be off. The
// bound of an element is a multiple of the rounding of what it is made of: of its own argument, of
// the sum of its terms' magnitudes, or of how much it moves when inputs move a little. It is found
// by asking ref again, so that it follows the numbers of the case. One thread.
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
  // Of kInputs in graphs of several nodes: this share of the greatest value on the way counts as
  // what an element moves, since what cancels leaves its roundings behind.
  double floor = 0;
};
// Of graphs of several nodes whose numbers are beside the point.
inline constexpr Bound kLoose = {Rule::kInputs, 64, 1, 0.02};

class Oracle {
 public:
  Oracle(mock::Engine& ref, const Sample& sample, const Bound& bound)
      : ref_(ref), sample_(sample), bound_(bound) {}
  // Asks ref. False with *why where ref does not compute the graph.
  bool Prepare(std::string* why);
  // Values of the graph as ref computes them in their own types.
  const Values& values() const { return plain_; }
  // Empty, or where `found` is off as value `value`.
  std::string Differs(uint32_t value, const Tensor& found);

 private:
  struct Known {
    Tensor truth;  // in double precision where ref can, else as plain
    std::vector<double> size;
  };
  std::string DiffersExactly(const Tensor& found, const Tensor& wanted, double codes) const;
  double Allowed(const Known& k, int64_t i, int32_t dtype) const;
  void Measure();
  // All values where each number of an input is changed by `change(number, input, index)`.
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

// The sample with f64 in place of every smaller float.
Sample Widened(const Sample& sample);

}  // namespace ge::conform
