// What tests say to a simulated device, as text, for every simulated vendor alike:
//   schedule=NAME      eager, lazy, seeded, adversarial, timed (eager) ...
//   seed=N             ... and its seed (1)
//   fail=CALL:K:CODE   the K-th driver call of the kind CALL, or of `any`, answers CODE: out of
//                      memory, invalid, failed, device lost; spaces are written as _
//   fail_work=K:CODE   the K-th piece of work fails when it runs
//   stall_work=K       the K-th piece of work never ends
//   drop_wait=K        the K-th wait of a stream for an event answers well, and is none
//   drop_told=K        the K-th time that the host asks whether work is over, or waits for that,
//   the
//                      answer is yes, at once, and nothing was waited for
//   journal=FILE       what the calls did is appended there, a line each (journal.cc)
// Errors are thrown as std::invalid_argument, a sentence each. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {

struct PlantedFaults {
  std::string fail, fail_work;  // as they were given; empty: none
  uint64_t stall_work = 0;      // 0: none
  uint64_t drop_wait = 0, drop_told = 0;
};

// Takes an option of the table above; false: it is none of them.
bool TakeOption(std::string_view key, std::string_view value, SimulatorOptions* options,
                PlantedFaults* faults);
void Plant(const PlantedFaults& faults, Simulator* simulator);
// The whole number of an option.
uint64_t NumberOf(std::string_view key, std::string_view value);
// A name of a call or a code, as options spell it.
std::string Spelt(const char* name);

}  // namespace ge_engines::device::sim
