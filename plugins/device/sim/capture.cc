// Captures: work that is kept with its edges, and launched as a whole.
#include <algorithm>
#include <string>
#include <utility>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {

Code Simulator::CaptureBegin(Stream origin) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kCaptureBegin, "stream", state.streams, static_cast<uint64_t>(origin),
                  [&](StreamState& one) {
                    if (one.capture)
                      return state.Refuse(one.capture.get(), "a capture began inside another");
                    auto capture = std::make_shared<Capture>();
                    capture->device = one.device;
                    capture->origin = one.id;
                    capture->streams = {one.id};
                    one.capture = capture;
                    one.tail.clear();
                    state.captures.push_back(std::move(capture));
                    return Code::kOk;
                  });
}

Code Simulator::CaptureEnd(Stream origin, Graph* graph) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kCaptureEnd, "stream", state.streams, static_cast<uint64_t>(origin),
                  [&](StreamState& one) { return state.EndCapture(&one, graph); });
}

Code Simulator::GraphLaunch(Graph graph, Stream stream) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  const auto launched = state.streams.find(static_cast<uint64_t>(stream));
  return state.On(Call::kGraphLaunch, "graph", state.graphs, static_cast<uint64_t>(graph),
                  [&](Capture& one) {
                    if (launched == state.streams.end())
                      return state.Unknown("stream", static_cast<uint64_t>(stream), false);
                    return state.LaunchGraph(one, launched->second.get());
                  });
}

Code Simulator::GraphDestroy(Graph graph) {
  const std::lock_guard lock(state_->mutex);
  return state_->Destroy(Call::kGraphDestroy, "graph", &state_->graphs,
                         static_cast<uint64_t>(graph), [](Capture&) {});
}

Code Simulator::State::Refuse(Capture* capture, const std::string& what) {
  capture->spoiled = true;
  Reject(Fault::kCapture, what + " inside a capture (call " + std::to_string(calls) + ")",
         "end the capture first");
  return Code::kCapture;
}

Capture* Simulator::State::Running(int device) const {
  for (const auto& capture : captures)
    if (device < 0 || capture->device == device) return capture.get();
  return nullptr;
}

void Simulator::State::CaptureWork(StreamState* stream, std::shared_ptr<Work> work) {
  Capture& capture = *stream->capture;
  const auto lane = std::find(capture.streams.begin(), capture.streams.end(), stream->id);
  Capture::Node node;
  node.work = std::move(work);
  node.after = stream->tail;
  node.lane = static_cast<int>(lane - capture.streams.begin());
  stream->tail = {static_cast<int>(capture.nodes.size())};
  capture.nodes.push_back(std::move(node));
}

Code Simulator::State::JoinCapture(StreamState* stream, EventState* event) {
  if (!event->capture)  // work outside cannot come before work inside
    return event->record ? Refuse(stream->capture.get(), "a wait for an event recorded outside")
                         : Code::kOk;
  const bool runs = std::find(captures.begin(), captures.end(), event->capture) != captures.end();
  if (!runs || (stream->capture && stream->capture != event->capture)) {
    if (stream->capture) return Refuse(stream->capture.get(), "a wait for another capture's event");
    Reject(Fault::kCapture,
           "wait for event " + std::to_string(event->id) + " (call " + std::to_string(calls) + ")",
           "its newest record lies in a capture that ended; record it again");
    return Code::kCapture;
  }
  if (stream->device != event->capture->device)
    return Refuse(event->capture.get(), "a stream of another device joined");
  if (!stream->capture) {
    stream->capture = event->capture;
    stream->tail.clear();
    auto& streams = event->capture->streams;
    if (std::find(streams.begin(), streams.end(), stream->id) == streams.end())
      streams.push_back(stream->id);
  }
  for (const int node : event->tail)
    if (std::find(stream->tail.begin(), stream->tail.end(), node) == stream->tail.end())
      stream->tail.push_back(node);
  return Code::kOk;
}

bool Simulator::State::Joined(const Capture& capture) const {
  const auto origin = streams.find(capture.origin);
  if (origin == streams.end()) return false;
  std::vector<bool> reached(capture.nodes.size());
  std::vector<int> open = origin->second->tail;
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    const auto& after = capture.nodes[node].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  return std::all_of(reached.begin(), reached.end(), [](bool yes) { return yes; });
}

Code Simulator::State::EndCapture(StreamState* stream, Graph* graph) {
  const auto capture = stream->capture;
  if (!capture || capture->origin != stream->id) {
    Reject(Fault::kCapture, "end of a capture (call " + std::to_string(calls) + ")",
           "stream " + std::to_string(stream->id) + " began none");
    return Code::kCapture;
  }
  bool good = !capture->spoiled;
  if (good && !Joined(*capture)) {
    good = false;
    Reject(Fault::kCapture, "end of a capture (call " + std::to_string(calls) + ")",
           "work of another stream is not joined; let the origin wait for its event");
  }
  for (const uint64_t id : capture->streams) {
    const auto joined = streams.find(id);
    if (joined != streams.end() && joined->second->capture == capture) {
      joined->second->capture = nullptr;
      joined->second->tail.clear();
    }
  }
  std::erase(captures, capture);
  if (!good) return Code::kCapture;
  capture->id = next_id++;
  graphs[capture->id] = capture;
  *graph = static_cast<Graph>(capture->id);
  return Code::kOk;
}

Code Simulator::State::LaunchGraph(const Capture& graph, StreamState* stream) {
  if (stream->capture) return Refuse(stream->capture.get(), "a graph was launched");
  if (stream->device != graph.device) return Code::kInvalid;
  const TaskPtr begin = Mark(stream->lane.get());
  const TaskPtr end = Mark(stream->lane.get());
  std::vector<std::shared_ptr<Lane>> lanes;
  for (size_t i = 0; i < graph.streams.size(); ++i) lanes.push_back(queues.AddLane(graph.device));
  std::vector<TaskPtr> tasks;
  for (const auto& node : graph.nodes) {
    const TaskPtr task = Enqueue(lanes[node.lane].get(), node.work);
    task->after.push_back(begin);
    for (const int other : node.after) task->after.push_back(tasks[other]);
    tasks.push_back(task);
  }
  end->after = tasks;
  return Code::kOk;
}

}  // namespace ge_engines::device::sim
