// RunObserver: is told of each instruction of an observed run, behind it. The plan and the order of
// its instructions are those of a plain run. Called by the thread of the run.
#pragma once

#include <cstdint>
#include <span>

#include "ge/ge_plugin.h"

namespace ge {

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // `index`: of the instruction in the plan's code. `written`: of a launch its outputs, by position
  // of its segment's, of a copy its destination, else none; valid until this returns. `queued`: a
  // stream of the device has the work and may not have done it.
  virtual void After(uint32_t index, std::span<const ge_buf> written, bool queued) = 0;
};

}  // namespace ge
