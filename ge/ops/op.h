// OpDef: the engine's knowledge of an operator, one record per file in
// ge/ops/<domain>/; operators of plugins have such a record too (op_table.h). The table
// of all records is generated from the file names at configure time: the file
// ge/ops/onnx/leaky_relu.cc must define GE_OP(leaky_relu), ge/ops/onnx_ml/scaler.cc
// GE_OP(onnx_ml_scaler). No static constructors. All functions are pure and may be
// called by any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

class Transaction;
struct KernelCall;  // kernel_call.h
struct PluginOp;    // ge/engine/op/op_plugin.h

// A set of dtypes as bits 1 << DType.
using DTypeSet = uint32_t;
constexpr DTypeSet Bit(DType dtype) { return DTypeSet{1} << static_cast<int>(dtype); }
inline constexpr DTypeSet kFloat6s = Bit(DType::kFloat6e2m3) | Bit(DType::kFloat6e3m2);
// But floats of six bits, which ONNX stores and converts and does not move.
inline constexpr DTypeSet kAnyDType = ~DTypeSet{1} & ~kFloat6s;
inline constexpr DTypeSet kFloats =
    Bit(DType::kFloat) | Bit(DType::kDouble) | Bit(DType::kFloat16) | Bit(DType::kBfloat16);
inline constexpr DTypeSet kSignedInts =
    Bit(DType::kInt8) | Bit(DType::kInt16) | Bit(DType::kInt32) | Bit(DType::kInt64);
inline constexpr DTypeSet kUnsignedInts =
    Bit(DType::kUint8) | Bit(DType::kUint16) | Bit(DType::kUint32) | Bit(DType::kUint64);
inline constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
inline constexpr DTypeSet kNumeric = kFloats | kInts;
inline constexpr DTypeSet kComplexes = Bit(DType::kComplex64) | Bit(DType::kComplex128);
inline constexpr DTypeSet kIndex = Bit(DType::kInt32) | Bit(DType::kInt64);
// Tensors, sequences, optionals and the other kinds of type (Identity, If, Loop).
inline constexpr DTypeSet kAnyType = ~DTypeSet{0};
inline constexpr DTypeSet kFloat8s = Bit(DType::kFloat8e4m3fn) | Bit(DType::kFloat8e4m3fnuz) |
                                     Bit(DType::kFloat8e5m2) | Bit(DType::kFloat8e5m2fnuz);
// ONNX's tensor types of IR version 4: accepted by most operators that only move data.
inline constexpr DTypeSet kClassic =
    kNumeric | kComplexes | Bit(DType::kBool) | Bit(DType::kString);

enum class Arity : uint8_t { kOne, kOptional, kVariadic };

struct Port {
  const char* name;           // ONNX's: "X", "W", "B"
  DTypeSet dtypes;            // legal element types
  const char* type_var = "";  // ports with the same non-empty variable have the same dtype: "T"
  Arity arity = Arity::kOne;
  uint8_t min_count = 1;  // of a variadic port
};

enum class AttrKind : uint8_t {
  kInt,
  kFloat,
  kString,
  kTensor,
  kInts,
  kFloats,
  kStrings,
  kFn,
  kType
};

// An attribute is required, or has a default, or neither: then its absence has a meaning of its
// own, or stands for a value that only the inputs give (all axes, a size of the weights).
struct AttrDef {
  AttrDef(const char* n, AttrKind k) : name(n), kind(k) {}
  AttrDef(const char* n, AttrKind k, bool must) : name(n), kind(k), required(must) {}
  AttrDef(const char* n, AttrKind k, int value)
      : name(n), kind(k), default_value(static_cast<int64_t>(value)) {}
  // ONNX's float attributes are of single precision.
  AttrDef(const char* n, AttrKind k, float value)
      : name(n), kind(k), default_value(static_cast<double>(value)) {}
  AttrDef(const char* n, AttrKind k, const char* value)
      : name(n), kind(k), default_value(std::string(value)) {}
  AttrDef(const char* n, AttrKind k, std::vector<int64_t> value)
      : name(n), kind(k), default_value(std::move(value)) {}

  const char* name;
  AttrKind kind;
  bool required = false;
  // The value of an absent attribute for all inputs, by the operator's specification: ONNX's at the
  // canonical opset, ONNX Runtime's for com.microsoft. Nodes carry it (ge/ops/defaults.h), so it is
  // written down here alone.
  std::optional<Attr::Payload> default_value = {};
};

// The inputs and outputs of an inference rule. Implemented by INFER and by the importers' checks.
class InferContext {
 public:
  virtual ~InferContext() = default;
  virtual const Node& node() const = 0;
  virtual DimTable& dims() = 0;
  virtual size_t input_count() const = 0;  // including absent ones
  virtual bool has_input(size_t i) const = 0;
  virtual const Type& input_type(size_t i) const = 0;  // only when has_input(i)
  // The known content of a small integer (or bool) tensor, element by element; entries may be
  // symbolic. nullptr when not known.
  virtual const std::vector<Dim>* input_ints(size_t i) const = 0;
  // The payload of a constant input; nullptr when it is not constant.
  virtual const Const* input_const(size_t i) const = 0;
  virtual const Const& tensor_attr(ConstRef ref) const = 0;
  virtual size_t output_count() const = 0;
  virtual bool has_output(size_t i) const = 0;  // false for an omitted output
  virtual void SetOutput(size_t i, Type type) = 0;
  // Sets the content of a small integer tensor (Shape, Concat of dims, ...).
  virtual void SetOutputInts(size_t i, std::vector<Dim> values) = 0;
  // A new symbol for a size without a rule; data_dependent when only the data decide it.
  virtual Dim FreshDim(const std::string& stem, bool data_dependent) = 0;
  // The function called by the node in this role ("body"), its results typed already; nullptr when
  // there is none. If, Loop and Scan need it.
  virtual const Function* callee(std::string_view) const { return nullptr; }
  // nullptr when the graph has no such state. Read and Assign need it.
  virtual const State* state(StateId) const { return nullptr; }
  // The declared type of an output; nullptr when there is none. Only Read needs it.
  virtual const Type* declared_output(size_t) const { return nullptr; }
};

// Arithmetic effort of one node at static shapes; the base of prices.
struct Work {
  double flops = 0;  // multiply and add count as two
  double bytes = 0;  // read and written once
};

struct OpDef {
  const char* domain;     // "" = ai.onnx, "ge", "ai.onnx.ml", "com.microsoft"
  const char* name;       // "LeakyRelu"
  int32_t since_version;  // the opset of its meaning at the canonical opset
  std::vector<Port> inputs, outputs;
  std::vector<AttrDef> attrs;
  // Sets every present output's type; may refuse (INVALID_GRAPH) with the found and wanted value.
  // The caller has already checked port counts, dtypes and attributes against this record.
  std::function<Status(InferContext& c)> infer = {};
  // Effort; nullptr = one flop per output element.
  std::function<Work(const Node& node, std::span<const Type> in, std::span<const Type> out)> work =
      {};
  bool deterministic = true;  // false: never folded, never merged (Random*)
  bool has_effects = false;   // reads or writes a state
  // Builds an equivalent out of other operators, before the node, and answers a value of the same
  // type for each of its outputs (0 for an omitted one). Added nodes need no folding: the rule
  // makes its constants itself (ge/ops/decompose.h). Empty when this node's attributes or unknown
  // rank leave it no decomposition. `node` is a copy, not the node in the graph.
  std::function<std::vector<ValueId>(Transaction& t, FunctionId fn, const Node& node)> decompose =
      {};
  // The decomposition makes floats of quantized weights, several times their memory: the node stays
  // whole where an engine takes it so, at any price of its parts.
  bool keeps_codes = false;
  // Of a plugin's operator alone: runs it on host memory. Where sizes of its outputs are known
  // before, the engine that the host makes of the plugin runs it instead.
  std::function<Status(KernelCall& call)> kernel = {};
  // With `kernel`: sizes of outputs are known only after it has run.
  bool data_sized = false;
  // Ports at the end of inputs and of outputs for states of the node, absent in models, and the
  // types of those states (ge/compile/states/add_states.h).
  uint32_t states = 0;
  std::function<Result<std::vector<Type>>(const Graph& graph, const Node& node)> state_types = {};
  // The record of its plugin, for calling its other rules; null: built in.
  std::shared_ptr<const PluginOp> of_plugin = {};
};

#define GE_OP(stem)                      \
  extern const ::ge::OpDef ge_op_##stem; \
  const ::ge::OpDef ge_op_##stem

// All operators in file-name order.
std::span<const OpDef* const> AllOps();
// A built-in operator; null when there is none.
const OpDef* FindOp(std::string_view domain, std::string_view name);
// The operator of a node of the graph: built in, or of a plugin loaded with the graph.
const OpDef* FindOp(const Graph& graph, const Node& node);
// "Relu", "ai.onnx.ml.Scaler".
std::string FullName(std::string_view domain, std::string_view name);
inline std::string FullName(const OpDef& op) { return FullName(op.domain, op.name); }
// The nearest known names by edit distance, for refusals: "did you mean ...".
std::vector<std::string> NearestOps(std::string_view domain, std::string_view name);
// Checks a node against its record: port counts, attribute names and kinds, required ones.
// INVALID_GRAPH / UNSUPPORTED with found and wanted; INTERNAL for a default not filled in.
Status CheckNodeAgainstOp(const Node& node, const OpDef& op);
// The same of its attributes alone.
Status CheckAttrsAgainstOp(const Node& node, const OpDef& op);
// Checks the input dtypes and type variables.
Status CheckInputTypes(InferContext& context, const OpDef& op);
Work WorkOf(const OpDef& op, const Node& node, std::span<const Type> in, std::span<const Type> out);

// nullptr when the record has no attribute of this name.
const AttrDef* FindAttrDef(const OpDef& op, std::string_view name);

// ---- attribute access --------------------------------------------------------------------------
// The node's attribute. If it has none of this kind (a parameter of its function, or an illegal
// graph): the record's default; without one 0, or empty.
int64_t AttrInt(const Node& n, std::string_view name);
double AttrFloat(const Node& n, std::string_view name);
std::string_view AttrString(const Node& n, std::string_view name);
const std::vector<int64_t>& AttrInts(const Node& n, std::string_view name);
// For attributes without a default in the record: the meaning of their absence depends on the
// inputs, or the node is of an older opset with another meaning.
int64_t AttrInt(const Node& n, std::string_view name, int64_t absent);
double AttrFloat(const Node& n, std::string_view name, double absent);
std::string_view AttrString(const Node& n, std::string_view name, std::string_view absent);
bool HasAttr(const Node& n, std::string_view name);

}  // namespace ge
