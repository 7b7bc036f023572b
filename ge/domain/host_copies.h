// HostCopies: copies between the host's memory and a device's whose callers wait for them. On a
// device that works while the host goes on each has a stream and an event of its own, so that the
// call, its time limit or the device's ends the wait. What a copy uses that has not ended is kept
// until it has. They know no plan and no run. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ge/base/interrupt.h"
#include "ge/ge_plugin.h"

namespace ge {

class HostCopies {
 public:
  struct Of {
    const ge_engine_api* api = nullptr;  // both outlive this
    ge_engine* engine = nullptr;
    uint32_t device = 0;
    bool async = false;     // GE_DEVICE_ASYNC; else the engine's copies end before they return
    uint64_t limit_ns = 0;  // of the device's work; 0 = none
    // Whoever holds the answer keeps the engine.
    std::function<std::shared_ptr<const void>()> keep_engine;
  };
  explicit HostCopies(Of of) : of_(std::move(of)) {}
  ~HostCopies();
  HostCopies(const HostCopies&) = delete;
  HostCopies& operator=(const HostCopies&) = delete;

  // `used` owns the memory of both ends. GE_CANCELLED half a second after `call` was stopped;
  // GE_DEVICE_LOST where the device's limit is over, and from then on.
  ge_rc Copy(const ge_buf& from, const ge_buf& to, std::shared_ptr<const void> used,
             const Interrupt* call, ge_err* err);

 private:
  friend struct KeptCopy;
  struct Lane {
    ge_stream* stream = nullptr;
    ge_event* event = nullptr;
    uint64_t value = 0;  // signalled last
  };
  ge_rc Take(Lane* lane, ge_err* err);
  void Give(const Lane& lane, ge_rc rc);
  void Destroy(const Lane& lane) const;
  ge_rc Wait(Lane* lane, const Interrupt* call, bool* ended, ge_err* err) const;
  ge_rc Late(ge_err* err);

  const Of of_;
  std::mutex mutex_;
  std::vector<Lane> free_;
  std::atomic<bool> lost_{false};
};

// Copies of the process that were given up and have not ended; frees what those used that have.
uint64_t KeptCopies();

}  // namespace ge
