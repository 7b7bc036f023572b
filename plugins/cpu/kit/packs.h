// Packs: constants in the form that kernels read. The host owns those of its book (pack_book.h);
// small ones belong to the programs of one segment. Any thread may call.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/units/layout.h"
#include "plugins/units/pack_book.h"

namespace ge_engines::cpu {

// A key and the segment's values in the pack.
using PackName = std::pair<std::string, Ids>;

// Packs below kLeastPack: the host does not see them. Programs of one segment at different dims
// share them. Any thread may call.
class SmallPacks {
 public:
  // The block of this name. `fill` writes it if it is new or had other payloads. Payloads may be
  // unaligned.
  AlignedBlock Take(const PackName& name, const std::vector<std::string_view>& payloads,
                    uint64_t bytes, const Fill& fill);

 private:
  struct Known {
    std::vector<std::vector<float>> from;
    AlignedBlock block;
  };
  std::mutex mutex_;
  std::map<PackName, Known> known_;
};

// A layout as part of a key.
std::string KeyOf(const Layout& layout);

// Smaller constants belong to the program: the host's book-keeping would cost more.
inline constexpr uint64_t kLeastPack = 4096;

}  // namespace ge_engines::cpu
