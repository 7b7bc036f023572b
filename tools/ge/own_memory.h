// What this process takes of memory.
#pragma once

namespace ge::tool {

// A line of /proc/self/status, VmRSS or VmHWM, in MB of 2^20 bytes; 0 where there is none.
double StatusMb(const char* key);

}  // namespace ge::tool
