// Named values from elsewhere, of ONNX Runtime for example, beside those of a recorded run. Any
// thread may call.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "tools/ge/capsule/compared.h"
#include "tools/ge/capsule/npz.h"
#include "tools/ge/capsule/recorded.h"

namespace ge::tool {

struct Expectation {
  uint64_t compared = 0;
  std::vector<Compared> differing;   // beyond the bound, in the order of their making
  std::vector<std::string> unknown;  // arrays that no recorded value has the name of
};
// `rtol` below 0: the bound of the type. FAILED_PRECONDITION where no name is known.
Result<Expectation> CompareExpected(const Recorded& r, const Npz& expected, double rtol);

}  // namespace ge::tool
