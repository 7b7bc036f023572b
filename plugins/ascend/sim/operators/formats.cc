// Conversions between formats of storage. What they write has its padding poisoned.
#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

constexpr uint32_t kAnyFormat = kPlain | kBlocked | kFractal;

std::string CheckFormatCast(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "from", kReals, kAnyFormat).Tensor(1, "to", kReals, kAnyFormat);
  c.SameType(1, 0).HasDims(1, given[0].tensor.dims);
  const acl::Format from = given[0].tensor.format, to = given[1].tensor.format;
  const bool both = (from == acl::kNc1hwc0 || from == acl::kFractalNz) &&
                    (to == acl::kNc1hwc0 || to == acl::kFractalNz) && from != to;
  return c.That(!both, "from one private format into another").fault();
}

void RunFormatCast(const Arguments& given, void*) {
  Store(given[1].tensor, Load<float>(given[0].tensor));
}

constexpr Operation kFormats[] = {
    {"NpuFormatCast", CheckFormatCast, nullptr, RunFormatCast},
};

}  // namespace

std::span<const Operation> FormatOperations() { return kFormats; }

}  // namespace ge_engines::ascend::sim
