// How windows of one kernel lie over the spatial axes of [N, C, spatial]: what the rules of
// convolutions and poolings share. `big` is what the windows slide over, `small` has one element a
// window.
#pragma once

#include <vector>

#include "passes/grad/shape_values.h"

namespace ge::grad {

struct Windows {
  std::vector<int64_t> kernel, strides, dilations;  // by spatial axis
  // Vectors of one: the padding before, and behind; and what is to be put behind (or cut, below 0)
  // so that the last window ends where the padded axis does, which poolings do not ask for.
  std::vector<Val> before, behind, exact;
  // before and exact as numbers, where all are known.
  std::vector<int64_t> known;
};

// False, and said, where a rank is not known. The kernel is that of the attribute, or a weight's:
// a size that is not known is -1.
bool ReadWindows(Back& back, Val big, Val small, Val weight, Windows* windows);
// By spatial axis [small, big]: 1 where the window reads the element.
std::vector<Val> Reaches(Back& back, Val big, Val small, const Windows& windows, int32_t dtype);
// value, in the shape of small, added up where the windows read big.
Val SpreadOver(Val value, const std::vector<Val>& reaches);

}  // namespace ge::grad
