// Packs: constants in the form in which kernels read them. A builder says what it wants and how it
// is written; the host owns the bytes, has each written once, and shares them among programs
// (ge_pack). A PackBook is an engine's own: it knows how each key is written, as long as the engine
// lives. Its calls may come from any thread.
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

// Writes a pack from the payloads of its values, which are at least as aligned as floats, unless it
// takes any bytes. Captures nothing that dies before the engine, and nothing that the key does not
// say.
using Fill = std::function<void(const void* const* from, void* to)>;

class PackBook {
 public:
  // All ways to write a key are the same, and the first is taken. Under a sanitizer a few more are
  // kept, and Write compares what they write: a key that leaves something out is found.
  // `any_bytes`: it copies bytes and takes payloads at any address.
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

// A key and the values of the segment's graph that are packed.
using PackName = std::pair<std::string, Ids>;

// Packs below kLeastPack, which are no affair of the host's: shared by the programs of one segment
// at different dims. Its calls may come from any thread.
class SmallPacks {
 public:
  // The block of this name, written by `fill` where none was or its payloads were others. Payloads
  // may lie anywhere.
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

// Below it a constant is the program's own: the host's book-keeping would cost more.
inline constexpr uint64_t kLeastPack = 4096;

}  // namespace ge_engines::cpu
