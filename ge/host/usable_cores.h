// The number of cores this process may use, by its affinity mask and the processor quotas of its
// control groups. Reads files of the system, nothing else; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ge {

// At least 1.
uint32_t UsableCores();

// The least quota, in cores rounded to the nearest and at least 1, of the control groups in
// `memberships` (the text of /proc/self/cgroup) and of the groups above them, version 1 or 2, in
// the file system at `root`; 0 = there is none. An unreadable group, such as one outside of a
// container's view, has none.
uint32_t QuotaCores(const std::string& root, std::string_view memberships);

}  // namespace ge
