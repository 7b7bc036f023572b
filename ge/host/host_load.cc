#include "ge/host/host_load.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "ge/base/repeat_timing.h"

namespace ge {
namespace {

// Longer than a scheduler lets one of two run by itself (1 to 4 ms).
constexpr double kSpinNs = 8e6;
constexpr double kLost = 0.1;     // of the time of one thread
constexpr double kInTurns = 1.5;  // times what it takes side by side
// Beside builds of others a loop lost its processor some 400 times in a second of its own time; a
// tick that finds nobody else waiting takes nothing away. Fewer switches than three are chance.
constexpr double kSwitchesPerSecond = 40;
constexpr uint64_t kFewSwitches = 3;

struct Spin {
  const LoadClocks* clocks;
  double lost = 0;
};

void DoSpin(void* ctx, uint64_t i) {
  Spin& s = static_cast<Spin*>(ctx)[i];
  const double wall = s.clocks->wall_ns(), had = s.clocks->thread_ns();
  double now = wall;
  while (now - wall < kSpinNs) now = s.clocks->wall_ns();
  s.lost = 1 - (s.clocks->thread_ns() - had) / (now - wall);
}

struct Usage {
  uint64_t switches = 0;
  double cpu_s = 0;
};
Usage Now() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {static_cast<uint64_t>(r.ru_nivcsw), seconds(r.ru_utime) + seconds(r.ru_stime)};
}

}  // namespace

std::optional<bool> BusyAsSaid() {
  const char* wish = secure_getenv("GE_PROBE");
  const std::string_view word = wish ? wish : "";
  if (word == "busy") return true;
  if (word == "quiet" || word == "fixed") return false;
  return std::nullopt;
}

LoadClocks SystemLoadClocks() {
  return {&SteadyNs, [] {
            timespec t{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
            return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
          }};
}

bool IsBusyNow(uint32_t threads, ParallelForFn parallel_for, const LoadClocks& clocks) {
  if (const auto said = BusyAsSaid()) return *said;
  std::vector<Spin> spins(std::max(1u, threads), Spin{&clocks});
  const double begin = clocks.wall_ns();
  parallel_for(spins.size(), &DoSpin, spins.data());
  if (clocks.wall_ns() - begin > kInTurns * kSpinNs) return true;
  return std::any_of(spins.begin(), spins.end(), [](const Spin& s) { return s.lost > kLost; });
}

LoadWatch::LoadWatch() {
  const Usage now = Now();
  switches_ = now.switches;
  cpu_s_ = now.cpu_s;
}

bool LoadWatch::Busy() const {
  if (const auto said = BusyAsSaid()) return *said;
  const Usage now = Now();
  return IsBusy(now.switches - switches_, now.cpu_s - cpu_s_);
}

bool LoadWatch::IsBusy(uint64_t switches, double cpu_s) {
  return switches >= kFewSwitches &&
         static_cast<double>(switches) > kSwitchesPerSecond * std::max(cpu_s, 0.0);
}

}  // namespace ge
