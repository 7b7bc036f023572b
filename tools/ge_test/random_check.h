// Independent answers to random cases: plain loops over doubles and 64-bit integers that share no
// code with any engine. Not complete: operators without one are checked at two element types only.
#pragma once

#include <string>
#include <vector>

#include "tools/ge_test/random_case.h"

namespace ge::test {

// False when there are no plain loops for this case. Else *why is "" or the first difference.
bool CheckPlainly(const RandomCase& c, const std::vector<HostTensor>& found,
                  const Tolerance& tolerance, std::string* why);

}  // namespace ge::test
