// For tests: an engine over the simulator, made through the plugin ABI, and a pipeline of work on
// it as a careful host queues it. Whatever the simulator finds is the engine's fault.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ge/ge_mock_host.hpp"
#include "plugins/device/forwarding_testing.h"
#include "plugins/device/sim/engine/sim_engine.h"

namespace ge_engines::device {

namespace mock = ge::mock;

// One engine, and what the simulator found until it went.
class Machine {
 public:
  // Puts another driver before the simulated one.
  using Wrap = std::function<std::unique_ptr<Driver>(std::unique_ptr<Driver>)>;
  explicit Machine(const std::string& options = "", const Wrap& wrap = nullptr);
  ~Machine();
  bool ok() const { return engine_ != nullptr && engine_->created() == GE_OK; }
  mock::Engine& engine() { return *engine_; }
  mock::Host& host() { return host_; }
  sim::Simulator& simulator() { return *simulator_; }
  // Ends the engine. Findings, leaks among them.
  std::vector<sim::Report> End();

 private:
  mock::Host host_;
  sim::Simulator* simulator_ = nullptr;
  std::vector<sim::Report> found_;
  std::unique_ptr<mock::Engine> engine_;
};

// A block of a domain.
class Block {
 public:
  Block(Machine& m, uint32_t device, uint32_t domain, uint64_t bytes);
  ~Block();
  Block(const Block&) = delete;
  ge_buf buf() const;
  float* floats() const { return static_cast<float*>(address_); }
  ge_rc rc() const { return rc_; }

 private:
  Machine& m_;
  uint64_t bytes_;
  ge_mem* mem_ = nullptr;
  void* address_ = nullptr;
  ge_rc rc_ = GE_OK;
};

// x -> x * c -> softmax of its transpose -> the host, in rounds over four streams. Each round waits
// on its streams for what the rounds before still read, and the host for the round before.
class Pipeline {
 public:
  static constexpr uint64_t kWaitNs = 2'000'000'000;
  explicit Pipeline(Machine* machine, uint64_t wait_ns = kWaitNs);
  ~Pipeline();
  // Answers the first failure; text() says what it was. Results that differ: GE_DATA_LOSS.
  ge_rc Rounds(int n);
  // The same work captured once and launched `n` times.
  ge_rc Captured(int n);
  // The result to the other device and back, by copies between them.
  ge_rc Peers();
  ge_rc Stamps();
  // Copies that the host waits for.
  ge_rc Now();
  // All of these.
  ge_rc All();
  const std::string& text() const { return text_; }
  const ge_err& error() const { return error_; }

 private:
  enum On { kIn, kScale, kSoftmax, kOut, kAll, kPeer, kStreams };
  ge_rc Prepare();
  ge_rc Compile();
  ge_rc Fill(int round);
  ge_rc Check(int round);
  ge_rc Round(int round);
  // The work of a round with the values of its signals; `waits`: for the round before.
  ge_rc Queue(int slot, uint64_t value, bool waits);
  ge_rc Wait(On on, uint64_t value);
  ge_rc Signal(On on, uint64_t value);
  ge_rc StreamWait(On on, On signaller, uint64_t value);
  ge_rc Copy(ge_stream* stream, const ge_buf& from, const ge_buf& to);
  ge_rc Launch(On on, const mock::Exec& exec, const ge_buf& in, const ge_buf& out,
               const ge_buf* internal);
  // A call of the ABI: call(err) -> rc.
  template <class Call>
  ge_rc Do(const char* name, const Call& call);
  void Drain();

  Machine& m_;
  const uint64_t wait_ns_;
  std::string text_;
  ge_err error_ = {};
  mock::Graph graph_[2];
  mock::Answer answer_[2];
  std::unique_ptr<mock::Exec> exec_[2];
  std::unique_ptr<Block> in_, scaled_, out_, between_, pinned_in_[2], pinned_out_[2], peer_;
  ge_stream* stream_[kStreams] = {};
  ge_event* event_[kStreams] = {};  // signalled by the stream of the same place
  uint64_t signalled_[kStreams] = {};
  ge_capture* capture_ = nullptr;
  ge_stamps* stamps_ = nullptr;
  std::vector<float> wanted_[2];  // by pinned block
};

}  // namespace ge_engines::device
