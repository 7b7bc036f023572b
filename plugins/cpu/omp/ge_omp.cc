#include "plugins/cpu/omp/ge_omp.h"

#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <cstddef>

#include "plugins/cpu/omp/calls.h"

namespace {

std::atomic<const ge_host_api*> g_host{nullptr};

struct Team {
  void (*fn)(void*);
  void* data;
  unsigned size;
  // Of the barrier: who has come, and how many barriers are over.
  std::atomic<unsigned> arrived{0}, phase{0};
};

thread_local Team* t_team = nullptr;  // of the region that this thread is in
thread_local int t_id = 0;
thread_local int t_wanted = 0;  // by omp_set_num_threads; 0 = the host's
thread_local int t_alone = 0;   // between ge_omp_enter and ge_omp_leave: no thread to spare

void RunAs(Team* team, int id) {
  Team* const outer = t_team;
  const int outer_id = t_id;
  t_team = team;
  t_id = id;
  team->fn(team->data);
  t_team = outer;
  t_id = outer_id;
}

void Member(void* team, uint64_t id) { RunAs(static_cast<Team*>(team), static_cast<int>(id)); }

bool HasTeams(const ge_host_api* host) {
  return host != nullptr && host->h.size >= offsetof(ge_host_api, inside) + sizeof(void*) &&
         host->team != nullptr && host->threads > 1;
}

}  // namespace

void ge_omp_bind(const ge_host_api* host) {
  const ge_host_api* none = nullptr;
  g_host.compare_exchange_strong(none, host);
}

// By the file that it lies in.
int ge_omp_serves(const void* parallel) {
  Dl_info theirs, ours;
  return g_host.load() != nullptr && dladdr(parallel, &theirs) != 0 &&
         dladdr(reinterpret_cast<const void*>(&g_host), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

int ge_omp_enter(void) {
  const int before = t_alone;
  const ge_host_api* host = g_host.load(std::memory_order_acquire);
  const bool asks = host != nullptr && host->threads > 1 &&
                    host->h.size >= offsetof(ge_host_api, helpers) + sizeof(void*);
  if (asks && host->helpers != nullptr && host->helpers(host->host) == 0) t_alone = 1;
  return before;
}

void ge_omp_leave(int before) { t_alone = before; }

int ge_omp_enter_team(void) {
  const int before = t_alone;
  t_alone = 0;
  return before;
}

// What calls of OpenMP do. Here they have internal linkage: a call from here by its name may be the
// application's libgomp's, too.
namespace {

int MaxThreads() {
  if (t_wanted > 0) return t_wanted;
  const ge_host_api* host = g_host.load(std::memory_order_relaxed);
  return host != nullptr && host->threads > 0 ? static_cast<int>(host->threads) : 1;
}

void Parallel(void (*fn)(void*), void* data, unsigned threads, unsigned) {
  const ge_host_api* host = g_host.load(std::memory_order_acquire);
  unsigned size = threads != 0 ? threads : static_cast<unsigned>(MaxThreads());
  if (!HasTeams(host) || t_alone != 0 || host->inside(host->host) != 0) size = 1;
  if (size > 1 && size > host->threads) size = host->threads;
  Team team{fn, data, size};
  if (size == 1) return RunAs(&team, 0);
  host->team(host->host, size, &Member, &team);
}

void Barrier() {
  Team* const team = t_team;
  if (team == nullptr || team->size == 1) return;
  const unsigned phase = team->phase.load(std::memory_order_acquire);
  if (team->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == team->size) {
    team->arrived.store(0, std::memory_order_relaxed);
    team->phase.store(phase + 1, std::memory_order_release);
    return;
  }
  for (int looks = 0; team->phase.load(std::memory_order_acquire) == phase; ++looks) {
    constexpr int kSpins = 20'000;  // then the core is somebody else's, between looks
    if (looks > kSpins) {
      sched_yield();
    } else {
      __builtin_ia32_pause();
    }
  }
}

int NumThreads() { return t_team != nullptr ? static_cast<int>(t_team->size) : 1; }
int ThreadNum() { return t_id; }
int InParallel() {
  const ge_host_api* host = g_host.load(std::memory_order_relaxed);
  return t_alone != 0 || (t_team != nullptr && t_team->size > 1) ||
         (host != nullptr && HasTeams(host) && host->inside(host->host) != 0);
}
int NumPlaces() { return 0; }
void SetNumThreads(int threads) {
  if (threads > 0) t_wanted = threads;
}

}  // namespace

// Each under the name that OpenMP's callers ask for, and under the one that our engines' own calls
// are linked to (--wrap), which no application defines.
#define GE_OMP_CALL(result, name, ours, types, names) \
  extern "C" result name types { return ours names; } \
  extern "C" result __wrap_##name types { return ours names; }
#include "plugins/cpu/omp/calls.def"
#undef GE_OMP_CALL

namespace ge_omp {

std::span<const OmpCall> Calls() {
#define GE_OMP_CALL(result, name, ours, types, names) \
  {#name, reinterpret_cast<void*>(&__wrap_##name)},
  static const OmpCall calls[] = {
#include "plugins/cpu/omp/calls.def"
  };
#undef GE_OMP_CALL
  return calls;
}

}  // namespace ge_omp
