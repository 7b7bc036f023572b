// FirstFed: which task of a device waits first for what a task makes: the order in which the host
// best works where devices take their tasks in the order given. PLACE plays runs with it, and
// STREAMS orders the host's issue by it. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ge {

// By task: the least of the devices' tasks that stands on it, or is it; the number of tasks where
// there is none. `before`: by task, those that it reads from, each less than it. A host that goes
// on with the least of these first has each of a device's tasks, in their order, begin as early as
// any order of its own work allows: what the first k of them stand on comes before all else.
std::vector<uint32_t> FirstFed(std::span<const std::vector<uint32_t>> before,
                               const std::vector<bool>& of_device);

}  // namespace ge
