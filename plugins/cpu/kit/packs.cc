#include "plugins/cpu/kit/packs.h"

#include <cstring>
#include <vector>

#include "ge/ge_plugin.hpp"

namespace ge_cpu {
namespace {

constexpr size_t kMostWriters = GE_SANITIZER_HERE == GE_SANITIZER_NONE ? 1 : 4;

// Whether another writer gives the same bytes; what none of them writes does not count.
bool SameBytes(const Fill& fill, const void* const* from, const ge_buf& to) {
  std::vector<float> other(to.bytes / sizeof(float) + 1, 0.0f);
  fill(from, other.data());
  return std::memcmp(other.data(), to.ptr, to.bytes) == 0;
}

}  // namespace

void PackBook::Learn(const std::string& key, Fill fill) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Fill>& known = fills_[key];
  if (known.size() < kMostWriters) known.push_back(std::move(fill));
}

ge_rc PackBook::Write(const ge_pack& pack, const ge_buf* from, const ge_buf& to,
                      ge_err* err) const {
  std::vector<Fill> fills;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = fills_.find(std::string(pack.key.p, pack.key.n));
    if (known == fills_.end()) {
      return ge::plugin::Fail(err, GE_NOT_FOUND, UINT32_MAX,
                              "no segment of this engine has asked for such a pack");
    }
    fills = known->second;
  }
  std::vector<const void*> data;
  std::vector<std::vector<float>> aligned(pack.n_value);
  for (uint32_t i = 0; i < pack.n_value; ++i) {
    data.push_back(from[i].ptr);
    if (reinterpret_cast<uintptr_t>(from[i].ptr) % sizeof(float) == 0) continue;
    aligned[i].resize(from[i].bytes / sizeof(float) + 1);
    std::memcpy(aligned[i].data(), from[i].ptr, from[i].bytes);
    data[i] = aligned[i].data();
  }
  if (fills.size() > 1) std::memset(to.ptr, 0, to.bytes);
  fills[0](data.data(), to.ptr);
  for (size_t i = 1; i < fills.size(); ++i) {
    if (SameBytes(fills[i], data.data(), to)) continue;
    return ge::plugin::Fail(err, GE_INTERNAL, UINT32_MAX,
                            "two ways to write the pack '%.*s' do not agree; its key leaves "
                            "something out",
                            static_cast<int>(pack.key.n), pack.key.p);
  }
  return GE_OK;
}

std::string KeyOf(const Layout& l) {
  std::string key = "b" + std::to_string(l.cblock) + "s" + std::to_string(l.size);
  for (int i = 0; i < l.rank; ++i) {
    key += " " + std::to_string(l.dim[i]) + ":" + std::to_string(l.stride[i]);
  }
  return key;
}

}  // namespace ge_cpu
