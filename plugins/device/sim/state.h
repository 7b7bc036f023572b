// What a Simulator holds, and how its driver calls begin. Calls of one kind of thing stand
// together: streams.cc, blocks.cc, work.cc, capture.cc.
#pragma once

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plugins/device/sim/clock.h"
#include "plugins/device/sim/memory.h"
#include "plugins/device/sim/queues.h"
#include "plugins/device/sim/shadow.h"
#include "plugins/device/sim/simulator.h"
#include "plugins/device/sim/timeline.h"

namespace ge_engines::device::sim {

// Who touches memory and is no device's kernel. A copy sees both ends wherever they lie.
constexpr int kHost = -1, kCopy = -2;

// What of a device work keeps busy.
enum class Engine { kKernels, kToDevice, kFromDevice, kPeer, kCount };

// A kernel, copy or fill as it was called. Its blocks are looked up, its ranges are right.
struct Work {
  struct Access {
    std::shared_ptr<Block> block;  // nullptr: pageable memory
    size_t begin = 0;              // in the block; of pageable memory: the address
    size_t end = 0;
    bool write = false;
  };
  std::string name;
  std::vector<Access> accesses;  // reads first
  std::function<bool()> body;
  uint64_t call = 0;
  bool copies = false;
  Engine engine = Engine::kKernels;
  int64_t latency_ns = 0;  // of the stream's time alone
  int64_t cost_ns = 0;     // of the engine's
};

struct Capture;

struct StreamState {
  uint64_t id = 0;
  int device = 0;
  std::shared_ptr<Lane> lane;
  uint32_t clock_lane = 0;
  VectorClock clock;                 // after its newest work
  Epoch last;                        // its newest work
  int64_t end_ns = 0;                // when that ends
  std::string void_wait;             // its newest wait for an event never recorded
  std::shared_ptr<Capture> capture;  // while it is captured
  std::vector<int> tail;             // of the capture: nodes that its next node comes after
};

struct EventState {
  uint64_t id = 0;
  int device = 0;
  TaskPtr record;  // the newest
  VectorClock clock;
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
  // Of the graph: its lanes' clocks, and its newest launch.
  std::vector<uint32_t> clock_lanes;
  Epoch last;
  VectorClock clock;  // after it
};

struct Simulator::State {
  struct Device {
    DeviceOptions options;
    std::string label;  // "sim 0"
    size_t bytes = 0;   // in blocks
    size_t most_bytes = 0;
    Code error = Code::kOk;           // kFailed or kDeviceLost
    VectorClock ended;                // of streams that are destroyed
    std::vector<Timeline> timelines;  // by Engine
  };
  struct Planted {
    Call call;
    uint64_t left;
    Code code;
  };
  using Conflicts = std::vector<Conflict>;

  explicit State(SimulatorOptions asked);

  // --- calls: faults.cc
  // Begins a driver call: counts it, lets time pass and plays planted faults.
  Code Enter(Call call, int device);
  Code Leave(Code code);  // ends it: the schedule may run work
  void Fail(int device, Code code);
  void EndWork(int device);  // the host knows that the device does nothing any more
  Code Answer(int device);   // after work ran: the device's error
  void DropCapture(std::shared_ptr<Capture> capture);
  Code BeforeWork();

  // --- reports: reports.cc
  bool HasDevice(int device) const;
  Code Reject(Fault fault, std::string second, std::string missing);  // kInvalid
  Code Unknown(const char* what, uint64_t id, bool destroying);
  Code Refuse(Capture* capture, const std::string& what);  // spoils it; kCapture
  void Add(Report report);
  void AddConflicts(Fault fault, const Conflicts& conflicts, const std::string& second,
                    const std::string& block, const StreamState* stream);
  std::string Here() const;  // "(call 12)"

  // --- the journal: journal.cc
  void OpenJournal();
  void Note(const std::string& text);
  void NoteWork(const std::string& head, const Work& work);
  // The host asks whether a thing's work is over, or waits for that: kOk.
  Code Told(const char* what, uint64_t id, const std::function<Code()>& ask);

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
    if (!known && stale.erase(id) != 0) return Leave(code);
    if (!known) return Leave(Unknown(what, id, true));
    const auto thing = found->second;
    things->erase(found);
    body(*thing);
    return Leave(code);
  }

  // --- blocks.cc
  Code AddBlock(int device, size_t bytes, void** block);  // -1: pinned
  Code FreeBlock(Call call, void* address);
  void CheckFree(const Block& block);
  void CheckGuard(const Block& block);
  // What `range` is in memory, which a kernel of `device`, kHost or kCopy touches.
  // False: it must not be touched; `report` says why but for who.
  bool Locate(int device, const Range& range, Work::Access* access, Report* report) const;
  void HostAccess(const Range& range, bool write, std::string name);

  // --- streams.cc
  TaskPtr Mark(StreamState* stream);  // a point in its lane
  Code Query(const TaskPtr& task, const VectorClock& clock);
  Code HostWait(const TaskPtr& task, const VectorClock& clock, int64_t limit_ns);
  TaskPtr Newest(const StreamState& stream);
  void EndStream(const StreamState& stream);
  Code WaitFor(StreamState* stream, EventState* event);

  // --- work.cc
  Code AddAccess(int device, const Range& range, bool write, Work* work);
  Code Transfer(const StreamState& stream, Work* work, void* to, const void* from, size_t bytes);
  void PriceCopy(int device, const Block* from, const Block* to, size_t bytes, Work* work) const;
  void Hand(StreamState* stream, std::shared_ptr<Work> work);  // to its queue, or its capture
  TaskPtr Enqueue(Lane* lane, const std::shared_ptr<Work>& work, int64_t ready_ns);
  void ReadAtTheCall(Work* work);
  // Reports what `work` is in no order with, and marks its bytes.
  void Check(const Work& work, const Step& step, const StreamState* stream);
  bool Usable(const Work& work, const std::string& who);  // no block of it was freed since

  // --- capture.cc
  void CaptureWork(StreamState* stream, std::shared_ptr<Work> work);
  Code JoinCapture(StreamState* stream, EventState* event);
  Code EndCapture(StreamState* stream, Graph* graph);
  Code LaunchGraph(Capture* graph, StreamState* stream);
  void DestroyGraph(const Capture& graph);
  bool Joined(const Capture& capture) const;
  Capture* Running(int device) const;  // a capture of the device; -1: of any

  mutable std::mutex mutex;
  SimulatorOptions options;
  std::vector<Device> devices;
  Memory memory;
  Shadow pageable;
  size_t pageable_limit = 1024;  // of its cells, before what is settled is forgotten
  Clocks clocks;
  Queues queues;
  std::unordered_map<uint64_t, std::shared_ptr<StreamState>> streams;
  std::unordered_map<uint64_t, std::shared_ptr<EventState>> events;
  std::unordered_map<uint64_t, std::shared_ptr<Capture>> graphs;
  std::vector<std::shared_ptr<Capture>> captures;  // that run
  // Of devices that were reset since.
  std::unordered_set<uint64_t> stale;
  std::unordered_set<const void*> stale_blocks;
  uint64_t next_id = 1;
  int64_t now = 0;
  uint64_t calls = 0;
  std::array<uint64_t, static_cast<size_t>(Call::kCount)> calls_of = {};
  std::function<void(Call, uint64_t)> hook;
  std::vector<Planted> planted;
  std::vector<Planted> planted_work;
  uint64_t waits_left = 0, told_left = 0;  // until the one that is dropped
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> journal{nullptr, std::fclose};
  uint64_t stalls = 0;
  std::vector<Report> reports;
};

}  // namespace ge_engines::device::sim
