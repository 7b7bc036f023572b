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

Price WorkPrice(const Unit& u, const Parser& p, const Machine& m, const WorkCost& cost) {
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  double bytes = PostOpBytes(u, p) + BytesOf(p, u.out[0]);
  for (uint32_t v : u.in) bytes += BytesOf(p, v);
  bytes = cost.bytes.value_or(bytes);
  const double elements = cost.elements.value_or(n);
  const double ns = cost.ns + PostOpsNs(u, m, n);
  out.work_ns = kLoopNs * (u.post_ops.empty() ? 1 : 2) + ForkNs(m, elements) +
                std::max(ns / Workers(m, elements), StreamNs(m, bytes));
  out.workspace = static_cast<uint64_t>(BytesOf(p, u.out[0])) + (1u << 16);
  if (cost.packs) out.packed = PackedConstants(u, p);
  return out;
}

Price LoopPrice(const Unit& u, const Parser& p, const Machine& m, double ns_per_element,
                int64_t moved_alone) {
  Price out;
  const double n = static_cast<double>(Product(u.dims)), x = ElementsOf(p, u.in[0]);
  double ns = x * ns_per_element / m.compute + PostOpsNs(u, m, n);
  if (moved_alone > 0) ns += static_cast<double>(moved_alone) * kMovedApartNs / m.compute;
  const double most = std::max(n, x);
  out.work_ns =
      kLoopNs + ForkNs(m, most) + std::max(ns / Workers(m, most), StreamNs(m, AllBytes(u, p)));
  out.workspace = static_cast<uint64_t>(BytesOf(p, u.out[0]));
  return out;
}

Price ViewPrice(const Unit& u, const Parser& p, const Machine& m, bool apart) {
  Price out;
  out.work_ns = 1;
  out.border_ns = kLoopNs + 2 * StreamNs(m, BytesOf(p, u.out[0]));
  if (apart) out.border_ns += static_cast<double>(Product(u.dims)) * kApartNs / m.compute;
  return out;
}

Price TiledPrice(const Unit& u, const Parser& p, const Machine& m, double ns) {
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  const double bytes = PostOpBytes(u, p) + BytesOf(p, u.in[0]) + BytesOf(p, u.out[0]);
  out.work_ns = kLoopNs + std::max(ns + PostOpsNs(u, m, n) / Workers(m, n), StreamNs(m, bytes));
  return out;
}

Price SumsPrice(const Unit& u, const Parser& p, const Machine& m, double ns, Finish finish,
                uint64_t buffer) {
  Price out;
  const double bytes = BytesOf(p, u.out[0]);
  ns = ns + BytesOf(p, u.in[1]) / (14 * m.stream[2]) + StreamNs(m, bytes) +
       FinishNs(u, p, m, finish);
  if (m.threads > 1 && ns > 4 * kForkNs) ns = ns / (0.9 * m.threads) + kForkNs;
  out.work_ns = kLoopNs + std::max(ns, StreamNs(m, bytes + BytesOf(p, u.in[0])));
  out.workspace = buffer * static_cast<uint64_t>(m.threads);
  if (p.constant(u.in[1])) out.packed = PackedBound(p.dims(u.in[1]), 0);
  return out;
}

}  // namespace ge_engines::cpu::native
