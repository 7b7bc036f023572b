// RUN: executes a checked Plan. Knows no planner and no engine loader, only the plugin header. A
// Program is immutable and shared by all runs; a Frame holds the state of one run in flight
// (streams, events, launch records), and takes its arenas from pools, for a run each. Running a
// Frame allocates nothing and looks nothing up; the pools alone have locks.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/domain/domain_memory.h"
#include "ge/ge_plugin.h"
#include "ge/plan/plan.h"
#include "ge/run/arena_pool.h"
#include "ge/run/captures.h"
#include "ge/run/device_fault.h"
#include "ge/run/observer.h"
#include "ge/run/run_clock.h"
#include "ge/run/segment_steps.h"

namespace ge {

// By index of Plan::engines; [0] is the host and stays empty.
struct RunEngine {
  std::string name;
  ge_engine_api api{};
  ge_engine* engine = nullptr;
  const char* enqueue_text = nullptr;  // of Interrupt::EnterPlugin; lives for ever
  std::vector<uint64_t> limit_ns;      // by device of the engine: of its work; 0 = none
  // By device and domain; null: that is the host's memory. The engine owns them.
  std::vector<std::vector<DomainMemory*>> memory = {};
};

struct ProgramParts {
  std::vector<RunEngine> engines;
  std::vector<ge_exec*> execs;             // by segment; owned by the maker of the parts
  std::vector<std::vector<ge_buf>> packs;  // by segment; the same owner keeps their targets
  std::vector<SegmentSteps> steps;         // by segment; the execs own them
  // Makes one more exec of a serial segment for a new frame.
  std::function<Result<ge_exec*>(SegmentId)> make_exec;
  std::vector<const void*> constants;  // by plan value; null unless kConstant
  // For arenas in plain host memory; null: each frame has its own. Must outlive the program.
  ArenaPool* arenas = nullptr;
  std::shared_ptr<RunClock> clock;  // null: no run is timed
  bool red_zones = false;           // see red_zones.h; for plans with gaps and no reuse
  std::function<void(const DeviceFault&)> lose;  // null: nobody is told
};

// For messages: "the arena of 'main' with x [1,3]".
std::string ArenaName(const Plan& plan);

// Of the work of one of the engine's devices; 0 = none.
inline uint64_t LimitOf(const RunEngine& engine, uint32_t device) {
  return device < engine.limit_ns.size() ? engine.limit_ns[device] : 0;
}

class Frame;
class Interrupt;

class Program {
 public:
  // For a checked plan, which must outlive the program.
  static Result<std::unique_ptr<Program>> Make(const Plan& plan, ProgramParts parts);

  Result<std::unique_ptr<Frame>> NewFrame() const;
  // Runs once. `inputs` and `outputs` by position of the entry's signature; for one in a device's
  // memory the address of a DevicePlace (state_memory.h). The Interrupt of this
  // thread's call stops the run between instructions, and within one where its engine polls
  // ge_launch.stop, or while it waits for a device; after everything in flight has finished. A
  // device that does not end its work is waited for no longer than its limit, or half a second once
  // the run is to end: Frame::in_flight then. After any failure the frame must not be used again.
  // FAILED_PRECONDITION with an observer where red zones guard the run.
  Status Run(Frame* frame, const void* const* inputs, void* const* outputs,
             RunObserver* observer = nullptr) const;

  const Plan& plan() const { return plan_; }
  const ProgramParts& parts() const { return parts_; }
  // What engines may capture of the plan, and what came of it in all frames.
  const CaptureRegions& capture_regions() const { return regions_; }
  CaptureLog& capture_log() const { return capture_log_; }
  // Tells of a device that `err` says is lost.
  void NoteFault(uint32_t engine, uint32_t device, ge_rc rc, const ge_err& err) const;
  // How often packs were moved: a capture has their addresses.
  uint64_t packs_moved() const { return packs_moved_; }
  // The same packs at other addresses; no run may be in flight.
  void MovePacks(const std::vector<std::vector<ge_buf>>& packs);

 private:
  Program(const Plan& plan, ProgramParts parts);
  friend class Captures;
  enum class Mode { kPlain, kTimed, kGuarded, kObserved, kCaptured };
  Status RunToEnd(Frame* frame, const void* const* inputs, void* const* outputs,
                  RunObserver* observer) const;
  Status RunIn(Frame* frame, const void* const* inputs, void* const* outputs,
               RunObserver* observer) const;
  Status RunGuarded(Frame* frame, const void* const* inputs, void* const* outputs) const;
  // Issues the instructions; kTimed takes a time stamp before each, kGuarded checks the red zones
  // after each, kObserved tells the frame's observer of each, kCaptured replays regions. Ok when
  // all were issued.
  template <Mode kMode>
  Status Issue(Frame* frame) const;
  template <Mode kMode>
  void Begin(Frame* frame, void* record) const;
  ge_rc Call(const Frame& frame, void* record, const Interrupt* interrupt, ge_err* err) const;
  void Attend(Frame* frame, void* record) const;
  ge_rc Tell(Frame* frame, void* record) const;
  uint32_t StreamWith(std::span<const ge_buf> written, uint32_t stream) const;
  ge_rc Settle(Frame* frame, size_t stream, uint64_t until_ns) const;
  // On `stream` in place of the record's own, where it is given.
  ge_rc Meet(const Frame& frame, const void* record, const RunEngine& engine, ge_err* err,
             ge_stream* stream = nullptr) const;
  // Until when a run that ends waits for what is in flight, in ns of RunClock; 0 = no such time.
  void Drain(Frame* frame, bool give_up_soon) const;
  Status End(Frame* frame, const void* failed_record, bool stopped, ge_rc rc, ge_err* err) const;
  static void PatchDevices(Frame* frame, const void* const* inputs, void* const* outputs);
  uint32_t DeviceOf(const Instruction& ins) const;
  ge_rc TooLate(const void* record, ge_err* err) const;
  Status Explain(const void* failed_record, ge_rc rc, const ge_err& err) const;
  Status Torn(const void* failed_record, ge_rc rc, const ge_err& err) const;
  const Plan& plan_;
  ProgramParts parts_;
  CaptureRegions regions_;
  mutable CaptureLog capture_log_;
  uint64_t packs_moved_ = 0;
};

}  // namespace ge
