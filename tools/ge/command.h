// The subcommands of `ge`, as plain functions: main.cc parses the line and calls one of them.
// Each prints its result on stdout (with --json one JSON object and nothing else), messages on
// stderr, and answers the exit code: 0 done, 1 the result is wrong, 2 bad arguments or model bytes,
// 3 engine, plugin or device failure or time limit, 130 interrupted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/session/session.h"
#include "tools/ge/npy_text.h"
#include "tools/ge/signals.h"

namespace ge::tool {

struct Options {
  std::string model, entry, engines, plugins, isa = "native", to, format = "text", output_dir,
                                              output_file;
  std::string plot;  // file of the picture, empty = none
  std::vector<std::string> inputs;
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
  uint32_t threads = 0, repeat = 1, warmup = 0, max_streams = 2;
  uint64_t seed = 1, memory_limit_bytes = 0;
  bool no_fuse = false, json = false, times = false, no_check = false;
  bool verbose = false, accuracy = false;
  int64_t kv_cache = 0;     // rows at first; 0 = the past stays inputs and outputs
  double time_limit_s = 0;  // of the load, the compile and each run; 0 = none
};

int Run(const Options& options);
int Explain(const Options& options);
int Dump(const Options& options);
int Plugins(const Options& o);
int Ops(const Options& options);
int Passes(const Options& options);
int Tune(const Options& options);
int Bench(const Options& options);

// ---- shared by the subcommands ------------------------------------------------------------------

// Prints "ge: CODE: ..." on stderr and answers the exit code of the status.
int Fail(const Status& status);
Result<SessionOptions> SessionOptionsOf(const Options& options);
// A session with the model loaded.
Result<SignalledSession> Open(const Options& o);

// With --prices measure: what was measured, on stderr.
void NoteMeasured(const Options& options, const Compiled& compiled);

// A tensor that the tool owns.
struct Tensor {
  std::string name;
  TensorView view;
  AlignedBytes memory;
  // Of an input of texts: its elements. `view` then has dtype and dims, and no data.
  std::shared_ptr<const std::vector<std::string>> strings;
  uint64_t room = 0;  // bytes of `memory`, where it is used again
  // An output that is no tensor of numbers: what it is, "a sequence of 3", and its value as JSON.
  std::string kind, text;
};
// One per input of the entry: NAME=FILE.npy, NAME=SHAPE:rand (1x3x224x224:rand), NAME=SHAPE:zeros;
// inputs that are not named get random numbers and a note on stderr. Their free sizes are those of
// inputs that are, else the least that the model permits.
Result<std::vector<Tensor>> MakeInputs(const Session& session, const Entry& entry,
                                       const Options& options);
std::vector<TensorView> Views(const std::vector<Tensor>& tensors);

// Whether every input and result is a tensor of numbers, which Session::Run takes and hands out.
bool AllNumbers(const Function& function);
// One run with results of any kind; `outputs` has their names, and its memory is used again. The
// text of what is no tensor of numbers is all of it with `whole`, else as much as is printed;
// making it is no part of *ms, the time of the run.
Status RunAnyValues(Session* session, const std::string& entry, const std::vector<Tensor>& inputs,
                    bool whole, std::vector<Tensor>* outputs, double* ms = nullptr);

// "4 nodes round what products read", or that no engine here does, and why that may be.
std::string RoundedText(uint64_t nodes);
// What engines said who declined a node, "onednn: op: no kernel for this operator; ...".
std::string Refusals(const Plan& plan, const NodeReport& report);

// NumPy's .npy files: dense little-endian arrays of numbers, or texts (npy_text.h); C order.
Result<Tensor> ReadNpy(const std::string& path);
// The dictionary that its header is: dtype and dims. `path` names it in messages. Texts are refused
// where `text` is null.
Status ParseNpyHeader(const std::string& path, const std::string& header, TensorView* view,
                      NpyText* text = nullptr);
Status WriteNpy(const std::string& path, const TensorView& tensor);
// As ReplaceFile does: by a temporary name, or into what is no regular file.
Status WriteFile(const std::string& path, const std::string& content);

}  // namespace ge::tool
