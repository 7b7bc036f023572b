// Capture regions: the instructions of a plan that an engine may capture and replay as one. A
// region is contiguous in issue order, on streams of one device, and touches no buffer of the
// caller's. Waits for what lies outside go before it, signals that are waited for outside behind
// it: where that would hold up much work a region ends. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ge/plan/plan.h"

namespace ge {

struct CaptureRegion {
  DeviceId device = 0;
  uint32_t first = 0, end = 0;     // instructions, end not included
  std::vector<uint32_t> stream;    // plan streams in it; [0] is the origin
  std::vector<uint32_t> before;    // its waits for signals outside
  std::vector<uint32_t> inner;     // what is captured, in issue order
  std::vector<uint32_t> behind;    // its signals that are waited for outside
  std::vector<uint32_t> joined;    // other streams of it with earlier instructions in the run
  std::vector<uint32_t> released;  // ... and with later ones
};

struct CaptureRegions {
  std::vector<CaptureRegion> found;  // in issue order
  uint32_t work = 0;                 // launches and copies on streams of engines that capture
  uint32_t inside = 0;               // of these, in regions
  std::map<std::string, uint32_t> outside;  // why the others are not: how many
};

// `captures`: by index of Plan::engines, whether the engine fills the capture slots.
CaptureRegions FindCaptureRegions(const Plan& plan, const std::vector<bool>& captures);

}  // namespace ge
