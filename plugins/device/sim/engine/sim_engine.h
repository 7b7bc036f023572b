// SimEngine: the simulated vendor, an engine for tests. Simulated devices behind plugins/device,
// with the reference engine's loops as kernels. It is not shipped, and measures nothing.
//
// Options, beside those of plugins/device and of ../options.h:
//   devices=N          how many there are (2)
//   bytes=N            memory of each (1 GiB)
//   strict=0           findings of the simulator do not fail calls (1)
//   reports=FILE       findings are appended there when the engine goes, leaks among them (none)
//   timeout_ms=N       silence that is taken for loss (30000)
//   host_gbps=N        speed of copies to and from the host (12)
//   price=PERCENT      of what a launch and the begin of a copy take, in prices alone (100)
//   layouts=1          convolutions and pools work on images in blocks of 16 channels, pointwise
//                      functions in the layout of theirs (0)
//   captures=0         the devices capture nothing (1)
//   label=NAME         simdev_engine(NAME) finds the engine (none)
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugins/device/engine.h"
#include "plugins/device/sim/engine/sim_driver.h"
#include "plugins/device/sim/options.h"

namespace ge_engines::device::sim {

struct SimOptions {
  SimulatorOptions simulator;
  bool strict = true;
  std::string reports;
  uint64_t timeout_ms = 30000;
  PlantedFaults faults;
  bool captures = true, layouts = false;
  uint64_t price = 100;
  std::string label;
};
// Throws Refusal.
SimOptions SimOptionsOf(ge_str text);

class SimEngine final : public Engine {
 public:
  // `driver` is that of `simulator`, or stands before it.
  SimEngine(const ge_create_args& args, SimOptions options, std::unique_ptr<Driver> driver,
            Simulator* simulator);
  static std::unique_ptr<SimEngine> Make(const ge_create_args& args);
  ~SimEngine() override;
  Simulator& simulator() { return simulator_; }
  // Told of all findings, leaks among them, when the engine goes.
  std::function<void(const std::vector<Report>&)> at_end;

  std::span<const UnitKind* const> Kinds() const override;
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override;
  bool Joins(const Unit&, const Parser&) const override { return true; }
  Rates RatesOf(int device) const override;
  Work WorkFor(const Unit& unit, const Parser& parser) const override;
  void Record(const Unit& unit, Recorder* recorder) const override;
  std::span<const LayoutTag> Layouts() const override;
  std::optional<LayoutTag> Prefers(const Unit& unit, const Parser& parser) const override;
  bool KeepsLayout(const Unit& unit, const Parser& parser) const override;
  void RecordConversion(const Conversion& conversion, const Ref& from, const Ref& to,
                        Recorder* recorder) const override;

 private:
  void Tell(const std::vector<Report>& reports) const;
  const SimOptions options_;
  Simulator& simulator_;
};

}  // namespace ge_engines::device::sim

// For tests in the host's process, built with simdev.so, which exports it: the engine with option
// label=NAME, else null. It lives as long as a session has it; one with the same label comes after
// it.
extern "C" GE_EXPORT ge_engines::device::sim::SimEngine* simdev_engine(const char* label);
