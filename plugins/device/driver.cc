#include "plugins/device/driver.h"

#include <chrono>
#include <thread>

namespace ge_engines::device {

void Driver::Rest(uint64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

}  // namespace ge_engines::device
