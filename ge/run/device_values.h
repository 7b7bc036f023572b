// DeviceValues: copies in the host's memory of what a launch has left in a device's, for the
// observer of a run. One thread.
#pragma once

#include <span>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/ge_plugin.h"
#include "ge/plan/plan.h"
#include "ge/run/program.h"

namespace ge {

class DeviceValues {
 public:
  // The same, with a copy by its engine in place of each value in a device's memory; one that
  // cannot be copied stays where it is. They are done when `stream`, which wrote the values, has
  // done what it has; null: at once. They live until the next call.
  std::span<const ge_buf> ToHost(const Plan& plan, const std::vector<RunEngine>& engines,
                                 ge_stream* stream, std::span<const ge_buf> written);

 private:
  std::vector<ge_buf> bufs_;
  std::vector<AlignedBytes> memory_;
};

}  // namespace ge
