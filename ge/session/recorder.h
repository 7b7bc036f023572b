// RunRecorder, RecordRun: one run of a session as a capsule: the graphs, the plan, inputs and
// states are on disk before the run begins, so that whatever ends the process, they are there; then
// the values that its segments hand on, or its pieces read and make, the outputs, the states as
// they are then, and the outcome.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/control/value.h"
#include "ge/run/tensor_view.h"
#include "ge/session/run_watch.h"
#include "ge/session/session.h"

namespace ge {

enum class RecordedValues {
  kNone,    // inputs, states and outputs alone
  kStats,   // and extremes, mean and checksum of what kAll records
  kBorder,  // and what segments hand to others, in host memory
  kAll,     // and, of engines that tell their steps, what lies inside of segments
};
// "none", "stats", "border", "all"; INVALID_ARGUMENT for anything else.
Result<RecordedValues> RecordedValuesFromName(std::string_view name);

struct RecordOptions {
  std::string path;
  RecordedValues values = RecordedValues::kAll;
  uint64_t seed = 0;  // of inputs that were made up
  uint64_t run = 0;   // of the session, from 1; 0 = it was not counted
};

// What was recorded of a run.
struct RecordReport {
  uint64_t values = 0, bytes = 0;  // members of values; of the file
  uint64_t left_out = 0;           // values that lie in a device's memory
  uint64_t pieces = 0;             // executions of pieces
  Status written;                  // IO_ERROR where members are missing, the first of them
};

// Tells what a session's capsules have in common.
CapsuleManifest AboutSession(const Session& session);

// A run that is being recorded; see run_watch.h. The session outlives it. Where nothing can be
// written any more, the run goes on and the report says so.
class RunRecorder : public RunWatch {
 public:
  // IO_ERROR where the file cannot be made.
  static Result<std::unique_ptr<RunRecorder>> Begin(Session* session, std::string_view entry,
                                                    const RecordOptions& options);
  // The run has ended so; `outputs` of one that a plan holds.
  virtual RecordReport Finish(const Status& run, std::span<const TensorView> outputs) = 0;
};

// Runs the entry once, as Session::Run does, and records. `results`: of an entry with values of any
// kind. IO_ERROR where nothing could be begun. A failed run is recorded, too, and its error
// returned.
Status RecordRun(Session* session, std::string_view entry, std::span<const FlowValue> inputs,
                 const RecordOptions& options, RecordReport* report);

// Memory for a plan's outputs, and views of it by position. RESOURCE_EXHAUSTED.
struct OutputBuffers {
  std::vector<AlignedBytes> memory;
  std::vector<TensorView> views;
};
Result<OutputBuffers> MakeOutputs(const Compiled& compiled);

}  // namespace ge
