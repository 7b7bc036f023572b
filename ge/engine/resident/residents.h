// Residents: memory that outlives a run and belongs to the host. Today: packs, the forms of
// constants in which execs read them (ge_pack). Shapes, entries, sessions and models of the
// process share one as long as their engines ask for the same key of the same payloads. It is
// freed with the last plan reading it, or while nobody runs one (pack_set.h). Every call from any
// thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/interrupt.h"
#include "ge/base/status.h"
#include "ge/engine/engine.h"
#include "ge/ir/graph.h"

namespace ge {

// A constant's payload in a graph that may go: `owner` keeps the bytes.
struct PackSource {
  const void* data = nullptr;
  uint64_t bytes = 0;
  std::shared_ptr<const void> owner;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
};
// RESOURCE_EXHAUSTED where a splat cannot be expanded; INTERNAL where the value is no constant.
Result<PackSource> PackSourceOf(const Graph& graph, const Value& value);

// A pack as a file has it, for whom asks for the same one again.
struct SavedPack {
  std::string name;     // as Resident::Name
  uint64_t values = 0;  // as PackValues says of it
  std::span<const std::byte> data;
  uint64_t hash = 0;  // XXH3 of the data
  std::shared_ptr<const void> owner;
  std::string file;  // names the file in which it lies, as no other
};

class Resident {
 public:
  ~Resident();
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  uint64_t bytes() const { return bytes_; }
  // The payloads that it was made of.
  const std::vector<PackSource>& sources() const { return sources_; }
  // The buffer for launches, once filled.
  const ge_buf& buf() const { return buf_; }
  // The first call has the engine write it; later ones answer that call's Status. *wrote: this one.
  // `call`, if any, ends the wait for a device, and the next Fill begins anew.
  Status Fill(bool* wrote, const Interrupt* call);
  bool present() const { return present_.load(std::memory_order_relaxed); }
  // Frees its memory; Fill writes it again. Nobody may be reading it.
  void GiveUp();
  // GE_PACK_ANY_BYTES, of the engine: its bytes may come from a file.
  bool any_bytes() const { return any_bytes_; }
  // A digest of everything that decides its bytes, but engine, options and payloads.
  std::string Name() const;
  // For messages: "the pack of constant 'w'"; the name is known of packs on devices.
  std::string Title() const;
  // Where it is not filled yet: Fill takes these bytes, unless they have changed.
  void Offer(const SavedPack& saved);
  // The memory of the device that it lies in; null: the host's.
  DomainMemory* memory() const { return engine_->memory(device_); }
  // They are the file's, and no memory of ours.
  bool mapped() const { return mapped_.load(std::memory_order_relaxed); }

 private:
  friend class ResidentStore;
  Resident() = default;
  // Whether this is that pack of these very payloads.
  bool Is(const std::shared_ptr<Engine>& engine, uint32_t device, const ge_pack& pack,
          const std::vector<PackSource>& sources) const;
  Status Allocate();
  Status Write(const Interrupt* call);
  Status ToDevice(AlignedBytes staging, const Interrupt* call);
  bool TakeSaved();
  Status Present();
  void Release();

  std::shared_ptr<Engine> engine_;
  uint32_t device_ = 0;
  std::string key_;       // of the engine, as it gave it
  std::string constant_;  // the name of its first, if it lies on a device; for messages
  std::vector<PackSource> sources_;
  uint64_t bytes_ = 0, align_ = 64;
  bool any_bytes_ = false;

  std::atomic<bool> present_{false}, mapped_{false};
  std::mutex mutex_;  // of the following
  bool done_ = false;
  Status status_;
  std::shared_ptr<void> block_;                     // in host memory
  std::shared_ptr<const DomainMemory::Block> own_;  // in a device's own
  SavedPack saved_;                                 // no data: there is none
  ge_buf buf_{};
};

class ResidentStore {
 public:
  static ResidentStore& OfProcess();
  // The resident of this pack, shared if already there; Fill is still to be called. `sources` are
  // the pack's values, `name` that of the first, for messages. PLUGIN_ERROR where the pack is
  // illegal. `file`: of a saved form, which no model without that file gets.
  Result<std::shared_ptr<Resident>> Find(const std::shared_ptr<Engine>& engine, uint32_t device,
                                         const ge_pack& pack, std::vector<PackSource> sources,
                                         std::string_view name, std::string_view file = {});

  // From now on everyone who asks gets a pack of its own: for finding a key that says too little.
  void ShareNone() { share_none_.store(true, std::memory_order_relaxed); }

  struct Counts {
    uint64_t residents = 0, bytes = 0;  // that live now
    uint64_t present_bytes = 0;         // of them, in memory now
    uint64_t host_bytes = 0;            // of these, in the host's
    uint64_t fills = 0;                 // since the process began
    uint64_t mapped = 0;                // packs taken from files, since then
    uint64_t places = 0;                // of payloads that are remembered
  };
  Counts counts() const;

 private:
  friend class Resident;
  std::string IdentityOf(const PackSource& source);
  std::shared_ptr<Resident> AtPlace(const std::shared_ptr<Engine>& engine, uint32_t device,
                                    const ge_pack& pack, const std::vector<PackSource>& sources);
  void Sweep();

  mutable std::mutex mutex_;
  std::atomic<bool> share_none_{false};
  std::unordered_map<std::string, std::weak_ptr<Resident>> by_key_;
  // The same by the first payload's address: spares most plans of a session the key.
  std::unordered_map<const void*, std::vector<std::weak_ptr<Resident>>> by_place_;
  size_t sweep_at_ = 256, sweep_places_at_ = 16;
  // Digests of payloads outside files, for as long as their owners live.
  struct Digest {
    std::weak_ptr<const void> owner;
    uint64_t bytes = 0;
    std::string digest;
  };
  std::unordered_map<const void*, Digest> digests_;
  size_t sweep_digests_at_ = 256;
};

// The residents that an engine asked for when it compiled for a function of `graph`. PLUGIN_ERROR
// where it asks for something illegal. `saved`, if any: forms of them that a file has.
Result<std::vector<std::shared_ptr<Resident>>> ResidentsOf(
    const std::shared_ptr<Engine>& engine, uint32_t device, const ge_compiled& compiled,
    const Graph& graph, const Function& function, std::span<const SavedPack> saved = {});
// The values of each pack, as a number: equal for the same pack of the same graph.
std::vector<uint64_t> PackValues(const ge_compiled& compiled);

// Fills the empty ones, several at once, the largest first. statuses[i] is that of residents[i];
// once the call that this thread works for is to end, that is its. Answers the bytes written.
uint64_t FillResidents(std::span<const std::shared_ptr<Resident>> residents,
                       std::vector<Status>* statuses);

}  // namespace ge
