#include "ge/domain/domain_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "ge/domain/domain_memory.h"

namespace ge {
namespace {

std::atomic<DomainAccount::GiveUpPacks> g_give_up{nullptr};

// The field of the counts that blocks of a kind add to.
uint64_t& FieldOf(DomainAccount::Counts* counts, HeldAs as) {
  switch (as) {
    case HeldAs::kArena:
      return counts->arenas;
    case HeldAs::kPack:
      return counts->packs;
    default:
      return counts->states;
  }
}

}  // namespace

std::shared_ptr<DomainAccount> DomainAccount::Of(const std::string& id) {
  struct All {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<DomainAccount>> by_id;
  };
  static All* const all = new All;  // never freed: engines may live until exit
  const std::lock_guard<std::mutex> lock(all->mutex);
  std::erase_if(all->by_id, [](const auto& known) { return known.second.expired(); });
  std::weak_ptr<DomainAccount>& known = all->by_id[id];
  std::shared_ptr<DomainAccount> account = known.lock();
  if (account == nullptr) known = account = std::make_shared<DomainAccount>();
  return account;
}

void DomainAccount::Join(DomainMemory* memory, uint64_t limit) {
  const std::lock_guard<std::mutex> members(members_mutex_);
  members_[memory] = limit;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (limit != 0) counts_.limit = counts_.limit == 0 ? limit : std::min(counts_.limit, limit);
}

void DomainAccount::Leave(DomainMemory* memory) {
  const std::lock_guard<std::mutex> members(members_mutex_);
  members_.erase(memory);
  uint64_t limit = 0;
  for (const auto& [member, stated] : members_) {
    if (stated != 0) limit = limit == 0 ? stated : std::min(limit, stated);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.limit = limit;
}

DomainAccount::Counts DomainAccount::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Counts counts = counts_;
  counts.blocks = held_.size();
  return counts;
}

bool DomainAccount::Fits(uint64_t bytes) const {
  const uint64_t held = counts_.held();
  return counts_.limit == 0 || (bytes <= counts_.limit && held <= counts_.limit - bytes);
}

bool DomainAccount::HasRoomFor(uint64_t bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Fits(bytes);
}

uint64_t DomainAccount::Add(HeldAs as, uint64_t bytes, std::string name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Fits(bytes)) return 0;
  held_.emplace(next_, Held{as, bytes, std::move(name)});
  FieldOf(&counts_, as) += bytes;
  counts_.peak = std::max(counts_.peak, counts_.held());
  return next_++;
}

void DomainAccount::Drop(uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = held_.find(number);
  if (it == held_.end()) return;
  FieldOf(&counts_, it->second.as) -= it->second.bytes;
  held_.erase(it);
}

Status DomainAccount::Refusal(const std::string& domain, uint64_t bytes,
                              const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto largest = std::max_element(
      held_.begin(), held_.end(),
      [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
  std::string others;
  if (largest != held_.end()) {
    others = fmt::format(" and {} bytes are in use there, the largest {} with {} bytes",
                         counts_.held(), largest->second.name, largest->second.bytes);
  }
  return Status(Code::kLimitExceeded,
                fmt::format("{} needs {} bytes of memory '{}'{}; its limit is {} bytes "
                            "(ge_domain.bytes); use smaller inputs or fewer runs at once, free "
                            "other sessions, or leave that engine out",
                            name, bytes, domain, others, counts_.limit));
}

void DomainAccount::FreeUnused(uint64_t wanted, bool packs) {
  {
    const std::lock_guard<std::mutex> members(members_mutex_);
    for (const auto& [memory, limit] : members_) memory->DropFree();
  }
  const GiveUpPacks give_up = g_give_up.load();
  if (packs && give_up != nullptr && (wanted == UINT64_MAX || !HasRoomFor(wanted))) {
    give_up(*this, wanted);
  }
}

void DomainAccount::SetGiveUpPacks(GiveUpPacks give_up) { g_give_up.store(give_up); }

}  // namespace ge
