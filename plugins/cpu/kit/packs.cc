#include "plugins/cpu/kit/packs.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ge_engines::cpu {

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
