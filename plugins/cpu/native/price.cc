#include "plugins/cpu/native/price.h"

#include <algorithm>

namespace ge_engines::cpu::native {
namespace {

constexpr double kApartNs = 0.3;  // an element whose neighbours in memory change

double ElementsOf(const Parser& p, uint32_t v) { return static_cast<double>(Product(p.dims(v))); }

double AllBytes(const Unit& u, const Parser& p) {
  double bytes = PostOpBytes(u, p);
  for (uint32_t v : u.in) bytes += BytesOf(p, v);
  for (uint32_t v : u.out) bytes += BytesOf(p, v);
  return bytes;
}

uint64_t PackedConstants(const Unit& u, const Parser& p) {
  uint64_t bytes = 0;
  for (uint32_t v : u.in) {
    if (!p.constant(v)) continue;
    const Dims d = p.dims(v);
    bytes += d.size() < 2 ? (static_cast<uint64_t>(BytesOf(p, v)) + 63) / 64 * 64
                          : std::max(PackedBound(d, 0), PackedBound(d, d.size() - 2));
  }
  return bytes;
}

}  // namespace

Price WorkPrice(const Unit& unit, const Parser& parser, const Machine& machine,
                const WorkCost& cost) {
  Price out;
  const double n = static_cast<double>(Product(unit.dims));
  double bytes = PostOpBytes(unit, parser) + BytesOf(parser, unit.out[0]);
  for (uint32_t v : unit.in) bytes += BytesOf(parser, v);
  bytes = cost.bytes.value_or(bytes);
  const double elements = cost.elements.value_or(n);
  const double ns = cost.ns + PostOpsNs(unit, machine, n);
  out.work_ns = kLoopNs * (unit.post_ops.empty() ? 1 : 2) + ForkNs(machine, elements) +
                std::max(ns / Workers(machine, elements), StreamNs(machine, bytes));
  out.workspace = static_cast<uint64_t>(BytesOf(parser, unit.out[0])) + (1u << 16);
  if (cost.packs) out.packed = PackedConstants(unit, parser);
  return out;
}

Price LoopPrice(const Unit& unit, const Parser& parser, const Machine& machine,
                double ns_per_element, int64_t moved_alone) {
  Price out;
  const double n = static_cast<double>(Product(unit.dims)), x = ElementsOf(parser, unit.in[0]);
  double ns = x * ns_per_element / machine.compute + PostOpsNs(unit, machine, n);
  if (moved_alone > 0) ns += static_cast<double>(moved_alone) * kMovedApartNs / machine.compute;
  const double most = std::max(n, x);
  out.work_ns = kLoopNs + ForkNs(machine, most) +
                std::max(ns / Workers(machine, most), StreamNs(machine, AllBytes(unit, parser)));
  out.workspace = static_cast<uint64_t>(BytesOf(parser, unit.out[0]));
  return out;
}

Price ViewPrice(const Unit& unit, const Parser& parser, const Machine& machine, bool apart) {
  Price out;
  out.work_ns = 1;
  out.border_ns = kLoopNs + 2 * StreamNs(machine, BytesOf(parser, unit.out[0]));
  if (apart) out.border_ns += static_cast<double>(Product(unit.dims)) * kApartNs / machine.compute;
  return out;
}

Price TiledPrice(const Unit& unit, const Parser& parser, const Machine& machine, double ns) {
  Price out;
  const double n = static_cast<double>(Product(unit.dims));
  const double bytes =
      PostOpBytes(unit, parser) + BytesOf(parser, unit.in[0]) + BytesOf(parser, unit.out[0]);
  out.work_ns = kLoopNs + std::max(ns + PostOpsNs(unit, machine, n) / Workers(machine, n),
                                   StreamNs(machine, bytes));
  return out;
}

Price SumsPrice(const Unit& unit, const Parser& parser, const Machine& machine, double ns,
                Finish finish, uint64_t buffer) {
  Price out;
  const double bytes = BytesOf(parser, unit.out[0]);
  ns = ns + BytesOf(parser, unit.in[1]) / (14 * machine.stream[2]) + StreamNs(machine, bytes) +
       FinishNs(unit, parser, machine, finish);
  if (machine.threads > 1 && ns > 4 * kForkNs) ns = ns / (0.9 * machine.threads) + kForkNs;
  out.work_ns = kLoopNs + std::max(ns, StreamNs(machine, bytes + BytesOf(parser, unit.in[0])));
  out.workspace = buffer * static_cast<uint64_t>(machine.threads);
  if (parser.constant(unit.in[1])) out.packed = PackedBound(parser.dims(unit.in[1]), 0);
  return out;
}

}  // namespace ge_engines::cpu::native
