#include "ge/tune/stream_timer.h"

#include <algorithm>

#include "ge/engine/engine.h"

namespace ge {

Result<std::unique_ptr<StreamTimer>> StreamTimer::Make(const ge_engine_api& api, ge_engine* engine,
                                                       const std::string& name, uint32_t device,
                                                       NsClock now) {
  std::unique_ptr<StreamTimer> t(new StreamTimer(api, name, std::move(now)));
  ge_err err = EmptyError();
  ge_rc rc = api.stream_create(engine, device, &t->stream_, &err);
  if (rc != GE_OK) return t->Check("stream_create", rc, err);
  rc = api.event_create(engine, device, &t->event_, &err);
  if (rc != GE_OK) return t->Check("event_create", rc, err);
  if (api.stamps_create == nullptr) return t;
  rc = api.stamps_create(engine, device, 2, &t->stamps_, &err);
  if (rc != GE_OK) return t->Check("stamps_create", rc, err);
  return t;
}

StreamTimer::~StreamTimer() {
  // A stream ends its work first, which may write stamps.
  if (stream_ != nullptr) api_.stream_destroy(stream_);
  if (stamps_ != nullptr) api_.stamps_destroy(stamps_);
  if (event_ != nullptr) api_.event_destroy(event_);
}

Status StreamTimer::Check(const char* call, ge_rc rc, const ge_err& err) const {
  return rc == GE_OK ? Status() : FromEngine(name_, call, rc, err);
}

Status StreamTimer::Stamp(uint32_t index) {
  if (stamps_ == nullptr) return {};
  ge_err err = EmptyError();
  return Check("stream_stamp", api_.stream_stamp(stream_, stamps_, index, &err), err);
}

Status StreamTimer::Wait() {
  ge_err err = EmptyError();
  ge_rc rc = api_.stream_signal(stream_, event_, ++value_, &err);
  if (rc != GE_OK) return Check("stream_signal", rc, err);
  do {
    rc = api_.event_wait(event_, value_, 1'000'000'000, &err);
  } while (rc == GE_PENDING);
  return Check("event_wait", rc, err);
}

Status StreamTimer::Queue(const Work& work, int pieces) {
  GE_RETURN_IF_ERROR(Stamp(0));
  for (int i = 0; i < pieces; ++i) GE_RETURN_IF_ERROR(work(stream_));
  GE_RETURN_IF_ERROR(Stamp(1));
  return Wait();
}

Result<StreamTimer::Times> StreamTimer::Time(const Work& work, int pieces) {
  const double begin = now_();
  GE_RETURN_IF_ERROR(Queue(work, pieces));
  const double once = now_() - begin;
  if (stamps_ != nullptr) {
    uint64_t at[2] = {};
    ge_err err = EmptyError();
    GE_RETURN_IF_ERROR(Check("stamps_read", api_.stamps_read(stamps_, 0, 2, at, &err), err));
    const double span = at[1] > at[0] ? static_cast<double>(at[1] - at[0]) : 0;
    return Times{span / pieces, std::max(0.0, once - span)};
  }
  const double again = now_();
  GE_RETURN_IF_ERROR(Queue(work, 2 * pieces));
  const double twice = now_() - again;
  return Times{std::max(0.0, twice - once) / pieces, std::max(0.0, 2 * once - twice)};
}

}  // namespace ge
