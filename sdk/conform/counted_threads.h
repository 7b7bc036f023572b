// Counts the threads made by the process, ended ones too: ge-conform defines pthread_create and
// forwards to the C library. Off in sanitizer builds: these bring their own pthread_create. Any
// thread.
#pragma once

#include <cstdint>

namespace ge::conform {

// Threads made so far; 0 for ever where they are not counted.
uint64_t ThreadsMade();

}  // namespace ge::conform
