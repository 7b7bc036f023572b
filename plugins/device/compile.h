// What an exec is, and how a segment becomes one.
#pragma once

#include "plugins/device/engine.h"

struct ge_exec {
  ge_exec(const ge_engines::device::Engine& e, ge_engines::device::Device* d)
      : engine(e), device(*d) {}
  const ge_engines::device::Engine& engine;
  ge_engines::device::Device& device;
  ge_engines::device::Program program;
};

namespace ge_engines::device {

// Compiles one segment into *c, or says there why not. `unasked`: no query has offered what is
// taken. Throws.
void CompileSegment(const Engine& engine, const ge_segment& segment, bool unasked, ge_compiled* c);

}  // namespace ge_engines::device
