// The subcommands of `ge`, as plain functions: main.cc parses the line and calls one of them. Each
// prints its result on stdout (with --json one JSON object and nothing else), messages on stderr,
// and returns the exit code: 0 done, 1 the result is wrong, 2 bad arguments or model bytes, 3
// engine, plugin or device failure or time limit, 130 interrupted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/capsule/manifest.h"
#include "ge/session/session.h"
#include "tools/ge/npy_text.h"
#include "tools/ge/ranks.h"
#include "tools/ge/signals.h"

namespace ge::tool {

// What `ge run` looks at beside the results.
struct LookOptions {
  std::string trace;                       // file to write, empty = none
  bool profile = false;                    // where the time goes, by nodes and operators
  std::string watch;                       // conditions on values that stop a run, empty = none
  std::string watch_file = "watch.gecap";  // where the stopped run is recorded
};

struct Options {
  std::string model, entry, engines, plugins, isa = "native", to, format = "text", output_dir,
                                              output_file;
  std::string plot;  // file of the picture, empty = none
  std::vector<std::string> inputs;
  std::vector<std::string> initializer_inputs;  // initializers among them, where that is known
  std::vector<std::string> data_roots;          // folders that links of external data may lead into
  bool strict_dims = false, strict = false;
  std::vector<std::string> plugin_paths;             // of plugins; empty = the search path
  bool open_plugins = false;                         // of plugins: those with a manifest, too
  std::vector<std::string> models;                   // of tune
  std::string export_dir;                            // of tune, empty = none
  std::vector<uint32_t> concurrency = {1, 2, 4, 8};  // of bench: callers at once
  double seconds = 2;                                // of bench, for each number of callers
  std::vector<std::string> skip, passes, pins;
  std::string policy = "cost", prices = "cached", denormals = "flush", numerics = "fast",
              precision = "f32";
  double measure_budget_ms = 2000;
  bool replan = false;
  uint32_t threads = 0, repeat = 1, warmup = 0, max_streams = 3;
  uint64_t seed = 1, memory_limit_bytes = 0;
  bool no_fuse = false, json = false, times = false, no_check = false;
  bool verbose = false, accuracy = false;
  bool quiet = false;            // of run: another rank prints
  int64_t kv_cache = 0;          // rows at first; 0 = the past stays inputs and outputs
  std::string values;            // of dump: which are recorded; empty = no run is recorded
  std::string from;              // of replay: load or plan; empty = plan where the capsule has one
  std::string piece;             // of isolate: a node's name, or #SEGMENT
  double rtol = -1;              // of replay and bisect; below 0 = by the type
  std::string against = "ref";   // of bisect and replay --lockstep: the engine that is right
  std::string expect;            // of replay and bisect: F.npz with values from elsewhere
  bool lockstep = false;         // of replay
  uint32_t runs = 1;             // of replay, and of each trial of bisect
  double seconds_a_trial = 600;  // of bisect; of reduce 20 where it is not given
  double budget_s = 120;         // of reduce
  std::string check;             // of reduce: a command that judges a file; empty = engines do
  LookOptions look;              // of run
  MeshOptions mesh;              // of run
  double time_limit_s = 0;       // of the load, the compile and each run; 0 = none
};

int Run(const Options& options);
int Explain(const Options& options);
int Dump(const Options& options);
int Compile(const Options& options);
int Replay(const Options& options);
int Bisect(const Options& options);
int Isolate(const Options& options);
int Reduce(const Options& options);
int Plugins(const Options& o);
int Ops(const Options& options);
int Passes(const Options& options);
int Tune(const Options& options);
int Bench(const Options& options);

// ---- shared by the subcommands ------------------------------------------------------------------

// Prints "ge: CODE: ..." on stderr and returns the status's exit code.
int Fail(const Status& status);
Result<SessionOptions> SessionOptionsOf(const Options& options);
// Loads the model into a session that was made with these options. Where an input is named that is
// an initializer too, *session becomes one that takes it.
Status LoadModel(const Options& o, SignalledSession* session);
// A session with the model loaded.
Result<SignalledSession> Open(const Options& o);

// With --prices measure: prints the measurements on stderr.
void NoteMeasured(const Options& options, const Compiled& compiled);

// Records one run of the model into o.output_file; of dump.
Status RecordModel(const Options& o);
// What a capsule's manifest says of the process that records or replays.
CapsuleManifest AboutThisProcess(const Options& o);

// A tensor owned by the tool.
struct Tensor {
  std::string name;
  TensorView view;
  AlignedBytes memory;
  // The elements of a text input. `view` then has dtype and dims, and no data.
  std::shared_ptr<const std::vector<std::string>> strings;
  uint64_t room = 0;  // bytes of `memory`, where it is used again
  // For an output that is no tensor of numbers: its kind, "a sequence of 3", and its value as JSON.
  std::string kind, text;
};
// One per input of the entry: NAME=FILE.npy, NAME=SHAPE:rand (1x3x224x224:rand), NAME=SHAPE:zeros;
// unnamed inputs get random numbers and a note on stderr. They take free sizes from the named ones,
// else the least sizes of the model.
Result<std::vector<Tensor>> MakeInputs(const Session& session, const Entry& entry,
                                       const Options& options);
std::vector<TensorView> Views(const std::vector<Tensor>& tensors);
// Borrows the tensor's memory.
FlowValue FlowOf(const Tensor& tensor);

// Whether all inputs and results are tensors of numbers, as Session::Run takes and returns.
bool AllNumbers(const Function& function);
// One run with results of any kind; `outputs` has their names, and its memory is used again.
// Outputs other than tensors of numbers become text: all of it with `whole`, else as much as is
// printed. *ms, the time of the run, excludes making the text. `watch`, if any, is told of the run.
Status RunAnyValues(Session* session, const std::string& entry, const std::vector<Tensor>& inputs,
                    bool whole, std::vector<Tensor>* outputs, double* ms = nullptr,
                    RunWatch* watch = nullptr);

// "4 nodes round the inputs of products", or: no engine here rounds, and the likely reason.
std::string RoundedText(uint64_t nodes);
// The answers of engines that declined a node, "onednn: op: no kernel for this operator; ...".
std::string Refusals(const Plan& plan, const NodeReport& report);

// NumPy's .npy files: dense little-endian arrays of numbers, or texts (npy_text.h); C order.
Result<Tensor> ReadNpy(const std::string& path);
// Parses the header's dictionary: dtype and dims. `path` names it in messages. Refuses texts if
// `text` is null.
Status ParseNpyHeader(const std::string& path, const std::string& header, TensorView* view,
                      NpyText* text = nullptr);
Status WriteNpy(const std::string& path, const TensorView& tensor);
// Like ReplaceFile: by a temporary name, or directly into a file that is not regular.
Status WriteFile(const std::string& path, const std::string& content);

}  // namespace ge::tool
