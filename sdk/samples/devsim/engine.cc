#include "engine.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "ge/ge_plugin.hpp"

using ge::plugin::Fail;

void ge_engine::Describe() {
  static std::atomic<uint32_t> made{0};
  const uint32_t first = made.fetch_add(devsim::kMostDevices) + 1;
  memory.SetLimit(options.memory);
  for (uint32_t d = 0; d < n_device(); ++d) DescribeDevice(d, first + d);
  if (options.peer_gbps == 0 || n_device() < 2) return;
  Link(domain[0][0].id, domain[1][0].id, options.peer_gbps);
  Link(domain[1][0].id, domain[0][0].id, options.peer_gbps);
}

void ge_engine::DescribeDevice(uint32_t d, uint32_t number) {
  static constexpr const char* kNames[devsim::kMostDevices] = {"sim:0", "sim:1"};
  ge_device& own = device[d];
  ge_domain* const domains = domain[d];
  own.h = GE_HDR(ge_device, GE_TAG_DEVICE);
  own.name = ge::plugin::Str(kNames[d]);
  // Each device has memory of its own, so that two of them exchange through the host,
  // or by option peer_gbps.
  char id[16] = DEVSIM_NAME;
  std::memcpy(id + 12, &number, sizeof number);
  std::memcpy(own.uuid, id, sizeof id);
  own.flags = GE_DEVICE_ASYNC;
  domains[0].h = domains[1].h = GE_HDR(ge_domain, GE_TAG_DOMAIN);
  domains[0].name = ge::plugin::Str("device");
  domains[1].name = ge::plugin::Str("pinned");
  std::memcpy(domains[0].id, id, sizeof id);
  std::memcpy(domains[1].id, id, sizeof id);
  domains[1].id[11] = 'p';
  domains[0].flags = GE_MEM_DEVICE_LOCAL;
  domains[1].flags = GE_MEM_HOST_VISIBLE | GE_MEM_COHERENT | GE_MEM_PINNED;
  domains[0].bytes = options.memory;
  if (options.memory_is_host) {
    std::memset(domains[0].id, 0, sizeof domains[0].id);
    domains[0].flags = GE_MEM_HOST_VISIBLE | GE_MEM_COHERENT;
  }
  own.domain = domains;
  own.domain_stride = sizeof domains[0];
  own.n_domain = options.pinned != 0 ? 2 : 1;
  own.max_streams = static_cast<uint32_t>(options.streams);
  own.timeout_ns = options.timeout_ms * 1'000'000;
  if (options.memory_is_host) return;
  const uint64_t told = options.link_told != 0 ? options.link_told : options.link_gbps;
  Link(nullptr, id, told);
  Link(id, nullptr, told);
  if (options.pinned == 0 || options.pinned_gbps == 0) return;
  Link(domains[1].id, id, options.pinned_gbps);
  Link(id, domains[1].id, options.pinned_gbps);
}

// NULL: the host's memory.
void ge_engine::Link(const void* from, const void* to, uint64_t gbps) {
  ge_link l = {};
  l.h = GE_HDR(ge_link, GE_TAG_LINK);
  if (from != nullptr) std::memcpy(l.from, from, sizeof l.from);
  if (to != nullptr) std::memcpy(l.to, to, sizeof l.to);
  l.latency_ns = options.link_latency_ns;
  l.bytes_per_ns = static_cast<double>(gbps);
  link.push_back(l);
}

ge_rc ge_exec::Take(ge_engine* of, ge_exec* made, const ge_segment& segment, ge_err* err) {
  engine = of;
  wrapped = made;
  device = segment.device;
  for (uint32_t i = 0; i < segment.n_taken; ++i) {
    const ge_taken& taken = segment.taken[i];
    for (uint32_t k = 0; k < taken.n_node; ++k) {
      nodes.push_back(GE_NODE(segment.graph, taken.node[k])->id);
    }
  }
  return of->clock.on() ? devsim::LaunchNs(of, segment, &launch_ns, err)
                        : static_cast<ge_rc>(GE_OK);
}

ge_rc ge_engine::OpenTrace(ge_err* err) {
  if (options.trace.empty()) return GE_OK;
  trace.reset(std::fopen(options.trace.c_str(), "w"));
  if (trace != nullptr) return GE_OK;
  return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "devsim: trace '%s' cannot be written",
              options.trace.c_str());
}

void ge_engine::Trace(const char* what, const ge_exec& exec) {
  if (trace == nullptr) return;
  const std::lock_guard<std::mutex> lock(trace_mutex);
  for (uint32_t id : exec.nodes) std::fprintf(trace.get(), "%s %u\n", what, id);
  std::fflush(trace.get());
}

uint64_t ge_engine::DrawSlowness() {
  return options.delay == 0 ? 0 : options.delay_us * (devsim::Mix(options.delay, ++draws) % 3) / 2;
}

uint64_t ge_engine::TaskNs(const devsim::Task& task) const {
  if (task.kind == devsim::Task::Kind::kLaunch) return task.exec->launch_ns;
  return options.link_latency_ns + task.bytes / options.link_gbps;  // 1 GB/s is a byte a ns
}

ge_rc ge_engine::Perform(const devsim::Task& task, uint32_t on, bool on_stream, uint64_t delay_us,
                         ge_err* err) {
  if (delay_us != 0) {
    const uint64_t draw = devsim::Mix(options.delay, ++draws);
    std::this_thread::sleep_for(std::chrono::microseconds(draw % (delay_us + 1)));
  }
  if (const ge_rc rc = faults.OnWork(options, on, on_stream, err)) return rc;
  if (task.kind == devsim::Task::Kind::kLaunch) {
    Trace("begin", *task.exec);
    const ge_rc rc = wrapped.api().enqueue(task.exec->wrapped, &task.launch, err);
    Trace("end", *task.exec);
    return rc;
  }
  const uint64_t end_ns = options.paced != 0 ? NowNs() + TaskNs(task) : 0;
  if (task.bytes != 0) std::memcpy(task.dst, task.src, task.bytes);
  StayUntil(end_ns);
  return GE_OK;
}

uint64_t ge_engine::NowNs() const { return host->now_ns(host->host); }

void ge_engine::StayUntil(uint64_t ns) const {
  constexpr uint64_t kLateNs = 300'000;  // a sleep may end so much later
  for (uint64_t now = NowNs(); now < ns; now = NowNs()) {
    if (ns - now > kLateNs) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(ns - now - kLateNs));
    }
  }
}

// Without memory of its own a device reads and writes where the host does.
static ge_rc AtHost(const ge_buf& buf, const char* what, ge_err* err) {
  if (buf.bytes == 0 || (buf.ptr != nullptr && buf.mem == nullptr)) return GE_OK;
  return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "devsim: %s lies in no memory of the host's",
              what);
}

ge_rc ge_engine::Prepare(const ge_launch& given, devsim::Task* task, ge_err* err) const {
  struct List {
    const char* name;
    const ge_buf* buf;
    uint32_t n;
  };
  const List lists[] = {{"input", given.in, given.n_in},
                        {"output", given.out, given.n_out},
                        {"internal value", given.internal, given.n_internal},
                        {"pack", given.pack, given.n_pack},
                        {"workspace", &given.workspace, 1}};
  task->bufs.clear();
  task->dims.clear();
  for (const List& list : lists) {
    for (uint32_t i = 0; i < list.n; ++i) {
      ge_buf b = list.buf[i];
      char what[48];
      std::snprintf(what, sizeof what, "%s %u of a launch", list.name, i);
      const ge_rc rc = options.memory_is_host
                           ? AtHost(b, what, err)
                           : memory.Translate(list.buf[i], task->exec->device, what, &b.ptr, err);
      if (rc != GE_OK) return rc;
      b.mem = nullptr;
      b.offset = 0;
      b.domain = 0;
      const size_t rank = b.rank > 0 ? static_cast<size_t>(b.rank) : 0;
      if (b.dims != nullptr) task->dims.insert(task->dims.end(), b.dims, b.dims + rank);
      if (b.strides != nullptr) task->dims.insert(task->dims.end(), b.strides, b.strides + rank);
      task->bufs.push_back(b);
    }
  }
  const int64_t* dims = task->dims.data();  // it grows no more: pointers into it stay
  for (ge_buf& b : task->bufs) {
    for (const int64_t** p : {&b.dims, &b.strides}) {
      if (*p == nullptr) continue;
      *p = dims;
      dims += b.rank > 0 ? b.rank : 0;
    }
  }
  ge_launch& l = task->launch;
  l = devsim::Known(given);
  l.h.next = nullptr;  // valid for the call alone; none that must be understood is there
  l.stream = nullptr;
  l.in = task->bufs.data();
  l.out = task->bufs.data() + given.n_in;
  l.internal = l.out + given.n_out;
  l.pack = l.internal + given.n_internal;
  l.workspace = task->bufs.back();
  task->kind = devsim::Task::Kind::kLaunch;
  return GE_OK;
}

ge_rc ge_engine::Prepare(const ge_copy& copy, devsim::Task* task, ge_err* err) const {
  if (copy.src.bytes != copy.dst.bytes || copy.src.layout != copy.dst.layout) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "devsim: a copy of %llu bytes in layout %u to %llu bytes in layout %u; wanted "
                "equal ones",
                static_cast<unsigned long long>(copy.src.bytes), copy.src.layout,
                static_cast<unsigned long long>(copy.dst.bytes), copy.dst.layout);
  }
  void* address[2] = {copy.src.ptr, copy.dst.ptr};
  const ge_buf* buf[2] = {&copy.src, &copy.dst};
  for (int i = 0; i < 2; ++i) {
    const char* what = i == 0 ? "the source of a copy" : "the target of a copy";
    // Host addresses have no block; a device address without one would fault in the worker.
    if (buf[i]->mem != nullptr || (copy.src.mem == nullptr && copy.dst.mem == nullptr)) {
      const ge_rc rc =
          memory.Translate(*buf[i], devsim::Memory::kAnyDevice, what, &address[i], err);
      if (rc != GE_OK) return rc;
    } else if (buf[i]->bytes != 0 && buf[i]->ptr == nullptr) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "devsim: %s is NULL", what);
    }
  }
  task->kind = devsim::Task::Kind::kCopy;
  task->src = address[0];
  task->dst = address[1];
  task->bytes = copy.src.bytes;
  return GE_OK;
}
