// Rates: how fast a device is, stated or measured by the vendor's engine; what a unit's work is;
// and prices out of both. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines::device {

struct Rates {
  double flops_per_ns = 1000, bytes_per_ns = 500;
  double kernel_ns = 2000;  // a kernel's begin and end, of the device's time
  double queue_ns = 1500;   // of the host's time, for each kernel
  double launch_ns = 500;   // of the host's time, for each segment
  // Copies: before the first byte, and by where the host's end lies.
  double copy_ns = 5000;
  double pinned_bytes_per_ns = 20, pageable_bytes_per_ns = 8, peer_bytes_per_ns = 50;
  double convert_bytes_per_ns = 0;       // read and written by a change of layout; 0 = bytes_per_ns
  uint64_t timeout_ns = 30'000'000'000;  // ge_device.timeout_ns
  bool measured = false;                 // on this device, not stated
  bool guessed = false;                  // nobody knows: what a run measures counts alone
};

// Of one unit.
struct Work {
  double flops = 0, bytes = 0;  // bytes read and written
  double border_bytes = 0;      // more where its result leaves a segment: it is a view inside
  uint32_t kernels = 1;
  uint64_t workspace = 0, packed = 0;  // upper bounds
};

double BytesOf(const Parser& parser, uint32_t value);
// Multiply-adds count two. Of kinds without products a few operations for each element.
Work WorkOf(const Unit& unit, const Parser& parser);
// Time of the device, or of the host where that queues more slowly.
double NsOf(const Work& work, const Rates& rates);
// Of a change of layout that reads and writes so many bytes.
double ConversionNsOf(double bytes, const Rates& rates);
// Of a copy that a view's result costs at a border.
double BorderNsOf(const Work& work, const Rates& rates);

}  // namespace ge_engines::device
