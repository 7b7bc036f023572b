// Queues of work and the order in which it runs. A lane is first in, first out: a stream, or a
// branch of a captured graph. Edges between lanes are the tasks' `after`. It knows no clocks, no
// memory and no driver calls.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {

struct Lane;

struct Task {
  std::string name;
  std::function<Code()> run;                 // empty: a mark (record, wait), which takes no turn
  std::vector<std::shared_ptr<Task>> after;  // of other lanes; emptied when it is done
  Lane* lane = nullptr;                      // until it is done
  int device = 0;
  uint64_t number = 0;  // in the order of the calls
  int64_t end_ns = 0;   // on the simulated clock
  bool done = false;
};
using TaskPtr = std::shared_ptr<Task>;

struct Lane {
  int device = 0;
  bool stalled = false;
  std::deque<TaskPtr> tasks;
};

class Queues {
 public:
  Queues(Schedule schedule, uint64_t seed) : schedule_(schedule), random_(seed) {}

  void SetSchedule(Schedule schedule, uint64_t seed) {
    schedule_ = schedule;
    random_.seed(seed);
  }
  std::shared_ptr<Lane> AddLane(int device);
  void Add(Lane* lane, TaskPtr task);
  // After each call: what the schedule runs unasked. `now_ns` is the host's time.
  void Turn(int64_t now_ns);
  void EndStalls();
  bool stalled() const;  // some work never ends
  bool Coin() { return (random_() & 1) != 0; }
  // Runs until `task` is done; false: a stalled lane stands before it.
  bool RunUntil(const TaskPtr& task);
  // One step towards it, for a host that polls; where work is late, from the second question on.
  void Step(const TaskPtr& task, int64_t now_ns);
  void RunAll();
  // The device's work is over without having run; what waits for it goes on.
  void Abandon(int device);
  // Asked before each task that is work: kOk runs it, kNotReady stalls its lane, others fail it.
  std::function<Code(const Task&)> before;
  // A task that failed so, or that answered another code than kOk.
  std::function<void(const Task&, Code)> failed;
  const std::deque<std::string>& order() const { return order_; }

 private:
  bool Runnable(const Lane& lane) const;
  void RunHead(Lane* lane);
  void Settle();  // passes marks whose edges are done
  // Who goes on next, so that `target` (nullptr: everything) will be done; nullptr: nobody can.
  Lane* Pick(const TaskPtr& target);
  Lane* PickNeeded(const TaskPtr& target) const;
  Lane* PickRandom();
  Lane* PickAgainst(const TaskPtr& target) const;
  Lane* PickEarliest(int64_t until_ns) const;

  Schedule schedule_;
  std::mt19937_64 random_;
  std::vector<std::shared_ptr<Lane>> lanes_;  // with work, or held by a stream
  uint64_t next_ = 1;
  std::unordered_set<uint64_t> asked_;  // tasks, since the newest came
  std::deque<std::string> order_;       // names of the newest work that ran
};

}  // namespace ge_engines::device::sim
