#include "tools/ge/capsule/expected.h"

#include <fmt/format.h>

#include <set>

#include "ge/capsule/tensor_members.h"

namespace ge::tool {
namespace {

Status Take(const Recorded& r, const CapsuleTensor& t, const NpzArray& wanted, double rtol,
            Expectation* out) {
  if (!r.capsule->Has(t.member)) return {};  // the recorded run ended before it
  GE_ASSIGN_OR_RETURN(const auto found, ReadTensorMember(*r.capsule, t));
  ++out->compared;
  const bool like = t.dtype == wanted.dtype && t.dims == wanted.dims;
  const double bound = rtol >= 0 ? rtol : RelativeBound(t.dtype, r.manifest.precision == "bf16");
  Compared c = CompareTensor(t, found, like ? wanted.data : std::span<const std::byte>(), bound);
  if (!like || !c.within) {
    c.within = false;
    out->differing.push_back(std::move(c));
  }
  return {};
}

}  // namespace

Result<Expectation> CompareExpected(const Recorded& r, const Npz& expected, double rtol) {
  Expectation out;
  std::set<std::string> known;
  for (const auto* list : {&r.manifest.values, &r.manifest.outputs}) {
    for (const CapsuleTensor& t : *list) {
      const auto wanted = expected.arrays.find(t.name);
      if (wanted == expected.arrays.end() || !known.insert(t.name).second) continue;
      GE_RETURN_IF_ERROR(Take(r, t, wanted->second, rtol, &out));
    }
  }
  for (const auto& [name, array] : expected.arrays) {
    if (known.count(name) == 0) out.unknown.push_back(name);
  }
  if (!known.empty()) return out;
  return Status(
      Code::kFailedPrecondition,
      fmt::format("capsule '{:.256}' has no value of these names, the first is '{:.64}'; wanted "
                  "names of the model's values",
                  r.capsule->path(), out.unknown.empty() ? "" : out.unknown[0]));
}

}  // namespace ge::tool
