#include "plugins/ascend/sim/operators/phases.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "plugins/ascend/sim/door.h"
#include "plugins/ascend/sim/objects/registry.h"
#include "plugins/ascend/sim/operators/numbers.h"
#include "plugins/ascend/sim/operators/storage.h"
#include "plugins/ascend/sim/operators/view.h"

namespace ge_engines::ascend::sim {
namespace {

using acl::kSuccess;
using acl::Status;
using Kind = Argument::Kind;

constexpr unsigned char kRedZone = 0xA7;
constexpr size_t kRedZoneBytes = 256;
// Poison of memory that nobody wrote: as the devices'.
constexpr unsigned char kNothing = 0xFF;

// What an executor launches.
struct Launch {
  const Operation* operation;
  Arguments arguments;
};

// The name of the k-th of "(self, other, out)".
std::string NameOf(const Entry& entry, size_t k) {
  std::string_view rest = entry.arguments;
  rest.remove_prefix(1);
  for (; k > 0; --k) rest.remove_prefix(std::min(rest.find(',') + 1, rest.size()));
  const size_t begin = rest.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  rest.remove_prefix(begin);
  return std::string(rest.substr(0, rest.find_first_of(",)")));
}

// Calls use(tensor, whether it is written, text) for every tensor until one answers a failure.
template <class Use>
Status EachTensor(const Entry& entry, const Arguments& arguments, const Use& use) {
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Argument& one = arguments[k];
    if (!one.given) continue;
    const std::string text = std::string(entry.name) + ": the tensor '" + NameOf(entry, k) + "' ";
    Status s = kSuccess;
    if (one.kind == Kind::kIn || one.kind == Kind::kOut) {
      s = use(one.tensor, one.kind == Kind::kOut, text);
    }
    for (const acl::Tensor& tensor : one.tensors) {
      if (s == kSuccess) s = use(tensor, false, text);
    }
    if (s != kSuccess) return s;
  }
  return kSuccess;
}

Status Destroyed(const Entry& entry, size_t k) {
  return BreakRule(Rule::kObjectDestroyed, std::string(entry.name) + ": the argument '" +
                                               NameOf(entry, k) +
                                               "' is destroyed or was never made");
}

// A copy of an object; kObjectDestroyed where it is none.
template <class T, class Take>
Status Copy(const Entry& entry, size_t k, const void* handle, const Take& take) {
  const auto found = Find(static_cast<const T*>(handle));
  if (found == nullptr) return Destroyed(entry, k);
  take(*found);
  return kSuccess;
}

Status CopyTensors(const Entry& entry, size_t k, const acl::TensorList& list, Argument* to) {
  for (const acl::Tensor* tensor : list.tensors) {
    const auto found = Find(tensor);
    if (found != nullptr) {
      to->tensors.push_back(*found);
    } else if (const Status s = Destroyed(entry, k); s != kSuccess) {
      return s;
    }
  }
  return kSuccess;
}

Status CopyOne(const Entry& entry, size_t k, const Given::One& from, Argument* to) {
  to->kind = from.kind;
  to->number = from.number;
  to->given = from.kind == Kind::kNumber || from.handle != nullptr;
  if (!to->given) return kSuccess;  // an operator knows which of its tensors may be null
  switch (from.kind) {
    case Kind::kIn:
    case Kind::kOut:
      return Copy<acl::Tensor>(entry, k, from.handle, [&](const auto& t) { to->tensor = t; });
    case Kind::kScalar:
      return Copy<acl::Scalar>(entry, k, from.handle, [&](const auto& s) { to->scalar = s; });
    case Kind::kInts:
      return Copy<acl::IntArray>(entry, k, from.handle,
                                 [&](const auto& a) { to->ints = a.values; });
    case Kind::kTensors: {
      Status s = kSuccess;
      const Status found = Copy<acl::TensorList>(
          entry, k, from.handle, [&](const auto& list) { s = CopyTensors(entry, k, list, to); });
      return found != kSuccess ? found : s;
    }
    case Kind::kNumber:
      break;
  }
  return kSuccess;
}

// What phase one asks of every tensor.
Status CheckTensor(const acl::Tensor& tensor, const std::string& text) {
  const Chip& chip = ChipOfMachine();
  Status s = kSuccess;
  if (tensor.type == acl::kBf16 && !chip.bf16) {
    s = BreakRule(Rule::kDtypeChip, text + "is bfloat16, which " + chip.name + " has not");
  }
  if (s == kSuccess && IsPrivate(tensor.format) && !chip.formats) {
    s = BreakRule(Rule::kFormatChip, text + "has format " + std::to_string(tensor.format) +
                                         ", which " + chip.name + " has not");
  }
  if (s != kSuccess) return s;
  const std::string wrong = WrongStorage(tensor);
  if (!wrong.empty()) s = BreakRule(Rule::kTensorStorage, text + "does not fit: " + wrong);
  if (s == kSuccess && tensor.data == nullptr && !IsEmpty(tensor)) {
    s = BreakRule(Rule::kTensorNull, text + "has elements and a null address");
  }
  return s;
}

// What the second one asks of every tensor: where it lies.
Status CheckPlace(const void* data, uint64_t bytes, int device, Rule bounds,
                  const std::string& text) {
  const Place place = PlaceOf(data);
  switch (place.kind) {
    case Place::Kind::kFreed:
      return BreakRule(Rule::kUseAfterFree, text + "lies in a block that was freed");
    case Place::Kind::kUnknown:
      return BreakRule(Rule::kTensorMemory, text + "lies in no memory of a device");
    case Place::Kind::kPinned:
      return BreakRule(Rule::kTensorMemory, text + "lies in memory of the host");
    case Place::Kind::kDevice:
      break;
  }
  if (place.device != device) {
    return BreakRule(Rule::kTensorMemory, text + "lies on device " + std::to_string(place.device));
  }
  if (bytes <= place.left) return kSuccess;
  return BreakRule(bounds, text + "has " + std::to_string(bytes) + " bytes; its block ends after " +
                               std::to_string(place.left));
}

// A workspace of the operator's own, with red zones: it may write anywhere between them.
class Workspace {
 public:
  explicit Workspace(uint64_t bytes) : bytes_(bytes), all_(bytes + 2 * kRedZoneBytes, kRedZone) {
    std::fill_n(all_.begin() + kRedZoneBytes, bytes, kNothing);
  }
  void* data() { return bytes_ == 0 ? nullptr : all_.data() + kRedZoneBytes; }
  void Spill(uint64_t bytes) {
    std::fill_n(all_.end() - kRedZoneBytes, std::min<uint64_t>(bytes, kRedZoneBytes), 0);
  }
  bool Whole() const {
    const auto is = [](unsigned char byte) { return byte == kRedZone; };
    return std::all_of(all_.begin(), all_.begin() + kRedZoneBytes, is) &&
           std::all_of(all_.end() - kRedZoneBytes, all_.end(), is);
  }

 private:
  const uint64_t bytes_;
  std::vector<unsigned char> all_;
};

// Breaks a rule of what runs on the device. Empty where that is off.
std::string Broken(Rule rule, const std::string& what) {
  const bool off = BreakRule(rule, what) == kSuccess;
  return off ? "" : std::string(RowOf(rule).name) + ": " + what;
}

bool HasPadding(const Argument& one, Kind kind) {
  return one.given && one.kind == kind && IsPrivate(one.tensor.format) && !IsEmpty(one.tensor);
}

// Fills the padding of all tensors in private formats that are written.
void FillPaddings(const Arguments& arguments, float number) {
  for (const Argument& one : arguments) {
    if (HasPadding(one, Kind::kOut)) FillPadding(one.tensor, number);
  }
}

// Arguments whose tensors in private formats are copies where they are read, with a number in their
// padding: who wrote one, the host say, may have left anything there, and it stays as it was.
class Padded {
 public:
  Padded(const Arguments& given, float number) : arguments_(given) {
    for (Argument& one : arguments_) {
      if (!HasPadding(one, Kind::kIn)) continue;
      const auto* from = static_cast<const unsigned char*>(one.tensor.data);
      copies_.emplace_back(from, from + StorageBytes(one.tensor));
      one.tensor.data = copies_.back().data();
      FillPadding(one.tensor, number);
    }
  }
  const Arguments& arguments() const { return arguments_; }

 private:
  Arguments arguments_;
  std::vector<std::vector<unsigned char>> copies_;
};

// Runs on the device. Empty, or why it failed.
std::string Run(const Launch& launch, uint64_t bytes) {
  try {
    Workspace workspace(bytes);
    const std::optional<float> planted = PlantedPadding();
    const Padded padded(launch.arguments, planted.value_or(std::bit_cast<float>(kPoison)));
    const uint64_t reads = PaddedLaneReads();
    launch.operation->run(padded.arguments(), workspace.data());
    if (planted) FillPaddings(launch.arguments, *planted);
    const std::string name = launch.operation->name;
    if (PaddedLaneReads() != reads) {
      const std::string why = Broken(Rule::kPaddedLane, name + " read the padding of a format");
      if (!why.empty()) return why;
    }
    if (bytes > 0) workspace.Spill(PlantedSpill());
    if (workspace.Whole()) return "";
    return Broken(Rule::kWorkspaceRedZone,
                  name + " wrote around its workspace of " + std::to_string(bytes) + " bytes");
  } catch (const std::exception& x) {
    return std::string("aclnn") + launch.operation->name + " failed: " + x.what();
  }
}

Status CheckWorkspace(const Entry& entry, const acl::Executor& executor, void* workspace,
                      uint64_t bytes, int device) {
  const std::string name = std::string(entry.second) + ": ";
  if (bytes != executor.workspace) {
    const Status s = BreakRule(Rule::kWorkspaceSize, name + std::to_string(bytes) +
                                                         " bytes; the first phase asked for " +
                                                         std::to_string(executor.workspace));
    if (s != kSuccess) return s;
  }
  if (executor.workspace == 0) return kSuccess;
  if (workspace == nullptr) {
    return BreakRule(Rule::kWorkspaceNull, name + "the workspace is null; wanted " +
                                               std::to_string(executor.workspace) + " bytes");
  }
  return CheckPlace(workspace, executor.workspace, device, Rule::kWorkspaceBounds,
                    name + "the workspace ");
}

// The executor of a launch; nullptr in `found`: nobody minds that it is gone.
Status TakeExecutor(const Entry& entry, uint64_t context, const acl::Executor* handle,
                    std::shared_ptr<const acl::Executor>* found) {
  const std::string name = std::string(entry.second) + ": ";
  *found = Find(handle);
  if (*found == nullptr) {
    return BreakRule(Rule::kExecutorOnce,
                     name + "the executor was launched, destroyed or never made");
  }
  Status s = kSuccess;
  if ((*found)->operation != &entry) {
    s = BreakRule(
        Rule::kExecutorOperator,
        name + "the executor is of " + static_cast<const Entry*>((*found)->operation)->first);
  }
  if (s == kSuccess && (*found)->context != context) {
    s = BreakRule(Rule::kExecutorContext, name + "the executor is of another context");
  }
  return s;
}

}  // namespace

Status FirstPhase(const Entry& entry, const Given& given, uint64_t* workspace,
                  acl::Executor** executor) {
  Status s = EnterFunction(entry.first, true);
  uint64_t context = 0;
  if (s == kSuccess) s = NeedContext(entry.first, &context);
  if (s != kSuccess) return s;
  if (workspace == nullptr || executor == nullptr) {
    return BreakRule(Rule::kNullArgument,
                     std::string(entry.first) + ": the place of a result is null");
  }
  const Operation* operation = IsLeftOut(entry.name) ? nullptr : FindOperation(entry.name);
  if (operation == nullptr) {
    const std::string text = std::string(entry.first) + ": the operator is not simulated";
    s = BreakRule(Rule::kOperatorKnown, text);
    return s == kSuccess ? acl::kNotSupported : s;  // there is nothing to go on with
  }
  auto launch = std::make_shared<Launch>();
  launch->operation = operation;
  for (size_t k = 0; k < given.all().size(); ++k) {
    Argument one;
    s = CopyOne(entry, k, given.all()[k], &one);
    if (s != kSuccess) return s;
    launch->arguments.push_back(std::move(one));
  }
  s = EachTensor(entry, launch->arguments, [](const acl::Tensor& tensor, bool, const auto& text) {
    return CheckTensor(tensor, text);
  });
  if (s != kSuccess) return s;
  const std::string why = operation->check == nullptr ? "" : operation->check(launch->arguments);
  if (!why.empty()) {
    s = BreakRule(Rule::kOperatorArguments, std::string(entry.name) + ": " + why);
    if (s != kSuccess) return s;
  }
  acl::Executor made;
  made.operation = &entry;
  made.context = context;
  made.workspace = operation->workspace == nullptr ? 0 : operation->workspace(launch->arguments);
  made.arguments = std::move(launch);
  *workspace = made.workspace;
  *executor = AddExecutor(std::move(made));
  return kSuccess;
}

Status SecondPhase(const Entry& entry, void* workspace, uint64_t bytes, acl::Executor* handle,
                   acl::Stream stream) {
  Status s = EnterFunction(entry.second, true);
  uint64_t context = 0;
  if (s == kSuccess) s = NeedContext(entry.second, &context);
  std::shared_ptr<const acl::Executor> executor;
  if (s == kSuccess) s = TakeExecutor(entry, context, handle, &executor);
  if (s != kSuccess || executor == nullptr) return s;
  const int device = DeviceOf(context);
  s = CheckWorkspace(entry, *executor, workspace, bytes, device);
  if (s != kSuccess) return s;
  const auto launch = std::static_pointer_cast<const Launch>(executor->arguments);
  std::vector<device::sim::Range> reads, writes;
  s = EachTensor(entry, launch->arguments,
                 [&](const acl::Tensor& tensor, bool written, const std::string& text) {
                   if (IsEmpty(tensor)) return kSuccess;
                   if (IsPrivate(tensor.format)) CountFormat(tensor.format, entry.second);
                   auto& ranges = written ? writes : reads;
                   for (const auto& range : RangesOf(tensor)) ranges.push_back(range);
                   return CheckPlace(tensor.data, StorageBytes(tensor), device, Rule::kTensorBounds,
                                     text);
                 });
  if (s != kSuccess) return s;
  if (executor->workspace > 0 && workspace != nullptr) {
    writes.push_back({workspace, executor->workspace});
  }
  // Gone now, whether the launch succeeds or not.
  if (!RuleIsOff(Rule::kExecutorOnce)) (void)RemoveExecutor(handle);
  return LaunchWork(entry.second, context, stream, entry.second, std::move(reads),
                    std::move(writes),
                    [launch, bytes = executor->workspace] { return Run(*launch, bytes); });
}

}  // namespace ge_engines::ascend::sim
