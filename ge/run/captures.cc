#include "ge/run/captures.h"

#include <algorithm>

#include "ge/base/no_throw.h"
#include "ge/run/frame.h"

namespace ge {
namespace {

// Runs with the same addresses before a capture is made of them: it costs about as much as a run.
constexpr uint32_t kStill = 3;
// Captures of one region that a frame keeps, each of other addresses: memory on the device.
constexpr size_t kHeld = 4;

}  // namespace

void CaptureLog::Made(bool drops) {
  const std::lock_guard lock(mutex_);
  ++totals_.made;
  totals_.dropped += drops;
}

void CaptureLog::Failed(std::string_view why) {
  const std::lock_guard lock(mutex_);
  ++totals_.failed[std::string(why)];
}

CaptureLog::Totals CaptureLog::Read() const {
  const std::lock_guard lock(mutex_);
  Totals totals = totals_;
  totals.launched = launched_.load(std::memory_order_relaxed);
  return totals;
}

Captures::Captures(const CaptureRegions& regions, Frame* frame, CaptureLog* log)
    : regions_(regions), frame_(frame), log_(log), state_(regions.found.size()) {
  at_.assign(frame->records_.size(), kNone);
  for (uint32_t s = 0; s < regions.found.size(); ++s) {
    at_[regions.found[s].first] = s;
    NoteBufs(regions.found[s], &state_[s]);
  }
}

Captures::~Captures() {
  for (size_t s = 0; s < state_.size(); ++s) {
    for (const Held& held : state_[s].held) {
      EngineOf(regions_.found[s]).api.capture_destroy(held.capture);
    }
  }
}

const RunEngine& Captures::EngineOf(const CaptureRegion& region) const {
  return frame_->engine(frame_->program_.plan().devices[region.device].engine);
}

void Captures::NoteBufs(const CaptureRegion& region, State* state) const {
  const auto all = [&](const ge_buf* buf, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) state->buf.push_back(&buf[i]);
  };
  for (const uint32_t i : region.inner) {
    const Frame::Record& r = frame_->records_[i];
    if (r.op == PlanOp::kCopy) {
      all(&r.copy.src, 1);
      all(&r.copy.dst, 1);
    }
    if (r.op != PlanOp::kLaunch) continue;
    all(r.launch.in, r.launch.n_in);
    all(r.launch.out, r.launch.n_out);
    all(r.launch.internal, r.launch.n_internal);
    all(r.launch.pack, r.launch.n_pack);
    all(&r.launch.workspace, 1);
  }
  state->now.resize(state->buf.size());
  state->last.resize(state->buf.size());
}

bool Captures::Run(const CaptureRegion& region, ge_rc* rc, ge_err* err) {
  State& state = state_[static_cast<size_t>(&region - regions_.found.data())];
  if (state.refused) return false;
  for (size_t b = 0; b < state.buf.size(); ++b)
    state.now[b] = {state.buf[b]->ptr, state.buf[b]->mem};
  Held* held = Find(&state);
  if (held == nullptr) {
    const bool still = state.now == state.last && state.last_blocks == frame_->block_numbers_;
    state.still = still ? state.still + 1 : 0;
    state.last = state.now;
    state.last_blocks = frame_->block_numbers_;
    if (state.still < kStill) return false;
    *rc = Capture(region, &state, err);
    if (*rc != GE_OK) {
      // What was captured has not run: the caller issues it as before.
      log_->Failed({err->msg, std::min<size_t>(err->msg_len, sizeof err->msg)});
      err->msg_len = 0;
      state.refused = true;
      *rc = GE_OK;
      return false;
    }
    held = Find(&state);
  }
  held->used = frame_->epoch_;
  *rc = Launch(region, held->capture, err);
  ++launched_;
  return true;
}

void Captures::EndRun() {
  if (launched_ > 0) log_->Launched(launched_);
  launched_ = 0;
}

Captures::Held* Captures::Find(State* state) const {
  const auto it = std::find_if(state->held.begin(), state->held.end(), [&](const Held& h) {
    return h.blocks == frame_->block_numbers_ && h.places == state->now;
  });
  return it == state->held.end() ? nullptr : &*it;
}

ge_rc Captures::Join(const CaptureRegion& region, uint32_t from, uint32_t to, ge_err* err) {
  const ge_engine_api& api = EngineOf(region).api;
  const uint64_t value = ++frame_->drained_;
  const ge_rc rc = api.stream_signal(frame_->streams_[from], frame_->drain_[from], value, err);
  if (rc != GE_OK) return rc;
  return api.stream_wait(frame_->streams_[to], frame_->drain_[from], value, err);
}

// Between capture_begin and capture_end.
ge_rc Captures::Record(const CaptureRegion& region, ge_err* err) {
  const RunEngine& e = EngineOf(region);
  const uint32_t origin = region.stream[0];
  for (size_t s = 1; s < region.stream.size(); ++s) {
    const ge_rc rc = Join(region, origin, region.stream[s], err);
    if (rc != GE_OK) return rc;
  }
  for (const uint32_t i : region.inner) {
    Frame::Record& r = frame_->records_[i];
    ge_rc rc = GE_OK;
    if (r.op == PlanOp::kLaunch) {
      r.launch.stop = nullptr;
      rc = NoThrow<ge_rc>(GE_OUT_OF_MEMORY, GE_INTERNAL, err,
                          [&] { return e.api.enqueue(r.exec, &r.launch, err); });
    } else if (r.op == PlanOp::kCopy) {
      rc = e.api.copy(e.engine, &r.copy, err);
    } else {
      rc = frame_->program_.Meet(*frame_, &r, e, err);
    }
    if (rc != GE_OK) return rc;
  }
  for (size_t s = 1; s < region.stream.size(); ++s) {
    const ge_rc rc = Join(region, region.stream[s], origin, err);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

ge_rc Captures::Capture(const CaptureRegion& region, State* state, ge_err* err) {
  const RunEngine& e = EngineOf(region);
  std::vector<ge_stream*> streams;
  for (const uint32_t s : region.stream) streams.push_back(frame_->streams_[s]);
  ge_rc rc =
      e.api.capture_begin(e.engine, streams.data(), static_cast<uint32_t>(streams.size()), err);
  if (rc != GE_OK) return rc;
  rc = Record(region, err);
  Held made;
  ge_err end = *err;  // the first failure is the one that is told
  const ge_rc ended = e.api.capture_end(e.engine, &made.capture, rc == GE_OK ? err : &end);
  if (rc != GE_OK && ended == GE_OK) e.api.capture_destroy(made.capture);
  if (rc != GE_OK || ended != GE_OK) return rc != GE_OK ? rc : ended;
  made.places = state->now;
  made.blocks = frame_->block_numbers_;
  const bool drops = state->held.size() == kHeld;
  if (drops) {
    const auto oldest =
        std::min_element(state->held.begin(), state->held.end(),
                         [](const Held& a, const Held& b) { return a.used < b.used; });
    e.api.capture_destroy(oldest->capture);
    state->held.erase(oldest);
  }
  state->held.push_back(std::move(made));
  log_->Made(drops);
  return GE_OK;
}

ge_rc Captures::Launch(const CaptureRegion& region, ge_capture* capture, ge_err* err) {
  const RunEngine& e = EngineOf(region);
  const uint32_t origin = region.stream[0];
  const auto meet = [&](uint32_t i) {
    return frame_->program_.Meet(*frame_, &frame_->records_[i], e, err, frame_->streams_[origin]);
  };
  ge_rc rc = GE_OK;
  for (size_t k = 0; rc == GE_OK && k < region.before.size(); ++k) rc = meet(region.before[k]);
  for (size_t k = 0; rc == GE_OK && k < region.joined.size(); ++k) {
    rc = Join(region, region.joined[k], origin, err);
  }
  if (rc == GE_OK) rc = e.api.capture_launch(capture, frame_->streams_[origin], err);
  for (size_t k = 0; rc == GE_OK && k < region.behind.size(); ++k) rc = meet(region.behind[k]);
  for (size_t k = 0; rc == GE_OK && k < region.released.size(); ++k) {
    rc = Join(region, origin, region.released[k], err);
  }
  return rc;
}

}  // namespace ge
