#include "plugins/cpu/kit/arrival.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace ge_engines::cpu {
namespace {

// Who is there begins within a microsecond and does its part in the time of the caller's; who
// sleeps is woken by the kernel, 50 to 100 us on a virtual machine. The first loop of a run may
// have to wake the others: three in a row means that they are kept from their cores between the
// loops.
constexpr int64_t kWakeNs = 40'000;
constexpr int64_t kFairShares = 2;
constexpr int kLateInARow = 3;
// Alone at first for about two turns of the kernel's scheduler, at most for as long as a trial,
// which may cost such a turn, is a few percent.
constexpr int64_t kLeastPauseNs = 10'000'000, kMostPauseNs = 320'000'000;

std::atomic<int64_t> alone_until{0};  // 0: the others come
std::atomic<int64_t> pause{0};
std::atomic<int> late{0};  // in a row

}  // namespace

int64_t Arrival::Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int Arrival::Team(int threads, int64_t now_ns) {
  return now_ns < alone_until.load(std::memory_order_relaxed) ? 1 : threads;
}

void Arrival::Note(int64_t now_ns, int64_t own_ns, int64_t waited_ns) {
  if (waited_ns > kWakeNs + kFairShares * own_ns) {
    if (late.fetch_add(1, std::memory_order_relaxed) + 1 < kLateInARow) return;
    const int64_t next =
        std::clamp(2 * pause.load(std::memory_order_relaxed), kLeastPauseNs, kMostPauseNs);
    pause.store(next, std::memory_order_relaxed);
    alone_until.store(now_ns + next, std::memory_order_relaxed);
  } else if (late.load(std::memory_order_relaxed) != 0) {
    Forget();
  }
}

void Arrival::Forget() {
  alone_until.store(0, std::memory_order_relaxed);
  pause.store(0, std::memory_order_relaxed);
  late.store(0, std::memory_order_relaxed);
}

}  // namespace ge_engines::cpu
