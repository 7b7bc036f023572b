// PackBook: how packs are written, by their keys. An engine names a pack and how to write it; the
// host owns the bytes, lets each pack be written once, and shares it among programs (ge_pack). An
// engine owns one book, which knows each key as long as the engine lives. Any thread may call it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ge/ge_plugin.h"

namespace ge_engines {

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

}  // namespace ge_engines
