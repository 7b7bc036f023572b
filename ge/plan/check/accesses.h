// Accesses: the instructions of one function that write and read each value. Tells whether the
// value holds bytes before the run or must keep them until its end. Judges who may write, not when.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge::check {

inline constexpr uint32_t kNone = UINT32_MAX;

struct Access {
  uint32_t writer = kNone;        // instruction, kNone: nobody in this function
  std::vector<uint32_t> readers;  // instructions, each once
  bool before_run = false;        // has its bytes when the function starts
  bool until_end = false;         // its bytes are read after the function
  bool used() const { return writer != kNone || !readers.empty() || before_run; }
};

// INTERNAL when a value is written twice, written though the caller or the model owns it, read
// though nobody writes it, or an output is not written; when a segment is not launched just once.
Result<std::vector<Access>> CollectAccesses(const PlanFunction& function);

}  // namespace ge::check
