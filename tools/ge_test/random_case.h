// RandomCase: a random one-node graph. The generators of cases/*.cc fill it; ToGraph makes a Graph
// of it. Not the sweep (random/ops.cc). One thread; each case owns its tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ge/ops/op.h"
#include "tools/ge_test/tensor.h"

namespace ge::test {

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed) {}
  // Both ends included. Written out, since the standard's distributions differ between libraries.
  int64_t Int(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(bits_() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool Chance(double probability) { return Unit() < probability; }
  double Unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double Between(double lo, double hi) { return lo + Unit() * (hi - lo); }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(Int(0, static_cast<int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937_64 bits_;
};

using Dims = std::vector<int64_t>;

struct RandomCase {
  struct Input {
    std::shared_ptr<const HostTensor> tensor;  // null = absent
    bool constant = false;                     // else a parameter of the entry
    bool decides_shape = false;
  };
  const OpDef* op = nullptr;
  std::vector<Input> inputs;
  std::vector<Attr> attrs;
  std::shared_ptr<const HostTensor> value;  // the attribute "value" of Constant, ConstantOfShape
  std::vector<std::pair<std::string, std::shared_ptr<const HostTensor>>> tensors;  // attributes
  int outputs = 1;
  bool typed = true;  // the case means the same at another element type of input 0's class
  // Products of the first two inputs' elements in one sum of the result (for other operators,
  // elements of input 0); large cases state it, since errors grow with it.
  int64_t terms = 1;
};

// Fills one case. Its dtype is input 0's element type (the output's if there is no input).
class CaseMaker {
 public:
  CaseMaker(const OpDef& op, DType dtype, Random* random, bool is_large = false)
      : dtype_(dtype), r(*random), large(is_large) {
    c.op = &op;
  }

  // A tensor of random numbers: floats in [lo, hi], integers too (from 0 if unsigned), bools.
  std::shared_ptr<HostTensor> Numbers(DType dtype, const Dims& dims, double lo, double hi);
  std::shared_ptr<HostTensor> Ints(DType dtype, const Dims& dims,
                                   const std::vector<int64_t>& values);
  std::shared_ptr<HostTensor> Floats(DType dtype, const Dims& dims,
                                     const std::vector<double>& values);
  // Rank in [least, most]; sizes 1 to 5, now and then 0. A large case's first shape has up to some
  // 100,000 elements, most of them along one axis or two.
  Dims Shape(int least, int most, bool zeros = true);
  // 1 to `most`; in a large case up to `large_most`, often beside a power of two.
  int64_t Size(int64_t most, int64_t large_most);
  // A shape that broadcasts to `to`: some sizes become 1, some leading ones are dropped.
  Dims Narrowed(const Dims& to);
  // 0 <= axis < rank as it is or, half the time, counted from the end.
  int64_t Axis(int64_t axis, int64_t rank) { return r.Chance(0.5) ? axis : axis - rank; }

  void Add(std::shared_ptr<const HostTensor> tensor) {
    c.inputs.push_back({tensor, r.Chance(0.25)});
  }
  // Adds a weight: in a large case mostly a constant, as in networks, so that engines may pack it.
  void AddWeight(std::shared_ptr<const HostTensor> tensor) {
    c.inputs.push_back({tensor, r.Chance(large ? 0.7 : 0.25)});
  }
  // Adds a constant that decides a shape: the engine plans for known shapes alone.
  void AddConstant(std::shared_ptr<const HostTensor> tensor) {
    c.inputs.push_back({tensor, true, true});
  }
  void AddAbsent() { c.inputs.push_back({}); }
  void SetTensor(const char* name, std::shared_ptr<const HostTensor> tensor) {
    c.tensors.emplace_back(name, std::move(tensor));
  }
  void Set(const char* name, Attr::Payload value) { c.attrs.push_back({name, std::move(value)}); }

  DType dtype() const { return dtype_; }

 private:
  Dims LargeShape(size_t rank);

  DType dtype_;
  bool shaped_ = false;  // the large shape was given out

 public:
  Random& r;
  const bool large;  // sizes at which engines take other ways than for a few elements
  RandomCase c;
};

// The base of the error of an operator's arithmetic, element by element. The base of the result's
// rounding is always the element itself.
enum class Error {
  kOfElement,  // the wanted element; beside it, what two roundings of an input do to it
  kOfOutput,   // the greatest magnitude of the wanted output
  kOfTerms,    // the greatest magnitude of the wanted output or of an input, whichever is greater
  kOfSums,     // the sum of the magnitudes of the terms of which the element is the sum: the answer
               // for all numbers without their signs
  kOfInputs,   // the wanted element, and what a relative change of each number of the inputs, up or
               // down at random, does to it
};

// A result before its rounding to an integer, in quantized units, and the error that arithmetic in
// f32 may have there.
struct BeforeCode {
  double value = 0, error = 0;
};

// Makes and judges random cases of an operator; one record a file in cases/.
struct RandomOp {
  const char* op;  // "Relu"; of other domains than ONNX's own "ai.onnx.ml.Scaler"
  void (*make)(CaseMaker& m);
  // The greatest error of arithmetic in f32, as a share of the base of `error`; for sums of n
  // terms (RandomCase::terms) sqrt(n) times as much, since roundings fall either way. Arithmetic
  // in f64 is allowed 2^-29 of it. f16 and bf16 compute in f32 and are allowed only the result's
  // rounding besides. Integers and bools must be bit-equal in every operator, and so must floats
  // if it is 0.
  double bound;
  Error error = Error::kOfElement;
  // An independent answer in plain loops (plain.h): fills `out`, which has the found type, and
  // returns whether its shape is right. Without one, ref is checked only against itself at another
  // element type.
  bool (*plain)(const RandomCase& c, HostTensor* out) = nullptr;
  // The same for the other outputs, by number.
  bool (*plain_other)(const RandomCase& c, size_t output, HostTensor* out) = nullptr;
  // In f16 and bf16 several nodes round between them. So many roundings to the type are allowed, as
  // a share of the base of `error`.
  double steps = 0;
  // For an operator that rounds sums in f32 to quantized values: element `at` of output 0 before
  // that rounding. If it lies half way between two values, as far as f32 can tell, both are right.
  // Null if every engine computes it exactly.
  BeforeCode (*before)(const RandomCase& c, const Dims& at) = nullptr;
};
// The record of an operator; null for those without cases (If, Loop, Scan).
const RandomOp* FindRandomOp(const OpDef& op);

// A seed for one case, from the sweep's seed, the operator's name and the case's number.
uint64_t MixSeed(uint64_t seed, std::string_view op, int64_t index);
// A random element type for input 0, f32 as often as all others together, or more often.
DType PickDType(const OpDef& op, Random* random, double float_share = 0.5);
// Whether no loaded engine takes the operator: declined, not failed; see random/judge.cc.
bool IsDecline(const Status& status);
// Runs the case on one list of engines, as RunGraph takes them, without REWRITE's passes.
Result<RunResult> RunRandomCase(const RandomCase& sample, DType dtype, const std::string& engines);
// Differences in the outputs of a case of element type `dtype`, "" if there are none
// (random/bounds.h). `other`: the wanted outputs' element type, or kUndefined if it is the same.
std::string OutputsDiffer(const RandomOp& op, const RandomCase& sample, DType dtype,
                          const std::vector<HostTensor>& found,
                          const std::vector<HostTensor>& wanted, DType other);
// Differences between an engine's outputs and ref's, in the type of ref's most exact answer.
std::string DiffersFromRef(const RandomOp& op, const RandomCase& sample, DType dtype,
                           const std::vector<HostTensor>& found);
// The engines of a list, as RunGraph takes them; an empty list means every engine found. Empty if
// the list is wrong; the message is printed.
std::vector<std::string> EnginesOfCases(const std::string& list);
// Whether engines are asked for the operator, or the host's own has cases on tensors.
bool HasRandomCases(const OpDef& op, const std::string& engine);

// The graph; parameter tensors go to *inputs. `dtype` other than kUndefined converts everything of
// input 0's type variable.
Graph ToGraph(const RandomCase& sample, DType dtype,
              std::vector<std::shared_ptr<HostTensor>>* inputs);
std::shared_ptr<HostTensor> Convert(const HostTensor& tensor, DType dtype);
// A text case to repeat this one.
std::string ToTextCase(const RandomCase& sample, const std::string& engine);

}  // namespace ge::test

// Defines the record of cases/STEM.cc; the table of all is generated from the file names.
#define GE_RANDOM_OP(stem)                \
  extern const RandomOp random_op_##stem; \
  const RandomOp random_op_##stem
