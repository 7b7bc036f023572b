// The device: what stands here does in a vendor's library what the comments say.
#include "tests/abi/museum/1.0/plugins/device/device.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

using device::Task;
using ge::plugin::Guard;
using ge::plugin::Understand;

ge_engine::ge_engine(const ge_host_api* api) : host(api) {
  device.h = GE_HDR(ge_device, GE_TAG_DEVICE);
  device.name = ge::plugin::Str("my_plugin:0");
  device.flags = GE_DEVICE_ASYNC;
  device.max_streams = device::kStreams;
  device.flops_per_ns = device::kFlopsPerNs;
  device.bytes_per_ns = device::kBytesPerNs;
  device.domain = domain;
  device.n_domain = 2;
  device.domain_stride = sizeof domain[0];
  // timeout_ns stays 0: work may take as long as it likes.
  for (int i = 0; i < 2; ++i) {
    domain[i].h = GE_HDR(ge_domain, GE_TAG_DOMAIN);
    std::string_view(device::kName).copy(reinterpret_cast<char*>(domain[i].id), 15);
    domain[i].id[15] = static_cast<uint8_t>(1 + i);  // another memory
    domain[i].bytes = device::kBytes;
  }
  domain[0].name = ge::plugin::Str("device");
  domain[0].flags = GE_MEM_DEVICE_LOCAL;
  domain[1].name = ge::plugin::Str("pinned");
  domain[1].flags = GE_MEM_HOST_VISIBLE | GE_MEM_COHERENT | GE_MEM_PINNED;
  std::memcpy(device.uuid, domain[0].id, sizeof device.uuid);
  // To the device and back: from the host's memory (all zero), and twice as fast from pinned.
  for (int i = 0; i < 4; ++i) {
    link[i].h = GE_HDR(ge_link, GE_TAG_LINK);
    const bool to_device = i % 2 == 0, pinned = i >= 2;
    std::memcpy(to_device ? link[i].to : link[i].from, domain[0].id, sizeof link[i].to);
    if (pinned) std::memcpy(to_device ? link[i].from : link[i].to, domain[1].id, 16);
    link[i].latency_ns = device::kLinkNs;
    link[i].bytes_per_ns = device::kLinkBytesPerNs * (pinned ? 2 : 1);
  }
}

// ---- streams: a queue, and a thread that works it off -------------------------------------------

ge_stream::ge_stream(ge_engine* e) : engine(e), ring_(256), thread_([this] { Run(); }) {}

ge_stream::~ge_stream() {
  {
    const std::lock_guard<std::mutex> lock(engine->mutex);
    stop_ = true;
    engine->changed.notify_all();
  }
  thread_.join();
}

ge_rc ge_stream::Queue(Task task, ge_err* err) {
  (void)std::fegetenv(&task.mode);
  const ge_rc rc = Guard(err, device::kName, [&]() -> ge_rc {
    if (capture != nullptr) return capture->tasks.push_back(task), GE_OK;
    const std::lock_guard<std::mutex> lock(engine->mutex);
    if (count_ == ring_.size()) {  // rare: a plan's longest queue fits
      std::vector<Task> larger(2 * count_);
      for (size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) % count_];
      ring_.swap(larger);
      first_ = 0;
    }
    ring_[(first_ + count_++) % ring_.size()] = task;
    if (task.kind == Task::kSignal) task.event->called = std::max(task.event->called, task.value);
    engine->changed.notify_all();
    return GE_OK;
  });
  if (rc != GE_OK && capture != nullptr) capture->failed = true;
  return rc;
}

bool ge_stream::Next(Task* task) {
  std::unique_lock<std::mutex> lock(engine->mutex);
  engine->changed.wait(lock, [&] { return count_ != 0 || stop_; });
  if (count_ == 0) return false;
  *task = ring_[first_];
  first_ = (first_ + 1) % ring_.size();
  --count_;
  return true;
}

void ge_stream::Run() {
  for (Task task; Next(&task);) Do(task);
}

// Behind a failure nothing is done, and signals bring it to whoever waits.
void ge_stream::Do(const Task& task) {
  if (task.kind == Task::kSignal) return Signal(task);
  if (failure_.code != GE_OK) return;
  switch (task.kind) {
    case Task::kLaunch:
      (void)std::fesetenv(&task.mode);
      if (device::Compute(task) != GE_OK) Fail(GE_CANCELLED, "cancelled");
      return;
    case Task::kCopy:
      if (task.bytes != 0) std::memcpy(task.to, task.from, task.bytes);
      return;
    case Task::kStamp:
      *task.stamp = engine->host->now_ns(engine->host->host);
      return;
    case Task::kCapture:  // in the order of its calls, which fulfils the waits among them
      for (const Task& inner : task.capture->tasks) {
        if (inner.kind != Task::kSignal && inner.kind != Task::kWait) Do(inner);
      }
      return;
    default:
      return WaitFor(task);
  }
}

void ge_stream::Fail(ge_rc code, const char* text) {
  failure_.code = code;
  failure_.scope = GE_SCOPE_EXEC;  // what is queued behind is lost, too; the device goes on
  std::snprintf(failure_.text, sizeof failure_.text, "%s: %s", device::kName, text);
}

void ge_stream::WaitFor(const Task& task) {
  std::unique_lock<std::mutex> lock(engine->mutex);
  const ge_event& e = *task.event;
  engine->changed.wait(lock, [&] {
    return e.value >= task.value || e.failure.code != GE_OK || (stop_ && e.called < task.value);
  });
  if (e.value >= task.value) return;
  failure_ = e.failure;
  if (failure_.code == GE_OK) Fail(GE_CANCELLED, "the stream ended while it waited");
}

void ge_stream::Signal(const Task& task) {
  const std::lock_guard<std::mutex> lock(engine->mutex);
  if (failure_.code == GE_OK) {
    task.event->value = std::max(task.event->value, task.value);
  } else if (task.event->failure.code == GE_OK) {
    task.event->failure = failure_;
  }
  engine->changed.notify_all();
}

namespace device {

static Task TaskOf(Task::Kind kind) {
  Task task = {};
  task.kind = kind;
  return task;
}

// ---- memory -------------------------------------------------------------------------------------

ge_rc Devices(ge_engine* e, const ge_device** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = &e->device;
  *n = 1;
  *stride = sizeof e->device;
  return GE_OK;
}

ge_rc Links(ge_engine* e, const ge_link** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = e->link;
  *n = 4;
  *stride = sizeof e->link[0];
  return GE_OK;
}

// Here device and pinned memory are the process's; a vendor has a call for each.
ge_rc MemAlloc(ge_engine*, uint32_t, uint32_t, uint64_t bytes, uint64_t align, ge_mem** out,
               void** address, ge_err* err) {
  const uint64_t unit = std::max<uint64_t>(align, 64);
  auto* mem = bytes <= kBytes ? new (std::nothrow) ge_mem : nullptr;
  if (mem != nullptr) mem->address = std::aligned_alloc(unit, (bytes / unit + 1) * unit);
  if (mem == nullptr || mem->address == nullptr) {
    delete mem;
    return ge::plugin::Fail(
        err, GE_OUT_OF_MEMORY, UINT32_MAX, "%s: no block of %llu bytes on a device of %llu", kName,
        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(kBytes));
  }
  *out = mem;
  *address = mem->address;
  return GE_OK;
}

void MemFree(ge_engine*, ge_mem* mem) {
  std::free(mem->address);
  delete mem;
}

ge_rc Copy(ge_engine*, const ge_copy* copy, ge_err* err) {
  if (Understand(copy->h, err, kName)) return GE_UNIMPLEMENTED;
  Task task = TaskOf(Task::kCopy);
  task.to = copy->dst.ptr;
  task.from = copy->src.ptr;
  task.bytes = copy->dst.bytes;
  if (copy->stream != nullptr) return copy->stream->Queue(task, err);
  if (task.bytes != 0) std::memcpy(task.to, task.from, task.bytes);
  return GE_OK;
}

// ---- events -------------------------------------------------------------------------------------

ge_rc StreamCreate(ge_engine* e, uint32_t, ge_stream** out, ge_err* err) {
  return Guard(err, kName, [&]() -> ge_rc { return *out = new ge_stream(e), GE_OK; });
}
void StreamDestroy(ge_stream* stream) { delete stream; }

ge_rc EventCreate(ge_engine* e, uint32_t, ge_event** out, ge_err* err) {
  return Guard(err, kName, [&]() -> ge_rc { return *out = new ge_event{e, 0, 0, {}}, GE_OK; });
}
void EventDestroy(ge_event* event) { delete event; }

static ge_rc Meet(Task::Kind kind, ge_stream* s, ge_event* event, uint64_t value, ge_err* err) {
  Task task = TaskOf(kind);
  task.event = event;
  task.value = value;
  return s->Queue(task, err);
}
ge_rc StreamWait(ge_stream* s, ge_event* event, uint64_t value, ge_err* err) {
  return Meet(Task::kWait, s, event, value, err);
}
ge_rc StreamSignal(ge_stream* s, ge_event* event, uint64_t value, ge_err* err) {
  return Meet(Task::kSignal, s, event, value, err);
}

ge_rc EventWait(ge_event* event, uint64_t value, uint64_t timeout_ns, ge_err* err) {
  std::unique_lock<std::mutex> lock(event->engine->mutex);
  const auto over = [&] { return event->value >= value || event->failure.code != GE_OK; };
  const std::chrono::nanoseconds limit(std::min(timeout_ns, uint64_t{1} << 60));  // 36 years
  if (!event->engine->changed.wait_for(lock, limit, over)) return GE_PENDING;
  if (event->value >= value) return GE_OK;
  const Failure& f = event->failure;
  ge::plugin::Fail(err, f.code, UINT32_MAX, "%s", f.text);
  if (err != nullptr) err->scope = f.scope;
  return f.code;
}

// ---- stamps, optional: times of the host's clock, taken on a stream -----------------------------

ge_rc StampsCreate(ge_engine*, uint32_t, uint32_t n, ge_stamps** out, ge_err* err) {
  return Guard(err, kName, [&]() -> ge_rc {
    auto stamps = std::make_unique<ge_stamps>();
    stamps->ns.resize(n);
    return *out = stamps.release(), GE_OK;
  });
}
void StampsDestroy(ge_stamps* stamps) { delete stamps; }

ge_rc StreamStamp(ge_stream* s, ge_stamps* stamps, uint32_t index, ge_err* err) {
  Task task = TaskOf(Task::kStamp);
  task.stamp = &stamps->ns[index];
  return s->Queue(task, err);
}
ge_rc StampsRead(ge_stamps* stamps, uint32_t first, uint32_t n, uint64_t* ns, ge_err*) {
  std::copy_n(stamps->ns.begin() + first, n, ns);
  return GE_OK;
}

// ---- capture, optional: calls recorded once and launched as one ---------------------------------

// Of the thread that records: begin and end come from one.
static thread_local std::unique_ptr<ge_capture> t_recording;

ge_rc CaptureBegin(ge_engine*, ge_stream* const* stream, uint32_t n, ge_err* err) {
  return Guard(err, kName, [&]() -> ge_rc {
    t_recording = std::make_unique<ge_capture>();
    t_recording->streams.assign(stream, stream + n);
    for (ge_stream* s : t_recording->streams) s->capture = t_recording.get();
    return GE_OK;
  });
}

ge_rc CaptureEnd(ge_engine*, ge_capture** out, ge_err* err) {
  std::unique_ptr<ge_capture> capture = std::move(t_recording);
  for (ge_stream* s : capture->streams) s->capture = nullptr;
  if (capture->failed) {
    return ge::plugin::Fail(err, GE_OUT_OF_MEMORY, UINT32_MAX, "%s: no room to record", kName);
  }
  *out = capture.release();
  return GE_OK;
}

ge_rc CaptureLaunch(ge_capture* capture, ge_stream* s, ge_err* err) {
  Task task = TaskOf(Task::kCapture);
  task.capture = capture;
  return s->Queue(task, err);
}
void CaptureDestroy(ge_capture* capture) { delete capture; }

}  // namespace device
