// The host's entry points, over an Engine.
#include <algorithm>

#include "plugins/device/compile.h"
#include "plugins/device/engine.h"

namespace gp = ge::plugin;
using namespace ge_engines::device;

struct ge_engine {
  std::unique_ptr<Engine> engine;
};

namespace ge_engines::device {
namespace {

// For messages; set once, before any engine exists: "gpu: query" is there when memory is not.
std::string g_name;  // of the plugin
struct CallNames {
  std::string engine_create, query, compile, shape, fill, enqueue, mem_alloc, copy, stream_create,
      event_create, stream, event_wait, stamps, capture;
} g_call;
MakeEngine g_make = nullptr;

// ---- engines -----------------------------------------------------------------------------------

ge_rc EngineCreate(const ge_create_args* args, ge_engine** out, ge_err* err) {
  return gp::Guard(err, g_call.engine_create.c_str(), [&] {
    const char* where = g_call.engine_create.c_str();
    auto e = std::make_unique<ge_engine>();
    if (const ge_rc rc = gp::Understand(args->h, err, where)) return rc;
    if (args->host != nullptr) {
      if (const ge_rc rc = gp::Understand(args->host->h, err, where)) return rc;
    }
    try {
      e->engine = g_make(*args);
      e->engine->Start(g_name);
    } catch (const Refusal& why) {
      return gp::Fail(err, why.code, UINT32_MAX, "%s: %s", g_name.c_str(), why.what());
    }
    *out = e.release();
    return ge_rc(GE_OK);
  });
}

void EngineDestroy(ge_engine* e) { delete e; }

ge_rc Devices(ge_engine* e, const ge_device** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = e->engine->records().data();
  *n = static_cast<uint32_t>(e->engine->records().size());
  *stride = sizeof(ge_device);
  return GE_OK;
}

ge_rc Links(ge_engine* e, const ge_link** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = e->engine->links().data();
  *n = static_cast<uint32_t>(e->engine->links().size());
  *stride = sizeof(ge_link);
  return GE_OK;
}

// An engine all of whose devices are faulty answers with the first one's fault.
ge_rc AnyReady(const Engine& e, ge_err* err) {
  for (uint32_t d = 0; d < e.device_count(); ++d) {
    if (!e.device(d)->faulty()) return GE_OK;
  }
  return e.device(0)->Ready(err);
}

ge_rc Query(ge_engine* handle, const ge_graph* graph, const ge_sink* sink, ge_err* err) {
  return gp::Guard(err, g_call.query.c_str(), [&]() -> ge_rc {
    const char* where = g_call.query.c_str();
    if (const ge_rc rc = gp::UnderstandGraph(*graph, err, where)) return rc;
    if (const ge_rc rc = gp::Understand(sink->h, err, where)) return rc;
    if (const ge_rc rc = AnyReady(*handle->engine, err)) return rc;
    return Offer(*handle->engine, *graph, *sink);
  });
}

ge_rc Compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err*) {
  for (uint32_t i = 0; i < n; ++i) {
    const auto* s = reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                                        uint64_t{i} * segment_stride);
    auto* c =
        reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
    c->rc = gp::Guard(c->err, g_call.compile.c_str(), [&] {
      for (const ge_hdr* h : {&s->h, &s->graph->h}) {
        if (const ge_rc rc = gp::Understand(*h, c->err, g_call.compile.c_str())) return rc;
      }
      CompileSegment(*e->engine, *s, (s->flags & GE_SEGMENT_UNASKED) != 0, c);
      return c->rc;
    });
  }
  return GE_OK;  // every failure is that of one segment
}

ge_rc Shape(ge_exec* like, const ge_segment* segment, ge_compiled* out, ge_err* err) {
  return gp::Guard(err, g_call.shape.c_str(), [&]() -> ge_rc {
    if (const ge_rc rc = gp::Understand(segment->h, err, g_call.shape.c_str())) return rc;
    CompileSegment(like->engine, *segment, true, out);
    return GE_OK;
  });
}

ge_rc FillPack(ge_engine* e, const ge_pack* pack, const ge_buf* from, const ge_buf* to,
               ge_err* err) {
  return gp::Guard(err, g_call.fill.c_str(), [&]() -> ge_rc {
    if (const ge_rc rc = gp::Understand(pack->h, err, g_call.fill.c_str())) return rc;
    return e->engine->book().Write(*pack, from, *to, err);
  });
}

void ExecDestroy(ge_exec* exec) { delete exec; }

// ---- memory ------------------------------------------------------------------------------------

// Runs body(Device*) on a device by its index, opened and without a fault.
template <class Body>
ge_rc OnDevice(ge_engine* e, uint32_t index, const std::string& where, ge_err* err, Body&& body) {
  return gp::Guard(err, where.c_str(), [&]() -> ge_rc {
    Device* device = e->engine->device(index);
    if (device == nullptr) {
      return gp::Fail(err, GE_OUT_OF_RANGE, UINT32_MAX, "%s: device %u of %zu", where.c_str(),
                      index, e->engine->device_count());
    }
    const ge_rc rc = device->Ready(err);
    return rc != GE_OK ? rc : body(device);
  });
}

ge_rc MemAlloc(ge_engine* e, uint32_t device, uint32_t domain, uint64_t bytes, uint64_t align,
               ge_mem** out, void** address, ge_err* err) {
  return OnDevice(e, device, g_call.mem_alloc, err, [&](Device* d) -> ge_rc {
    if (domain >= d->record().n_domain) {
      return gp::Fail(err, GE_OUT_OF_RANGE, UINT32_MAX, "%s: domain %u of %u",
                      g_call.mem_alloc.c_str(), domain, d->record().n_domain);
    }
    return AllocBlock(d, static_cast<Home>(domain), bytes, align, out, address, err);
  });
}

void MemFree(ge_engine*, ge_mem* mem) { FreeBlock(mem); }

// Between blocks of the host's memory.
ge_rc CopyOnHost(const CheckedCopy& c, const ge_copy& copy, ge_err* err) {
  if (copy.stream != nullptr) {
    return gp::Fail(err, GE_UNIMPLEMENTED, UINT32_MAX,
                    "%s: between two places in the host's memory, on a stream of a device",
                    g_call.copy.c_str());
  }
  std::copy_n(static_cast<const char*>(c.from), c.bytes, static_cast<char*>(c.to));
  return GE_OK;
}

ge_rc CopyOnStream(const CheckedCopy& c, ge_stream* stream, ge_err* err) {
  Device& d = stream->device;
  if (&d != c.to_device && &d != c.from_device) {
    return gp::Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                    "%s: on a stream of device %u, which has neither of its places",
                    g_call.copy.c_str(), d.index());
  }
  if (stream->capture != nullptr) {
    if (const ge_rc rc = stream->capture->Joined(stream, err)) return rc;
  }
  return d.Answer(QueueCopy(c, &d, stream->handle), "copy", UINT32_MAX, err);
}

ge_rc CopyNow(const Engine& e, const CheckedCopy& c, ge_err* err) {
  Device* d = c.to_device != nullptr ? c.to_device : c.from_device;
  return e.own_stream(d->index())->Run("copy", err, [&](StreamHandle stream) {
    return QueueCopy(c, d, stream);
  });
}

ge_rc Copy(ge_engine* e, const ge_copy* copy, ge_err* err) {
  return gp::Guard(err, g_call.copy.c_str(), [&]() -> ge_rc {
    if (const ge_rc rc = gp::Understand(copy->h, err, g_call.copy.c_str())) return rc;
    CheckedCopy c;
    if (const ge_rc rc = CheckCopy(*copy, g_name.c_str(), &c, err)) return rc;
    if (c.bytes == 0) return GE_OK;
    if (c.to_device == nullptr && c.from_device == nullptr) return CopyOnHost(c, *copy, err);
    for (Device* d : {c.to_device, c.from_device}) {
      if (d == nullptr) continue;
      if (const ge_rc rc = d->Ready(err)) return rc;
    }
    if (c.to_device != nullptr && c.from_device != nullptr && c.to_device != c.from_device) {
      if (const ge_rc rc = c.to_device->OpenPeer(*c.from_device, err)) return rc;
    }
    if (copy->stream == nullptr) return CopyNow(*e->engine, c, err);
    const ge_rc rc = CopyOnStream(c, copy->stream, err);
    ge_capture* capture = copy->stream->capture;
    return capture == nullptr ? rc : capture->Spoil(rc, err);
  });
}

// ---- streams and events ------------------------------------------------------------------------

ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  return gp::Guard(err, g_call.enqueue.c_str(), [&]() -> ge_rc {
    if (const ge_rc rc = gp::Understand(launch->h, err, g_call.enqueue.c_str())) return rc;
    ge_stream* stream = launch->stream;
    if (stream == nullptr || &stream->device != &exec->device) {
      return gp::Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                      "%s: without a stream of the device that the segment was compiled for",
                      g_call.enqueue.c_str());
    }
    if (const ge_rc rc = exec->device.Ready(err)) return rc;
    ge_capture* capture = stream->capture;
    if (capture == nullptr) return exec->program.Queue(*launch, &exec->device, stream->handle, err);
    ge_rc rc = capture->Joined(stream, err);
    if (rc == GE_OK && !exec->program.capturable()) {
      rc = gp::Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                    "%s: in a capture, of a segment without GE_COMPILED_CAPTURABLE",
                    g_call.enqueue.c_str());
    }
    if (rc == GE_OK) rc = exec->program.Queue(*launch, &exec->device, stream->handle, err);
    return capture->Spoil(rc, err);
  });
}

ge_rc StreamCreate(ge_engine* e, uint32_t device, ge_stream** out, ge_err* err) {
  return OnDevice(e, device, g_call.stream_create, err, [&](Device* d) -> ge_rc {
    StreamHandle handle = StreamHandle::kNone;
    const Result made = d->driver().StreamCreate(d->number(), &handle);
    if (!made.ok()) return d->Answer(made, "stream_create", UINT32_MAX, err);
    try {
      *out = new ge_stream(d, handle);
    } catch (...) {
      d->driver().StreamDestroy(d->number(), handle);
      throw;
    }
    return GE_OK;
  });
}

void StreamDestroy(ge_stream* stream) {
  if (stream == nullptr) return;
  stream->device.driver().StreamDestroy(stream->device.number(), stream->handle);
  delete stream;
}

ge_rc EventCreate(ge_engine* e, uint32_t device, ge_event** out, ge_err* err) {
  return OnDevice(e, device, g_call.event_create, err, [&](Device* d) -> ge_rc {
    *out = new ge_event(d);
    return GE_OK;
  });
}

void EventDestroy(ge_event* event) { delete event; }

ge_rc StreamWait(ge_stream* stream, ge_event* event, uint64_t value, ge_err* err) {
  return gp::Guard(err, g_call.stream.c_str(), [&]() -> ge_rc {
    for (Device* d : {&stream->device, &event->device()}) {
      if (const ge_rc rc = d->Ready(err)) return rc;
    }
    ge_capture* capture = stream->capture;
    if (capture == nullptr) return event->StreamWait(stream, value, err);
    return capture->Spoil(capture->Wait(stream, event, value, err), err);
  });
}

ge_rc StreamSignal(ge_stream* stream, ge_event* event, uint64_t value, ge_err* err) {
  return gp::Guard(err, g_call.stream.c_str(), [&]() -> ge_rc {
    if (const ge_rc rc = stream->device.Ready(err)) return rc;
    if (&stream->device != &event->device()) {
      return gp::Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                      "%s: stream_signal of an event of device %u on a stream of device %u",
                      g_name.c_str(), event->device().index(), stream->device.index());
    }
    ge_capture* capture = stream->capture;
    if (capture == nullptr) return event->Signal(stream, value, err);
    return capture->Spoil(capture->Signal(stream, event, value, err), err);
  });
}

ge_rc EventWait(ge_event* event, uint64_t value, uint64_t timeout_ns, ge_err* err) {
  return gp::Guard(err, g_call.event_wait.c_str(),
                   [&] { return event->Wait(value, timeout_ns, err); });
}

// ---- stamps and captures -----------------------------------------------------------------------

ge_rc StampsCreate(ge_engine* e, uint32_t device, uint32_t n, ge_stamps** out, ge_err* err) {
  return OnDevice(e, device, g_call.stamps, err, [&](Device* d) -> ge_rc {
    auto stamps = std::make_unique<ge_stamps>(d, e->engine->clock(device));
    if (const ge_rc rc = stamps->Make(n, err)) return rc;
    *out = stamps.release();
    return GE_OK;
  });
}

void StampsDestroy(ge_stamps* stamps) { delete stamps; }

ge_rc StreamStamp(ge_stream* stream, ge_stamps* stamps, uint32_t index, ge_err* err) {
  return gp::Guard(err, g_call.stamps.c_str(), [&]() -> ge_rc {
    const ge_rc rc = stream->device.Ready(err);
    return rc != GE_OK ? rc : stamps->Take(stream, index, err);
  });
}

ge_rc StampsRead(ge_stamps* stamps, uint32_t first, uint32_t n, uint64_t* ns, ge_err* err) {
  return gp::Guard(err, g_call.stamps.c_str(), [&]() -> ge_rc {
    const ge_rc rc = stamps->device().Ready(err);
    return rc != GE_OK ? rc : stamps->Read(first, n, ns, err);
  });
}

ge_rc CaptureBegin(ge_engine* e, ge_stream* const* stream, uint32_t n, ge_err* err) {
  return gp::Guard(err, g_call.capture.c_str(), [&]() -> ge_rc {
    if (n == 0) {
      return gp::Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "%s: capture_begin without a stream",
                      g_name.c_str());
    }
    Device* device = &stream[0]->device;
    if (const ge_rc rc = device->Ready(err)) return rc;
    auto capture = std::make_unique<ge_capture>(device);
    ge_capture* begun = capture.get();
    if (const ge_rc rc = e->engine->Keep(std::move(capture), err)) return rc;
    const ge_rc rc = begun->Begin(stream, n, err);
    if (rc != GE_OK) e->engine->Release();
    return rc;
  });
}

ge_rc CaptureEnd(ge_engine* e, ge_capture** out, ge_err* err) {
  return gp::Guard(err, g_call.capture.c_str(), [&]() -> ge_rc {
    std::unique_ptr<ge_capture> capture = e->engine->Release();
    if (capture == nullptr) {
      return gp::Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                      "%s: capture_end in a thread that has begun no capture", g_name.c_str());
    }
    if (const ge_rc rc = capture->End(err)) return rc;
    *out = capture.release();
    return GE_OK;
  });
}

ge_rc CaptureLaunch(ge_capture* capture, ge_stream* stream, ge_err* err) {
  return gp::Guard(err, g_call.capture.c_str(), [&]() -> ge_rc {
    const ge_rc rc = capture->device().Ready(err);
    return rc != GE_OK ? rc : capture->Launch(stream, err);
  });
}

void CaptureDestroy(ge_capture* capture) { delete capture; }

// ---- tables ------------------------------------------------------------------------------------

ge_engine_api MakeApi() {
  ge_engine_api api = {};
  api.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  api.query = Query;
  api.compile = Compile;
  api.enqueue = Enqueue;
  api.exec_destroy = ExecDestroy;
  api.devices = Devices;
  api.links = Links;
  api.mem_alloc = MemAlloc;
  api.mem_free = MemFree;
  api.copy = Copy;
  api.stream_create = StreamCreate;
  api.stream_destroy = StreamDestroy;
  api.event_create = EventCreate;
  api.event_destroy = EventDestroy;
  api.stream_wait = StreamWait;
  api.stream_signal = StreamSignal;
  api.event_wait = EventWait;
  api.fill = FillPack;
  api.shape = Shape;
  api.promises = GE_ENGINE_UNASKED;
  api.stamps_create = StampsCreate;
  api.stamps_destroy = StampsDestroy;
  api.stream_stamp = StreamStamp;
  api.stamps_read = StampsRead;
  api.capture_begin = CaptureBegin;
  api.capture_end = CaptureEnd;
  api.capture_launch = CaptureLaunch;
  api.capture_destroy = CaptureDestroy;
  return api;
}
const ge_engine_api kApi = MakeApi();

ge_plugin_desc MakeDesc(const char* version) {
  ge_plugin_desc d = {};
  d.magic = GE_PLUGIN_MAGIC;
  d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  d.abi_major = GE_ABI_MAJOR;
  d.abi_minor = GE_ABI_MINOR;
  d.header_hash = GE_HEADER_HASH;
  d.name = gp::Str(g_name);
  d.version = gp::Str(version);
  d.vendor = gp::Str("GraphEngine");
  d.kinds = GE_KIND_ENGINE;
  d.sanitizer = GE_SANITIZER_HERE;
  d.engine_create = EngineCreate;
  d.engine_destroy = EngineDestroy;
  d.engine = &kApi;
  return d;
}

}  // namespace

const ge_plugin_desc* Describe(const char* name, const char* version, MakeEngine make) {
  static const ge_plugin_desc desc = [&] {
    g_name = name;
    const std::string of = g_name + ": ";
    g_call = {of + "engine_create", of + "query",        of + "compile",   of + "shape",
              of + "fill",          of + "enqueue",      of + "mem_alloc", of + "copy",
              of + "stream_create", of + "event_create", of + "stream",    of + "event_wait",
              of + "stamps",        of + "capture"};
    g_make = make;
    return MakeDesc(version);
  }();
  return &desc;
}

}  // namespace ge_engines::device
