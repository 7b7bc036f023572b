// DomainMemory: one domain of one of an engine's devices, as the host allocates in it. Packs and
// states have blocks of their own. Arenas are a pool: a run takes a block, uses its first bytes and
// gives it back, so that plans of all shapes, entries and sessions share as many blocks as runs
// were in flight at once, none larger than the largest arena. Owned by the engine, which outlives
// all blocks. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/domain/domain_account.h"
#include "ge/domain/host_copies.h"
#include "ge/ge_plugin.h"

namespace ge {

class DomainMemory {
 public:
  // What a call's failure means; it may note that the device is lost.
  using Failed = std::function<Status(const char* call, ge_rc rc, const ge_err& err)>;
  struct Of {
    const ge_engine_api* api = nullptr;  // both outlive this
    ge_engine* engine = nullptr;
    uint32_t device = 0, domain = 0;  // indices of the engine's
    std::string name;                 // "devsim/sim:0", for messages
    std::string id;                   // 16 bytes
    uint64_t align = 64, limit = 0;   // of blocks; 0 = none
    // As HostCopies::Of.
    bool async = false;
    uint64_t limit_ns = 0;
    std::function<std::shared_ptr<const void>()> keep_engine = {};
  };
  DomainMemory(Of of, Failed failed);
  ~DomainMemory();
  DomainMemory(const DomainMemory&) = delete;
  DomainMemory& operator=(const DomainMemory&) = delete;

  struct Block {
    void* address = nullptr;
    ge_mem* mem = nullptr;
    uint64_t bytes = 0, align = 0;
    uint64_t number = 0;  // of its account; no two blocks ever have the same there
  };
  // A block of its own, with undefined content. LIMIT_EXCEEDED naming the largest block and `name`
  // where the limit leaves no room, after what nobody uses has gone; RESOURCE_EXHAUSTED where the
  // device has none. Packs do not push out packs: who fills them has made room.
  Result<Block> Make(HeldAs as, uint64_t bytes, uint64_t align, const std::string& name);
  void Free(const Block& block);
  // The same, freed with its last owner.
  Result<std::shared_ptr<const Block>> MakeShared(HeldAs as, uint64_t bytes, uint64_t align,
                                                  const std::string& name);
  // Copies between a block and the host's memory, both owned by `used`, and waits for it: CANCELLED
  // or DEADLINE_EXCEEDED where `call` is to end. `what` names it: "copy of a pack".
  Status Copy(const char* what, const ge_buf& from, const ge_buf& to,
              std::shared_ptr<const void> used, const Interrupt* call);

  // An arena's block; the destructor gives it back. The memory must outlive it.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), block_(other.block_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(block_, other.block_);
      return *this;
    }
    ~Lease() {
      if (memory_ != nullptr) memory_->Give(block_);
    }
    const Block& block() const { return block_; }

   private:
    friend class DomainMemory;
    Lease(DomainMemory* memory, const Block& block) : memory_(memory), block_(block) {}
    DomainMemory* memory_ = nullptr;
    Block block_;
  };
  // What an arena is called, put into words where it is needed.
  struct Named {
    const void* what = nullptr;
    std::string (*text)(const void* what) = nullptr;
  };
  // A block of at least so many bytes: that of number `last` if nobody has it, since captures hold
  // addresses, else the smallest that is enough. Allocates and frees where there is none. As Make
  // for failures.
  Result<Lease> Take(uint64_t bytes, uint64_t align, uint64_t last, const Named& name);
  // Frees the blocks that no run holds.
  void DropFree();

  DomainAccount::Counts counts() const { return account_->counts(); }
  const std::shared_ptr<DomainAccount>& account() const { return account_; }
  const std::string& name() const { return of_.name; }

 private:
  ge_rc Call(const Block& wanted, Block* block, ge_err* err);
  bool TakeFree(uint64_t bytes, uint64_t align, uint64_t last, Block* block);
  void Give(const Block& block) noexcept;

  const Of of_;
  const Failed failed_;
  const std::shared_ptr<DomainAccount> account_;
  HostCopies copies_;
  mutable std::mutex mutex_;
  std::vector<Block> free_;  // the last one given back at the end; has room for all that were made
  uint64_t made_ = 0;        // blocks of arenas in all
};

}  // namespace ge
