#include "ge/engine/resident/pack_set.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "ge/base/interrupt.h"

namespace ge {

// Who is asked for room. Its mutex is held while residents are written or given up, so that there
// is one who decides; runs whose packs are all in memory never see it.
class PackBudget {
 public:
  static PackBudget& OfProcess() {
    static PackBudget* budget = [] {
      DomainAccount::SetGiveUpPacks([](const DomainAccount& account, uint64_t wanted) {
        const std::lock_guard<std::mutex> lock(OfProcess().mutex);
        OfProcess().MakeRoom(wanted, &account);
      });
      return new PackBudget;  // never freed: plans may live until exit
    }();
    return *budget;
  }

  std::mutex mutex;

  // Under mutex, as all of the following.
  void Add(PackSet* set) {
    sets_.insert(set);
    for (const auto& r : set->packs_) readers_[r.get()].push_back(set);
  }
  void Remove(PackSet* set) {
    sets_.erase(set);
    for (const auto& r : set->packs_) {
      const auto readers = readers_.find(r.get());
      if (readers == readers_.end()) continue;  // there was no memory to add it
      std::erase(readers->second, set);
      if (readers->second.empty()) readers_.erase(readers);
    }
  }
  void set_bytes(uint64_t bytes) { bytes_ = bytes; }

  // Gives up what nobody needs now, the longest unused first, until `wanted` more bytes fit into
  // the host's budget, or with `account` into a device's memory; UINT64_MAX gives up all.
  void MakeRoom(uint64_t wanted, const DomainAccount* account) {
    const auto fits = [&] {
      if (account != nullptr) return wanted != UINT64_MAX && account->HasRoomFor(wanted);
      return HostBytesPresent() + wanted <= (bytes_ != 0 ? bytes_ : HalfOfMemory());
    };
    if (fits()) return;
    // Runs begin meanwhile: the times are those of this moment.
    std::vector<std::pair<int64_t, PackSet*>> oldest;
    for (PackSet* set : sets_) oldest.emplace_back(set->last_use_.load(), set);
    std::sort(oldest.begin(), oldest.end());
    // All room that holding needs: where there is none, nothing is held yet.
    std::vector<PackSet*> going;
    going.reserve(sets_.size());
    for (const auto& [when, set] : oldest) {
      for (const auto& r : set->packs_) {
        if (fits()) break;
        const DomainMemory* memory = r->memory();
        const DomainAccount* of = memory != nullptr ? memory->account().get() : nullptr;
        const auto readers = readers_.find(r.get());
        const bool known = of == account && r->present() && readers != readers_.end();
        if (known && Hold(readers->second, &going)) r->GiveUp();
      }
    }
    for (PackSet* set : going) {
      set->whole_.store(false, std::memory_order_relaxed);
      set->pins_.fetch_and(~PackSet::kGoing, std::memory_order_release);
    }
  }

 private:
  static uint64_t HostBytesPresent() { return ResidentStore::OfProcess().counts().host_bytes; }
  static uint64_t HalfOfMemory() {
    static const uint64_t half = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                 static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
    return half;
  }

  // Keeps runs of all these from beginning; false where one is in flight. Allocates nothing:
  // `going` has room for every set.
  static bool Hold(const std::vector<PackSet*>& sets, std::vector<PackSet*>* going) {
    const size_t before = going->size();
    for (PackSet* set : sets) {
      if (std::find(going->begin(), going->end(), set) != going->end()) continue;
      uint32_t none = 0;
      if (set->pins_.compare_exchange_strong(none, PackSet::kGoing, std::memory_order_acquire)) {
        going->push_back(set);
        continue;
      }
      for (size_t i = before; i < going->size(); ++i) {
        (*going)[i]->pins_.fetch_and(~PackSet::kGoing, std::memory_order_release);
      }
      going->resize(before);
      return false;
    }
    return true;
  }

  uint64_t bytes_ = 0;
  std::set<PackSet*> sets_;
  std::unordered_map<const Resident*, std::vector<PackSet*>> readers_;
};

// Where there is no memory to add all, the destructor takes back what was added: the constructor
// that it hands on to has ended by then.
PackSet::PackSet(std::vector<std::shared_ptr<Resident>> packs)
    : PackSet(std::move(packs), NotAdded()) {
  PackBudget& budget = PackBudget::OfProcess();
  const std::lock_guard<std::mutex> lock(budget.mutex);
  budget.Add(this);
}

PackSet::~PackSet() {
  PackBudget& budget = PackBudget::OfProcess();
  const std::lock_guard<std::mutex> lock(budget.mutex);
  budget.Remove(this);
}

void PackSet::Enter() {
  Backoff backoff;
  while ((pins_.fetch_add(1, std::memory_order_acquire) & kGoing) != 0) {
    pins_.fetch_sub(1, std::memory_order_relaxed);
    backoff.Wait();  // residents are being freed: not for who holds the mutex and fills others
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  last_use_.store(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                  std::memory_order_relaxed);
}

uint64_t PackSet::WriteFirst(std::vector<Status>* statuses) {
  Enter();
  std::unique_lock<std::mutex> lock(PackBudget::OfProcess().mutex, std::defer_lock);
  if (const Status ended = LockOrStop(&lock); !ended.ok()) {
    statuses->assign(packs_.size(), ended);
    return 0;
  }
  const uint64_t written = Write(statuses);
  const bool all =
      std::all_of(statuses->begin(), statuses->end(), [](const Status& s) { return s.ok(); });
  whole_.store(all, std::memory_order_release);
  return written;
}

Status PackSet::Pin(const std::function<void()>& moved) {
  Enter();
  if (whole_.load(std::memory_order_acquire)) return {};
  const Status status = PinSlowly(moved);
  if (!status.ok()) Unpin();
  return status;
}

bool PackSet::PinAsTheyAre() {
  Enter();
  if (whole_.load(std::memory_order_acquire)) return true;
  Unpin();
  return false;
}

Status PackSet::PinSlowly(const std::function<void()>& moved) {
  std::unique_lock<std::mutex> lock(PackBudget::OfProcess().mutex, std::defer_lock);
  GE_RETURN_IF_ERROR(LockOrStop(&lock));
  if (whole_.load(std::memory_order_relaxed)) return {};
  std::vector<Status> statuses;
  Write(&statuses);
  for (const Status& status : statuses) GE_RETURN_IF_ERROR(status);
  moved();
  whole_.store(true, std::memory_order_release);
  return {};
}

// Under the budget's mutex.
uint64_t PackSet::Write(std::vector<Status>* statuses) {
  std::map<const DomainMemory*, uint64_t> wanted;  // none: of the host
  for (const auto& r : packs_) wanted[r->memory()] += r->present() ? 0 : r->bytes();
  for (const auto& [memory, bytes] : wanted) {
    if (bytes == 0) continue;
    DomainAccount* const account = memory != nullptr ? memory->account().get() : nullptr;
    // Blocks of arenas are the cheapest to make again.
    if (account != nullptr && !account->HasRoomFor(bytes)) account->FreeUnused(bytes, false);
    PackBudget::OfProcess().MakeRoom(bytes, account);
  }
  return FillResidents(packs_, statuses);
}

void SetPackBudget(uint64_t bytes) {
  PackBudget& budget = PackBudget::OfProcess();
  const std::lock_guard<std::mutex> lock(budget.mutex);
  budget.set_bytes(bytes);
  budget.MakeRoom(0, nullptr);
}

uint64_t PackBytesPresent() { return ResidentStore::OfProcess().counts().present_bytes; }

}  // namespace ge
