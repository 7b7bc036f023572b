#include "ge/compile/compiled/memory_limit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge {
namespace {

constexpr uint64_t kSmallRun = uint64_t{768} << 20;  // bytes that any model may use
constexpr uint64_t kForEachGiven = 64;               // bytes for each that the caller gave

// Constants that nodes read, hand out or have as attributes.
std::vector<bool> UsedConsts(const Graph& g) {
  std::vector<bool> used(g.consts.size(), false);
  for (const Function& f : g.functions) {
    const auto see = [&](ValueId v) { used[f.value(v).constant] = true; };
    for (const ValueId v : f.results) see(v);
    for (const Node& n : f.nodes) {
      for (const ValueId v : n.inputs) see(v);
      for (const Attr& a : n.attrs) {
        if (auto* ref = std::get_if<ConstRef>(&a.value)) used[ref->id] = true;
      }
    }
  }
  return used;
}

}  // namespace

uint64_t MemoryLimitOf(const BuildOptions& options) {
  if (options.memory_limit_bytes != 0) return options.memory_limit_bytes;
  const uint64_t machine = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 4 * 3;
  const uint64_t given = std::min(options.given_bytes, machine);
  return std::min(machine, kSmallRun + kForEachGiven * given);
}

uint64_t PayloadBytes(const Graph& graph) {
  uint64_t sum = 0;
  for (const Const& c : graph.consts) {
    if (c.data) sum += c.bytes;
  }
  return sum;
}

Status ExpandSplats(Graph* graph, uint64_t limit) {
  const std::vector<bool> used = UsedConsts(*graph);
  uint64_t total = 0;
  for (ConstId id = 1; id < graph->consts.size(); ++id) {
    Const& c = graph->consts[id];
    if (c.splat.empty() || c.expanded || !used[id]) continue;
    const auto bytes = static_cast<uint64_t>(ByteCount(c.type).value_or(INT64_MAX));
    total = std::min(total + bytes, uint64_t{1} << 62);
    if (2 * total > limit) {
      return Status(Code::kLimitExceeded,
                    fmt::format("constant '{}' repeats one element over {} bytes; {} bytes are "
                                "more than half of the {} that a run may take; make it smaller, or "
                                "{}",
                                c.name, bytes, total, limit, kRaiseMemoryLimit));
    }
    c.expanded = SplatBytes::Make(c.type, c.splat);
    if (c.expanded) continue;
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for constant '{}' of {} bytes", c.name, bytes));
  }
  return {};
}

uint64_t GivenBytes(uint64_t payload_bytes, std::span<const TensorView> inputs) {
  uint64_t sum = payload_bytes;
  for (const TensorView& t : inputs) {
    sum += static_cast<uint64_t>(ByteCount(TensorType(t.dtype, t.dims)).value_or(0));
  }
  return sum;
}

uint64_t ExpandedBytes(const Graph& graph, const Function& function) {
  uint64_t sum = 0;
  for (const Value& v : function.values) {
    const Const& c = graph.consts[v.constant];
    if (v.constant && c.expanded) sum += c.expanded->bytes();
  }
  return sum;
}

}  // namespace ge
