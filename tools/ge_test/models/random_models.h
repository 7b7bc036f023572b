// ge-test --random-models N: graphs of many operators. The cases of cases/*.cc are wired together,
// an earlier value of the graph standing for an input of a later case; ref says what the result is,
// and every mix of engines must agree. One file each for making, control flow, judging, shrinking
// and saving; random_models.cc is the sweep. One thread; a model owns its tensors.
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
  // By value of the main function: what ref gives, inputs included. Null for constants, and for
  // values that no node makes any more.
  std::vector<std::shared_ptr<const HostTensor>> values;
  // Inputs whose last bit decides a whole answer (of Floor, ArgMax, ...): they are never disturbed.
  std::set<ValueId> exact;

  static constexpr FunctionId kMainFn = 1;
  Function& main() { return graph.fn(kMainFn); }
  const Function& main() const { return graph.fn(kMainFn); }
};

// Nodes that only fit a value to the next operator's input have names that begin so.
inline constexpr const char* kFitNodePrefix = "fit";
bool IsFitNode(const Node& node);

// ---- making (models/make.cc) ------------------------------------------------------------

// The same seed and index give the same model. `refused` collects what ref refused to run, by
// operator: cases that were dropped for it.
RandomModel MakeRandomModel(uint64_t seed, int64_t index, std::map<std::string, int64_t>* refused);

// What a value is made to hold before an operator reads it. lo > hi: anything.
struct FitBounds {
  double lo = 1, hi = 0;
};
// Nodes at the end of `fn` that turn `from`, which is like `have`, into a tensor of this type; at
// least one element on both sides. Answers `from` itself when it fits already.
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

// The nodes of the main function from `begin` on become the branches of an If, or the body of a
// Loop; the values that they gave outwards keep their ids. False when they do not suit, and the
// model is then unusable: keep a copy.
bool WrapInIf(RandomModel* model, size_t begin, Random* random);
bool WrapInLoop(RandomModel* model, size_t begin, Random* random);
// Drops what nothing reads of the results, nodes and captures of the bodies that main calls. False
// when there is none.
bool SlimControl(RandomModel* model);
// Replaces sizes of inputs by symbols as far as VERIFY and INFER go along.
void SymboliseInputs(RandomModel* model, Random* random);
bool HasSymbols(const RandomModel& model);

// ---- parts of a model (models/shrink.cc) -------------------------------------------------

// The nodes among `keep` that `results` need.
std::vector<bool> NeededModelNodes(const Function& function, std::vector<bool> keep,
                                   const std::vector<ValueId>& results);
// The nodes of the main function that `keep` names, with what they read as inputs.
RandomModel CutModel(const RandomModel& model, const std::vector<bool>& keep,
                     std::vector<ValueId> results);
// Without functions, values and constants that nothing names. Inputs keep their order.
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
// How the outputs of this mix of engines, after all passes, differ; "" when they do not.
std::string CompareModel(const RandomModel& model, const ModelReference& reference,
                         const std::string& engines);
// Both in one: "ref: ..." when there is no reference.
std::string JudgeModel(const RandomModel& model, const std::string& engines);

// ---- shrinking and saving ----------------------------------------------------------------------

// A smaller model with which JudgeModel still finds a difference.
RandomModel ShrinkModel(const RandomModel& model, const std::string& engines);
// A text case that repeats the difference.
std::string ModelTextCase(const RandomModel& model, const std::string& engines);
// graph.gt, an .npy for each input, and what ref gives: expected/NAME.npy and tolerance.txt, a line
// "NAME ALLOWED" for each output. Types that NumPy lacks are written as unsigned numbers.
Status SaveModel(const RandomModel& model, const ModelReference& reference,
                 const std::string& folder);
Status SaveModelText(const std::string& path, const std::string& text);

}  // namespace ge::test
