// Measures launches: their time and their allocations, without the mock host's work around a call.
// One thread; for cases that run alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "execute.h"
#include "net.h"
#include "subject.h"

namespace ge::conform {

struct Timed {
  double ns = 0;         // of one launch, the least mean of several batches; see Time
  uint64_t own = 0;      // allocations of the plugin's own code in a launch after the first ones
  uint64_t library = 0;  // and of libraries that it calls
};
// Launches an exec again and again with its input values; false with *why. On a synchronous device
// it counts the thread's own time: neighbours on a busy machine cost little of it.
bool Time(Rig& rig, const Sample& sample, const mock::Answer& answer, const mock::Exec& exec,
          const Values& values, Timed* out, std::string* why);

inline double MsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// This machine's measured speeds; cases judge prices by them.
mock::Facts MeasuredFacts();

}  // namespace ge::conform
