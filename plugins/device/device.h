// Device: one opened device of an engine: its domains, its limit of memory, its first fault, and
// waits for it. It is opened at its first use. Any thread may call.
//
// A fault of the device's context is kept: every later call answers it with GE_SCOPE_DEVICE. What
// is destroyed or freed is, nevertheless.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/device/driver.h"
#include "plugins/device/rates.h"

namespace ge_engines::device {

enum class Home : uint32_t { kDevice = 0, kPinned = 1 };  // domains, by their index

// Pauses between questions to a device: none at first, then longer ones.
class Pause {
 public:
  Pause(Driver& driver, uint64_t timeout_ns);
  bool Once();  // false: the time is over

 private:
  Driver& driver_;
  const uint64_t timeout_ns_;
  const std::chrono::steady_clock::time_point start_;
  int spins_ = 0;
  uint64_t rest_ns_ = 1000;
};

class Device {
 public:
  // `engine` names the engine in messages; `bytes`: limit of its memory, 0 = all of it.
  Device(Driver* driver, std::string engine, int number, uint32_t index, const DeviceFacts& facts,
         const Rates& rates, uint64_t bytes);
  ~Device();
  Device(const Device&) = delete;

  // ---- for the host's tables; they live as long as the device
  const ge_device& record() const { return record_; }
  // Links of its memory with the host's, pinned or not.
  void AddLinks(std::vector<ge_link>* links) const;
  const uint8_t* id() const { return domain_[0].id; }  // of its memory

  Driver& driver() const { return driver_; }
  int number() const { return number_; }     // the driver's
  uint32_t index() const { return index_; }  // the engine's
  const Rates& rates() const { return rates_; }
  const DeviceFacts& facts() const { return facts_; }
  const std::string& engine() const { return engine_; }

  // ---- every entry point begins with it: opens the device, answers its fault
  ge_rc Ready(ge_err* err);
  bool faulty() const { return faulty_.load(std::memory_order_acquire); }
  bool opened() const { return opened_.load(std::memory_order_acquire); }
  // The code of a driver's answer, with text; GE_OK where it is one. `what` names the call; `node`:
  // an index of the graph's, or UINT32_MAX. A fault of the device is kept.
  ge_rc Answer(Result result, const char* what, uint32_t node, ge_err* err);
  // The device did not answer in `ns`: a fault.
  ge_rc Silent(uint64_t ns, const char* what, ge_err* err);
  // Nobody can say any more what of its work is done: a fault, too.
  ge_rc Unknown(Result result, const char* what, ge_err* err);
  // So that it reaches another device's memory.
  ge_rc OpenPeer(const Device& other, ge_err* err);

  // ---- memory
  ge_rc Alloc(Home home, uint64_t bytes, void** block, ge_err* err);
  void Free(Home home, uint64_t bytes, void* block);

  // ---- waits
  // Calls ask() -> Result until it answers another one than kNotReady, or the time is over. It
  // returns in time even if the device never answers.
  template <class Ask>
  Result Poll(uint64_t timeout_ns, const Ask& ask) const {
    Pause pause(driver_, timeout_ns);
    for (;;) {
      const Result result = ask();
      if (result.outcome != Outcome::kNotReady || !pause.Once()) return result;
    }
  }
  uint64_t WaitNs() const;  // after which a silent device is lost; for waits without a limit

 private:
  void Describe();
  ge_rc Open(ge_err* err);
  ge_rc Fault(ge_err* err) const;
  void Keep(const ge_err& fault);  // the first one

  Driver& driver_;
  const std::string engine_;
  const int number_;
  const uint32_t index_;
  const DeviceFacts facts_;
  const Rates rates_;
  ge_device record_ = {};
  ge_domain domain_[2] = {};

  std::atomic<bool> opened_{false}, faulty_{false};
  mutable std::mutex mutex_;  // of opening and of the fault
  ge_err fault_ = {};
  std::vector<int> peers_;  // that it reaches
  std::atomic<uint64_t> used_{0};
};

}  // namespace ge_engines::device
