// The cases of level 3: an operator at a dtype over many shapes and numbers. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "sdk/conform/net.h"
#include "sdk/conform/oracle.h"

namespace ge::conform {

struct OpCase {
  std::string op;
  int32_t dtype = GE_F32;
  Bound bound;
  // Adds the operator to an empty net, with the numbers of variant `which`; false after the last
  // variant. *terms: products or elements in one result.
  bool (*make)(Net* net, const OpCase& c, int which, double* terms) = nullptr;
  double lo = -2, hi = 2;  // of the numbers
  int32_t to = 0;          // of casts and codes
  std::vector<mock::Attr> attrs = {};

  std::string name() const;  // "add-f32"
};

std::vector<OpCase> OpCases();

}  // namespace ge::conform
