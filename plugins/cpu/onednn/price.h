// Analytic prices: operations over the instruction set's rate, or bytes over the memory's speed,
// plus the cost of a call. Measured on one host (see price.cc); the host corrects them. Pure.
#pragma once

#include <cstdint>

#include "plugins/cpu/onednn/unit.h"

namespace ge_onednn {

struct Machine {
  uint32_t isa = 0;  // GE_ISA_*, never NATIVE
  int threads = 1;
};
struct Price {
  double work_ns = 0;     // with the result left as the engine likes it
  double reorder_ns = 0;  // to bring the result into plain order
  uint64_t workspace = 0, packed = 0;
};
Price PriceOf(const Unit& u, const Parser& p, const Machine& m);

}  // namespace ge_onednn
