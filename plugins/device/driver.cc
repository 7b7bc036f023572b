#include "plugins/device/driver.h"

#include <chrono>
#include <thread>

namespace ge_engines::device {

Result Driver::Launch(int, StreamHandle, const KernelLaunch&) { return {Outcome::kUnsupported, 0}; }
Result Driver::CaptureBegin(int, StreamHandle) { return {Outcome::kUnsupported, 0}; }
Result Driver::CaptureEnd(int, StreamHandle, GraphHandle*) { return {Outcome::kUnsupported, 0}; }
Result Driver::GraphLaunch(int, GraphHandle, StreamHandle) { return {Outcome::kUnsupported, 0}; }
void Driver::GraphDestroy(int, GraphHandle) {}

void Driver::Rest(uint64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

}  // namespace ge_engines::device
