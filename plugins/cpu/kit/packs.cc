#include "plugins/cpu/kit/packs.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ge/ge_plugin.hpp"

namespace ge_engines::cpu {
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
  std::vector<AlignedBlock> aligned(pack.n_value);
  for (uint32_t i = 0; i < pack.n_value; ++i) {
    data.push_back(from[i].ptr);
    const bool fits = reinterpret_cast<uintptr_t>(from[i].ptr) % sizeof(float) == 0;
    if (fits || fills[0].any_bytes) continue;
    aligned[i] = AlignedBlock(from[i].bytes);
    std::memcpy(aligned[i].data(), from[i].ptr, from[i].bytes);
    data[i] = aligned[i].data();
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

AlignedBlock SmallPacks::Take(const PackName& name, const std::vector<std::string_view>& payloads,
                              uint64_t bytes, const Fill& fill) {
  std::lock_guard<std::mutex> lock(mutex_);
  Known& known = known_[name];
  const auto same = [](const std::vector<float>& from, std::string_view payload) {
    return from.size() == payload.size() / sizeof(float) + 1 &&
           std::memcmp(from.data(), payload.data(), payload.size()) == 0;
  };
  if (known.block.data() != nullptr &&
      std::equal(known.from.begin(), known.from.end(), payloads.begin(), payloads.end(), same)) {
    return known.block;
  }
  Known made;
  std::vector<const void*> from;
  for (const std::string_view payload : payloads) {
    made.from.emplace_back(payload.size() / sizeof(float) + 1);
    std::memcpy(made.from.back().data(), payload.data(), payload.size());
    from.push_back(made.from.back().data());  // it stays there when the vector around it grows
  }
  made.block = AlignedBlock(bytes);
  fill(from.data(), made.block.data());
  known = std::move(made);
  return known.block;
}

std::string KeyOf(const Layout& layout) {
  std::string key = "b" + std::to_string(layout.cblock) + "s" + std::to_string(layout.size);
  for (int i = 0; i < layout.rank; ++i) {
    key += " " + std::to_string(layout.dim[i]) + ":" + std::to_string(layout.stride[i]);
  }
  return key;
}

}  // namespace ge_engines::cpu
