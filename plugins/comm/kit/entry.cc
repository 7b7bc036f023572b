#include "plugins/comm/kit/entry.h"

#include <algorithm>
#include <charconv>

#include "plugins/comm/kit/execution.h"

struct ge_engine {
  ge_engines::comm::Options options;
  std::shared_ptr<ge_engines::comm::Queue> queue;
  ge_device device{};
};

namespace ge_engines::comm {
namespace {

using ge::plugin::Fail;
using ge::plugin::Guard;
using ge::plugin::Understand;

Brought g_brought;  // by Describe, which comes before all others
const char* Name() { return g_brought.name; }

// A message's time where nobody moves the bytes.
constexpr uint64_t kLaunchNs = 2000;

ge_cost CostOf(const ge_graph* g, const ge_node& n, const Group& group, const Transport& t) {
  const Transport::Price price = t.PriceOf(group);
  const auto ranks = static_cast<double>(group.members.size());
  // The price is of a reduction's bytes, and MovedBytes counts what that sends.
  const auto moved = static_cast<double>(MovedBytes(g, n, group));
  const double bytes = moved * ranks / (2 * (ranks - 1));
  ge_cost cost{};
  cost.h = GE_HDR(ge_cost, GE_TAG_COST);
  cost.source = price.measured ? GE_PRICE_MEASURED : GE_PRICE_ANALYTIC;
  cost.launch_ns = kLaunchNs;
  cost.marginal_ns = static_cast<uint64_t>(
      price.latency_ns + std::max(bytes * price.ns_per_byte, moved * HeldNsPerByte()));
  return cost;
}

ge_rc Query(ge_engine* e, const ge_graph* g, const ge_sink* sink, ge_err* err) {
  return Guard(err, Name(), [&]() -> ge_rc {
    if (const ge_rc rc = ge::plugin::UnderstandGraph(*g, err, Name()); rc != GE_OK) return rc;
    for (uint32_t i = 0; i < g->n_node; ++i) {
      const ge_node& n = *GE_NODE(g, i);
      if (!IsCollective(n)) continue;  // a session without any pays nothing, and reads nothing
      Group group;
      const Refused refused = WhyNot(g, n, e->queue->transport(), &group);
      ge_rc rc = GE_OK;
      if (refused.why != 0) {
        ge_decline no{};
        no.h = GE_HDR(ge_decline, GE_TAG_DECLINE);
        no.node = i;
        no.why = refused.why;
        no.text = ge::plugin::Str(refused.text);
        rc = sink->decline(sink->host, &no);
      } else {
        const ge_cost cost = CostOf(g, n, group, *e->queue->transport());
        ge_offer offer{};
        offer.h = GE_HDR(ge_offer, GE_TAG_OFFER);
        offer.node = &i;
        offer.n_node = 1;
        offer.cost = &cost;
        rc = sink->offer(sink->host, &offer);
      }
      if (rc != GE_OK) return rc;
    }
    return GE_OK;
  });
}

ge_rc CompileOne(ge_engine* e, const ge_segment& s, ge_compiled* c) {
  const ge_node& node = *GE_NODE(s.graph, s.taken[0].node[0]);
  Group group;
  const Refused refused = WhyNot(s.graph, node, e->queue->transport(), &group);
  if (refused.why != 0) {  // the cover may come from a file
    return Fail(c->err, GE_UNIMPLEMENTED, UINT32_MAX, "%s: %s", Name(), refused.text.c_str());
  }
  e->queue->Start();
  auto made = std::make_unique<ge_exec>(s, group, NameOf(s.graph, node), e->queue.get());
  c->workspace = made->node().workspace();
  c->alias = made->node().aliases().data();
  c->alias_count = static_cast<uint32_t>(made->node().aliases().size() / 2);
  c->flags = GE_COMPILED_SERIAL;
  c->exec = made.release();
  return GE_OK;
}

ge_rc Compile(ge_engine* e, const ge_segment* segment, uint32_t n, uint32_t segment_stride,
              ge_compiled* out, uint32_t out_stride, ge_err* err) {
  return Guard(err, Name(), [&]() -> ge_rc {
    for (uint32_t i = 0; i < n; ++i) {
      const auto& s = *reinterpret_cast<const ge_segment*>(reinterpret_cast<const char*>(segment) +
                                                           uint64_t{i} * segment_stride);
      auto* c =
          reinterpret_cast<ge_compiled*>(reinterpret_cast<char*>(out) + uint64_t{i} * out_stride);
      c->rc = CompileOne(e, s, c);
    }
    return GE_OK;
  });
}

ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  if (const ge_rc rc = Understand(launch->h, err, Name()); rc != GE_OK) return rc;
  return Guard(err, Name(), [&]() -> ge_rc {
    exec->Take(*launch);
    if (launch->stream == nullptr) return exec->queue()->Run(exec, err);
    exec->queue()->Launch(launch->stream, exec);
    return GE_OK;
  });
}

void ExecDestroy(ge_exec* exec) { delete exec; }

ge_rc Devices(ge_engine* e, const ge_device** out, uint32_t* n, uint32_t* stride, ge_err*) {
  *out = &e->device;
  *n = 1;
  *stride = sizeof(ge_device);
  return GE_OK;
}

// ---- streams -----------------------------------------------------------------------------------

ge_rc StreamCreate(ge_engine* e, uint32_t, ge_stream** out, ge_err* err) {
  return Guard(err, Name(), [&]() -> ge_rc {
    *out = e->queue->NewStream();
    return GE_OK;
  });
}

void StreamDestroy(ge_stream* stream) { stream->queue->DestroyStream(stream); }

ge_rc EventCreate(ge_engine* e, uint32_t, ge_event** out, ge_err* err) {
  return Guard(err, Name(), [&]() -> ge_rc {
    *out = e->queue->NewEvent();
    return GE_OK;
  });
}

void EventDestroy(ge_event* event) { event->queue->DestroyEvent(event); }

ge_rc Add(ge_stream* stream, const Task& task, ge_err* err) {
  return Guard(err, Name(), [&]() -> ge_rc {
    stream->queue->Add(stream, task);
    return GE_OK;
  });
}

ge_rc StreamWait(ge_stream* stream, ge_event* event, uint64_t value, ge_err* err) {
  return Add(stream, {Task::Kind::kWait, nullptr, event, value, nullptr}, err);
}

ge_rc StreamSignal(ge_stream* stream, ge_event* event, uint64_t value, ge_err* err) {
  return Add(stream, {Task::Kind::kSignal, nullptr, event, value, nullptr}, err);
}

ge_rc EventWait(ge_event* event, uint64_t value, uint64_t timeout_ns, ge_err* err) {
  return Guard(err, Name(),
               [&]() -> ge_rc { return event->queue->Wait(event, value, timeout_ns, err); });
}

// ---- times -------------------------------------------------------------------------------------

ge_rc StampsCreate(ge_engine*, uint32_t, uint32_t n, ge_stamps** out, ge_err* err) {
  return Guard(err, Name(), [&]() -> ge_rc {
    *out = new ge_stamps(n);
    return GE_OK;
  });
}

void StampsDestroy(ge_stamps* stamps) { delete stamps; }

ge_rc StreamStamp(ge_stream* stream, ge_stamps* stamps, uint32_t index, ge_err* err) {
  if (index >= stamps->ns.size()) {
    return Fail(err, GE_OUT_OF_RANGE, UINT32_MAX, "%s: stamp %u of %zu", Name(), index,
                stamps->ns.size());
  }
  return Add(stream, {Task::Kind::kStamp, nullptr, nullptr, index, stamps}, err);
}

ge_rc StampsRead(ge_stamps* stamps, uint32_t first, uint32_t n, uint64_t* ns, ge_err* err) {
  if (first > stamps->ns.size() || n > stamps->ns.size() - first) {
    return Fail(err, GE_OUT_OF_RANGE, UINT32_MAX, "%s: stamps %u+%u of %zu", Name(), first, n,
                stamps->ns.size());
  }
  for (uint32_t i = 0; i < n; ++i) ns[i] = stamps->ns[first + i].load(std::memory_order_acquire);
  return GE_OK;
}

// ---- the engine --------------------------------------------------------------------------------

// Seconds, whole or not, of an option; false where it is none.
bool Seconds(std::string_view value, uint64_t* ns) {
  double s = 0;
  const char* end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, s);
  if (read.ec != std::errc() || read.ptr != end || !(s > 0) || s > 1e9) return false;
  *ns = static_cast<uint64_t>(s * 1e9);
  return true;
}

ge_rc ReadOptions(ge_str text, Options* to, ge_err* err) {
  std::string_view rest = ge::plugin::View(text);
  for (ge::plugin::OptionText o; ge::plugin::NextOption(&rest, &o);) {
    bool good = false;
    if (o.key == "async") {
      good = o.value == "0" || o.value == "1";
      to->async = o.value == "1";
    } else if (o.key == "wait") {
      good = Seconds(o.value, &to->wait_ns);
    } else if (o.key == "lease" && g_brought.leases) {
      good = Seconds(o.value, &to->lease_ns);
    }
    if (good) continue;
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "%s: option %.*s=%.*s; wanted async=0 or 1, wait=SECONDS%s", Name(),
                static_cast<int>(o.key.size()), o.key.data(), static_cast<int>(o.value.size()),
                o.value.data(), g_brought.leases ? ", lease=SECONDS" : "");
  }
  return GE_OK;
}

ge_rc Create(const ge_create_args* args, ge_engine** out, ge_err* err) {
  return Guard(err, Name(), [&]() -> ge_rc {
    auto engine = std::make_unique<ge_engine>();
    const ge_rc rc = ReadOptions(args->options, &engine->options, err);
    if (rc != GE_OK) return rc;
    engine->queue = g_brought.queue(engine->options);
    ge_device& d = engine->device;
    d.h = GE_HDR(ge_device, GE_TAG_DEVICE);
    d.name = ge::plugin::Str(Name());
    d.flags = engine->options.async ? GE_DEVICE_ASYNC : 0;
    d.max_streams = 1;  // the order of collectives is the same on all ranks
    *out = engine.release();
    return GE_OK;
  });
}

void Destroy(ge_engine* engine) { delete engine; }

ge_engine_api MakeApi() {
  ge_engine_api a{};
  a.h = GE_HDR(ge_engine_api, GE_TAG_ENGINE_API);
  a.query = Query;
  a.compile = Compile;
  a.enqueue = Enqueue;
  a.exec_destroy = ExecDestroy;
  a.devices = Devices;
  a.stream_create = StreamCreate;
  a.stream_destroy = StreamDestroy;
  a.event_create = EventCreate;
  a.event_destroy = EventDestroy;
  a.stream_wait = StreamWait;
  a.stream_signal = StreamSignal;
  a.event_wait = EventWait;
  a.stamps_create = StampsCreate;
  a.stamps_destroy = StampsDestroy;
  a.stream_stamp = StreamStamp;
  a.stamps_read = StampsRead;
  return a;
}

}  // namespace

const ge_plugin_desc* Describe(const Brought& brought) {
  static const ge_engine_api api = MakeApi();
  static const ge_plugin_desc desc = [&] {
    g_brought = brought;
    ge_plugin_desc d = {};
    d.magic = GE_PLUGIN_MAGIC;
    d.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
    d.abi_major = GE_ABI_MAJOR;
    d.abi_minor = GE_ABI_MINOR;
    d.header_hash = GE_HEADER_HASH;
    d.name = ge::plugin::Str(brought.name);
    d.version = ge::plugin::Str("0.1");
    d.vendor = ge::plugin::Str("GraphEngine");
    d.kinds = GE_KIND_ENGINE;
    d.sanitizer = GE_SANITIZER_HERE;
    d.engine_create = Create;
    d.engine_destroy = Destroy;
    d.engine = &api;
    return d;
  }();
  return &desc;
}

}  // namespace ge_engines::comm
