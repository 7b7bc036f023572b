// Observation: which runs of a session are recorded, and where. Runs of several threads are
// recorded at once, each into a file of its own. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/session/recorder.h"

namespace ge {

struct ObserveOptions {
  // A folder, where runs become run-000001.gecap and so on, or a file of this ending, which holds
  // the latest run.
  std::string record;
  RecordedValues values = RecordedValues::kBorder;
  uint64_t every = 1;  // 10 = each tenth run
  uint64_t first = 0;  // records to make at the most; 0 = no limit
};

// "record=DIR;values=stats;every=10;first=3". INVALID_ARGUMENT naming the unknown key or the value;
// `what` names the text's source.
Result<ObserveOptions> ObserveOptionsFromText(std::string_view text, std::string_view what);

class Observation {
 public:
  // Makes the folder. INVALID_ARGUMENT: no place, or no run to record. IO_ERROR: no folder.
  static Result<std::shared_ptr<Observation>> Make(ObserveOptions options);
  // The record of the run that begins now; null where it gets none.
  std::unique_ptr<RunRecorder> Next(Session* session, std::string_view entry);
  // What became of a record: the first that is not whole is said.
  void Done(const RecordReport& report);

 private:
  explicit Observation(ObserveOptions options) : options_(std::move(options)) {}
  std::string PathOfNext();
  void Warn(const Status& status);

  const ObserveOptions options_;
  bool into_folder_ = true;
  std::atomic<uint64_t> runs_{0}, records_{0};
  std::atomic<bool> warned_{false};
};

}  // namespace ge
