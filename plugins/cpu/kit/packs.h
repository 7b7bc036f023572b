// Packs: constants in the form that kernels read. A builder names a pack and how to write it; the
// host owns the bytes, lets each pack be written once, and shares it among programs (ge_pack). An
// engine owns one PackBook: it knows how to write each key, as long as the engine lives. Any thread
// may call it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/units/layout.h"

namespace ge_engines::cpu {

// Writes a pack from its values' payloads; they are aligned as floats at least, unless
// any_bytes. It captures nothing that dies before the engine, and nothing that is missing in the
// key.
using Fill = std::function<void(const void* const* from, void* to)>;

class PackBook {
 public:
  // All fills of one key write the same bytes; the book keeps the first. Under a sanitizer it keeps
  // a few more, and Write compares their bytes: that finds an incomplete key. `any_bytes`: the fill
  // copies bytes and takes payloads at any address.
  void Learn(const std::string& key, Fill fill, bool any_bytes);
  // For ge_engine_api.fill: GE_NOT_FOUND where no program of this engine ever asked for it.
  ge_rc Write(const ge_pack& pack, const ge_buf* from, const ge_buf& to, ge_err* err) const;

 private:
  struct Known {
    Fill fill;
    bool any_bytes = false;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::vector<Known>> fills_;
};

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
