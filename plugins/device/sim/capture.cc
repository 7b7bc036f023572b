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
  const auto ended = state.streams.find(static_cast<uint64_t>(origin));
  const bool known = ended != state.streams.end();
  const Code code = state.Enter(Call::kCaptureEnd, known ? ended->second->device : -1);
  if (!known) return state.Leave(state.Unknown("stream", static_cast<uint64_t>(origin), false));
  if (code == Code::kOk) return state.Leave(state.EndCapture(ended->second.get(), graph));
  if (ended->second->capture) state.DropCapture(ended->second->capture);
  return state.Leave(code);
}

Code Simulator::GraphLaunch(Graph graph, Stream stream) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  const auto launched = state.streams.find(static_cast<uint64_t>(stream));
  return state.On(Call::kGraphLaunch, "graph", state.graphs, static_cast<uint64_t>(graph),
                  [&](Capture& one) {
                    if (launched == state.streams.end())
                      return state.Unknown("stream", static_cast<uint64_t>(stream), false);
                    return state.LaunchGraph(&one, launched->second.get());
                  });
}

Code Simulator::GraphDestroy(Graph graph) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.Destroy(Call::kGraphDestroy, "graph", &state.graphs, static_cast<uint64_t>(graph),
                       [&](Capture& one) { state.DestroyGraph(one); });
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

void Simulator::State::DropCapture(std::shared_ptr<Capture> capture) {
  for (const uint64_t id : capture->streams) {
    const auto joined = streams.find(id);
    if (joined == streams.end() || joined->second->capture != capture) continue;
    joined->second->tail.clear();
    joined->second->capture = nullptr;
  }
  std::erase(captures, capture);
}

Code Simulator::State::EndCapture(StreamState* stream, Graph* graph) {
  const auto capture = stream->capture;
  if (!capture || capture->origin != stream->id) {
    Reject(Fault::kCapture, "end of a capture " + Here(),
           "stream " + std::to_string(stream->id) + " began none");
    return Code::kCapture;
  }
  bool good = !capture->spoiled;
  if (good && !Joined(*capture)) {
    good = false;
    Reject(Fault::kCapture, "end of a capture " + Here(),
           "work of another stream is not joined; let the origin wait for its event");
  }
  DropCapture(capture);
  if (!good) return Code::kCapture;
  capture->id = next_id++;
  for (size_t i = 0; i < capture->streams.size(); ++i)
    capture->clock_lanes.push_back(clocks.Take());
  graphs[capture->id] = capture;
  *graph = static_cast<Graph>(capture->id);
  return Code::kOk;
}

Code Simulator::State::LaunchGraph(Capture* graph, StreamState* stream) {
  if (stream->capture) return Refuse(stream->capture.get(), "a graph was launched");
  const std::string name = "graph " + std::to_string(graph->id) + " " + Here();
  if (stream->device != graph->device) {
    return Reject(Fault::kWrongMemory, name,
                  "stream " + std::to_string(stream->id) + " is another device's");
  }
  for (const auto& node : graph->nodes)
    if (!Usable(*node.work, "in " + name)) return Code::kInvalid;
  stream->clock.Merge(clocks.host);
  if (!stream->clock.Knows(graph->last)) {
    Reject(Fault::kGraphInFlight, name,
           "launch it on the stream of its launch before, or wait for that");
  }
  const std::string ids = std::to_string(graph->id) + " " + std::to_string(stream->id);
  Note("graph " + ids);
  const TaskPtr begin = Mark(stream), end = Mark(stream);
  std::vector<std::shared_ptr<Lane>> lanes;
  for (size_t i = 0; i < graph->streams.size(); ++i) lanes.push_back(queues.AddLane(graph->device));
  std::vector<TaskPtr> tasks;
  std::vector<VectorClock> ends(graph->nodes.size(), stream->clock);
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const auto& node = graph->nodes[i];
    int64_t ready = begin->end_ns + devices[graph->device].options.launch_ns;
    for (const int other : node.after) {
      ends[i].Merge(ends[other]);
      ready = std::max(ready, tasks[other]->end_ns);
    }
    auto actor = std::make_shared<Actor>();
    *actor = {node.work->name, calls, stream->id, graph->id};
    const Epoch epoch = ends[i].Step(graph->clock_lanes[node.lane]);
    std::string after;
    for (const int other : node.after) after += (after.empty() ? "" : ",") + std::to_string(other);
    NoteWork("node " + ids + " " + (after.empty() ? "-" : after), *node.work);
    Check(*node.work, {epoch, &ends[i], std::move(actor)}, stream);
    ready += devices[graph->device].options.graph_node_ns;
    if (node.work->copies) ready += node.work->latency_ns;
    const TaskPtr task = Enqueue(lanes[node.lane].get(), node.work, ready);
    task->after.push_back(begin);
    for (const int other : node.after) task->after.push_back(tasks[other]);
    tasks.push_back(task);
  }
  for (const TaskPtr& task : tasks) stream->end_ns = std::max(stream->end_ns, task->end_ns);
  for (const VectorClock& clock : ends) stream->clock.Merge(clock);
  end->after = std::move(tasks);
  end->end_ns = stream->end_ns;
  stream->last = graph->last = stream->clock.Step(stream->clock_lane);
  graph->clock = stream->clock;
  Note("joined " + ids);
  clocks.host.Step(0);
  return Code::kOk;
}

void Simulator::State::DestroyGraph(const Capture& graph) {
  if (!clocks.host.Knows(graph.last) && !queues.stalled() &&
      devices[graph.device].error == Code::kOk) {
    Reject(Fault::kDestroyInFlight, "graph " + std::to_string(graph.id) + " " + Here(),
           "the host must wait for its launch first");
  }
  for (const uint32_t lane : graph.clock_lanes) clocks.Give(lane, graph.clock);
}

}  // namespace ge_engines::device::sim
