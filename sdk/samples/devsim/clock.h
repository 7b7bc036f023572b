// The virtual clock: how long the work would have taken on the device that is simulated, whatever
// this machine does meanwhile. A launch takes what its offers ask, a copy what the link says; a
// stream does its work in order, beginning with each piece no earlier than the host queued it; an
// event reaches its value when the stream has come that far; the host goes on when an event that it
// waits for has. It is the time of one host thread: two runs at once would mix theirs.
//
// Two 64-bit numbers, native byte order, in a file that several engines may share and that whoever
// asks may read: the host's time, and the sum of what all work took, whoever did it meanwhile. The
// second is what a plan's price counts, the first is less where devices work side by side.
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
  // Goes on from the time in the file, which is made where it is not there. GE_INVALID_ARGUMENT
  // where it cannot be written.
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

// When an event reached its last values. Kept by the event, under its lock.
class ReachedAt {
 public:
  void Add(uint64_t value, uint64_t at_ns);
  // Of the first signal that reached `value`; of values long gone that of the oldest one kept.
  uint64_t Of(uint64_t value) const;

 private:
  static constexpr size_t kKept = 256;  // signals; nobody waits for one that is so many runs old
  std::vector<std::pair<uint64_t, uint64_t>> at_;
};

// What a launch of this segment takes: what the wrapped engine asks for its offers, scaled, by the
// header's rule for the cost of a segment. GE_UNIMPLEMENTED where it leaves a price to the host.
ge_rc LaunchNs(ge_engine* engine, const ge_segment& segment, uint64_t* ns, ge_err* err);

}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_CLOCK_H_
