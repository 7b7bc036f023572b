// Driver calls that hand over work: kernels, copies, fills.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {
namespace {

std::shared_ptr<Work> Named(std::string name, uint64_t call) {
  auto work = std::make_shared<Work>();
  work->name = std::move(name);
  work->call = call;
  return work;
}

int64_t Time(size_t bytes, double bytes_per_ns) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_ns));
}

bool Moved(void* to, const void* from, size_t bytes) {
  std::memmove(to, from, bytes);
  return true;
}

bool Filled(void* to, uint8_t value, size_t bytes) {
  std::memset(to, value, bytes);
  return true;
}

}  // namespace

Code Simulator::Launch(Stream stream, Kernel kernel) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kLaunch, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    const auto work = Named(std::move(kernel.name), state.calls);
                    for (const bool write : {false, true}) {
                      for (const Range& range : write ? kernel.writes : kernel.reads) {
                        const Code code = state.AddAccess(one.device, range, write, work.get());
                        if (code != Code::kOk) return code;
                      }
                    }
                    work->body = std::move(kernel.body);
                    work->latency_ns = state.devices[one.device].options.launch_ns;
                    work->cost_ns = kernel.cost_ns;
                    state.Hand(&one, work);
                    return Code::kOk;
                  });
}

Code Simulator::Fill(Stream stream, void* to, uint8_t value, size_t bytes, std::string name) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kFill, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    const auto work = Named(std::move(name), state.calls);
                    const Code code = state.AddAccess(one.device, {to, bytes}, true, work.get());
                    if (code != Code::kOk) return code;
                    const auto& options = state.devices[one.device].options;
                    work->body = [to, value, bytes] { return Filled(to, value, bytes); };
                    work->latency_ns = options.launch_ns;
                    work->cost_ns = Time(bytes, options.local_bytes_per_ns);
                    state.Hand(&one, work);
                    return Code::kOk;
                  });
}

Code Simulator::Copy(Stream stream, void* to, const void* from, size_t bytes, std::string name) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kCopy, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    const auto work = Named(std::move(name), state.calls);
                    const Code code = state.Transfer(one, work.get(), to, from, bytes);
                    if (code == Code::kOk) state.Hand(&one, work);
                    return code;
                  });
}

Code Simulator::State::Transfer(const StreamState& stream, Work* work, void* to, const void* from,
                                size_t bytes) {
  const auto source = memory.Find(from), target = memory.Find(to);
  bool here = !devices[stream.device].options.own_memory;
  for (const auto& block : {source, target}) {
    if (block == nullptr || block->pinned()) continue;
    here = here || block->device == stream.device;
    if (devices[block->device].error != Code::kOk) return devices[block->device].error;
  }
  if (!here) {
    return Reject(Fault::kWrongMemory, "'" + work->name + "' " + Here(),
                  "neither end is memory of " + devices[stream.device].label);
  }
  Code code = AddAccess(kCopy, {from, bytes}, false, work);
  if (code == Code::kOk) code = AddAccess(kCopy, {to, bytes}, true, work);
  work->copies = true;
  work->body = [to, from, bytes] { return Moved(to, from, bytes); };
  PriceCopy(stream.device, source.get(), target.get(), bytes, work);
  return code;
}

void Simulator::State::PriceCopy(int device, const Block* from, const Block* to, size_t bytes,
                                 Work* work) const {
  const DeviceOptions& options = devices[device].options;
  const auto on = [&](const Block* block, int one) {
    return block != nullptr && !block->pinned() && block->device == one;
  };
  work->latency_ns = options.copy_latency_ns;
  if (on(from, device) && on(to, device)) {
    work->cost_ns = Time(bytes, options.local_bytes_per_ns);
    return;
  }
  const bool in = on(to, device);
  const Block* const other = in ? from : to;
  double speed = options.host_bytes_per_ns;
  work->engine = in ? Engine::kToDevice : Engine::kFromDevice;
  if (other == nullptr) speed *= options.pageable_fraction;
  if (other != nullptr && !other->pinned()) {
    work->engine = Engine::kPeer;
    speed = devices[in ? device : other->device].options.peer_bytes_per_ns;
  }
  work->cost_ns = Time(bytes, speed);
}

Code Simulator::State::AddAccess(int device, const Range& range, bool write, Work* work) {
  if (range.bytes == 0) return Code::kOk;
  Work::Access access;
  Report report;
  access.write = write;
  if (Locate(device, range, &access, &report)) {
    work->accesses.push_back(std::move(access));
    return Code::kOk;
  }
  report.second = (write ? "write by '" : "read by '") + work->name + "' " + Here();
  Add(std::move(report));
  return Code::kInvalid;
}

void Simulator::State::Hand(StreamState* stream, std::shared_ptr<Work> work) {
  if (stream->capture) {
    CaptureWork(stream, std::move(work));
    return;
  }
  NoteWork((work->copies ? "copy " : "kernel ") + std::to_string(stream->id), *work);
  if (work->copies) ReadAtTheCall(work.get());
  stream->clock.Merge(clocks.host);
  stream->last = stream->clock.Step(stream->clock_lane);
  auto actor = std::make_shared<Actor>();
  actor->name = work->name;
  actor->call = work->call;
  actor->stream = stream->id;
  Check(*work, {stream->last, &stream->clock, std::move(actor)}, stream);
  clocks.host.Step(0);
  const int64_t ready = std::max(stream->end_ns, now) + work->latency_ns;
  stream->end_ns = Enqueue(stream->lane.get(), work, ready)->end_ns;
}

// From pageable memory a copy may read at the call and not later. Both must be right, so that the
// call is a read of the host's, too.
void Simulator::State::ReadAtTheCall(Work* work) {
  const auto& source = work->accesses.empty() ? Work::Access{} : work->accesses.front();
  if (source.block != nullptr || source.write || source.end == 0) return;
  const auto conflicts = pageable.Unordered(source.begin, source.end, clocks.host);
  AddConflicts(Fault::kRace, conflicts,
               "read by '" + work->name + "' at the call, as of pageable memory, " + Here(),
               "pageable memory", nullptr);
  bool at_once = options.schedule == Schedule::kEager || options.schedule == Schedule::kTimed;
  if (options.schedule == Schedule::kSeeded) at_once = queues.Coin();
  if (options.schedule == Schedule::kAdversarial) at_once = !conflicts.empty();
  if (!at_once) return;
  const auto* const from = reinterpret_cast<const unsigned char*>(source.begin);
  auto bytes =
      std::make_shared<std::vector<unsigned char>>(from, from + (source.end - source.begin));
  const Work::Access& target = work->accesses.back();
  if (target.block == nullptr)
    return;  // a device with host memory: one end is as good as the other
  unsigned char* const to = target.block->data + target.begin;
  work->body = [to, bytes] { return Moved(to, bytes->data(), bytes->size()); };
}

void Simulator::State::Check(const Work& work, const Step& step, const StreamState* stream) {
  for (const Work::Access& access : work.accesses) {
    Conflicts conflicts;
    Shadow& shadow = access.block != nullptr ? access.block->shadow : pageable;
    const std::string block = access.block != nullptr ? access.block->name : "pageable memory";
    // The host's stores are not seen: what it can write counts as written.
    const bool seen = access.block != nullptr && !access.block->pinned() &&
                      devices[access.block->device].options.own_memory;
    if (!access.write && seen) {
      for (const auto& [begin, end] : shadow.Unwritten(access.begin, access.end)) {
        Report report;
        report.fault = Fault::kUnwrittenRead;
        report.second = step.actor->text(false);
        report.block = block;
        report.begin = begin;
        report.end = end;
        Add(std::move(report));
      }
    }
    if (access.write)
      shadow.Write(access.begin, access.end, step, &conflicts);
    else
      shadow.Read(access.begin, access.end, step, &conflicts);
    if (!conflicts.empty())
      AddConflicts(Fault::kRace, conflicts, step.actor->text(access.write), block, stream);
  }
  if (pageable.size() > pageable_limit) {
    pageable.Forget(clocks.host);
    pageable_limit = std::max<size_t>(1024, 2 * pageable.size());
  }
}

TaskPtr Simulator::State::Enqueue(Lane* lane, const std::shared_ptr<Work>& work, int64_t ready_ns) {
  Timeline& timeline = devices[lane->device].timelines[static_cast<size_t>(work->engine)];
  timeline.Forget(now);
  auto task = std::make_shared<Task>();
  task->name = work->name;
  task->end_ns = timeline.Take(ready_ns, work->cost_ns) + work->cost_ns;
  task->run = [work] { return !work->body || work->body() ? Code::kOk : Code::kFailed; };
  queues.Add(lane, task);
  return task;
}

bool Simulator::State::Usable(const Work& work, const std::string& who) {
  for (const Work::Access& access : work.accesses) {
    if (access.block == nullptr || !access.block->freed) continue;
    Report report;
    report.fault = Fault::kUseAfterFree;
    report.second = (access.write ? "write by '" : "read by '") + work.name + "' " + who;
    report.block = access.block->name;
    report.begin = access.begin;
    report.end = access.end;
    report.missing = "it was freed before";
    Add(std::move(report));
    return false;
  }
  return true;
}

}  // namespace ge_engines::device::sim
