#include "tools/ge/capsule/differences.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ge/capsule/statistics.h"

namespace ge::tool {
namespace {

bool ComparesAsFloat(DType dtype) { return RelativeBound(dtype) > 0; }

}  // namespace

double Difference::relative() const {
  if (greatest == 0 && unlike == 0) return 0;
  return largest > 0 && unlike == 0 ? greatest / largest : std::numeric_limits<double>::infinity();
}

double RelativeBound(DType dtype, bool rounds) {
  if (rounds && dtype == DType::kFloat) dtype = DType::kBfloat16;
  switch (dtype) {
    case DType::kDouble:
      return 1e-9;
    case DType::kFloat:
      return 1e-4;
    case DType::kFloat16:
      return 1e-2;
    case DType::kBfloat16:
      return 4e-2;
    default:
      return 0;
  }
}

Difference DifferenceOf(DType dtype, std::span<const std::byte> found,
                        std::span<const std::byte> wanted) {
  Difference d;
  const uint64_t width = std::max<uint64_t>(1, static_cast<uint64_t>(DTypeBits(dtype)) / 8);
  d.elements = wanted.size() / width;
  const bool floats = ComparesAsFloat(dtype);
  for (uint64_t i = 0; i < d.elements; ++i) {
    const bool same = std::memcmp(found.data() + i * width, wanted.data() + i * width, width) == 0;
    if (!same) ++d.differing;
    if (!floats) continue;
    const double want = NumberAt(dtype, wanted, i);
    if (std::isfinite(want)) d.largest = std::max(d.largest, std::fabs(want));
    if (same) continue;
    const double got = NumberAt(dtype, found, i);
    if (std::isfinite(got) && std::isfinite(want)) {
      d.greatest = std::max(d.greatest, std::fabs(got - want));
    } else if (!(got == want || (std::isnan(got) && std::isnan(want)))) {
      ++d.unlike;
    }
  }
  return d;
}

}  // namespace ge::tool
