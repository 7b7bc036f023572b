#include "ge/session/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "ge/base/log.h"
#include "ge/session/session.h"

namespace ge {
namespace {

constexpr char kEnding[] = ".gecap";
constexpr char kNamed[] = "run-";

std::optional<uint64_t> NumberIn(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Of "run-000012.gecap" 12, else 0.
uint64_t NumberOfFile(std::string_view name) {
  if (!name.starts_with(kNamed) || !name.ends_with(kEnding)) return 0;
  name.remove_prefix(sizeof kNamed - 1);
  name.remove_suffix(std::min(name.size(), sizeof kEnding - 1));
  return NumberIn(name).value_or(0);
}

// The next number in a folder: behind those of its files and those given out by this process, whose
// sessions may share it.
uint64_t NextNumber(const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::string, uint64_t> given;
  std::error_code error;
  const std::string name = std::filesystem::weakly_canonical(folder, error).string();
  std::lock_guard<std::mutex> lock(mutex);
  const auto [last, is_new] = given.try_emplace(name, 0);
  for (auto it = std::filesystem::directory_iterator(folder, error);
       is_new && !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    last->second = std::max(last->second, NumberOfFile(it->path().filename().string()));
  }
  return ++last->second;
}

Status SetOne(std::string_view key, std::string_view value, std::string_view what,
              ObserveOptions* out) {
  const auto number = [&](uint64_t least, uint64_t* to) -> Status {
    const auto read = NumberIn(value);
    if (!read || *read < least) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("{}: {} is '{:.64}', wanted a number from {}", what, key, value, least));
    }
    *to = *read;
    return {};
  };
  if (key == "record") return out->record = value, Status();
  if (key == "every") return number(1, &out->every);
  if (key == "first") return number(0, &out->first);
  if (key == "values") {
    GE_ASSIGN_OR_RETURN(out->values, RecordedValuesFromName(value));
    return {};
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("{} has the key '{:.64}', wanted record, values, every or first", what, key));
}

}  // namespace

Result<ObserveOptions> ObserveOptionsFromText(std::string_view text, std::string_view what) {
  ObserveOptions out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == pair.npos) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} has '{:.64}', wanted KEY=VALUE, as in record=DIR;values=border",
                                what, pair));
    }
    GE_RETURN_IF_ERROR(SetOne(pair.substr(0, equals), pair.substr(equals + 1), what, &out));
  }
  if (out.record.empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} names no place for the records; add record=DIR", what));
  }
  return out;
}

Result<std::shared_ptr<Observation>> Observation::Make(ObserveOptions options) {
  if (options.record.empty()) {
    return Status(Code::kInvalidArgument,
                  "observed runs have no place for their records; name a folder or a file F.gecap");
  }
  if (options.every == 0) {
    return Status(Code::kInvalidArgument,
                  "every 0th run is to be recorded, wanted a number from 1");
  }
  std::shared_ptr<Observation> made(new Observation(std::move(options)));
  made->into_folder_ = !std::string_view(made->options_.record).ends_with(kEnding);
  if (!made->into_folder_) return made;
  std::error_code error;
  std::filesystem::create_directories(made->options_.record, error);
  if (!std::filesystem::is_directory(made->options_.record)) {
    return Status(Code::kIoError,
                  fmt::format("no folder '{}' for records of runs: {}", made->options_.record,
                              error ? error.message() : "there is a file of this name"));
  }
  return made;
}

std::string Observation::PathOfNext() {
  if (!into_folder_) return options_.record;
  return fmt::format("{}/{}{:06}{}", options_.record, kNamed, NextNumber(options_.record), kEnding);
}

void Observation::Warn(const Status& status) {
  if (warned_.exchange(true)) return;
  LogLine(1, fmt::format("runs are not recorded whole, and go on: {}", status.message()));
}

std::unique_ptr<RunRecorder> Observation::Next(Session* session, std::string_view entry) {
  const uint64_t run = ++runs_;
  if ((run - 1) % options_.every != 0) return nullptr;
  if (options_.first != 0 && ++records_ > options_.first) return nullptr;
  RecordOptions record;
  record.path = PathOfNext();
  record.values = options_.values;
  record.run = run;
  auto begun = RunRecorder::Begin(session, entry, record);
  if (begun.ok()) return *std::move(begun);
  if (begun.status().code() == Code::kIoError) Warn(begun.status());
  return nullptr;  // what else is wrong the run itself says
}

void Observation::Done(const RecordReport& report) {
  if (!report.written.ok()) Warn(report.written);
}

Status Session::Observe(const ObserveOptions* options) {
  std::shared_ptr<Observation> made;
  if (options != nullptr) {
    if (options_.build.red_zones) {
      return Status(Code::kFailedPrecondition,
                    "runs with red zones cannot be observed; unset GE_RED_ZONES");
    }
    GE_ASSIGN_OR_RETURN(made, Observation::Make(*options));
  }
  std::lock_guard<std::mutex> lock(observation_mutex_);
  observation_ = std::move(made);
  observed_.store(observation_ != nullptr);
  return {};
}

Status Session::ObserveAsAsked() {
  const char* asked = secure_getenv("GE_OBSERVE");
  if (asked == nullptr || *asked == 0) return {};
  GE_ASSIGN_OR_RETURN(const ObserveOptions options, ObserveOptionsFromText(asked, "GE_OBSERVE"));
  options_.keep_edits = true;
  return Observe(&options);
}

Status Session::RunObserved(std::string_view entry, std::span<const TensorView> outputs,
                            const std::function<Status(RunWatch*)>& run) {
  std::shared_ptr<Observation> observation;
  {
    std::lock_guard<std::mutex> lock(observation_mutex_);
    observation = observation_;
  }
  const auto record = observation ? observation->Next(this, entry) : nullptr;
  const Status ran = run(record.get());
  if (record) observation->Done(record->Finish(ran, outputs));
  return ran;
}

}  // namespace ge
