// Bounds: the allowed error of a random case's output, element by element: from the unit roundoff
// of the formats, the length of sums, and the magnitudes of the terms. Not the comparison of whole
// cases (random/judge.cc). Lives for one case; one thread.
#pragma once

#include <string>
#include <vector>

#include "tools/ge_test/random_case.h"

namespace ge::test {

// The unit roundoff: half the distance from 1 to the next number. 0 for exact types.
double UnitOf(DType dtype);
// The type with ref's most exact answer to a case of this type; kUndefined if none is
// wider.
DType WiderDType(const RandomCase& sample, DType dtype);

class Bounds {
 public:
  // `op` and `sample` outlive this.
  Bounds(const RandomOp& op, const RandomCase& sample, DType dtype)
      : op_(op), c_(sample), dtype_(dtype) {}

  // The difference in output `output`, "" if there is none. Infinities and NaN must be equal,
  // unless a number within the bound rounds to them. `wanted` may be of a wider float type.
  std::string Differs(size_t output, const HostTensor& found, const HostTensor& wanted);
  // The greatest bound of any element, as a share of the greatest wanted magnitude; 0 if nothing is
  // approximate or all is zero.
  double Share(size_t output, const HostTensor& found, const HostTensor& wanted);

 private:
  double Rounding(const HostTensor& found, const HostTensor& wanted) const;
  double Arithmetic(const HostTensor& found, const HostTensor& wanted) const;
  double RoundedInputs() const;
  // The element's own part of the bound, and the whole bound.
  double Own(const HostTensor& found, const HostTensor& wanted, double w) const;
  double Whole(size_t output, const HostTensor& found, const HostTensor& wanted, int64_t i);
  // The same for integers; also "" if the number lies half way between the two found values.
  std::string CodesDiffer(size_t output, const HostTensor& found, const HostTensor& wanted) const;
  bool IsNear(double f, double w, double allowed, DType narrow) const;

  // Fills size_: the base of the arithmetic's error, by output and element.
  void Measure(size_t output, const HostTensor& wanted);
  void MeasureSums();
  void MeasureInputs();
  double MoveBy() const;
  std::vector<HostTensor> Moved(int draw, double by, std::string* why) const;

  const RandomOp& op_;
  const RandomCase& c_;
  const DType dtype_;
  bool measured_ = false;
  std::string why_not_;  // why nothing could be measured
  std::vector<std::vector<double>> size_;
};

// The largest magnitude among the finite numbers; 0 where there is none.
double GreatestFinite(const HostTensor& tensor);

}  // namespace ge::test
