// RecordRun: one run of a session as a capsule: the graphs, the plan, inputs and states are on disk
// before the run begins, so that whatever ends the process, they are there; then the values that
// its segments hand on, the outputs and the outcome.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/run/tensor_view.h"
#include "ge/session/session.h"

namespace ge {

enum class RecordedValues {
  kNone,    // inputs, states and outputs alone
  kBorder,  // and what segments hand to others, in host memory
};
// "none", "border"; INVALID_ARGUMENT for anything else.
Result<RecordedValues> RecordedValuesFromName(std::string_view name);

// The graph after a pass that has edited it, of a load or of what follows it.
struct EditedGraph {
  std::string pass;
  Graph graph;
};

struct RecordOptions {
  std::string path;
  RecordedValues values = RecordedValues::kBorder;
  // In their order, as Runner::Options::edited tells them; more are appended while the run is
  // planned.
  std::vector<EditedGraph>* edited = nullptr;
  // What the recorder cannot know: product, model, numerics, precision, denormals, seed, isa,
  // threads.
  CapsuleManifest about;
};

// What was recorded of a run.
struct RecordReport {
  uint64_t values = 0, bytes = 0;  // members of values; of the file
  uint64_t left_out = 0;           // values that lie in a device's memory
  Status written;                  // IO_ERROR where members are missing, the first of them
};

// Runs the entry once, by a plan made for it as Session::Compile makes one, and records.
// UNSUPPORTED for an entry that runs in pieces. IO_ERROR where nothing could be begun; where the
// disk is full later, the run goes on and the report says so. A failed run is recorded, too, and
// its error returned.
Status RecordRun(Session* session, std::string_view entry, std::span<const TensorView> inputs,
                 const RecordOptions& options, RecordReport* report);

// Memory for a plan's outputs, and views of it by position. RESOURCE_EXHAUSTED.
struct OutputBuffers {
  std::vector<AlignedBytes> memory;
  std::vector<TensorView> views;
};
Result<OutputBuffers> MakeOutputs(const Compiled& compiled);

}  // namespace ge
