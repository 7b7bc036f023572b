#include "plugins/ascend/sim/machine.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "ge/ge_plugin.hpp"

namespace ge_engines::ascend::sim {
namespace {

using acl::Status;
using simulated::Code;
using simulated::Fault;
using simulated::NumberOf;
namespace gp = ge::plugin;

constexpr Chip k910B = {"Ascend910B3", true, true, true, 1024, 8192};
constexpr Chip k310P = {"Ascend310P3", false, true, false, 256, 1024};
constexpr Chip kUnknown = {"", false, false, false, 256, 1024};

// Of the thread's newest failure. Plain bytes: it is written when the process ends, too.
thread_local char t_said[1000];
thread_local uint64_t t_context = 0;  // that is current in the thread

Rule RuleOf(Fault fault) {
  switch (fault) {
    case Fault::kRace:
    case Fault::kGraphInFlight:
    case Fault::kCapture:
      return Rule::kRace;
    case Fault::kUnwrittenRead:
      return Rule::kUninitializedRead;
    case Fault::kUseAfterFree:
      return Rule::kUseAfterFree;
    case Fault::kFreeInFlight:
      return Rule::kFreeInFlight;
    case Fault::kOutOfBounds:
      return Rule::kTensorBounds;
    case Fault::kWrongMemory:
      return Rule::kTensorMemory;
    case Fault::kUseOfDestroyed:
    case Fault::kDoubleDestroy:
      return Rule::kDestroyedStream;
    case Fault::kDestroyInFlight:
      return Rule::kDestroyInFlight;
    case Fault::kEndlessWait:
      return Rule::kEndlessWait;
    case Fault::kLeak:
      return Rule::kLeak;
  }
  return Rule::kRace;
}

Status StatusOf(Code code) {
  switch (code) {
    case Code::kOk:
      return acl::kSuccess;
    case Code::kOutOfMemory:
      return acl::kOutOfMemory;
    case Code::kFailed:
      return acl::kCoreException;
    case Code::kDeviceLost:
      return acl::kDeviceLost;
    case Code::kCapture:
      return acl::kNotSupported;
    case Code::kNotReady:
    case Code::kInvalid:
      break;
  }
  return acl::kWrongParameter;
}

}  // namespace

const char* RecentText() { return t_said[0] == 0 ? nullptr : t_said; }

// ---- options -----------------------------------------------------------------------------------

Machine& Machine::Get() {
  static Machine machine;
  return machine;
}

Machine::Machine() : chip_(k910B) {
  const char* options = std::getenv("GE_SIM_ASCEND");
  try {
    Read(options == nullptr ? "" : options);
  } catch (const std::exception& x) {
    wrong_ = std::string("GE_SIM_ASCEND: ") + x.what();
    simulator_ = std::make_unique<simulated::Simulator>(simulated::SimulatorOptions{});
  }
  tables_.primaries.assign(static_cast<size_t>(devices()), 0);
}

void Machine::ReadChip(std::string_view name) {
  if (name == "910b") {
    chip_ = k910B;
  } else if (name == "310p") {
    chip_ = k310P;
  } else {
    chip_ = kUnknown;
    chip_name_ = name;
    chip_.name = chip_name_.c_str();
  }
}

void Machine::ReadRules(std::string_view names) {
  while (!names.empty()) {
    const size_t end = names.find('+');
    const std::string_view name = names.substr(0, end);
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
    const Rule rule = RuleNamed(name);
    if (rule == Rule::kCount) {
      throw std::invalid_argument("there is no rule '" + std::string(name) + "' to switch off");
    }
    off_[static_cast<size_t>(rule)] = true;
  }
}

void Machine::ReadRefusal(std::string_view text) {
  const size_t first = text.find(':'), last = text.rfind(':');
  if (first == std::string_view::npos || first == last) {
    throw std::invalid_argument("option refuse=" + std::string(text) + "; wanted FUNCTION:K:CODE");
  }
  refused_ = text.substr(0, first);
  refused_left_ = NumberOf("refuse", text.substr(first + 1, last - first - 1));
  refused_status_ = static_cast<Status>(NumberOf("refuse", text.substr(last + 1)));
}

void Machine::Read(const std::string& options) {
  simulated::SimulatorOptions o;
  simulated::PlantedFaults faults;
  uint64_t devices = 1, streams = 0, events = 0;
  simulated::DeviceOptions device;
  device.bytes = size_t{32} << 30;
  std::string_view rest = options;
  for (gp::OptionText t; gp::NextOption(&rest, &t);) {
    if (TakeOption(t.key, t.value, &o, &faults)) continue;
    if (t.key == "devices") {
      devices = NumberOf(t.key, t.value);
    } else if (t.key == "bytes") {
      device.bytes = NumberOf(t.key, t.value);
    } else if (t.key == "chip") {
      ReadChip(t.value);
    } else if (t.key == "streams") {
      streams = NumberOf(t.key, t.value);
    } else if (t.key == "events") {
      events = NumberOf(t.key, t.value);
    } else if (t.key == "init") {
      init_ = static_cast<Status>(NumberOf(t.key, t.value));
    } else if (t.key == "off") {
      ReadRules(t.value);
    } else if (t.key == "refuse") {
      ReadRefusal(t.value);
    } else if (t.key == "spill") {
      spill_ = NumberOf(t.key, t.value);
    } else if (t.key == "padding") {
      padding_ = static_cast<float>(NumberOf(t.key, t.value));
    } else if (t.key == "without") {
      without_ = t.value;
    } else if (t.key == "calls") {
      calls_file_ = t.value;
    } else if (t.key == "reports") {
      reports_file_ = t.value;
    } else {
      throw std::invalid_argument("there is no option '" + std::string(t.key) + "'");
    }
  }
  if (streams != 0) chip_.streams = streams;
  if (events != 0) chip_.events = events;
  device.name = "ascend";
  device.alignment = 512;  // rule:align-512
  device.copy_latency_ns = 10000;
  device.host_bytes_per_ns = 20;
  device.pageable_fraction = 0.4;
  device.local_bytes_per_ns = 800;
  o.devices.assign(devices, device);
  simulator_ = std::make_unique<simulated::Simulator>(o);
  Plant(faults, simulator_.get());
}

// ---- what is told ------------------------------------------------------------------------------

void Machine::Append(const std::string& path, const std::string& text) const {
  std::FILE* file = path.empty() ? nullptr : std::fopen(path.c_str(), "a");
  if (file == nullptr) return;
  (void)std::fputs(text.c_str(), file);
  (void)std::fclose(file);
}

Machine::~Machine() { Tell(); }

void Machine::Tell() {
  std::string text = std::to_string(simulator_->calls()) + "\n";
  for (int k = 0; k < static_cast<int>(simulated::Call::kCount); ++k) {
    const auto call = static_cast<simulated::Call>(k);
    const uint64_t n = simulator_->calls(call);
    if (n > 0) text += simulated::Spelt(CallName(call)) + " " + std::to_string(n) + "\n";
  }
  for (const auto* lines : {&functions_, &counted_}) {
    for (const auto& [name, n] : *lines) text += name + " " + std::to_string(n) + "\n";
  }
  Append(calls_file_, text);
  if (reports_file_.empty()) return;
  for (auto& [number, context] : tables_.contexts) {
    if (context.own != simulated::Stream::kNone) (void)simulator_->StreamDestroy(context.own);
  }
  (void)simulator_->TakeReports();
  simulator_->Finish();
  (void)Of(Code::kOk);
  for (const auto& [number, context] : tables_.contexts) {
    if (tables_.primaries[static_cast<size_t>(context.device)] == number) continue;
    (void)Break(Rule::kLeak, "context " + std::to_string(number) + " was not destroyed");
  }
  for (const auto& [kind, n] : tables_.objects) {
    if (n != 0) (void)Break(Rule::kLeak, std::to_string(n) + " objects, " + kind + ", are left");
  }
}

Status Machine::Say(Status status, const std::string& text) {
  (void)std::snprintf(t_said, sizeof t_said, "%s", text.c_str());
  return status;
}

void Machine::Count(const std::string& what, uint64_t n) {
  const std::lock_guard<std::mutex> lock(said_mutex_);
  counted_[what] += n;
}

void Machine::Late(std::string why) {
  const std::lock_guard<std::mutex> lock(said_mutex_);
  if (late_.empty()) late_ = std::move(why);
}

Status Machine::Break(Rule rule, const std::string& what) {
  if (Off(rule)) return acl::kSuccess;
  const RuleRow& row = RowOf(rule);
  const std::string text = std::string(row.name) + ": " + what;
  if (row.told) {
    const std::lock_guard<std::mutex> lock(said_mutex_);
    Append(reports_file_, text + "\n");
  }
  return Say(row.status, text);
}

Status Machine::Of(Code code) {
  const auto reports = simulator_->TakeReports();
  bool off = false;
  for (const auto& report : reports) {
    const Rule rule = RuleOf(report.fault);
    const Status s = Break(rule, report.text());
    if (s == acl::kSuccess) {
      off = true;
    } else {
      const std::lock_guard<std::mutex> lock(said_mutex_);
      if (found_status_ != acl::kSuccess) continue;
      found_status_ = s;
      found_ = t_said;
    }
  }
  const std::lock_guard<std::mutex> lock(said_mutex_);
  if (found_status_ != acl::kSuccess) return Say(found_status_, found_);
  if (off && code == Code::kInvalid) return acl::kSuccess;  // nobody minds
  if (code == Code::kOk) return acl::kSuccess;
  const bool work = code == Code::kFailed && !late_.empty();
  return Say(StatusOf(code), work ? late_ : std::string("the device: ") + CodeName(code));
}

Status Machine::Enter(const char* function, bool counts, bool first) {
  const auto name = [function] { return std::string(function) + ": "; };
  {
    const std::lock_guard<std::mutex> lock(said_mutex_);
    ++functions_[function];
    if (!wrong_.empty()) return Say(acl::kInternal, wrong_);
    const bool meant = counts && (refused_ == "any" || refused_ == function);
    if (meant && refused_left_ > 0 && --refused_left_ == 0) {
      return Say(refused_status_, name() + "a test planted this answer");
    }
  }
  if (initialized_ || first) return acl::kSuccess;
  return Break(Rule::kInitFirst, name() + "aclInit was not called before");
}

// ---- contexts and what is in them --------------------------------------------------------------

std::map<uintptr_t, BlockState>::const_iterator Tables::BlockAt(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto it = blocks.upper_bound(at);
  if (it == blocks.begin()) return blocks.end();
  --it;
  return at < it->second.end ? it : blocks.end();
}

uint64_t& Machine::Current() { return t_context; }

uint64_t Machine::AddContext(int device) {
  // Far from the numbers of streams and events, so that one is not taken for another.
  const uint64_t context = (uint64_t{1} << 32) + ++tables_.next_context;
  tables_.contexts[context] = {device, simulated::Stream::kNone};
  return context;
}

uint64_t Machine::PrimaryOf(int device) {
  uint64_t& primary = tables_.primaries[static_cast<size_t>(device)];
  if (primary == 0) primary = AddContext(device);
  return primary;
}

Status Machine::EndContext(uint64_t context) {
  const auto it = tables_.contexts.find(context);
  const int device = it->second.device;
  std::string left;
  const auto count = [&](const char* what, const auto& things, const auto& of) {
    size_t n = 0;
    for (const auto& [key, thing] : things) n += of(thing) == context ? 1 : 0;
    if (n > 0) left += (left.empty() ? "" : ", ") + std::to_string(n) + what;
  };
  count(" streams", tables_.streams, [](uint64_t of) { return of; });
  count(" events", tables_.events, [](const EventState& event) { return event.context; });
  count(" blocks", tables_.blocks, [](const BlockState& block) {
    return block.device < 0 ? 0 : block.context;  // page-locked memory is the host's
  });
  Status s = acl::kSuccess;
  if (!left.empty()) s = Break(Rule::kContextEmpty, "of the context " + left + " are left");
  if (it->second.own != simulated::Stream::kNone) (void)simulator_->StreamDestroy(it->second.own);
  tables_.contexts.erase(it);
  for (const auto& [number, other] : tables_.contexts) {
    if (other.device == device) return s;
  }
  // A device that failed is well again when its last context is gone.
  const Status reset = Of(simulator_->Reset(device));
  std::erase_if(tables_.peers, [device](const auto& pair) { return pair.first == device; });
  return s != acl::kSuccess ? s : reset;
}

Status Machine::Context(const char* function, uint64_t* context) {
  Status s = acl::kSuccess;
  if (t_context == 0) {
    s = Break(Rule::kContextCurrent, std::string(function) + ": none is current in this thread");
  } else if (tables_.contexts.count(t_context) == 0) {
    s = Break(Rule::kDestroyedContext, std::string(function) + ": the current one is destroyed");
  }
  if (s != acl::kSuccess) return s;
  const bool there = tables_.contexts.count(t_context) != 0;
  *context = there ? t_context : PrimaryOf(0);
  return s;
}

Status Machine::StreamOf(const char* function, uint64_t context, acl::Stream stream,
                         simulated::Stream* found) {
  if (stream == nullptr) {
    ContextState& of = tables_.contexts.at(context);
    if (of.own == simulated::Stream::kNone) {
      const Status s = Of(simulator_->StreamCreate(of.device, &of.own));
      if (s != acl::kSuccess) return s;
    }
    *found = of.own;
    return acl::kSuccess;
  }
  const auto number = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(stream));
  *found = static_cast<simulated::Stream>(number);
  const auto it = tables_.streams.find(number);
  const std::string text = std::string(function) + ": stream " + std::to_string(number);
  if (it == tables_.streams.end()) {
    return Break(Rule::kDestroyedStream, text + " is destroyed or was never made");
  }
  if (it->second == context) return acl::kSuccess;
  return Break(Rule::kContextOfStream, text + " is of another context");
}

}  // namespace ge_engines::ascend::sim
