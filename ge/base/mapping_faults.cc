#include "ge/base/mapping_faults.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace ge {

// Read by the handler without a lock, in any thread: its fields are atomic, and the version is odd
// while they change. One whose page is being read does not change.
struct WatchedMapping {
  std::atomic<uint32_t> version{0};
  std::atomic<uintptr_t> begin{0}, end{0};  // 0: free
  std::atomic<bool> damaged{false};

  void Set(uintptr_t from, uintptr_t to) {
    version.fetch_add(1);
    begin.store(from);
    end.store(to);
    version.fetch_add(1);
  }
  // Where it ends; 0 where it does not hold the address.
  uintptr_t EndIfHolds(uintptr_t at) const {
    const uint32_t before = version.load();
    const uintptr_t from = begin.load(), to = end.load();
    return before % 2 == 0 && version.load() == before && from <= at && at < to ? to : 0;
  }
};

namespace {

// They are never freed: the handler may be walking through them.
struct Chunk {
  std::array<WatchedMapping, 32> mappings;
  std::atomic<Chunk*> next{nullptr};
};

struct Watch {
  std::mutex mutex;  // of who changes the following
  Chunk first;
  bool is_set = false;
  uintptr_t page = 4096;
  struct sigaction before = {};
};
Watch& TheWatch() {
  static Watch* watch = new Watch;  // never freed: the handler stays until exit
  return *watch;
}
Watch* g_watch = nullptr;  // for the handler; written before it is set

bool SignalsAreKept() {
  static const bool kept = [] {
    const char* wish = std::getenv("GE_SIGNALS");
    return wish != nullptr && std::string_view(wish) == "keep";
  }();
  return kept;
}

void PassOn(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = g_watch->before;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  const bool sent = info->si_code <= 0;  // by a process, not by an instruction
  if (before.sa_handler == SIG_IGN && sent) return;
  if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL) {
    return before.sa_handler(signal);
  }
  // The instruction raises it again when this returns, and the system does as it always did.
  struct sigaction none = {};
  none.sa_handler = SIG_DFL;
  (void)sigaction(signal, &none, nullptr);
  if (sent) (void)raise(signal);
}

// mmap is a system call and no more, which may be made here.
void OnBusError(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Chunk* c = info->si_code == BUS_ADRERR ? &g_watch->first : nullptr; c != nullptr;
       c = c->next.load()) {
    for (WatchedMapping& m : c->mappings) {
      const uintptr_t end = m.EndIfHolds(at);
      if (end == 0) continue;
      m.damaged.store(true);
      const uintptr_t page = at / g_watch->page * g_watch->page;
      // What follows lies beyond the file's end, too, or is of no use any more.
      void* zeros = mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
      errno = error;
      if (zeros != MAP_FAILED) return;
    }
  }
  errno = error;
  PassOn(signal, info, context);
}

// With the mutex held.
void SetHandler(Watch* watch) {
  if (watch->is_set || SignalsAreKept()) return;
  watch->is_set = true;
  watch->page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  g_watch = watch;
  (void)sigaction(SIGBUS, nullptr, &watch->before);  // before ours can be called
  struct sigaction ours = {};
  ours.sa_sigaction = &OnBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  (void)sigaction(SIGBUS, &ours, nullptr);
}

WatchedMapping* FindFree(Chunk* c) {
  for (;; c = c->next.load()) {
    for (WatchedMapping& m : c->mappings) {
      if (m.end.load() == 0) return &m;
    }
    if (c->next.load() != nullptr) continue;
    c->next.store(new Chunk);
  }
}

}  // namespace

WatchedMapping* WatchMapping(const void* data, uint64_t bytes) {
  Watch& watch = TheWatch();
  const std::lock_guard<std::mutex> lock(watch.mutex);
  SetHandler(&watch);
  WatchedMapping* free = FindFree(&watch.first);
  const auto begin = reinterpret_cast<uintptr_t>(data);
  free->damaged.store(false);
  free->Set(begin, begin + bytes);
  return free;
}

void UnwatchMapping(WatchedMapping* watched) {
  const std::lock_guard<std::mutex> lock(TheWatch().mutex);
  watched->Set(0, 0);
}

bool IsDamaged(const WatchedMapping* watched) {
  return watched->damaged.load(std::memory_order_relaxed);
}

FaultScope::FaultScope(bool needed) {
  if (!needed || SignalsAreKept()) return;
  sigset_t bus, before;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  if (pthread_sigmask(SIG_UNBLOCK, &bus, &before) != 0) return;
  block_again_ = sigismember(&before, SIGBUS) == 1;
}

FaultScope::~FaultScope() {
  if (!block_again_) return;
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  (void)pthread_sigmask(SIG_BLOCK, &bus, nullptr);
}

}  // namespace ge
