#include "options.h"

#include <charconv>
#include <utility>

#include "ge/ge_plugin.hpp"

namespace devsim {
namespace {

using ge::plugin::Fail;

struct Key {
  std::string_view name;
  uint64_t Options::*field;
  uint64_t least, most;
};
constexpr Key kKeys[] = {
    {"price", &Options::price, 0, 1'000'000},
    {"take", &Options::take, 0, 100},
    {"take_seed", &Options::take_seed, 0, UINT64_MAX},
    {"link_latency_ns", &Options::link_latency_ns, 0, 1'000'000'000},
    {"link_gbps", &Options::link_gbps, 1, 1'000'000},
    {"link_told", &Options::link_told, 0, 1'000'000},
    {"paced", &Options::paced, 0, 1},
    {"round_trip_ns", &Options::round_trip_ns, 0, 1'000'000'000},
    {"peer_gbps", &Options::peer_gbps, 0, 1'000'000},
    {"streams", &Options::streams, 1, 16},
    {"pinned", &Options::pinned, 0, 1},
    {"pinned_gbps", &Options::pinned_gbps, 0, 1'000'000},
    {"grow", &Options::grow, 0, 1},
    {"capture", &Options::capture, 0, 2},
    {"strict", &Options::strict, 0, 1},
    {"delay", &Options::delay, 0, UINT64_MAX},
    {"delay_us", &Options::delay_us, 0, 1'000'000},
    {"devices", &Options::devices, 1, kMostDevices},
    {"fail_at", &Options::fail_at, 0, UINT64_MAX},
    {"late_at", &Options::late_at, 0, UINT64_MAX},
    {"lost_at", &Options::lost_at, 0, UINT64_MAX},
    {"hang_at", &Options::hang_at, 0, UINT64_MAX},
    {"timeout_ms", &Options::timeout_ms, 0, 1'000'000},
};

// "host", or bytes: "300", "4K", "16M", "1G".
ge_rc SetMemory(std::string_view value, Options* out, ge_err* err) {
  out->memory_is_host = value == "host";
  if (out->memory_is_host) return GE_OK;
  constexpr std::string_view kUnits = "KMG";
  const size_t unit = value.empty() ? kUnits.npos : kUnits.find(value.back());
  const char* const end = value.data() + value.size() - (unit != kUnits.npos ? 1 : 0);
  const unsigned shift = unit != kUnits.npos ? 10 * (static_cast<unsigned>(unit) + 1) : 0;
  const auto r = std::from_chars(value.data(), end, out->memory);
  if (r.ec != std::errc() || r.ptr != end || out->memory > (uint64_t{1} << 46 >> shift)) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "devsim: option memory is '%.*s', wanted host, or a number of bytes up to 2^46, "
                "with K, M or G behind it where it counts KiB, MiB or GiB",
                static_cast<int>(value.size()), value.data());
  }
  out->memory <<= shift;
  return GE_OK;
}

ge_rc SetOne(std::string_view name, std::string_view value, Options* out, ge_err* err) {
  if (name == "wrap" && !value.empty()) {
    out->wrap = value;
    return GE_OK;
  }
  if (name == "scope" && (value == "call" || value == "device")) {
    out->scope_is_device = value == "device";
    return GE_OK;
  }
  if (name == "memory") return SetMemory(value, out, err);
  for (const auto& [text, field] :
       {std::pair("ops", &out->ops), std::pair("trace", &out->trace),
        std::pair("fail_compile", &out->fail_compile), std::pair("clock", &out->clock)}) {
    if (name != text || value.empty()) continue;
    *field = value;
    return GE_OK;
  }
  for (const Key& k : kKeys) {
    if (k.name != name) continue;
    uint64_t n = 0;
    const auto r = std::from_chars(value.data(), value.data() + value.size(), n);
    if (r.ec != std::errc() || r.ptr != value.data() + value.size() || n < k.least || n > k.most) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                  "devsim: option %.*s is '%.*s', wanted a number from %llu to %llu",
                  static_cast<int>(name.size()), name.data(), static_cast<int>(value.size()),
                  value.data(), static_cast<unsigned long long>(k.least),
                  static_cast<unsigned long long>(k.most));
    }
    out->*k.field = n;
    return GE_OK;
  }
  return Fail(
      err, GE_INVALID_ARGUMENT, UINT32_MAX,
      "devsim: option '%.*s' is not known; wanted wrap, ops, fail_compile, price, take, "
      "take_seed, link_latency_ns, link_gbps, link_told, paced, round_trip_ns, peer_gbps, memory, "
      "streams, pinned, pinned_gbps, grow, capture, strict, delay, delay_us, trace, clock, "
      "devices, "
      "fail_at, late_at, lost_at, hang_at or timeout_ms, each with =VALUE, or scope=call or "
      "scope=device",
      static_cast<int>(name.size()), name.data());
}

}  // namespace

ge_rc ParseOptions(ge_str text, Options* out, ge_err* err) {
  std::string_view rest = ge::plugin::View(text);
  for (ge::plugin::OptionText option; ge::plugin::NextOption(&rest, &option);) {
    const ge_rc rc = SetOne(option.key, option.value, out, err);
    if (rc != GE_OK) return rc;
  }
  if (!out->memory_is_host || (out->pinned == 0 && out->peer_gbps == 0)) return GE_OK;
  return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
              "devsim: options pinned and peer_gbps are of devices with memory of their own; leave "
              "them or memory=host out");
}

bool Named(std::string_view list, std::string_view op) {
  while (!list.empty()) {
    const size_t end = std::min(list.find('+'), list.size());
    if (list.substr(0, end) == op) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

uint64_t Mix(uint64_t seed, uint64_t n) {  // the finaliser of splitmix64
  uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

}  // namespace devsim
