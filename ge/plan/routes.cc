#include "ge/plan/routes.h"

#include "ge/base/checked.h"

namespace ge {
namespace {

Route Chain(Route a, const Route& b) {
  if (!a.possible || !b.possible) return {};
  a.ns += b.ns;
  a.hops.insert(a.hops.end(), b.hops.begin(), b.hops.end());
  return a;
}

void KeepCheaper(Route* best, Route r) {
  if (r.possible && (!best->possible || r.ns < best->ns)) *best = std::move(r);
}

Route Nothing() {
  Route r;
  r.possible = true;
  return r;
}

}  // namespace

Route Routes::ConvertOnce(double bytes, DomainId domain, LayoutId from, LayoutId to) const {
  if (from == to) return Nothing();
  Route best;
  for (size_t i = 0; i < plan_.conversions.size(); ++i) {
    const PlanConversion& c = plan_.conversions[i];
    if (c.from != from || c.to != to || plan_.devices[c.device].domain != domain) continue;
    Route r = Nothing();
    r.ns = c.setup_ns + c.ns_per_byte * bytes;
    r.hops = {Hop{{domain, to}, static_cast<int32_t>(i), 0, r.ns}};
    KeepCheaper(&best, std::move(r));
  }
  return best;
}

Route Routes::Convert(double bytes, DomainId domain, LayoutId from, LayoutId to) const {
  Route best = ConvertOnce(bytes, domain, from, to);
  if (from != 0 && to != 0 && from != to) {
    KeepCheaper(&best,
                Chain(ConvertOnce(bytes, domain, from, 0), ConvertOnce(bytes, domain, 0, to)));
  }
  return best;
}

// The host's own copy between the caller's memory and page-locked memory.
constexpr double kStagingNs = 100;

Route Routes::CopyOnce(double bytes, Spot from, DomainId to, bool callers) const {
  if (from.domain == to) return Nothing();
  Route best;
  for (const PlanLink& l : plan_.links) {
    if (l.from != from.domain || l.to != to) continue;
    Route r = Nothing();
    r.ns = l.latency_ns + bytes / l.bytes_per_ns;
    r.hops = {Hop{{to, from.layout}, -1, l.engine, r.ns}};
    if (l.staging_bytes_per_ns > 0 && callers) {
      Route staged = Nothing();
      staged.ns = kStagingNs + bytes / l.staging_bytes_per_ns;
      staged.hops = {Hop{{0, from.layout}, -1, 0, staged.ns}};
      r = from.domain == 0 ? Chain(staged, r) : Chain(r, staged);
    }
    KeepCheaper(&best, std::move(r));
  }
  return best;
}

Route Routes::Copy(double bytes, Spot from, DomainId to, bool callers) const {
  Route best = CopyOnce(bytes, from, to, callers);
  if (from.domain != 0 && to != 0 && from.domain != to) {
    KeepCheaper(&best, Chain(CopyOnce(bytes, from, 0, false),
                             CopyOnce(bytes, {0, from.layout}, to, false)));
  }
  return best;
}

Route Routes::Find(double bytes, Spot from, Spot to, bool callers) const {
  if (from == to) return Nothing();
  if (from.domain == to.domain) return Convert(bytes, from.domain, from.layout, to.layout);
  // What is laid out anew at the host lies in its arena on the side of the copy.
  const bool same = from.layout == to.layout, leaves = from.domain == 0;
  Route best =
      Chain(Convert(bytes, from.domain, from.layout, to.layout),
            Copy(bytes, {from.domain, to.layout}, to.domain, callers && (same || !leaves)));
  if (same) return best;
  KeepCheaper(&best, Chain(Copy(bytes, from, to.domain, callers && leaves),
                           Convert(bytes, to.domain, from.layout, to.layout)));
  if (from.layout != 0 && to.layout != 0) {
    KeepCheaper(&best, Chain(Chain(ConvertOnce(bytes, from.domain, from.layout, 0),
                                   Copy(bytes, {from.domain, 0}, to.domain, false)),
                             ConvertOnce(bytes, to.domain, 0, to.layout)));
  }
  return best;
}

std::optional<int64_t> BytesInLayout(const Type& type, const PlanLayout& layout) {
  if (layout.kind == PlanLayout::Kind::kOpaque && layout.opaque_bytes > 0) {
    return layout.opaque_bytes;
  }
  if (layout.kind != PlanLayout::Kind::kBlocked) return ByteCount(type);
  if (!type.is_static()) return std::nullopt;
  std::vector<int64_t> dims = type.static_dims();
  std::vector<int64_t> block(dims.size(), 1);
  for (size_t i = 0; i < layout.block_axis.size(); ++i) {
    if (layout.block_axis[i] >= dims.size()) return std::nullopt;
    auto product = CheckedMul(block[layout.block_axis[i]], layout.block_size[i]);
    if (!product || *product <= 0) return std::nullopt;
    block[layout.block_axis[i]] = *product;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    auto up = CheckedAdd(dims[i], block[i] - 1);
    if (!up) return std::nullopt;
    dims[i] = *up / block[i] * block[i];
  }
  auto count = CheckedProduct(dims);
  return count ? DTypeBytes(type.dtype, *count) : std::nullopt;
}

}  // namespace ge
