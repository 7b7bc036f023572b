// RunObserver: is told of each instruction of an observed run, and of each step inside a launch,
// behind it. The plan and the order of its instructions are those of a plain run. Called by the
// thread of the run.
#pragma once

#include <cstdint>
#include <span>

#include "ge/ge_plugin.h"

namespace ge {

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Before the first instruction and behind the last one of a run that did not fail, while its
  // states are its own: where the plan reads them, and where their new values are, by position.
  virtual void Begin(std::span<const void* const> /*states*/) {}
  virtual void End(std::span<void* const> /*states*/) {}
  // `index`: of the instruction in the plan's code. `written`: of a launch its outputs, by position
  // of its segment's, of a copy its destination, else none; valid until this returns. `queued`: a
  // stream of the device has the work and may not have done it.
  virtual void After(uint32_t index, std::span<const ge_buf> written, bool queued) = 0;
  // Behind step `step` of the launch at `index`, before After of that launch. Only for execs whose
  // engine told its steps (ProgramParts::steps).
  virtual void AfterStep(uint32_t /*index*/, uint32_t /*step*/, const ge_launch&) {}
};

}  // namespace ge
