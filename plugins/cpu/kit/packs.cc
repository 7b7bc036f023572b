#include "plugins/cpu/kit/packs.h"

#include <cstring>
#include <vector>

#include "ge/ge_plugin.hpp"

namespace ge_cpu {

void PackBook::Learn(const std::string& key, Fill fill) {
  std::lock_guard<std::mutex> lock(mutex_);
  fills_.try_emplace(key, std::move(fill));
}

ge_rc PackBook::Write(const ge_pack& pack, const ge_buf* from, const ge_buf& to,
                      ge_err* err) const {
  Fill fill;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = fills_.find(std::string(pack.key.p, pack.key.n));
    if (known == fills_.end()) {
      return ge::plugin::Fail(err, GE_NOT_FOUND, UINT32_MAX,
                              "no segment of this engine has asked for such a pack");
    }
    fill = known->second;
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
  fill(data.data(), to.ptr);
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
