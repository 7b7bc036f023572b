// ge_exec: a collective and the state of its launch in flight, one at a time. Queue steps it.
#pragma once

#include <cfenv>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/comm/kit/collective.h"
#include "plugins/comm/kit/transport.h"

namespace ge_engines::comm {

class Queue;

uint64_t NowNs();
// GE_COMM_RATE=N: transfers take as long as a link of N Gbit/s would. Nanoseconds a byte; 0 = off.
double HeldNsPerByte();

}  // namespace ge_engines::comm

struct ge_exec {
 public:
  // queue: of its launches; it outlives the exec.
  ge_exec(const ge_segment& segment, const ge_engines::comm::Group& group, std::string node,
          ge_engines::comm::Queue* queue);
  ~ge_exec();
  const ge_engines::comm::Collective& node() const { return node_; }
  ge_engines::comm::Queue* queue() const { return queue_; }

  // Keeps what the launch says, in the caller's floating-point mode.
  void Take(const ge_launch& launch);
  // Goes on with the launch taken. *done when nothing is left of it.
  ge_engines::comm::Failure Step(ge_engines::comm::Transport* transport, bool* done);
  // The launch's ge_launch.stop, and whether the host has said by it that the launch is to end.
  const uint32_t* stop() const { return stop_; }
  bool is_to_end() const {
    return stop_ != nullptr && __atomic_load_n(stop_, __ATOMIC_ACQUIRE) != 0;
  }
  // Before that, in NowNs, a Step does nothing: the transfer is done and held to a speed. 0 = now.
  uint64_t held_until_ns() const { return phase_ == Phase::kHeld ? held_until_ns_ : 0; }
  ge_stream* own_stream = nullptr;  // of launches of a synchronous device; freed by Queue

 private:
  enum class Phase : uint8_t { kNew, kCompares, kMoves, kHeld };
  // The numbers that ranks compare, reduced to their greatest: a digest and its complement.
  struct Compared {
    uint64_t mine[2], most[2];
  };
  ge_engines::comm::Failure Go(ge_engines::comm::Transport* transport, bool* done);
  ge_engines::comm::Failure Compare(ge_engines::comm::Transport* transport);
  ge_engines::comm::Failure Move(ge_engines::comm::Transport* transport);
  ge_engines::comm::Failure Told(ge_engines::comm::Failure failure) const;

  const ge_engines::comm::Collective node_;
  const uint32_t index_;  // of the node in the graph
  ge_engines::comm::Queue* const queue_;
  std::unique_ptr<ge_engines::comm::Round> round_;
  std::unique_ptr<Compared> compared_;
  Phase phase_ = Phase::kNew;
  uint64_t launches_ = 0, begin_ns_ = 0, held_until_ns_ = 0;
  ge_engines::comm::Places places_;
  std::vector<ge_engines::comm::Transfer> transfers_;
  const uint32_t* stop_ = nullptr;
  std::fenv_t mode_;
};
