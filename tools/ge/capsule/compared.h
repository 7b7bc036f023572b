// A tensor of a run beside the same of another one. Pure; any thread.
#pragma once

#include <span>
#include <string>

#include "ge/capsule/manifest.h"
#include "tools/ge/capsule/differences.h"

namespace ge::tool {

struct Compared {
  CapsuleTensor tensor;
  Difference difference;
  bool within = true;  // the bound
};

// `bound`: of a float's relative difference; below 0 only the same bits are within it.
Compared CompareTensor(const CapsuleTensor& tensor, std::span<const std::byte> found,
                       std::span<const std::byte> wanted, double bound);

// How it differs, in words.
std::string TextOf(const Compared& compared);
// "'y' differs in 3 of 15 elements, by 0.5 where the largest is 7"; empty where it is within the
// bound.
std::string WhyDifferent(const CapsuleTensor& tensor, std::span<const std::byte> found,
                         std::span<const std::byte> wanted, double bound);

}  // namespace ge::tool
