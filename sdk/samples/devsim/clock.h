// Clock: the virtual time of the simulated device, independent of this machine's load. A launch
// takes the price of its offers, a copy the link's time. A stream does its work in order and begins
// no piece before the host queued it. An event reaches its value when the stream has come that far;
// a host that waits for an event goes on at that time. It is the time of one host thread: two runs
// at once would mix theirs.
//
// Two 64-bit numbers, native byte order, in a file; several engines may share it and
// anyone may read it. They are the host's time, and the sum of the times of all work. A
// plan's price predicts the second; the first is less when devices work side by side.
// Thread-safe.
#ifndef GE_SAMPLES_DEVSIM_CLOCK_H_
#define GE_SAMPLES_DEVSIM_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ge/ge_plugin.h"

struct ge_engine;

namespace devsim {

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  ~Clock();
  // Continues from the time in the file, or makes the file. GE_INVALID_ARGUMENT if it cannot be
  // written.
  ge_rc Open(const std::string& file, ge_err* err);
  bool on() const { return host_ns_ != nullptr; }
  uint64_t HostNs() const;           // 0 without a file
  void HostReaches(uint64_t at_ns);  // the host has waited until then
  void HostWorks(uint64_t ns);       // the host itself was busy
  void DeviceWorks(uint64_t ns);

 private:
  static constexpr size_t kBytes = 2 * sizeof(uint64_t);
  uint64_t* host_ns_ = nullptr;  // in the mapped file; behind it the sum of all work
};

// The times at which an event reached its last values. The event owns it, under its lock.
class ReachedAt {
 public:
  void Add(uint64_t value, uint64_t at_ns);
  // Time of the first signal that reached `value`; for values long gone that of the oldest kept.
  uint64_t Of(uint64_t value) const;

 private:
  static constexpr size_t kKept = 256;  // signals; nobody waits for one that is so many runs old
  std::vector<std::pair<uint64_t, uint64_t>> at_;
};

// Virtual time of a launch of this segment: the prices of the wrapped engine's offers, scaled, by
// the header's rule for a segment's cost. GE_UNIMPLEMENTED if it leaves a price to the host.
ge_rc LaunchNs(ge_engine* engine, const ge_segment& segment, uint64_t* ns, ge_err* err);

}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_CLOCK_H_
