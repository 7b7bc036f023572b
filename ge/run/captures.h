// Captures: a frame's capture regions, recorded by their engine once their addresses have stood
// still for some runs, and then launched by one call each. A region that the engine fails to
// capture is issued call by call from then on; the CaptureLog says why. Owned by the frame, used by
// its run.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin.h"
#include "ge/run/capture_regions.h"

namespace ge {

class Frame;

// What the captures of all frames of a plan came to. Thread-safe.
class CaptureLog {
 public:
  struct Totals {
    uint64_t made = 0, launched = 0, dropped = 0;  // dropped: for newer ones of other addresses
    std::map<std::string, uint64_t> failed;        // why: how often
  };
  void Made(bool drops);
  void Launched(uint64_t n) { launched_.fetch_add(n, std::memory_order_relaxed); }
  void Failed(std::string_view why);
  Totals Read() const;

 private:
  std::atomic<uint64_t> launched_{0};  // each run adds to it, and takes no lock
  mutable std::mutex mutex_;
  Totals totals_;
};

class Captures {
 public:
  // Of one frame; all three outlive it.
  Captures(const CaptureRegions& regions, Frame* frame, CaptureLog* log);
  ~Captures();
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // The region that begins at the instruction, else null.
  const CaptureRegion* At(uint32_t instruction) const {
    return instruction < at_.size() && at_[instruction] != kNone ? &regions_.found[at_[instruction]]
                                                                 : nullptr;
  }
  // Launches it as captured, capturing it first where its addresses have stood still. False where
  // the caller is to issue its instructions one by one. *rc: of the call that failed.
  bool Run(const CaptureRegion& region, ge_rc* rc, ge_err* err);
  void EndRun();

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Of a buffer; a freed block's address may come again in another one.
  struct Place {
    const void* address = nullptr;
    const ge_mem* mem = nullptr;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Held {
    std::vector<Place> places;
    std::vector<uint64_t> blocks;  // Frame::block_numbers_
    ge_capture* capture = nullptr;
    uint64_t used = 0;  // number of the run that used it last
  };
  struct State {
    std::vector<const ge_buf*> buf;  // those whose address a run may change
    std::vector<Place> now, last;
    std::vector<uint64_t> last_blocks;
    uint32_t still = 0;  // runs in a row with these addresses
    bool refused = false;
    std::vector<Held> held;
  };
  void NoteBufs(const CaptureRegion& region, State* state) const;
  Held* Find(State* state) const;
  ge_rc Capture(const CaptureRegion& region, State* state, ge_err* err);
  ge_rc Record(const CaptureRegion& region, ge_err* err);
  ge_rc Launch(const CaptureRegion& region, ge_capture* capture, ge_err* err);
  // `to` goes on when `from` has done what it has so far.
  ge_rc Join(const CaptureRegion& region, uint32_t from, uint32_t to, ge_err* err);
  const struct RunEngine& EngineOf(const CaptureRegion& region) const;

  const CaptureRegions& regions_;
  Frame* const frame_;
  CaptureLog* const log_;
  std::vector<uint32_t> at_;  // by instruction: index of the region that begins there
  std::vector<State> state_;  // by region
  uint64_t launched_ = 0;     // in this run
};

}  // namespace ge
