// DomainAccount: who holds how much of one memory. All domains of one id in the process share an
// account, whatever engines they are of; the least ge_domain.bytes that one of them states is its
// limit. It allocates nothing itself: domain_memory.h does. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ge/base/status.h"

namespace ge {

class DomainMemory;

// What a block is for.
enum class HeldAs : uint8_t { kArena, kPack, kState };

class DomainAccount {
 public:
  // The account of this id (16 bytes), made with the first who asks.
  static std::shared_ptr<DomainAccount> Of(const std::string& id);

  // Bytes of blocks, as asked for.
  struct Counts {
    uint64_t limit = 0;  // 0: there is none
    uint64_t arenas = 0, packs = 0, states = 0, peak = 0;
    uint64_t blocks = 0;
    uint64_t held() const { return arenas + packs + states; }
  };
  Counts counts() const;
  // Whether so many bytes more stay within the limit.
  bool HasRoomFor(uint64_t bytes) const;

  // Counts a block before it is allocated; 0 where the limit leaves no room for it. Else a number
  // for Drop.
  uint64_t Add(HeldAs as, uint64_t bytes, std::string name);
  void Drop(uint64_t number);
  // LIMIT_EXCEEDED of domain `domain`: what was asked for and what is held, the largest by name.
  Status Refusal(const std::string& domain, uint64_t bytes, const std::string& name) const;

  // Frees what nobody uses: arenas of no run, and with `packs` packs that no run reads, until so
  // many bytes more fit; UINT64_MAX frees all. Not from within the filling of packs with `packs`.
  void FreeUnused(uint64_t wanted, bool packs);
  // How packs are given up, set once by who keeps them.
  using GiveUpPacks = void (*)(const DomainAccount& account, uint64_t wanted);
  static void SetGiveUpPacks(GiveUpPacks give_up);

 private:
  friend class DomainMemory;
  struct Held {
    HeldAs as;
    uint64_t bytes;
    std::string name;
  };
  void Join(DomainMemory* memory, uint64_t limit);
  void Leave(DomainMemory* memory);
  bool Fits(uint64_t bytes) const;  // under mutex_

  std::mutex members_mutex_;                   // before mutex_
  std::map<DomainMemory*, uint64_t> members_;  // with the limits that they state

  mutable std::mutex mutex_;  // of the following
  Counts counts_;
  uint64_t next_ = 1;
  std::map<uint64_t, Held> held_;  // by number
};

}  // namespace ge
