// One simulator with shorter calls, for tests: what fails fails the test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {

constexpr Schedule kSchedules[] = {Schedule::kEager, Schedule::kLazy, Schedule::kSeeded,
                                   Schedule::kAdversarial, Schedule::kTimed};

class Machine {
 public:
  explicit Machine(Schedule schedule = Schedule::kEager, int devices = 1)
      : Machine(Options(schedule, devices)) {}
  explicit Machine(SimulatorOptions options) : sim(std::move(options)) {}

  static SimulatorOptions Options(Schedule schedule, int devices = 1) {
    SimulatorOptions options;
    options.schedule = schedule;
    options.devices.resize(devices);
    return options;
  }

  Stream stream(int device = 0) {
    Stream made = Stream::kNone;
    EXPECT_EQ(sim.StreamCreate(device, &made), Code::kOk);
    return made;
  }
  Event event(int device = 0) {
    Event made = Event::kNone;
    EXPECT_EQ(sim.EventCreate(device, &made), Code::kOk);
    return made;
  }
  unsigned char* block(size_t bytes = 16, int device = 0) {
    void* made = nullptr;
    EXPECT_EQ(sim.Alloc(device, bytes, &made), Code::kOk);
    return static_cast<unsigned char*>(made);
  }
  unsigned char* pinned(size_t bytes = 16) {
    void* made = nullptr;
    EXPECT_EQ(sim.PinnedAlloc(bytes, &made), Code::kOk);
    return static_cast<unsigned char*>(made);
  }
  // A kernel that writes `value` to all of them.
  static Kernel Writes(std::string name, std::vector<Range> to, unsigned char value = 1) {
    Kernel kernel;
    kernel.name = std::move(name);
    kernel.writes = to;
    kernel.cost_ns = 1000;
    kernel.body = [to, value] {
      for (const Range& range : to)
        for (size_t i = 0; i < range.bytes; ++i)
          static_cast<unsigned char*>(const_cast<void*>(range.data))[i] = value;
      return true;
    };
    return kernel;
  }
  static Kernel Reads(std::string name, std::vector<Range> from) {
    Kernel kernel;
    kernel.name = std::move(name);
    kernel.reads = std::move(from);
    kernel.cost_ns = 1000;
    return kernel;
  }
  void Launch(Stream on, Kernel kernel) { EXPECT_EQ(sim.Launch(on, std::move(kernel)), Code::kOk); }
  // `to` waits for all that `from` has now.
  void Order(Stream from, Stream to, Event by) {
    EXPECT_EQ(sim.EventRecord(by, from), Code::kOk);
    EXPECT_EQ(sim.StreamWait(to, by), Code::kOk);
  }
  void Sync(Stream one) { EXPECT_EQ(sim.StreamSynchronize(one), Code::kOk); }

  // The kinds of what is reported, in order, but for leaks.
  std::vector<std::string> faults() const {
    std::vector<std::string> names;
    for (const Report& report : sim.reports())
      if (report.fault != Fault::kLeak) names.push_back(FaultName(report.fault));
    return names;
  }
  std::string text() const {
    std::string all;
    for (const Report& report : sim.reports()) all += report.text() + "\n";
    return all;
  }

  Simulator sim;
};

using Names = std::vector<std::string>;

}  // namespace ge_engines::device::sim
