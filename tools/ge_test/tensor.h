// Tensors of the sweeps (node tests, random cases, `run` of a text case), their comparison, and
// RunGraph for named engines. Not the engine's own tensors: each owns its bytes, allocated to the
// byte so that a sanitizer sees every access beyond them. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/session/session.h"

namespace ge::test {

struct HostTensor {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  AlignedBytes data;
  uint64_t bytes = 0;                     // dense, elements below a byte packed, low bits first
  std::vector<std::string> strings = {};  // of texts, which have no bytes

  int64_t count() const;
  TensorView view() const { return {dtype, dims, data.get(), bytes}; }
};

// A zeroed tensor; RESOURCE_EXHAUSTED or INVALID_ARGUMENT if there is no such buffer.
Result<HostTensor> MakeTensor(DType dtype, std::vector<int64_t> dims);
Result<HostTensor> FromConst(const Const& constant);
Const ToConst(const HostTensor& tensor, std::string name);

// Element i as a double. Complex types count real and imaginary parts as elements, in turn.
double ElementAsDouble(const HostTensor& tensor, int64_t i);
// Only for integers and bool; u64 wraps.
int64_t ElementAsInt(const HostTensor& tensor, int64_t i);
// Rounds to the type; integers keep their low bits.
void SetElement(HostTensor* tensor, int64_t i, double value);
void SetIntElement(HostTensor* tensor, int64_t i, int64_t value);

// Allowed error of a float with wanted value w: atol + rtol * |w| + scaled * m. m is the greatest
// |w|, or `magnitude` if that is greater. NaN equals NaN and infinities must agree. All other types
// must agree to the bit.
struct Tolerance {
  double atol = 0, rtol = 0, scaled = 0, magnitude = 0;
};
// "" if equal; else the first difference, with the element's index and both values.
std::string Differs(const HostTensor& found, const HostTensor& wanted, const Tolerance& tolerance);
// "[1,0,2]": the index of a tensor's i-th element, for these dims.
std::string IndexText(int64_t i, const std::vector<int64_t>& dims);

// Options of every session of ge-test. Process-wide; set once, before the first session.
struct Settings {
  // Starts as `ge run` does by default: this machine's cache corrects prices, and the machine is
  // probed. Else prices and plans are the same everywhere.
  bool shipped = false;
  uint32_t threads = 0;  // 0 = the cores that the process may use
  Precision precision = Precision::kF32;
};
void SetSettings(const Settings& settings);
const Settings& TheSettings();
SessionOptions NewSessionOptions();
// Takes "--shipped", "--threads N" and "--precision NAME" out of the arguments and sets them.
// False, with a message, if N is no number or NAME no precision.
bool TakeSettings(std::vector<char*>* arguments);

// Runs a graph on `engines` ("" = ref) through a session, with these passes of REWRITE; with none
// the nodes run as they stand. "onednn,ref policy=priority" places by that policy, not by cost.
using PassNames = std::optional<std::vector<std::string>>;  // nullopt = all
struct RunResult {
  std::vector<HostTensor> outputs;
  std::vector<std::string> names;  // of the entry's results
};
Result<RunResult> RunGraph(const Graph& graph, const std::string& engines, const PassNames& passes,
                           const std::vector<const HostTensor*>& inputs);

// "f32[2,3]"
std::string TypeText(const HostTensor& tensor);

// The command line of `ge-test --MODE`, shared by several modes.
struct SweepOptions {
  std::string path;  // a folder, for modes that want one
  std::string engines, filter, op, save, policy;
  std::map<std::string, int64_t> least_taken;  // nodes by engine, of the node tests
  uint64_t seed = 1;
  int64_t count = 0, first = 0;
  int64_t least = 0;  // of --parts: cases that became parts, of all operators
  bool verbose = false;
  bool models = false;  // of --random-models: it takes --save and --first, and no operator
  bool large = false;   // of --random: sizes at which engines take other ways
};
// Each prints its failures and "N passed, N failed, N skipped"; returns the exit code.
int RunOnnxNodeTests(const SweepOptions& options);
int RunRandomOps(const SweepOptions& options);
int RunLargeOps(const SweepOptions& options);
int RunRandomTypes(const SweepOptions& options);
int RunRandomParts(const SweepOptions& options);
int RunRandomAttributes(const SweepOptions& options);
int RunRandomModels(const SweepOptions& options);

}  // namespace ge::test
