// Counts the threads that the process makes, those too that have ended: pthread_create is
// ge-conform's own and hands on to the C library. Off in sanitizer builds, which bring their own.
// Threads: any.
#pragma once

#include <cstdint>

namespace ge::conform {

// Threads made so far; 0 for ever where they are not counted.
uint64_t ThreadsMade();

}  // namespace ge::conform
