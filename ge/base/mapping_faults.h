// What happens when a page of a mapped file is read that the system cannot give, since the file was
// cut short or its disk fails: SIGBUS, which would end the process. Where the page lies in a
// mapping that is watched here, zeros take its place and that of all that follow in the mapping,
// which is damaged from then on, and the read goes on. Who reads asks afterwards, and throws away
// what it made of zeros.
//
// The handler is set with the first mapping, once in a process, and not where GE_SIGNALS=keep. Each
// other SIGBUS goes to the handler that was there before, as if there were none of ours.
#pragma once

#include <signal.h>

#include <cstdint>

namespace ge {

struct WatchedMapping;

// Of `bytes` > 0 that mmap answered; until Unwatch, before which nobody unmaps them. Throws
// std::bad_alloc. Any thread.
WatchedMapping* WatchMapping(const void* data, uint64_t bytes);
void UnwatchMapping(WatchedMapping* watched);
// Whether zeros have taken the place of some of it. Any thread.
bool IsDamaged(const WatchedMapping* watched);

// This thread's own faults are delivered until the scope ends: one that is blocked ends the process
// instead. For threads of the application, which may block all signals.
class FaultScope {
 public:
  explicit FaultScope(bool needed = true);
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;

 private:
  bool block_again_ = false;
};

}  // namespace ge
