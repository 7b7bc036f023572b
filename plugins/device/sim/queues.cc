#include "plugins/device/sim/queues.h"

#include <algorithm>
#include <utility>

namespace ge_engines::device::sim {
namespace {

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
  if (before && !before(*task)) {
    lane->stalled = true;
    return;
  }
  lane->tasks.pop_front();
  order_.push_back(task->name);
  const Code code = task->run();
  Finish(task.get());
  if (code != Code::kOk && failed) failed(*task, code);
  Settle();
}

Lane* Queues::Pick(const TaskPtr&) {
  for (const auto& lane : lanes_)
    if (Runnable(*lane)) return lane.get();
  return nullptr;
}

void Queues::Turn(int64_t) {
  Settle();
  if (schedule_ == Schedule::kEager) RunAll();
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

void Queues::Step(const TaskPtr& task) {
  Settle();
  if (task->done) return;
  if (Lane* const lane = Pick(task)) RunHead(lane);
}

void Queues::RunAll() {
  Settle();
  while (Lane* const lane = Pick(nullptr)) RunHead(lane);
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
