#include "plugins/device/sim/options.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace ge_engines::device::sim {
namespace {

Schedule ScheduleNamed(std::string_view name) {
  static constexpr std::pair<std::string_view, Schedule> kNames[] = {
      {"eager", Schedule::kEager},
      {"lazy", Schedule::kLazy},
      {"seeded", Schedule::kSeeded},
      {"adversarial", Schedule::kAdversarial},
      {"timed", Schedule::kTimed}};
  for (const auto& [known, schedule] : kNames) {
    if (known == name) return schedule;
  }
  throw std::invalid_argument("option schedule=" + std::string(name) +
                              "; wanted eager, lazy, seeded, adversarial or timed");
}

Code CodeNamed(std::string_view name) {
  for (const Code code : {Code::kOutOfMemory, Code::kInvalid, Code::kFailed, Code::kDeviceLost}) {
    if (Spelt(CodeName(code)) == name) return code;
  }
  throw std::invalid_argument("no driver answers '" + std::string(name) + "'");
}

Call CallNamed(std::string_view name) {
  if (name == "any") return Call::kCount;
  for (int c = 0; c < static_cast<int>(Call::kCount); ++c) {
    if (Spelt(CallName(static_cast<Call>(c))) == name) return static_cast<Call>(c);
  }
  throw std::invalid_argument("no driver call is named '" + std::string(name) + "'");
}

// The next part of a text before a colon.
std::string_view Part(std::string_view* rest) {
  const size_t end = rest->find(':');
  const std::string_view part = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return part;
}

}  // namespace

std::string Spelt(const char* name) {
  std::string text = name;
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

uint64_t NumberOf(std::string_view key, std::string_view value) {
  uint64_t n = 0;
  const char* end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, n);
  if (error == std::errc() && stopped == end) return n;
  throw std::invalid_argument("option " + std::string(key) + "=" + std::string(value) +
                              "; wanted a whole number");
}

bool TakeOption(std::string_view key, std::string_view value, SimulatorOptions* options,
                PlantedFaults* faults) {
  if (key == "schedule") {
    options->schedule = ScheduleNamed(value);
  } else if (key == "seed") {
    options->seed = NumberOf(key, value);
  } else if (key == "fail") {
    faults->fail = value;
  } else if (key == "fail_work") {
    faults->fail_work = value;
  } else if (key == "stall_work") {
    faults->stall_work = NumberOf(key, value);
  } else if (key == "drop_wait") {
    faults->drop_wait = NumberOf(key, value);
  } else if (key == "drop_told") {
    faults->drop_told = NumberOf(key, value);
  } else if (key == "journal") {
    options->journal = value;
  } else {
    return false;
  }
  return true;
}

void Plant(const PlantedFaults& faults, Simulator* simulator) {
  if (std::string_view rest = faults.fail; !rest.empty()) {
    const Call call = CallNamed(Part(&rest));
    const uint64_t k = NumberOf("fail", Part(&rest));
    simulator->FailCall(call, k, CodeNamed(rest));
  }
  if (std::string_view rest = faults.fail_work; !rest.empty()) {
    const uint64_t k = NumberOf("fail_work", Part(&rest));
    simulator->FailWork(k, CodeNamed(rest));
  }
  if (faults.stall_work != 0) simulator->StallWork(faults.stall_work);
  if (faults.drop_wait != 0) simulator->DropWait(faults.drop_wait);
  if (faults.drop_told != 0) simulator->DropTold(faults.drop_told);
}

}  // namespace ge_engines::device::sim
