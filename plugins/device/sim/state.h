// What a Simulator holds, and how its driver calls begin. Calls of one kind of thing stand
// together: streams.cc, blocks.cc, work.cc, capture.cc.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/device/sim/clock.h"
#include "plugins/device/sim/memory.h"
#include "plugins/device/sim/queues.h"
#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {

// A kernel, copy or fill as it was called. Its blocks are looked up, its ranges are right.
struct Work {
  struct Access {
    std::shared_ptr<Block> block;  // nullptr: pageable memory
    size_t begin = 0;              // in the block; of pageable memory: the address
    size_t end = 0;
    bool write = false;
  };
  std::string name;
  std::vector<Access> accesses;
  std::function<bool()> body;
  uint64_t call = 0;
};

struct Capture;

struct StreamState {
  uint64_t id = 0;
  int device = 0;
  std::shared_ptr<Lane> lane;
  std::shared_ptr<Capture> capture;  // while it is captured
  std::vector<int> tail;             // of the capture: nodes that its next node comes after
};

struct EventState {
  uint64_t id = 0;
  int device = 0;
  TaskPtr record;                    // the newest
  std::shared_ptr<Capture> capture;  // recorded inside
  std::vector<int> tail;
};

// A capture that runs, and the graph that it becomes.
struct Capture {
  struct Node {
    std::shared_ptr<Work> work;
    std::vector<int> after;
    int lane = 0;
  };
  uint64_t id = 0;
  int device = 0;
  uint64_t origin = 0;
  bool spoiled = false;
  std::vector<uint64_t> streams;  // a stream's place is its lane
  std::vector<Node> nodes;
};

struct Simulator::State {
  struct Device {
    DeviceOptions options;
    std::string label;  // "sim 0"
    size_t bytes = 0;   // in blocks
    size_t most_bytes = 0;
    Code error = Code::kOk;  // kFailed or kDeviceLost
  };

  explicit State(SimulatorOptions asked);

  // Begins a driver call: counts it, lets time pass and plays planted faults.
  Code Enter(Call call, int device);
  Code Leave(Code code);  // ends it: the schedule may run work
  bool HasDevice(int device) const;
  Code Reject(Fault fault, std::string second, std::string missing);  // reports; kInvalid
  Code Unknown(const char* what, uint64_t id, bool destroying);
  Code Refuse(Capture* capture, const std::string& what);  // spoils it; kCapture

  // `body(thing)` inside a driver call on a thing that stands.
  template <class Map, class Body>
  Code On(Call call, const char* what, const Map& things, uint64_t id, Body&& body) {
    const auto found = things.find(id);
    const bool known = found != things.end();
    const Code code = Enter(call, known ? found->second->device : -1);
    if (code != Code::kOk) return code;
    return Leave(known ? body(*found->second) : Unknown(what, id, false));
  }
  // Destroys come through whatever the device answers.
  template <class Map, class Body>
  Code Destroy(Call call, const char* what, Map* things, uint64_t id, Body&& body) {
    const auto found = things->find(id);
    const bool known = found != things->end();
    const Code code = Enter(call, known ? found->second->device : -1);
    if (!known) return Leave(Unknown(what, id, true));
    const auto thing = found->second;
    things->erase(found);
    body(*thing);
    return Leave(code == Code::kDeviceLost ? Code::kOk : code);
  }

  // blocks.cc
  Code AddBlock(int device, size_t bytes, void** block);  // -1: pinned
  Code FreeBlock(Call call, void* address);

  // streams.cc
  TaskPtr Mark(Lane* lane);  // a point in a lane
  Code Query(const TaskPtr& task);
  Code QueryStream(const StreamState& stream);
  Code HostWait(const TaskPtr& task, int64_t limit_ns);

  // work.cc
  Code Access(int device, const Range& range, bool write, Work* work);
  Code Transfer(StreamState* stream, Work* work, void* to, const void* from, size_t bytes);
  Code Hand(StreamState* stream, std::shared_ptr<Work> work);  // to its queue, or its capture
  TaskPtr Enqueue(Lane* lane, std::shared_ptr<Work> work);

  // capture.cc
  void CaptureWork(StreamState* stream, std::shared_ptr<Work> work);
  Code JoinCapture(StreamState* stream, EventState* event);
  Code EndCapture(StreamState* stream, Graph* graph);
  Code LaunchGraph(const Capture& graph, StreamState* stream);
  bool Joined(const Capture& capture) const;
  Capture* Running(int device) const;  // a capture of the device; -1: of any

  mutable std::mutex mutex;
  SimulatorOptions options;
  std::vector<Device> devices;
  Memory memory;
  Queues queues;
  std::unordered_map<uint64_t, std::shared_ptr<StreamState>> streams;
  std::unordered_map<uint64_t, std::shared_ptr<EventState>> events;
  std::unordered_map<uint64_t, std::shared_ptr<Capture>> graphs;
  std::vector<std::shared_ptr<Capture>> captures;  // that run
  uint64_t next_id = 1;
  int64_t now = 0;
  uint64_t calls = 0;
  std::array<uint64_t, static_cast<size_t>(Call::kCount)> calls_of = {};
  std::function<void(Call, uint64_t)> hook;
  std::vector<Report> reports;
};

}  // namespace ge_engines::device::sim
