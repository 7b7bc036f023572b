// How much one run takes, of the host's memory and of devices': refused before anything is
// allocated for it.
#include <fmt/format.h>

#include <algorithm>

#include "ge/compile/builder.h"
#include "ge/compile/compiled/device_needs.h"
#include "ge/compile/compiled/memory_limit.h"

namespace ge {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 62;  // so that sums of a few do not wrap

}  // namespace

Status Builder::CheckFootprint() const {
  const uint64_t limit = MemoryLimitOf(options_);
  const PlanFunction& fn = c_->plan.functions[0];
  // An engine may pack a second copy of a splat.
  uint64_t total = 2 * ExpandedBytes(c_->graph, function());
  auto add = [&](int64_t bytes) {
    total = std::min(kMaxBytes, total + static_cast<uint64_t>(std::max<int64_t>(bytes, 0)));
  };
  for (const PlanArena& a : fn.arenas) add(a.domain == 0 ? a.bytes : 0);
  for (PlanValueId v : fn.outputs) add(fn.values[v].domain == 0 ? fn.values[v].bytes : 0);
  if (total <= limit) return CheckDevices();
  return Status(Code::kLimitExceeded,
                fmt::format("one run needs {} bytes, the limit is {}; the largest values are {}; "
                            "use smaller inputs or {}",
                            total, limit, LargestValues(0), kRaiseMemoryLimit))
      .AtStage("memory");
}

std::string Builder::LargestValues(DomainId domain) const {
  std::vector<const PlanValue*> values;
  for (const PlanValue& v : c_->plan.functions[0].values) {
    if (v.kind != PlanValueKind::kConstant && v.bytes > 0 && v.domain == domain)
      values.push_back(&v);
  }
  const auto count = static_cast<ptrdiff_t>(std::min<size_t>(3, values.size()));
  std::partial_sort(values.begin(), values.begin() + count, values.end(),
                    [](const PlanValue* a, const PlanValue* b) { return a->bytes > b->bytes; });
  std::string out;
  for (ptrdiff_t i = 0; i < count; ++i) {
    out += fmt::format("{}'{}' with {} bytes", i ? ", " : "", values[i]->name, values[i]->bytes);
  }
  return out;
}

// Of devices: what could never fit, whatever else lies there.
Status Builder::CheckDevices() const {
  for (const DeviceNeed& need : DeviceNeeds(*c_)) {
    if (need.limit == 0 || need.total() <= need.limit) continue;
    const std::string values = LargestValues(need.domain);
    return Status(
               Code::kLimitExceeded,
               fmt::format("one run needs {} bytes of memory '{}', whose limit is {} "
                           "(ge_domain.bytes); the largest is {} with {} bytes{}{}; use smaller "
                           "inputs, or leave that engine out",
                           need.total(), need.memory, need.limit, need.largest, need.largest_bytes,
                           values.empty() ? "" : "; of the values there ", values))
        .AtStage("memory");
  }
  return {};
}

}  // namespace ge
