// simdev: the simulated vendor, an engine for tests. Simulated devices behind plugins/device, with
// the reference engine's loops as kernels. It is not shipped, and measures nothing.
//
// Options, beside those of plugins/device:
//   devices=N          how many there are (2)
//   bytes=N            memory of each (1 GiB)
//   schedule=NAME      eager, lazy, seeded, adversarial, timed (eager) ...
//   seed=N             ... and its seed (1)
//   strict=0           findings of the simulator do not fail calls (1)
//   reports=FILE       findings are appended there when the engine goes (none)
//   timeout_ms=N       silence that is taken for loss (30000)
//   host_gbps=N        speed of copies to and from the host (12)
#include <cstdio>
#include <map>

#include "plugins/device/engine.h"
#include "plugins/device/sim/engine/node_kernel.h"
#include "plugins/device/sim/engine/sim_driver.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/elementwise/relation.h"
#include "plugins/units/elementwise/where.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/movement/concat.h"
#include "plugins/units/movement/reshape.h"
#include "plugins/units/movement/slice.h"
#include "plugins/units/movement/transpose.h"
#include "plugins/units/reduce/layer_normalization.h"
#include "plugins/units/reduce/pool.h"
#include "plugins/units/reduce/reduce.h"
#include "plugins/units/reduce/softmax.h"
#include "plugins/units/training/optimizer_step.h"

namespace ge_engines::device::sim {
namespace {

// None of them refuses data: a device cannot.
constexpr const UnitKind* kKinds[] = {
    &PointwiseSpec::kKind, &RelationSpec::kKind, &WhereSpec::kKind,  &ProductSpec::kKind,
    &ConvSpec::kKind,      &PoolSpec::kKind,     &ReduceSpec::kKind, &SoftmaxSpec::kKind,
    &LayerNormSpec::kKind, &ConcatSpec::kKind,   &SliceSpec::kKind,  &TransposeSpec::kKind,
    &ViewSpec::kKind,      &StepSpec::kKind};

struct Options {
  SimulatorOptions simulator;
  bool strict = true;
  std::string reports;
  uint64_t timeout_ms = 30000;
};

Schedule ScheduleNamed(std::string_view name) {
  static const std::map<std::string_view, Schedule> kNames = {
      {"eager", Schedule::kEager},
      {"lazy", Schedule::kLazy},
      {"seeded", Schedule::kSeeded},
      {"adversarial", Schedule::kAdversarial},
      {"timed", Schedule::kTimed}};
  const auto it = kNames.find(name);
  if (it != kNames.end()) return it->second;
  throw Refusal(GE_INVALID_ARGUMENT, "option schedule=" + std::string(name) +
                                         "; wanted eager, lazy, seeded, adversarial or timed");
}

Options OptionsOf(ge_str text) {
  Options o;
  DeviceOptions device;
  device.name = "sim";
  uint64_t devices = 2;
  std::string_view rest = gp::View(text);
  for (gp::OptionText t; gp::NextOption(&rest, &t);) {
    const auto number = [&](uint64_t least, uint64_t most) {
      return NumberOption(t.key, t.value, least, most);
    };
    if (t.key == "devices") {
      devices = number(0, 16);
    } else if (t.key == "bytes") {
      device.bytes = number(1, uint64_t{1} << 40);
    } else if (t.key == "schedule") {
      o.simulator.schedule = ScheduleNamed(t.value);
    } else if (t.key == "seed") {
      o.simulator.seed = number(0, UINT64_MAX);
    } else if (t.key == "strict") {
      o.strict = number(0, 1) != 0;
    } else if (t.key == "reports") {
      o.reports = t.value;
    } else if (t.key == "timeout_ms") {
      o.timeout_ms = number(1, 1000000);
    } else if (t.key == "host_gbps") {
      device.host_bytes_per_ns = static_cast<double>(number(1, 1000));
    } else if (t.key != "device" && t.key != "memory") {
      throw Refusal(GE_INVALID_ARGUMENT, "it has no option '" + std::string(t.key) + "'");
    }
  }
  o.simulator.devices.assign(devices, device);
  return o;
}

class SimEngine final : public Engine {
 public:
  SimEngine(const ge_create_args& args, Options options)
      : Engine(args, std::make_unique<SimDriver>(options.simulator, options.strict)),
        options_(std::move(options)) {}
  ~SimEngine() override {
    CloseDevices();
    Tell(simulator().reports());
  }

  std::span<const UnitKind* const> Kinds() const override { return kKinds; }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override {
    return Is<ViewSpec>(unit) || NodeSteps::Of(unit, parser, why) != nullptr;
  }
  bool Joins(const Unit&, const Parser&) const override { return true; }
  Rates RatesOf(int device) const override {
    const DeviceOptions& d = options_.simulator.devices[static_cast<size_t>(device)];
    Rates r;
    r.kernel_ns = static_cast<double>(d.launch_ns);
    r.copy_ns = static_cast<double>(d.copy_latency_ns);
    r.pinned_bytes_per_ns = d.host_bytes_per_ns;
    r.pageable_bytes_per_ns = d.host_bytes_per_ns * d.pageable_fraction;
    r.peer_bytes_per_ns = d.peer_bytes_per_ns;
    r.bytes_per_ns = d.local_bytes_per_ns;
    r.timeout_ns = options_.timeout_ms * 1000000;
    return r;
  }
  Work WorkFor(const Unit& unit, const Parser& parser) const override {
    Work work = WorkOf(unit, parser);
    Why why;
    const auto steps = NodeSteps::Of(unit, parser, &why);
    if (steps == nullptr) return work;
    work.packed = 0;
    for (const uint32_t v : steps->reads()) {
      if (parser.constant(v)) work.packed += static_cast<uint64_t>(BytesOf(parser, v));
    }
    return work;
  }
  void Record(const Unit& unit, Recorder* recorder) const override {
    Rates r = RatesOf(0);
    r.kernel_ns = r.queue_ns = 0;  // of the simulator's own clock
    RecordNodes(unit, static_cast<int64_t>(NsOf(WorkFor(unit, recorder->parser()), r)), recorder);
  }

 private:
  Simulator& simulator() { return static_cast<SimDriver&>(driver()).simulator(); }
  // Findings go to the log, and to the file.
  void Tell(const std::vector<Report>& reports) const {
    std::FILE* file =
        options_.reports.empty() ? nullptr : std::fopen(options_.reports.c_str(), "a");
    for (const Report& report : reports) {
      const std::string text = name() + ": the simulator found: " + report.text();
      if (file != nullptr) std::fprintf(file, "%s\n", text.c_str());
      if (host() != nullptr && host()->log != nullptr) {
        host()->log(host()->host, 0, gp::Str(text));
      }
    }
    if (file != nullptr) std::fclose(file);
  }
  const Options options_;
};

}  // namespace
}  // namespace ge_engines::device::sim

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  namespace device = ge_engines::device;
  return device::Describe(
      "simdev", "0.1", [](const ge_create_args& args) -> std::unique_ptr<device::Engine> {
        return std::make_unique<device::sim::SimEngine>(args, device::sim::OptionsOf(args.options));
      });
}
