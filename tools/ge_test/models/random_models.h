// ge-test --random-models N: graphs of many operators. MakeRandomModel wires the cases of
// cases/*.cc together: an earlier value of the graph replaces an input of a later case. ref gives
// the result, and every mix of engines must agree. One file each for making, control flow, judging,
// shrinking and saving; random_models.cc is the sweep. One thread; a model owns its tensors.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tools/ge_test/random_case.h"

namespace ge::test {

struct RandomModel {
  Graph graph;  // one entry, which is function kMainFn
  // By value of the main function: ref's results and the inputs. Null for constants, and for values
  // without a producer.
  std::vector<std::shared_ptr<const HostTensor>> values;
  // Inputs with a decisive last bit (of Floor, ArgMax, ...): noise leaves them alone.
  std::set<ValueId> exact;

  static constexpr FunctionId kMainFn = 1;
  Function& main() { return graph.fn(kMainFn); }
  const Function& main() const { return graph.fn(kMainFn); }
};

// Prefix of the names of nodes that only fit a value to the next operator's input.
inline constexpr const char* kFitNodePrefix = "fit";
bool IsFitNode(const Node& node);

// ---- making (models/make.cc) ------------------------------------------------------------

// The same seed and index give the same model. `refused` counts the cases dropped because ref
// refused to run them, by operator.
RandomModel MakeRandomModel(uint64_t seed, int64_t index, std::map<std::string, int64_t>* refused);

// Bounds of a value's numbers before an operator reads it. lo > hi: anything.
struct FitBounds {
  double lo = 1, hi = 0;
};
// Appends nodes to `fn` that turn `from` (a tensor like `have`) into a tensor of this type; both
// have at least one element. Returns `from` itself if it fits already.
ValueId FitValue(Graph* graph, FunctionId fn, ValueId from, const HostTensor& have, DType dtype,
                 const Dims& dims, const FitBounds& bounds, Random* random);
// Appends a node with one output.
ValueId AppendModelNode(Graph* graph, FunctionId fn, const char* op, std::vector<ValueId> inputs,
                        std::vector<Attr> attrs);
ValueId AppendModelInts(Graph* graph, FunctionId fn, const Dims& dims,
                        const std::vector<int64_t>& values);
// An input of the main function with this value.
ValueId AddModelInput(RandomModel* model, std::shared_ptr<const HostTensor> tensor, bool exact);

// ---- control flow and symbols (models/control.cc) ----------------------------------------

// Makes the main function's nodes from `begin` on the branches of an If, or the body of a Loop;
// values used outside keep their ids. False if they do not suit, and the model is then unusable:
// keep a copy.
bool WrapInIf(RandomModel* model, size_t begin, Random* random);
bool WrapInLoop(RandomModel* model, size_t begin, Random* random);
// Drops results, nodes and captures that nothing reads, in the bodies called by main. False if
// there are none.
bool SlimControl(RandomModel* model);
// Replaces sizes of inputs by symbols as far as VERIFY and INFER accept them.
void SymboliseInputs(RandomModel* model, Random* random);
bool HasSymbols(const RandomModel& model);

// ---- parts of a model (models/shrink.cc) -------------------------------------------------

// The main function's nodes in `keep`; the values they read become inputs.
RandomModel CutModel(const RandomModel& model, const std::vector<bool>& keep,
                     std::vector<ValueId> results);
// The graph without unused functions, values and constants. Inputs keep their order.
Graph TidyGraph(const RandomModel& model);
std::vector<const HostTensor*> ModelInputs(const RandomModel& model);
int64_t CountModelNodes(const RandomModel& model, bool fit_nodes_too);

// ---- judging (models/judge.cc) -----------------------------------------------------------

struct ModelReference {
  RunResult wanted;                // by ref, with no pass
  std::vector<RunResult> noisy;    // by ref, with every float off by a little
  std::vector<double> allowed;     // by output: how far a float may be off
  std::vector<int64_t> unsettled;  // by output: elements that noise makes finite, NaN or infinite
  int64_t judged = 0, loose = 0;   // outputs of floats; those that may be off by more than 1 %
};
Result<ModelReference> MakeModelReference(const RandomModel& model);
// Differences of this mix of engines' outputs, after all passes; "" if there are none.
std::string CompareModel(const RandomModel& model, const ModelReference& reference,
                         const std::string& engines);
// Both in one: "ref: ..." if there is no reference.
std::string JudgeModel(const RandomModel& model, const std::string& engines);

// ---- shrinking and saving ----------------------------------------------------------------------

// A smaller model in which JudgeModel still finds a difference.
RandomModel ShrinkModel(const RandomModel& model, const std::string& engines);
// A text case to repeat the difference.
std::string ModelTextCase(const RandomModel& model, const std::string& engines);
// Writes graph.gt, an .npy for each input, and ref's outputs: expected/NAME.npy and tolerance.txt,
// a line "NAME ALLOWED" for each output. Types unknown to NumPy are written as unsigned numbers.
Status SaveModel(const RandomModel& model, const ModelReference& reference,
                 const std::string& folder);
Status SaveModelText(const std::string& path, const std::string& text);

}  // namespace ge::test
