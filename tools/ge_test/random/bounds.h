// How far an output of a random case may be from the wanted one, element by element: from the unit
// roundoff of the formats, the length of sums, and the sizes of what is added up. Not the
// comparison of whole cases, which is random/judge.cc. Lives for one case; one thread.
#pragma once

#include <string>
#include <vector>

#include "tools/ge_test/random_case.h"

namespace ge::test {

// The unit roundoff: half the distance from 1 to the next number. 0 for types that are exact here.
double UnitOf(DType dtype);
// The type in which ref's answer to a case of this type is nearest to the truth; kUndefined when
// there is no wider one.
DType WiderDType(const RandomCase& sample, DType dtype);

class Bounds {
 public:
  // `op` and `sample` outlive this.
  Bounds(const RandomOp& op, const RandomCase& sample, DType dtype)
      : op_(op), c_(sample), dtype_(dtype) {}

  // How output `output` differs, "" when it does not. What is not finite must be the same, unless a
  // number within the bound rounds to it. `wanted` may be of a wider float type.
  std::string Differs(size_t output, const HostTensor& found, const HostTensor& wanted);
  // The greatest bound of any element, as a share of the greatest wanted magnitude; 0 where
  // nothing is approximate or all is zero.
  double Share(size_t output, const HostTensor& found, const HostTensor& wanted);

 private:
  double Rounding(const HostTensor& found, const HostTensor& wanted) const;
  double Arithmetic(const HostTensor& found, const HostTensor& wanted) const;
  double RoundedInputs() const;
  // The part that each element gives by itself, and all of it.
  double Own(const HostTensor& found, const HostTensor& wanted, double w) const;
  double Whole(size_t output, const HostTensor& found, const HostTensor& wanted, int64_t i);
  // The same for integers: "" too where both codes next to a number half way are right.
  std::string CodesDiffer(size_t output, const HostTensor& found, const HostTensor& wanted) const;
  bool IsNear(double f, double w, double allowed, DType narrow) const;

  // Fills size_: what the arithmetic's error is a share of, by output and element.
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
