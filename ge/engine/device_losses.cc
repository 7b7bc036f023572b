#include "ge/engine/device_losses.h"

#include <atomic>

namespace ge {
namespace {

constexpr uint64_t kAnswerNs = 100'000'000;

std::atomic<uint64_t> g_losses{0};

}  // namespace

uint64_t DeviceLosses::Count() { return g_losses.load(std::memory_order_acquire); }

bool DeviceLosses::Add(uint32_t device, const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!why_.emplace(device, why).second) return false;
  flag_[device].store(true, std::memory_order_release);
  g_losses.fetch_add(1, std::memory_order_release);
  return true;
}

bool DeviceLosses::Has(uint32_t device) const {
  if (Count() == 0) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  return why_.count(device) != 0;
}

const std::atomic<bool>* DeviceLosses::Flag(uint32_t device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return &flag_[device];
}

std::map<uint32_t, std::string> DeviceLosses::All() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return why_;
}

bool DeviceAnswers(const ge_engine_api& api, ge_engine* engine, uint32_t device) {
  if (api.stream_create == nullptr || api.event_create == nullptr) return true;
  ge_err ignored{};
  ignored.h = GE_HDR(ge_err, GE_TAG_ERR);
  ge_stream* stream = nullptr;
  ge_event* event = nullptr;
  ge_rc rc = api.stream_create(engine, device, &stream, &ignored);
  if (rc == GE_OK) rc = api.event_create(engine, device, &event, &ignored);
  if (rc == GE_OK) rc = api.stream_signal(stream, event, 1, &ignored);
  if (rc == GE_OK) rc = api.event_wait(event, 1, kAnswerNs, &ignored);
  if (rc == GE_PENDING) return false;
  if (stream != nullptr) api.stream_destroy(stream);
  if (event != nullptr) api.event_destroy(event);
  return rc == GE_OK;
}

}  // namespace ge
