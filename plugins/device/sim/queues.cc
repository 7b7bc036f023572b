#include "plugins/device/sim/queues.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ge_engines::device::sim {
namespace {

constexpr size_t kMostNames = 4096;  // of work that ran: programs may run for ever

bool Ready(const Task& task) {
  return std::all_of(task.after.begin(), task.after.end(),
                     [](const TaskPtr& other) { return other->done; });
}

void Finish(Task* task) {
  task->done = true;
  task->after.clear();
  task->run = nullptr;
  task->lane = nullptr;
}

}  // namespace

std::shared_ptr<Lane> Queues::AddLane(int device) {
  lanes_.push_back(std::make_shared<Lane>());
  lanes_.back()->device = device;
  return lanes_.back();
}

void Queues::Add(Lane* lane, TaskPtr task) {
  task->lane = lane;
  task->device = lane->device;
  task->number = next_++;
  asked_.clear();
  lane->tasks.push_back(std::move(task));
}

bool Queues::Runnable(const Lane& lane) const {
  return !lane.stalled && !lane.tasks.empty() && Ready(*lane.tasks.front());
}

void Queues::Settle() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& lane : lanes_) {
      while (Runnable(*lane) && !lane->tasks.front()->run) {
        Finish(lane->tasks.front().get());
        lane->tasks.pop_front();
        moved = true;
      }
    }
  }
  std::erase_if(lanes_,
                [](const auto& lane) { return lane->tasks.empty() && lane.use_count() == 1; });
}

void Queues::RunHead(Lane* lane) {
  const TaskPtr task = lane->tasks.front();
  Code code = before ? before(*task) : Code::kOk;
  if (code == Code::kNotReady) {
    lane->stalled = true;
    return;
  }
  lane->tasks.pop_front();
  if (code == Code::kOk) {
    order_.push_back(task->name);
    if (order_.size() > kMostNames) order_.pop_front();
    code = task->run();
  }
  Finish(task.get());
  if (code != Code::kOk && failed) failed(*task, code);
  Settle();
}

Lane* Queues::PickNeeded(const TaskPtr& target) const {
  Lane* lane = target->lane;
  while (!lane->stalled) {
    const auto& after = lane->tasks.front()->after;
    const auto open =
        std::find_if(after.begin(), after.end(), [](const auto& t) { return !t->done; });
    if (open == after.end()) return lane;
    lane = (*open)->lane;
  }
  return nullptr;
}

Lane* Queues::PickRandom() {
  std::vector<Lane*> all;
  for (const auto& lane : lanes_)
    if (Runnable(*lane)) all.push_back(lane.get());
  return all.empty() ? nullptr : all[random_() % all.size()];
}

// The worst for who forgot a wait: what is waited for comes last, what was called last comes first.
Lane* Queues::PickAgainst(const TaskPtr& target) const {
  std::unordered_map<const Lane*, uint64_t> needed;  // up to which task
  std::vector<const Task*> open;
  if (target != nullptr) open.push_back(target.get());
  while (!open.empty()) {
    const Task* const task = open.back();
    open.pop_back();
    if (task->done) continue;
    uint64_t& until = needed[task->lane];
    for (const auto& other : task->lane->tasks) {
      if (other->number > task->number) break;
      if (other->number <= until) continue;
      for (const auto& before_it : other->after) open.push_back(before_it.get());
    }
    until = std::max(until, task->number);
  }
  std::unordered_set<const Lane*> awaited;
  for (const auto& lane : lanes_)
    for (const auto& task : lane->tasks)
      for (const auto& other : task->after)
        if (!other->done) awaited.insert(other->lane);
  const auto rank = [&](const Lane* lane) {
    return std::make_tuple(needed.count(lane) == 0, awaited.count(lane) == 0,
                           lane->tasks.front()->number);
  };
  Lane* best = nullptr;
  for (const auto& lane : lanes_)
    if (Runnable(*lane) && (best == nullptr || rank(lane.get()) > rank(best))) best = lane.get();
  return best;
}

Lane* Queues::PickEarliest(int64_t until_ns) const {
  Lane* best = nullptr;
  for (const auto& lane : lanes_) {
    if (!Runnable(*lane) || lane->tasks.front()->end_ns > until_ns) continue;
    if (best == nullptr || lane->tasks.front()->end_ns < best->tasks.front()->end_ns)
      best = lane.get();
  }
  return best;
}

Lane* Queues::Pick(const TaskPtr& target) {
  switch (schedule_) {
    case Schedule::kSeeded:
      return PickRandom();
    case Schedule::kAdversarial:
      return PickAgainst(target);
    case Schedule::kTimed:
    case Schedule::kEager:
      return PickEarliest(INT64_MAX);
    case Schedule::kLazy:
      break;
  }
  return target == nullptr ? PickEarliest(INT64_MAX) : PickNeeded(target);
}

void Queues::Turn(int64_t now_ns) {
  Settle();
  if (schedule_ == Schedule::kEager) RunAll();
  if (schedule_ == Schedule::kTimed)
    while (Lane* const lane = PickEarliest(now_ns)) RunHead(lane);
  if (schedule_ == Schedule::kSeeded) {
    while (Coin()) {
      Lane* const lane = PickRandom();
      if (lane == nullptr) return;
      RunHead(lane);
    }
  }
}

bool Queues::RunUntil(const TaskPtr& task) {
  Settle();
  while (!task->done) {
    Lane* const lane = Pick(task);
    if (lane == nullptr) return false;
    RunHead(lane);
  }
  return true;
}

void Queues::Step(const TaskPtr& task, int64_t now_ns) {
  Turn(now_ns);
  if (task->done || schedule_ == Schedule::kTimed) return;
  const bool again = !asked_.insert(task->number).second;
  const bool late = schedule_ == Schedule::kLazy || schedule_ == Schedule::kAdversarial;
  if (late && !again) return;  // who asks once does not wait
  if (Lane* const lane = Pick(task)) RunHead(lane);
}

void Queues::RunAll() {
  Settle();
  while (Lane* const lane = Pick(nullptr)) RunHead(lane);
}

void Queues::EndStalls() {
  for (const auto& lane : lanes_) lane->stalled = false;
}

bool Queues::stalled() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const auto& lane) { return lane->stalled && !lane->tasks.empty(); });
}

void Queues::Abandon(int device) {
  for (const auto& lane : lanes_) {
    if (lane->device != device) continue;
    for (const auto& task : lane->tasks) Finish(task.get());
    lane->tasks.clear();
  }
  Settle();
}

}  // namespace ge_engines::device::sim
