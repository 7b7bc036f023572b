// devsim: simulated asynchronous devices around another engine's .so. It exists to test a host:
// its memory faults when the host touches it, its work is late by random times, and its failures
// arrive through events. options.h lists what can be set.
#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <memory>

#include "capture.h"
#include "engine.h"
#include "ge/ge_plugin.hpp"
#include "stamps.h"

namespace devsim {
namespace {

using ge::plugin::Fail;
using ge::plugin::Guard;
using ge::plugin::Understand;

ge_rc QueryGuarded(ge_engine* e, const ge_graph* graph, const ge_sink* sink, ge_err* err) {
  return Guard(err, "devsim: query", [&] {
    ge_rc rc = ge::plugin::UnderstandGraph(*graph, err, "devsim: query");
    if (rc == GE_OK) rc = Understand(sink->h, err, "devsim: query");
    return rc != GE_OK ? rc : Query(e, graph, sink, err);
  });
}

bool MustFail(const ge_engine& e, const ge_segment& s) {
  for (uint32_t t = 0; t < s.n_taken; ++t) {
    for (uint32_t k = 0; k < s.taken[t].n_node; ++k) {
      const ge_node* node = GE_NODE(s.graph, s.taken[t].node[k]);
      if (Named(e.options.fail_compile, ge::plugin::View(node->op))) return true;
    }
  }
  return false;
}

void ExecDestroy(ge_exec* exec) {
  const ge_engine_api& api = exec->engine->wrapped.api();
  if (api.exec_destroy != nullptr) api.exec_destroy(exec->wrapped);
  delete exec;
}

// What the wrapped engine has made, c->exec, becomes part of ours. It is freed where that fails.
ge_rc Adopt(ge_engine* e, const ge_segment& segment, std::unique_ptr<ge_exec> exec,
            ge_compiled* c) {
  ge_exec* const made = c->exec;
  c->exec = nullptr;  // nobody frees it as one of ours
  const ge_rc rc = Guard(c->err, "devsim: compile",
                         [&]() -> ge_rc { return exec->Take(e, made, segment, c->err); });
  const ge_engine_api& api = e->wrapped.api();
  if (rc == GE_OK) {
    c->exec = exec.release();
    if (e->options.capture != 0) c->flags |= GE_COMPILED_CAPTURABLE;
    const Options& o = e->options;
    const bool may_fail = (o.fail_at | o.late_at | o.lost_at | o.hang_at) != 0;
    if (may_fail) c->flags &= ~static_cast<uint32_t>(GE_COMPILED_INFALLIBLE);
  } else if (api.exec_destroy != nullptr) {
    api.exec_destroy(made);
  }
  return rc;
}

const ge_segment* SegmentAt(const ge_segment* first, uint32_t stride, uint32_t i) {
  return reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(first) +
                                             uint64_t{i} * stride);
}

ge_rc Compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err* err) {
  return Guard(err, "devsim: compile", [&]() -> ge_rc {
    std::vector<std::unique_ptr<ge_exec>> execs;
    std::vector<ge_segment> given;  // to the wrapped engine, which has one device
    for (uint32_t i = 0; i < n; ++i) {
      execs.push_back(std::make_unique<ge_exec>());
      given.push_back(Known(*SegmentAt(segment, segment_stride, i)));
      if (const ge_rc rc = e->faults.OnDevice(given[i].device, err)) return rc;
      given[i].device = 0;
    }
    const ge_rc rc = e->wrapped.api().compile(e->wrapped.engine(), given.data(), n,
                                              sizeof(ge_segment), out, out_stride, err);
    for (uint32_t i = 0; i < n; ++i) {
      auto* c =
          reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
      if (c->exec == nullptr) continue;
      const ge_segment* s = SegmentAt(segment, segment_stride, i);
      if (MustFail(*e, *s)) {
        const ge_engine_api& api = e->wrapped.api();
        if (api.exec_destroy != nullptr) api.exec_destroy(c->exec);
        c->exec = nullptr;
        c->rc = ge::plugin::Fail(c->err, GE_UNIMPLEMENTED, UINT32_MAX,
                                 "devsim: option fail_compile names an operator of this segment");
        continue;
      }
      c->rc = Adopt(e, *s, std::move(execs[i]), c);
    }
    return rc;
  });
}

// Fills a task of a capture. Signals and waits inside of it are fulfilled by the order of calls.
template <class Fill>
ge_rc Record(ge_capture* capture, Fill fill) {
  auto task = std::make_unique<Task>();
  (void)std::fegetenv(&task->float_mode);
  const ge_rc rc = fill(task.get());
  if (rc != GE_OK || task->kind == Task::Kind::kSignal || task->kind == Task::Kind::kWait) {
    return rc;
  }
  capture->tasks.push_back(std::move(task));
  return GE_OK;
}

// Fills a task and queues it, or gives it back.
template <class Fill>
ge_rc Queue(ge_stream* stream, ge_err* err, Fill fill) {
  if (const ge_rc rc = stream->engine()->faults.OnDevice(stream->device(), err)) return rc;
  if (stream->capture() != nullptr) return Record(stream->capture(), fill);
  Task* task = stream->Take();
  (void)std::fegetenv(&task->float_mode);
  task->queued_ns = stream->engine()->clock.HostNs();
  const ge_rc rc = fill(task);
  if (rc == GE_OK) {
    stream->Queue(task);
  } else {
    stream->Return(task);
  }
  return rc;
}

ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  return Guard(err, "devsim: enqueue", [&]() -> ge_rc {
    if (const ge_rc rc = Understand(launch->h, err, "devsim: enqueue")) return rc;
    const bool fits = launch->stream != nullptr && launch->stream->engine() == exec->engine &&
                      launch->stream->device() == exec->device;
    if (!fits) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                  "devsim: a launch without a stream of its device, which is asynchronous");
    }
    return Queue(launch->stream, err, [&](Task* task) {
      task->exec = exec;
      return exec->engine->Prepare(*launch, task, err);
    });
  });
}

ge_rc Copy(ge_engine* e, const ge_copy* copy, ge_err* err) {
  return Guard(err, "devsim: copy", [&]() -> ge_rc {
    if (const ge_rc rc = Understand(copy->h, err, "devsim: copy")) return rc;
    if (copy->stream != nullptr) {
      return Queue(copy->stream, err, [&](Task* task) { return e->Prepare(*copy, task, err); });
    }
    Task task;
    const ge_rc rc = e->Prepare(*copy, &task, err);
    if (rc != GE_OK) return rc;
    e->clock.HostWorks(e->TaskNs(task));
    const ge_mem* mem = copy->dst.mem != nullptr ? copy->dst.mem : copy->src.mem;
    return e->Perform(task, mem != nullptr ? mem->of_device : 0, false, 0, err);
  });
}

ge_rc Devices(ge_engine* e, const ge_device** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = e->device;
  *n = e->n_device();
  *stride = sizeof(ge_device);
  return GE_OK;
}

ge_rc Links(ge_engine* e, const ge_link** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = e->link.data();
  *n = static_cast<uint32_t>(e->link.size());
  *stride = sizeof(ge_link);
  return GE_OK;
}

ge_rc CheckDevice(const ge_engine& e, uint32_t device, ge_err* err) {
  if (device < e.n_device()) return e.faults.OnDevice(device, err);
  return Fail(err, GE_OUT_OF_RANGE, UINT32_MAX, "devsim: device %u of %u", device, e.n_device());
}

ge_rc MemAlloc(ge_engine* e, uint32_t device, uint32_t domain, uint64_t bytes, uint64_t align,
               ge_mem** out, void** address, ge_err* err) {
  return Guard(err, "devsim: mem_alloc", [&]() -> ge_rc {
    if (const ge_rc rc = CheckDevice(*e, device, err)) return rc;
    if (domain >= e->device[device].n_domain) {
      return Fail(err, GE_OUT_OF_RANGE, UINT32_MAX, "devsim: domain %u of %u", domain,
                  e->device[device].n_domain);
    }
    return e->memory.Alloc(device, bytes, align, domain != 0, out, address, err);
  });
}

void MemFree(ge_engine* e, ge_mem* mem) { e->memory.Free(mem); }

ge_rc StreamCreate(ge_engine* e, uint32_t device, ge_stream** out, ge_err* err) {
  return Guard(err, "devsim: stream_create", [&]() -> ge_rc {
    if (const ge_rc rc = CheckDevice(*e, device, err)) return rc;
    *out = new ge_stream(e, device);
    return GE_OK;
  });
}

void StreamDestroy(ge_stream* stream) { delete stream; }

ge_rc EventCreate(ge_engine* e, uint32_t device, ge_event** out, ge_err* err) {
  return Guard(err, "devsim: event_create", [&]() -> ge_rc {
    if (const ge_rc rc = CheckDevice(*e, device, err)) return rc;
    *out = new ge_event(e);
    return GE_OK;
  });
}

void EventDestroy(ge_event* event) { delete event; }

ge_rc QueueEvent(ge_stream* stream, Task::Kind kind, ge_event* event, uint64_t value, ge_err* err) {
  return Guard(err, "devsim: stream", [&] {
    return Queue(stream, err, [&](Task* task) -> ge_rc {
      task->kind = kind;
      task->event = event;
      task->value = value;
      return GE_OK;
    });
  });
}

ge_rc StreamWait(ge_stream* stream, ge_event* event, uint64_t value, ge_err* err) {
  if (stream->capture() == nullptr) {  // inside of one the order of calls decides
    if (const ge_rc rc = event->Called(&value, err)) return rc;
  }
  return QueueEvent(stream, Task::Kind::kWait, event, value, err);
}

ge_rc StreamSignal(ge_stream* stream, ge_event* event, uint64_t value, ge_err* err) {
  if (stream->capture() == nullptr) event->Call(value);
  return QueueEvent(stream, Task::Kind::kSignal, event, value, err);
}

ge_rc StreamStamp(ge_stream* stream, ge_stamps* stamps, uint32_t index, ge_err* err) {
  return Guard(err, "devsim: stream_stamp", [&]() -> ge_rc {
    const ge_rc rc = CheckStamp(*stamps, index, stream->engine(), stream->device(), err);
    if (rc != GE_OK) return rc;
    if (stream->capture() != nullptr) {
      return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                  "devsim: stream_stamp inside of a capture; take it before or behind");
    }
    stamps->ns[index] = 0;
    return Queue(stream, err, [&](Task* task) -> ge_rc {
      task->kind = Task::Kind::kStamp;
      task->stamps = stamps;
      task->stamp = index;
      return GE_OK;
    });
  });
}

ge_rc EventWait(ge_event* event, uint64_t value, uint64_t timeout_ns, ge_err* err) {
  return Guard(err, "devsim: event_wait", [&] {
    ge_engine& e = *event->engine();
    const uint64_t round_trip = e.options.round_trip_ns;
    const uint64_t begin = round_trip != 0 ? e.NowNs() : 0;
    uint64_t at_ns = 0;
    ge_rc rc = event->Called(&value, err);
    if (rc != GE_OK) return rc;
    rc = event->Wait(value, timeout_ns, &at_ns, err);
    if (rc != GE_OK || at_ns == 0) return rc;
    if (e.clock.on()) return e.clock.HostReaches(at_ns + round_trip), rc;
    const uint64_t end = timeout_ns > UINT64_MAX - begin ? UINT64_MAX : begin + timeout_ns;
    e.StayUntil(std::min(at_ns + round_trip, end));
    return at_ns + round_trip > end ? static_cast<ge_rc>(GE_PENDING) : rc;
  });
}

ge_rc FrameCreate(ge_exec* exec, ge_frame** out, ge_err* err) {
  const ge_engine_api& api = exec->engine->wrapped.api();
  *out = nullptr;
  return api.frame_create == nullptr ? static_cast<ge_rc>(GE_OK)
                                     : api.frame_create(exec->wrapped, out, err);
}

void FrameDestroy(ge_exec* exec, ge_frame* frame) {
  const ge_engine_api& api = exec->engine->wrapped.api();
  if (frame != nullptr && api.frame_destroy != nullptr) api.frame_destroy(exec->wrapped, frame);
}

ge_rc Shape(ge_exec* like, const ge_segment* segment, ge_compiled* c, ge_err* err) {
  return Guard(err, "devsim: shape", [&]() -> ge_rc {
    const ge_engine_api& api = like->engine->wrapped.api();
    if (api.shape == nullptr) {
      c->rc = ge::plugin::Fail(c->err, GE_UNIMPLEMENTED, UINT32_MAX,
                               "devsim: the wrapped engine does not reshape");
      return GE_OK;
    }
    auto exec = std::make_unique<ge_exec>();
    ge_segment given = Known(*segment);
    given.device = 0;  // the wrapped engine's only one
    const ge_rc rc = api.shape(like->wrapped, &given, c, err);
    if (rc != GE_OK || c->exec == nullptr) return rc;
    c->rc = Adopt(like->engine, *segment, std::move(exec), c);
    return rc;
  });
}

ge_rc FillPack(ge_engine* engine, const ge_pack* pack, const ge_buf* from, const ge_buf* to,
               ge_err* err) {
  const ge_engine_api& api = engine->wrapped.api();
  if (api.fill == nullptr) {
    return ge::plugin::Fail(err, GE_UNIMPLEMENTED, UINT32_MAX,
                            "devsim: the wrapped engine has no packs");
  }
  return api.fill(engine->wrapped.engine(), pack, from, to, err);
}

ge_rc EngineCreate(const ge_create_args* args, ge_engine** out, ge_err* err) {
  return Guard(err, "devsim: create", [&]() -> ge_rc {
    auto engine = std::make_unique<ge_engine>();
    for (const ge_hdr* h : {&args->h, &args->host->h}) {
      if (const ge_rc rc = Understand(*h, err, "devsim: create")) return rc;
    }
    ge_rc rc = ParseOptions(args->options, &engine->options, err);
    if (rc == GE_OK) rc = engine->OpenTrace(err);
    if (rc == GE_OK) rc = engine->clock.Open(engine->options.clock, err);
    if (rc == GE_OK) rc = engine->wrapped.Create(engine->options.wrap, *args, err);
    if (rc != GE_OK) return rc;
    engine->host = args->host;
    engine->Describe();
    *out = engine.release();
    return GE_OK;
  });
}

void EngineDestroy(ge_engine* engine) {
  if (engine->host != nullptr && engine->options.pinned != 0) {
    char text[80];
    const int n =
        std::snprintf(text, sizeof text, "devsim: %llu blocks of pinned memory were given",
                      static_cast<unsigned long long>(engine->memory.pinned_blocks()));
    engine->host->log(engine->host->host, 3, ge_str{text, static_cast<uint64_t>(n)});
  }
  delete engine;
}

constexpr ge_engine_api kApi = {
    GE_HDR(ge_engine_api, GE_TAG_ENGINE_API),
    QueryGuarded,
    Compile,
    Enqueue,
    ExecDestroy,
    Devices,
    Links,
    MemAlloc,
    MemFree,
    Copy,
    StreamCreate,
    StreamDestroy,
    EventCreate,
    EventDestroy,
    StreamWait,
    StreamSignal,
    EventWait,
    FrameCreate,
    FrameDestroy,
    FillPack,
    Shape,
    0,  // promises
    0,
    StampsCreate,
    StampsDestroy,
    StreamStamp,
    StampsRead,
    CaptureBegin,
    CaptureEnd,
    CaptureLaunch,
    CaptureDestroy,
};

constexpr ge_plugin_desc kDesc = {
    GE_PLUGIN_MAGIC, GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN),
    GE_ABI_MAJOR,    GE_ABI_MINOR,
    GE_HEADER_HASH,  {DEVSIM_NAME, sizeof DEVSIM_NAME - 1},
    {"0.1.0", 5},    {"GraphEngine", 11},
    GE_KIND_ENGINE,  GE_SANITIZER_HERE,
    EngineCreate,    EngineDestroy,
    &kApi,
};

}  // namespace
}  // namespace devsim

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &devsim::kDesc;
  std::snprintf(
      args->refusal, sizeof args->refusal,
      "devsim was built for plugin ABI %u.%u, the host has %u.%u; use those of one major version",
      GE_ABI_MAJOR, GE_ABI_MINOR, args->host_major, args->host_minor);
  return nullptr;
}
