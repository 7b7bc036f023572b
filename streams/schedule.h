// Schedule: assigns each launch and copy of a function to a stream, and orders the host's issue of
// them, by list scheduling on predicted times. It inserts no events (streams/emit.h does) and knows
// no memory. Deterministic; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/base/status.h"
#include "ge/plan/plan.h"
#include "streams/streams.h"

namespace ge::streams {

// A launch or copy. Tasks are numbered as the function's code was on entry.
struct Task {
  DeviceId device = 0;  // the device of its stream; 0 = the host's thread runs it
  uint32_t engine = 0;  // of that device; meaningless for the host
  bool copy = false;
  bool leaves = false;  // a copy out of the device's memory
  double ns = 0;
  std::vector<uint32_t> before;  // tasks writing its inputs, ascending, each once
};

struct Schedule {
  std::vector<uint32_t> order;   // tasks in issue order
  std::vector<uint32_t> stream;  // by task: 0 = host, else index into `streams`
  std::vector<PlanStream> streams;
  double ns = 0;          // predicted, from first issue to the end of the last task
  double devices_ns = 0;  // predicted, from first issue to the ends of devices' tasks, their sum
};

// INTERNAL when the code on entry reads a value before its writer, holds anything but launches and
// copies, or names streams already.
Result<std::vector<Task>> MakeTasks(const Plan& plan, const PlanFunction& function);

// The best of several orders and spreads; one stream per device where more do not pay, though
// copies get streams apart from launches when that costs nothing: the last one of the device, and
// those out of its memory the last but one where it has three.
Schedule MakeSchedule(const Plan& plan, const std::vector<Task>& tasks,
                      const StreamOptions& options);

}  // namespace ge::streams
