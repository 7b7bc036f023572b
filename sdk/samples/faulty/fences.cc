// An asynchronous device in host memory that keeps no order: -DFAULT=FAULT_x. Its work is Add, done
// by a thread a stream, some time after it was queued.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "adder.h"

enum Fault {
  FAULT_FENCES_KEPT,
  FAULT_SIGNALS_EARLY,    // an event is reached when its signal is queued
  FAULT_IGNORES_WAITS,    // a stream does not wait for events
  FAULT_RETURNS_EARLY,    // event_wait answers OK, whatever was reached
  FAULT_KEEPS_ARGUMENTS,  // reads the launch's arrays when the work is done, not when it is queued
  FAULT_NO_STREAMS,       // is asynchronous, but has no events
  // Of captures:
  FAULT_CAPTURE_RUNS,         // work is done while it is recorded, too
  FAULT_CAPTURE_KEEPS_INPUT,  // launches compute with what inputs held when they were recorded
  FAULT_CAPTURE_NO_ORDER,     // a launch does the work of one stream behind that of the others
  FAULT_CAPTURE_STUCK,        // does not end, and its streams go on recording
  FAULT_CAPTURE_LEAKS,        // is never freed
  // Of stamps:
  FAULT_STAMPS_FALL,       // later ones are smaller
  FAULT_STAMPS_OWN_CLOCK,  // count from the engine's creation
  FAULT_STAMPS_EARLY       // are taken when they are queued
};
constexpr Fault kFault = FAULT;

struct ge_engine {
  ge_device device;
  const ge_host_api* host;
  uint64_t begin_ns;
  uint64_t Now() const { return host->now_ns(host->host); }
};
struct ge_exec {
  adder add;
};

struct ge_event {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t value = 0;

  void Reach(uint64_t to) {
    std::lock_guard<std::mutex> lock(mutex);
    value = std::max(value, to);
    changed.notify_all();
  }
  bool Wait(uint64_t until, uint64_t ns) {
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait_for(lock, std::chrono::nanoseconds(std::min<uint64_t>(ns, 1000000000)),
                            [&] { return value >= until; });
  }
};

struct ge_stream {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  ge_capture* recording = nullptr;  // of the host's thread
  bool stop = false;
  std::thread worker{[this] { Work(); }};

  ~ge_stream() {
    Queue(nullptr);
    worker.join();
  }
  void Queue(std::function<void()> task) {
    std::lock_guard<std::mutex> lock(mutex);
    if (task)
      tasks.push_back(std::move(task));
    else
      stop = true;
    changed.notify_all();
  }
  void Work() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return stop || !tasks.empty(); });
      if (tasks.empty()) return;
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }
  }
};

struct ge_capture {
  struct Task {
    ge_stream* of;
    std::function<void()> work;
  };
  std::vector<Task> tasks;
  std::vector<ge_stream*> streams;
};

struct ge_stamps {
  ge_engine* engine;
  std::vector<uint64_t> ns;
};

namespace {

// Queues the work, or records it. Signals and waits within a capture, `orders`, are fulfilled by
// the order of their calls.
void Put(ge_stream* s, std::function<void()> work, bool orders = false) {
  if (s->recording == nullptr) return s->Queue(std::move(work));
  if (kFault == FAULT_CAPTURE_RUNS && !orders) work();
  if (!orders) s->recording->tasks.push_back({s, std::move(work)});
}

thread_local ge_capture* t_recording = nullptr;

ge_rc CaptureBegin(ge_engine*, ge_stream* const* stream, uint32_t n, ge_err*) {
  t_recording = new ge_capture;
  t_recording->streams.assign(stream, stream + n);
  for (ge_stream* s : t_recording->streams) s->recording = t_recording;
  return GE_OK;
}
ge_rc CaptureEnd(ge_engine*, ge_capture** out, ge_err* err) {
  if (kFault == FAULT_CAPTURE_STUCK) {
    return adder_fail(err, GE_UNAVAILABLE, "faulty: no capture comes to an end");
  }
  ge_capture* c = t_recording;
  for (ge_stream* s : c->streams) s->recording = nullptr;
  if (kFault == FAULT_CAPTURE_NO_ORDER) {
    std::stable_partition(c->tasks.begin(), c->tasks.end(),
                          [&](const auto& t) { return t.of != c->streams[0]; });
  }
  *out = c;
  return GE_OK;
}
ge_rc CaptureLaunch(ge_capture* capture, ge_stream* s, ge_err*) {
  s->Queue([capture] {
    for (const auto& t : capture->tasks) t.work();
  });
  return GE_OK;
}
void CaptureDestroy(ge_capture* capture) {
  if (kFault != FAULT_CAPTURE_LEAKS) delete capture;
}

ge_rc StampsCreate(ge_engine* e, uint32_t, uint32_t n, ge_stamps** out, ge_err*) {
  *out = new ge_stamps{e, std::vector<uint64_t>(n)};
  return GE_OK;
}
ge_rc StreamStamp(ge_stream* s, ge_stamps* stamps, uint32_t index, ge_err*) {
  const uint64_t now = stamps->engine->Now();
  Put(s, [=] { stamps->ns[index] = kFault == FAULT_STAMPS_EARLY ? now : stamps->engine->Now(); });
  return GE_OK;
}
ge_rc StampsRead(ge_stamps* stamps, uint32_t first, uint32_t n, uint64_t* ns, ge_err*) {
  for (uint32_t i = 0; i < n; ++i) {
    const uint64_t from = kFault == FAULT_STAMPS_FALL ? stamps->ns.size() - 1 - i : first + i;
    ns[i] = stamps->ns[from] -
            (kFault == FAULT_STAMPS_OWN_CLOCK ? stamps->engine->begin_ns : uint64_t{0});
  }
  return GE_OK;
}

ge_rc Create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  const ge_hdr* x = adder_must(&args->h, 0);
  if (x == nullptr) x = adder_must(&args->host->h, 0);
  if (x != nullptr) return adder_refuse(err, x, "create");
  *out = new ge_engine();
  (*out)->device.h = GE_HDR(ge_device, GE_TAG_DEVICE);
  (*out)->device.name = {"late", 4};
  (*out)->device.flags = GE_DEVICE_ASYNC;
  (*out)->device.max_streams = 4;
  (*out)->host = args->host;
  (*out)->begin_ns = (*out)->Now();
  return GE_OK;
}

ge_rc Devices(ge_engine* e, const ge_device** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = &e->device;
  *n = 1;
  *stride = sizeof e->device;
  return GE_OK;
}

ge_rc Query(ge_engine*, const ge_graph* g, const ge_sink* s, ge_err* err) {
  const ge_hdr* x = adder_must(&s->h, 0);
  if (x == nullptr) x = adder_graph(g, adder_must);
  if (x != nullptr) return adder_refuse(err, x, "query");
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const int64_t count = adder_takes(g, GE_NODE(g, i));
    ge_decline no = {};
    no.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
    no.node = i;
    no.why = GE_WHY_OP;
    ge_cost cost = {};
    cost.h = GE_HDR(ge_cost, GE_TAG_COST);
    cost.marginal_ns = adder_ns(count) + 2000000;
    cost.source = GE_PRICE_ANALYTIC;
    ge_offer offer = {};
    offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
    offer.node = &i;
    offer.n_node = 1;
    offer.cost = &cost;
    const ge_rc rc = count < 0 ? s->decline(s->host, &no) : s->offer(s->host, &offer);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

ge_rc Compile(ge_engine*, const ge_segment* segment, uint32_t n, uint32_t stride, ge_compiled* out,
              uint32_t out_stride, ge_err*) {
  for (uint32_t i = 0; i < n; ++i) {
    const auto* s = reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                                        uint64_t{i} * stride);
    auto* c =
        reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
    const ge_hdr* x = adder_must(&s->h, 0);
    if (x == nullptr) x = adder_graph(s->graph, adder_must);
    if (x != nullptr) {
      c->rc = adder_refuse(c->err, x, "compile");
      continue;
    }
    if (adder_takes(s->graph, GE_NODE(s->graph, s->taken[0].node[0])) < 0) {
      c->rc = adder_fail(c->err, GE_UNIMPLEMENTED, "faulty: compile: not an Add");
      continue;
    }
    c->exec = new ge_exec();
    adder_prepare(s, &c->exec->add, c);
    c->flags = GE_COMPILED_CAPTURABLE;
  }
  return GE_OK;
}

void Add(const adder& add, const float* a, const float* b, float* y, uint64_t n) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a device that is late
  for (uint64_t i = 0; i < n; ++i) y[i] = a[i % add.count[0]] + b[i % add.count[1]];
}

ge_rc Enqueue(ge_exec* x, const ge_launch* l, ge_err* err) {
  if (const ge_hdr* strange = adder_must(&l->h, 0)) return adder_refuse(err, strange, "enqueue");
  if (l->stream == nullptr) return adder_fail(err, GE_INVALID_ARGUMENT, "faulty: no stream");
  const float *a = adder_operand(&x->add, l, 0), *b = adder_operand(&x->add, l, 1);
  auto* y = static_cast<float*>(l->out[0].ptr);
  const uint64_t n = l->out[0].bytes / sizeof *y;
  if (kFault == FAULT_KEEPS_ARGUMENTS) {
    Put(l->stream, [=] { Add(x->add, a, b, y, l->out[0].bytes / sizeof *y); });
  } else if (kFault == FAULT_CAPTURE_KEEPS_INPUT && l->stream->recording != nullptr) {
    const std::vector<float> left(a, a + x->add.count[0]), right(b, b + x->add.count[1]);
    Put(l->stream, [=] { Add(x->add, left.data(), right.data(), y, n); });
  } else {
    Put(l->stream, [=] { Add(x->add, a, b, y, n); });
  }
  return GE_OK;
}

ge_rc StreamCreate(ge_engine*, uint32_t, ge_stream** out, ge_err*) {
  *out = new ge_stream;
  return GE_OK;
}
ge_rc EventCreate(ge_engine*, uint32_t, ge_event** out, ge_err*) {
  *out = new ge_event;
  return GE_OK;
}
ge_rc StreamWait(ge_stream* s, ge_event* e, uint64_t value, ge_err*) {
  if (kFault == FAULT_IGNORES_WAITS) return GE_OK;
  // Bounded, so that a host which never signals can end its stream.
  Put(
      s, [=] { e->Wait(value, 1000000000); }, true);
  return GE_OK;
}
ge_rc StreamSignal(ge_stream* s, ge_event* e, uint64_t value, ge_err*) {
  if (kFault == FAULT_SIGNALS_EARLY) {
    e->Reach(value);
  } else {
    Put(
        s, [=] { e->Reach(value); }, true);
  }
  return GE_OK;
}
ge_rc EventWait(ge_event* e, uint64_t value, uint64_t timeout_ns, ge_err*) {
  if (kFault == FAULT_RETURNS_EARLY) return GE_OK;
  return e->Wait(value, timeout_ns) ? GE_OK : GE_PENDING;
}

}  // namespace

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  static ge_engine_api api;
  static ge_plugin_desc desc;
  if (args->host_major != GE_ABI_MAJOR) {
    std::snprintf(args->refusal, sizeof args->refusal, "faulty speaks another major version");
    return nullptr;
  }
  api.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  api.query = Query;
  api.compile = Compile;
  api.enqueue = Enqueue;
  api.devices = Devices;
  api.exec_destroy = [](ge_exec* x) { delete x; };
  api.stream_create = StreamCreate;
  api.stream_destroy = [](ge_stream* s) { delete s; };
  api.event_create = EventCreate;
  api.event_destroy = [](ge_event* e) { delete e; };
  api.stream_wait = StreamWait;
  api.stream_signal = StreamSignal;
  api.event_wait = EventWait;
  if (kFault == FAULT_NO_STREAMS) api.event_create = nullptr;
  api.fill = adder_fill;
  api.stamps_create = StampsCreate;
  api.stamps_destroy = [](ge_stamps* s) { delete s; };
  api.stream_stamp = StreamStamp;
  api.stamps_read = StampsRead;
  api.capture_begin = CaptureBegin;
  api.capture_end = CaptureEnd;
  api.capture_launch = CaptureLaunch;
  api.capture_destroy = CaptureDestroy;
  desc.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  desc.magic = GE_PLUGIN_MAGIC;
  desc.abi_major = GE_ABI_MAJOR;
  desc.abi_minor = GE_ABI_MINOR;
  desc.header_hash = GE_HEADER_HASH;
  desc.name = {FAULT_NAME, sizeof FAULT_NAME - 1};
  desc.version = {"1.0", 3};
  desc.vendor = {"sample", 6};
  desc.kinds = GE_KIND_ENGINE;
  desc.sanitizer = GE_SANITIZER_HERE;
  desc.engine_create = Create;
  desc.engine_destroy = [](ge_engine* e) { delete e; };
  desc.engine = &api;
  return &desc;
}
