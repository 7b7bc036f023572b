#include "plugins/device/sim/engine/sim_engine.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>

#include "plugins/device/sim/engine/node_kernel.h"
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

// By label. Never destroyed: engines may go at the process's end.
struct Labelled {
  std::mutex mutex;
  std::map<std::string, SimEngine*, std::less<>> engines;
};
Labelled& TheLabelled() {
  static auto* const labelled = new Labelled;
  return *labelled;
}

// Whether it is an option of every simulated vendor.
bool Taken(std::string_view key, std::string_view value, SimOptions* o) {
  try {
    return TakeOption(key, value, &o->simulator, &o->faults);
  } catch (const std::invalid_argument& wrong) {
    throw Refusal(GE_INVALID_ARGUMENT, wrong.what());
  }
}

}  // namespace

SimOptions SimOptionsOf(ge_str text) {
  SimOptions o;
  DeviceOptions device;
  device.name = "sim";
  uint64_t devices = 2;
  std::string_view rest = gp::View(text);
  for (gp::OptionText t; gp::NextOption(&rest, &t);) {
    const auto number = [&](uint64_t least, uint64_t most) {
      return NumberOption(t.key, t.value, least, most);
    };
    if (Taken(t.key, t.value, &o)) continue;
    if (t.key == "devices") {
      devices = number(0, 16);
    } else if (t.key == "bytes") {
      device.bytes = number(1, uint64_t{1} << 40);
    } else if (t.key == "strict") {
      o.strict = number(0, 1) != 0;
    } else if (t.key == "reports") {
      o.reports = t.value;
    } else if (t.key == "timeout_ms") {
      o.timeout_ms = number(1, 1000000);
    } else if (t.key == "host_gbps") {
      device.host_bytes_per_ns = static_cast<double>(number(1, 1000));
    } else if (t.key == "price") {
      o.price = number(0, 1000);
    } else if (t.key == "captures") {
      o.captures = number(0, 1) != 0;
    } else if (t.key == "layouts") {
      o.layouts = number(0, 1) != 0;
    } else if (t.key == "label") {
      o.label = t.value;
    } else if (t.key != "device" && t.key != "memory") {
      throw Refusal(GE_INVALID_ARGUMENT, "it has no option '" + std::string(t.key) + "'");
    }
  }
  o.simulator.devices.assign(devices, device);
  return o;
}

SimEngine::SimEngine(const ge_create_args& args, SimOptions options, std::unique_ptr<Driver> driver,
                     Simulator* simulator)
    : Engine(args, std::move(driver)), options_(std::move(options)), simulator_(*simulator) {
  try {
    Plant(options_.faults, &simulator_);
  } catch (const std::invalid_argument& wrong) {
    throw Refusal(GE_INVALID_ARGUMENT, wrong.what());
  }
  const std::lock_guard<std::mutex> lock(TheLabelled().mutex);
  TheLabelled().engines[options_.label] = this;
}

std::unique_ptr<SimEngine> SimEngine::Make(const ge_create_args& args) {
  SimOptions options = SimOptionsOf(args.options);
  auto driver = std::make_unique<SimDriver>(options.simulator, options.strict, options.captures);
  Simulator* simulator = &driver->simulator();
  return std::make_unique<SimEngine>(args, std::move(options), std::move(driver), simulator);
}

SimEngine::~SimEngine() {
  {
    const std::lock_guard<std::mutex> lock(TheLabelled().mutex);
    const auto it = TheLabelled().engines.find(options_.label);
    if (it != TheLabelled().engines.end() && it->second == this) TheLabelled().engines.erase(it);
  }
  CloseDevices();
  simulator_.Finish();
  Tell(simulator_.reports());
  if (at_end) at_end(simulator_.reports());
}

std::span<const UnitKind* const> SimEngine::Kinds() const { return kKinds; }

bool SimEngine::Takes(const Unit& unit, const Parser& parser, Why* why) const {
  return Is<ViewSpec>(unit) || NodeSteps::Of(unit, parser, why) != nullptr;
}

Rates SimEngine::RatesOf(int device) const {
  const DeviceOptions& d = options_.simulator.devices[static_cast<size_t>(device)];
  Rates r;
  r.kernel_ns = static_cast<double>(d.launch_ns * static_cast<int64_t>(options_.price)) / 100;
  r.copy_ns = static_cast<double>(d.copy_latency_ns * static_cast<int64_t>(options_.price)) / 100;
  r.pinned_bytes_per_ns = d.host_bytes_per_ns;
  r.pageable_bytes_per_ns = d.host_bytes_per_ns * d.pageable_fraction;
  r.peer_bytes_per_ns = d.peer_bytes_per_ns;
  r.bytes_per_ns = d.local_bytes_per_ns;
  r.timeout_ns = options_.timeout_ms * 1000000;
  return r;
}

Work SimEngine::WorkFor(const Unit& unit, const Parser& parser) const {
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

void SimEngine::Record(const Unit& unit, Recorder* recorder) const {
  Rates r = RatesOf(0);
  r.kernel_ns = r.queue_ns = 0;  // of the simulator's own clock
  RecordNodes(unit, static_cast<int64_t>(NsOf(WorkFor(unit, recorder->parser()), r)), recorder);
}

std::span<const LayoutTag> SimEngine::Layouts() const {
  static constexpr LayoutTag kBlocks[] = {{.block = 16}};
  return options_.layouts ? std::span<const LayoutTag>(kBlocks) : std::span<const LayoutTag>();
}

std::optional<LayoutTag> SimEngine::Prefers(const Unit& unit, const Parser&) const {
  if (Layouts().empty() || !Is<ConvSpec, PoolSpec>(unit)) return std::nullopt;
  return Layouts()[0];
}

bool SimEngine::KeepsLayout(const Unit& unit, const Parser&) const {
  return Is<PointwiseSpec>(unit);
}

void SimEngine::RecordConversion(const Conversion& conversion, const Ref& from, const Ref& to,
                                 Recorder* recorder) const {
  Rates r = RatesOf(0);
  r.kernel_ns = r.queue_ns = 0;
  const double ns = ConversionNsOf(static_cast<double>(from.bytes + to.bytes), r);
  RecordLayout(conversion, from, to, static_cast<int64_t>(ns), recorder);
}

// Findings go to the log, and to the file.
void SimEngine::Tell(const std::vector<Report>& reports) const {
  std::FILE* file = options_.reports.empty() ? nullptr : std::fopen(options_.reports.c_str(), "a");
  for (const Report& report : reports) {
    const std::string text = name() + ": the simulator found: " + report.text();
    if (file != nullptr) std::fprintf(file, "%s\n", text.c_str());
    if (host() != nullptr && host()->log != nullptr) {
      host()->log(host()->host, 0, gp::Str(text));
    }
  }
  if (file != nullptr) std::fclose(file);
}

}  // namespace ge_engines::device::sim

ge_engines::device::sim::SimEngine* simdev_engine(const char* label) {
  auto& labelled = ge_engines::device::sim::TheLabelled();
  const std::lock_guard<std::mutex> lock(labelled.mutex);
  const auto it = labelled.engines.find(std::string_view(label));
  return it == labelled.engines.end() ? nullptr : it->second;
}
