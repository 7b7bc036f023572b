// Handles SIGBUS, the signal for reading a page of a mapped file that the system cannot give, since
// the file was cut short or its disk fails. It would end the process. In a mapping watched here the
// handler puts zeros in place of the page and of all pages behind it in the mapping, marks the
// mapping as damaged, and the read goes on. Readers ask IsDamaged afterwards and throw away their
// results.
//
// The handler is set with the first mapping, once in a process, and not where GE_SIGNALS=keep. Each
// other SIGBUS goes to the handler set before, as if ours did not exist.
#pragma once

#include <signal.h>

#include <cstdint>

namespace ge {

struct WatchedMapping;

// Watches `bytes` > 0 of mmap's answer until Unwatch; nobody unmaps them before. Throws
// std::bad_alloc. Any thread.
WatchedMapping* WatchMapping(const void* data, uint64_t bytes);
void UnwatchMapping(WatchedMapping* watched);
// Whether zeros have replaced some of it. Any thread.
bool IsDamaged(const WatchedMapping* watched);

// Unblocks SIGBUS for this thread until the scope ends: a blocked fault would end the process
// instead of reaching the handler. For threads of the application, which may block all signals.
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
