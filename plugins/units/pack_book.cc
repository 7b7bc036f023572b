#include "plugins/units/pack_book.h"

#include <cstring>
#include <memory>
#include <utility>

#include "ge/ge_plugin.hpp"

namespace ge_engines {
namespace {

constexpr size_t kMostWriters = GE_SANITIZER_HERE == GE_SANITIZER_NONE ? 1 : 4;

// Whether another writer gives the same bytes; what none of them writes does not count.
bool SameBytes(const Fill& fill, const void* const* from, const ge_buf& to) {
  std::vector<float> other(to.bytes / sizeof(float) + 1, 0.0f);
  fill(from, other.data());
  return std::memcmp(other.data(), to.ptr, to.bytes) == 0;
}

}  // namespace

void PackBook::Learn(const std::string& key, Fill fill, bool any_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Known>& known = fills_[key];
  if (known.size() < kMostWriters) known.push_back({std::move(fill), any_bytes});
}

ge_rc PackBook::Write(const ge_pack& pack, const ge_buf* from, const ge_buf& to,
                      ge_err* err) const {
  std::vector<Known> fills;
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
  std::vector<std::unique_ptr<char[]>> aligned(pack.n_value);
  for (uint32_t i = 0; i < pack.n_value; ++i) {
    data.push_back(from[i].ptr);
    const bool fits = reinterpret_cast<uintptr_t>(from[i].ptr) % sizeof(float) == 0;
    if (fits || fills[0].any_bytes) continue;
    aligned[i].reset(new char[from[i].bytes]);
    std::memcpy(aligned[i].get(), from[i].ptr, from[i].bytes);
    data[i] = aligned[i].get();
  }
  if (fills.size() > 1) std::memset(to.ptr, 0, to.bytes);
  fills[0].fill(data.data(), to.ptr);
  for (size_t i = 1; i < fills.size(); ++i) {
    if (SameBytes(fills[i].fill, data.data(), to)) continue;
    return ge::plugin::Fail(err, GE_INTERNAL, UINT32_MAX,
                            "two ways to write the pack '%.*s' do not agree; its key leaves "
                            "something out",
                            static_cast<int>(pack.key.n), pack.key.p);
  }
  return GE_OK;
}

}  // namespace ge_engines
