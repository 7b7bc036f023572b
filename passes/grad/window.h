// How windows of one kernel lie over the spatial axes of [N, C, spatial]; shared by the rules
// of convolutions and poolings. The windows slide over `big`; `small` has one element a
// window.
#pragma once

#include <vector>

#include "passes/grad/shape_values.h"

namespace ge::grad {

struct Windows {
  std::vector<int64_t> kernel, strides, dilations;  // by spatial axis
  // Vectors of one: the padding before, and behind; exact: elements to add behind (or cut, below 0)
  // for the last window to end where the padded axis does; not for poolings.
  std::vector<Val> before, behind, exact;
  // before and exact as numbers, where all are known.
  std::vector<int64_t> known;
};

// False, and reported, for an unknown rank. The kernel is the attribute's, or a weight's: an
// unknown size is -1.
bool ReadWindows(Back& back, Val big, Val small, Val weight, Windows* windows);
// By spatial axis [small, big]: 1 where the window reads the element.
std::vector<Val> Reaches(Back& back, Val big, Val small, const Windows& windows, int32_t dtype);
// value, in the shape of small, added up where the windows read big.
Val SpreadOver(Val value, const std::vector<Val>& reaches);

}  // namespace ge::grad
