// StreamTimer: what work on a stream of a device takes, and what a visit of the host takes beside
// it. By stamps where the engine has them; else by the difference of n pieces behind one fence and
// twice as many, in which the host's way there and back is the same. It makes no work of its own.
// Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ge/base/repeat_timing.h"
#include "ge/base/status.h"
#include "ge/ge_plugin.h"

namespace ge {

class StreamTimer {
 public:
  // Of an asynchronous device. All outlive it; `now` is the clock that the host sees by.
  static Result<std::unique_ptr<StreamTimer>> Make(const ge_engine_api& api, ge_engine* engine,
                                                   const std::string& name, uint32_t device,
                                                   NsClock now = &SteadyNs);
  ~StreamTimer();
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;

  struct Times {
    double one_ns = 0;    // a piece of work
    double visit_ns = 0;  // until the host has seen the end of all, less all the work
  };
  // `work` queues one piece; it is called `pieces` times, or three times as often.
  using Work = std::function<Status(ge_stream*)>;
  Result<Times> Time(const Work& work, int pieces);
  bool has_stamps() const { return stamps_ != nullptr; }
  // For the longest wait of pieces: without stamps many, so that their work stands out.
  static constexpr int kPieces = 8;

 private:
  StreamTimer(const ge_engine_api& api, const std::string& name, NsClock now)
      : api_(api), name_(name), now_(std::move(now)) {}
  Status Queue(const Work& work, int pieces);
  Status Stamp(uint32_t index);
  Status Wait();
  Status Check(const char* call, ge_rc rc, const ge_err& err) const;

  const ge_engine_api& api_;
  const std::string name_;
  const NsClock now_;
  ge_stream* stream_ = nullptr;
  ge_event* event_ = nullptr;
  ge_stamps* stamps_ = nullptr;
  uint64_t value_ = 0;
};

}  // namespace ge
