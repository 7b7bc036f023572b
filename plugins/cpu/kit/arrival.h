// Arrival: whether OpenMP's other threads come when a loop is shared. If another process keeps
// their cores busy, a shared loop waits longer than it takes alone. Loops then stay on the calling
// thread for a while and try again later. One state a plugin; any thread. It sees only the loops of
// these engines: it cannot keep the regions of a vendor's library on one thread.
#pragma once

#include <cstdint>

namespace ge_engines::cpu {

class Arrival {
 public:
  // `threads`, or 1 while the others are known to be late.
  static int Team(int threads, int64_t now_ns);
  // Call it after a shared loop: the caller's own part took `own_ns`, then it waited `waited_ns`.
  static void Note(int64_t now_ns, int64_t own_ns, int64_t waited_ns);
  // As if every loop so far had found the others there; for tests.
  static void Forget();
  // The steady clock.
  static int64_t Now();
};

}  // namespace ge_engines::cpu
