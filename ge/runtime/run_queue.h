// RunQueue: the threads of a runtime on which runs wait for their turn, in order of arrival: a
// few threads for any number of runs. It knows no run; a task is the work of one turn.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "ge/base/status.h"

namespace ge {

class RunQueue {
 public:
  // Owned by its submitter.
  class Task {
   public:
    virtual ~Task() = default;
    // Does the work. It waits for no other task and throws nothing.
    virtual void Compute() = 0;
    // Reports the end. May take any time, wait for other tasks, and destroy this task, its queue,
    // and anything else.
    virtual void Tell() = 0;

   private:
    friend class RunQueue;
    Task *before_ = nullptr, *after_ = nullptr;
    bool queued_ = false, hurried_ = false;
  };

  // `threads` at once work on tasks. There are more only while some are in Tell and tasks wait, or
  // for hurried tasks.
  explicit RunQueue(uint32_t threads);
  // Submitted tasks are done nevertheless. Threads end when they have nothing to do; the destructor
  // does not wait for them, since it may run in a Tell.
  ~RunQueue();
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // RESOURCE_EXHAUSTED where there is no thread and none can be made.
  Status Submit(Task* task);
  // Puts a waiting task next, on a thread of its own where all are at work: a cancelled run ends
  // soon. Does nothing once its turn has come; the task must exist.
  void Hurry(Task* task);
  // The number of threads now.
  uint32_t threads() const;

 private:
  struct State;
  // All but Work and Watch, which the threads execute, under the state's mutex.
  static bool Start(const std::shared_ptr<State>& state,
                    void (*loop)(const std::shared_ptr<State>& state));
  static bool AddWorker(const std::shared_ptr<State>& state);
  static void CallWatch(const std::shared_ptr<State>& state);
  static void Work(const std::shared_ptr<State>& state);
  static void Watch(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace ge
