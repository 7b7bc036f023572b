// Driver calls that hand over work: kernels, copies, fills.
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

}  // namespace

Code Simulator::Launch(Stream stream, Kernel kernel) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kLaunch, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    const auto work = Named(std::move(kernel.name), state.calls);
                    for (const bool write : {false, true}) {
                      for (const Range& range : write ? kernel.writes : kernel.reads) {
                        const Code code = state.Access(one.device, range, write, work.get());
                        if (code != Code::kOk) return code;
                      }
                    }
                    work->body = std::move(kernel.body);
                    return state.Hand(&one, work);
                  });
}

Code Simulator::Fill(Stream stream, void* to, uint8_t value, size_t bytes, std::string name) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kFill, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    const auto work = Named(std::move(name), state.calls);
                    const Code code = state.Access(one.device, {to, bytes}, true, work.get());
                    if (code != Code::kOk) return code;
                    work->body = [to, value, bytes] { return std::memset(to, value, bytes), true; };
                    return state.Hand(&one, work);
                  });
}

Code Simulator::Copy(Stream stream, void* to, const void* from, size_t bytes, std::string name) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kCopy, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    const auto work = Named(std::move(name), state.calls);
                    const Code code = state.Transfer(&one, work.get(), to, from, bytes);
                    return code == Code::kOk ? state.Hand(&one, work) : code;
                  });
}

Code Simulator::State::Transfer(StreamState* stream, Work* work, void* to, const void* from,
                                size_t bytes) {
  const auto source = memory.Find(from), target = memory.Find(to);
  const auto device_of = [](const auto& block) { return block == nullptr ? -1 : block->device; };
  const bool own = devices[stream->device].options.own_memory;
  if (own && device_of(source) != stream->device && device_of(target) != stream->device) {
    return Reject(Fault::kWrongMemory, "'" + work->name + "' (call " + std::to_string(calls) + ")",
                  "neither end is memory of " + devices[stream->device].label);
  }
  // A copy sees the host's memory and that of another device; a kernel does not.
  Code code = Access(-1, {from, bytes}, false, work);
  if (code == Code::kOk) code = Access(-1, {to, bytes}, true, work);
  work->body = [to, from, bytes] { return std::memmove(to, from, bytes), true; };
  return code;
}

Code Simulator::State::Access(int device, const Range& range, bool write, Work* work) {
  if (range.bytes == 0) return Code::kOk;
  const std::string name = std::string(write ? "write by '" : "read by '") + work->name +
                           "' (call " + std::to_string(work->call) + ")";
  Work::Access access;
  access.write = write;
  access.block = memory.Find(range.data);
  access.begin = reinterpret_cast<uintptr_t>(range.data);
  if (access.block != nullptr) access.begin -= reinterpret_cast<uintptr_t>(access.block->data);
  access.end = access.begin + range.bytes;
  if (access.block != nullptr && access.block->freed)
    return Reject(Fault::kUseAfterFree, name, access.block->name + " was freed before");
  if (access.block != nullptr &&
      (access.begin > access.block->bytes || range.bytes > access.block->bytes - access.begin)) {
    return Reject(Fault::kOutOfBounds, name,
                  access.block->name + " has " + std::to_string(access.block->bytes) + " bytes");
  }
  if (device >= 0) {
    const bool own = devices[device].options.own_memory;
    const bool sees = access.block == nullptr
                          ? !own
                          : access.block->pinned() || access.block->device == device ||
                                (!own && !devices[access.block->device].options.own_memory);
    if (!sees)
      return Reject(Fault::kWrongMemory, name,
                    devices[device].label + " does not see " +
                        (access.block ? access.block->name : "pageable memory"));
  }
  work->accesses.push_back(std::move(access));
  return Code::kOk;
}

Code Simulator::State::Hand(StreamState* stream, std::shared_ptr<Work> work) {
  if (stream->capture)
    CaptureWork(stream, std::move(work));
  else
    Enqueue(stream->lane.get(), std::move(work));
  return Code::kOk;
}

TaskPtr Simulator::State::Enqueue(Lane* lane, std::shared_ptr<Work> work) {
  auto task = std::make_shared<Task>();
  task->name = work->name;
  task->run = [work] { return !work->body || work->body() ? Code::kOk : Code::kFailed; };
  queues.Add(lane, task);
  return task;
}

}  // namespace ge_engines::device::sim
