// Arrival: whether OpenMP's other threads come when a loop is shared. Where another process keeps
// their cores busy a loop waits for them longer than it takes alone; then loops stay with the
// thread that runs them for a while, and try again. One state a plugin; any thread. It knows only
// the loops of these engines: what a vendor's library forks for itself it cannot keep alone.
#pragma once

#include <cstdint>

namespace ge_engines::cpu {

class Arrival {
 public:
  // `threads`, or 1 while the others are known to be late.
  static int Team(int threads, int64_t now_ns);
  // After a loop that was shared: its caller's own part took `own_ns`, then it waited `waited_ns`.
  static void Note(int64_t now_ns, int64_t own_ns, int64_t waited_ns);
  // As if every loop so far had found the others there; for tests.
  static void Forget();
  // The steady clock.
  static int64_t Now();
};

}  // namespace ge_engines::cpu
