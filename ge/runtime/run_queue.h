// RunQueue: the threads of a runtime that runs wait for their turn on, in the order in which they
// came: a few, however many runs there are. It knows no run; a task is what is done in its turn.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "ge/base/status.h"

namespace ge {

class RunQueue {
 public:
  // Owned by whoever submits it.
  class Task {
   public:
    virtual ~Task() = default;
    // Does the work. Waits for no other task, and nothing of it throws.
    virtual void Compute() = 0;
    // Tells of it. May take any time, wait for other tasks, and destroy this task, its queue, and
    // whatever it likes.
    virtual void Tell() = 0;

   private:
    friend class RunQueue;
    Task *before_ = nullptr, *after_ = nullptr;
    bool queued_ = false, hurried_ = false;
  };

  // `threads` at once work on tasks. There are more only while some are in Tell and tasks wait, or
  // for tasks that were hurried.
  explicit RunQueue(uint32_t threads);
  // Tasks that were submitted are done nevertheless. Threads end when they have nothing to do; they
  // are not waited for, since this may happen in a Tell.
  ~RunQueue();
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // RESOURCE_EXHAUSTED where there is no thread and none can be made.
  Status Submit(Task* task);
  // A task that waits is next, on a thread of its own where all are at work: what was cancelled
  // ends soon. Nothing happens where its turn has come; the task must exist.
  void Hurry(Task* task);
  // How many threads there are now.
  uint32_t threads() const;

 private:
  struct State;
  // All but Work and Watch, which are what the threads do, under the state's mutex.
  static bool Start(const std::shared_ptr<State>& state,
                    void (*loop)(const std::shared_ptr<State>& state));
  static bool AddWorker(const std::shared_ptr<State>& state);
  static void CallWatch(const std::shared_ptr<State>& state);
  static void Work(const std::shared_ptr<State>& state);
  static void Watch(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace ge
