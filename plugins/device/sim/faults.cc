// How driver calls begin and end, and the faults that tests plant.
#include <algorithm>
#include <utility>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {

Code Simulator::State::Enter(Call call, int device) {
  ++calls;
  ++calls_of[static_cast<size_t>(call)];
  if (hook) hook(call, calls);
  now += options.call_ns;
  Code answer = Code::kOk;
  for (Planted& one : planted) {
    if (one.call != call && one.call != Call::kCount) continue;
    if (--one.left == 0) answer = one.code;
  }
  std::erase_if(planted, [](const Planted& one) { return one.left == 0; });
  if (answer == Code::kDeviceLost && HasDevice(device)) Fail(device, answer);
  const Code code = HasDevice(device) ? Answer(device) : Code::kOk;
  return code != Code::kOk ? code : answer;
}

Code Simulator::State::Leave(Code code) {
  queues.Turn(now);
  return code;
}

Code Simulator::State::Answer(int device) {
  if (devices[device].error != Code::kOk) EndWork(device);
  return devices[device].error;
}

void Simulator::State::Fail(int device, Code code) {
  if (devices[device].error != Code::kDeviceLost) devices[device].error = code;
  queues.Abandon(device);
  for (const auto& capture : std::vector(captures))
    if (capture->device == device) DropCapture(capture);
}

void Simulator::State::EndWork(int device) {
  Note("idle " + std::to_string(device));
  clocks.host.Merge(devices[device].ended);
  for (const auto& [id, stream] : streams)
    if (stream->device == device) clocks.host.Merge(stream->clock);
}

Code Simulator::State::BeforeWork() {
  Code answer = Code::kOk;
  for (Planted& one : planted_work)
    if (--one.left == 0) answer = one.code;
  if (answer == Code::kNotReady) ++stalls;
  std::erase_if(planted_work, [](const Planted& one) { return one.left == 0; });
  return answer;
}

void Simulator::FailCall(Call call, uint64_t k, Code code) {
  const std::lock_guard lock(state_->mutex);
  if (k > 0) state_->planted.push_back({call, k, code});
}

void Simulator::FailWork(uint64_t k, Code code) {
  const std::lock_guard lock(state_->mutex);
  if (k > 0) state_->planted_work.push_back({Call::kLaunch, k, code});
}

uint64_t Simulator::stalls() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stalls;
}

void Simulator::EndStalls() {
  const std::lock_guard lock(state_->mutex);
  state_->queues.EndStalls();
}

void Simulator::StallWork(uint64_t k) { FailWork(k, Code::kNotReady); }

void Simulator::DropWait(uint64_t k) {
  const std::lock_guard lock(state_->mutex);
  state_->waits_left = k;
}

void Simulator::DropTold(uint64_t k) {
  const std::lock_guard lock(state_->mutex);
  state_->told_left = k;
}

void Simulator::StallStream(Stream stream) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->streams.find(static_cast<uint64_t>(stream));
  if (found != state_->streams.end()) found->second->lane->stalled = true;
}

void Simulator::LoseDevice(int device) {
  const std::lock_guard lock(state_->mutex);
  if (state_->HasDevice(device)) state_->Fail(device, Code::kDeviceLost);
}

Code Simulator::Reset(int device) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  const Code code = state.Enter(Call::kReset, device);
  if (!state.HasDevice(device)) return state.Leave(state.Unknown("device", device, false));
  if (code != Code::kOk && code != Code::kFailed) return code;
  if (code == Code::kFailed && state.devices[device].error == Code::kOk) return code;  // planted
  state.Fail(device, Code::kFailed);
  state.EndWork(device);
  const auto retire = [&](auto* things) {
    for (auto thing = things->begin(); thing != things->end();) {
      if (thing->second->device == device) {
        state.stale.insert(thing->first);
        thing = things->erase(thing);
      } else {
        ++thing;
      }
    }
  };
  for (const auto& [id, stream] : state.streams)
    if (stream->device == device) state.EndStream(*stream);
  retire(&state.streams);
  retire(&state.events);
  retire(&state.graphs);
  std::vector<std::shared_ptr<Block>> gone;
  for (const auto& [address, block] : state.memory.blocks())
    if (block->device == device && !block->freed) gone.push_back(block);
  for (const auto& block : gone) {
    state.stale_blocks.insert(block->data);
    state.memory.Free(block);
  }
  state.devices[device].bytes = 0;
  state.devices[device].error = Code::kOk;
  return state.Leave(Code::kOk);
}

void Simulator::Finish() {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  state.queues.RunAll();
  std::vector<std::string> left;
  const auto list = [&](const char* what, const auto& things) {
    std::vector<uint64_t> ids;
    for (const auto& [id, thing] : things) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    for (const uint64_t id : ids) left.push_back(std::string(what) + " " + std::to_string(id));
  };
  list("stream", state.streams);
  list("event", state.events);
  list("graph", state.graphs);
  std::vector<std::shared_ptr<Block>> blocks;
  for (const auto& [address, block] : state.memory.blocks())
    if (!block->freed) blocks.push_back(block);
  std::sort(blocks.begin(), blocks.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });
  for (const auto& block : blocks) {
    state.CheckGuard(*block);
    left.push_back(block->name + ", " + std::to_string(block->bytes) + " bytes");
  }
  for (const auto& name : left) state.Reject(Fault::kLeak, name, "nobody destroyed it");
}

}  // namespace ge_engines::device::sim
