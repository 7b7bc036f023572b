// Graph: a module of closed functions, constants, states and symbols. Data only: no stage logic. A
// Graph owns all its parts (constant payloads are shared and immutable), so copying one is cheap
// next to its weights. Not thread-safe while it is edited; const use is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ge/ir/type.h"

namespace ge {

using ValueId = uint32_t;  // dense per function; 0 = absent (an omitted optional input)
using NodeId = uint32_t;   // unique per function, survives reordering; 0 = absent
// The greatest id in a file: passes add nodes after it, and memory runs out before ids would
// wrap.
inline constexpr NodeId kMaxFileNodeId = NodeId{1} << 31;
using ConstId = uint32_t;  // index into Graph::consts; 0 = absent
using StateId = uint32_t;  // index into Graph::states; 0 = absent
using LocId = uint32_t;    // index into Graph::locs; 0 = absent

inline constexpr int64_t kCanonicalOpset = 28;  // ai.onnx; importers upgrade to it

// A reference to an attribute parameter of the enclosing function.
struct AttrRef {
  std::string param;
  friend bool operator==(const AttrRef&, const AttrRef&) = default;
};
struct ConstRef {
  ConstId id = 0;
  friend bool operator==(const ConstRef&, const ConstRef&) = default;
};
struct FunctionRef {
  FunctionId id = 0;
  friend bool operator==(const FunctionRef&, const FunctionRef&) = default;
};

struct Attr {
  using Payload = std::variant<int64_t, double, std::string, Type, Dim, ConstRef, FunctionRef,
                               std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                               std::vector<Type>, AttrRef>;
  std::string name;
  Payload value;
};

enum class EffectKind : uint8_t { kState, kRng, kIo, kCollective, kStream };
// Effects on one object happen in node order of the function, and are ordered in no other way.
struct Effect {
  EffectKind kind = EffectKind::kState;
  uint32_t object = 0;    // StateId for kState; group id for kCollective; else the object's number
  uint32_t sequence = 0;  // kCollective: place in the group's order, fixed in the graph
  friend bool operator==(const Effect&, const Effect&) = default;
};

struct Callee {
  std::string role;  // "then_branch", "else_branch", "body", "fn"
  FunctionId fn = 0;
};

// Where a node came from. Many-to-many: a node made by a pass lists every node it replaces.
struct Origin {
  std::string pass;                     // empty = the importer
  std::vector<std::string> from_nodes;  // the user's names
};

// Never semantics: deleting every hint leaves results unchanged.
struct Hints {
  std::string remat_name;
  uint8_t remat = 0;  // 0 auto, 1 never, 2 always
  std::string no_cse_group, stage, engine_pin;
  int32_t priority = 0;
  bool empty() const {
    return remat_name.empty() && !remat && no_cse_group.empty() && stage.empty() &&
           engine_pin.empty() && !priority;
  }
};

struct Node {
  // Out of line: every file that holds one would otherwise generate them again.
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  NodeId id = 0;
  std::string domain;  // "" = ai.onnx, "ge" = ours
  std::string op;      // "Conv"
  std::string name;    // the user's own name, may be empty
  std::vector<ValueId> inputs, outputs;
  std::vector<Attr> attrs;
  std::vector<Callee> callees;
  std::vector<Effect> effects;
  std::vector<NodeId> after;
  LocId loc = 0;
  std::vector<Origin> origin;
  Hints hints;
  std::string unknown_fields;  // wire bytes unknown to this version; written back as read

  const Attr* attr(std::string_view attr_name) const;
};

struct Value {
  std::string name;  // the user's own name, may be empty
  Type type;
  ConstId constant = 0;  // set when the value is a constant: then no node produces it
  LocId loc = 0;
  // The known elements of a small integer tensor, possibly symbolic (at most 1,024 elements).
  // Derived by INFER: not on the wire; Bind and Infer make it anew.
  std::optional<std::vector<Dim>> ints;
  std::string unknown_fields = {};
};

struct Function {
  // Out of line: every file that holds one would otherwise generate them again.
  Function();
  Function(const Function&);
  Function(Function&&) noexcept;
  Function& operator=(const Function&);
  Function& operator=(Function&&) noexcept;
  ~Function();

  FunctionId id = 0;
  std::string name, overload;
  std::vector<Value> values;  // [0] is the absent value
  std::vector<ValueId> params, results;
  std::vector<Node> nodes;  // topological order
  std::vector<std::string> attr_params;
  std::vector<Effect> effects;
  enum class Inline : uint8_t { kAuto, kNever, kAlways } inlining = Inline::kAuto;
  bool recursive = false;
  // Set when a pass derived this function from another one (R: derivation family and its key).
  struct Derived {
    std::string kind;  // "FWD", "LIN", "BWD", ...; empty = not derived
    FunctionId of = 0;
    std::vector<bool> active_in, active_out;
    std::string policy, pass, pass_version;
  } derived;
  FunctionId custom_jvp = 0, custom_vjp = 0;
  LocId loc = 0;
  std::string doc;
  NodeId next_node_id = 1;
  std::string unknown_fields;

  Value& value(ValueId value) { return values[value]; }
  const Value& value(ValueId value) const { return values[value]; }
};

struct ExternalRef {
  std::string file;  // relative to the model's folder
  uint64_t offset = 0, length = 0;
  std::string sha256;  // hex, empty = not stated
};

// The bytes of an expanded splat, aligned for any engine. Nothing is thrown where memory is short.
class SplatBytes {
 public:
  // Null when the size is unknown or there is no memory.
  static std::shared_ptr<const SplatBytes> Make(const Type& type,
                                                const std::vector<std::byte>& element);
  const std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  SplatBytes() = default;
  SplatBytes(const SplatBytes&) = delete;
  SplatBytes& operator=(const SplatBytes&) = delete;
  ~SplatBytes();

 private:
  void* block_ = nullptr;
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// Payload of a constant. `owner` keeps `data` alive: a buffer, or a mapped file.
struct Const {
  // Out of line: every file that holds one would otherwise generate them again.
  Const();
  Const(const Const&);
  Const(Const&&) noexcept;
  Const& operator=(const Const&);
  Const& operator=(Const&&) noexcept;
  ~Const();

  std::string name;
  Type type;
  std::shared_ptr<const void> owner;
  const std::byte* data =
      nullptr;  // plain row-major, may be unaligned; null for strings and splats
  uint64_t bytes = 0;
  bool mapped = false;           // data lies in a mapped file: not copied by us
  std::vector<std::byte> splat;  // one element repeated; data is null
  // The splat in full if it was expanded: derived, shared by copies, not on the wire.
  std::shared_ptr<const SplatBytes> expanded;
  std::vector<std::string> strings;  // dtype string
  ExternalRef external;              // file empty = not external
  std::string unknown_fields = {};
};

struct State {
  std::string name;
  Type type;
  enum class Kind : uint8_t { kParam, kBuffer, kOpt, kRng, kMetric, kStep } kind = Kind::kBuffer;
  bool trainable = false;
  ConstId init = 0;
  FunctionId init_fn = 0;
  std::string alias_group;
  StateId master_of = 0;
  std::string unknown_fields = {};
};

struct Entry {
  std::string name;
  FunctionId fn = 0;
  enum class Role : uint8_t { kInfer, kTrainStep, kEval, kInit, kData } role = Role::kInfer;
  std::string unknown_fields = {};
};

struct Loc {
  std::string file;
  uint32_t line = 0, col = 0, end_line = 0, end_col = 0;
  std::string scope;
  LocId caller = 0;
};

class OpTable;

struct Graph {
  std::string name, producer;
  int64_t ir_version = 1;
  std::map<std::string, int64_t> opsets;  // domain -> version; "" -> kCanonicalOpset after import
  std::vector<Function> functions;        // [0] is absent; functions[i].id == i
  std::vector<Entry> entries;
  std::vector<Const> consts;  // [0] is absent
  std::vector<State> states;  // [0] is absent
  std::vector<Loc> locs;      // [0] is absent
  DimTable dims;
  std::map<std::string, std::string> meta;  // the model's metadata_props, and keys of model_meta.h
  // Operators of plugins, beside those of ge/ops; null = none. Not on the wire.
  std::shared_ptr<const OpTable> ops;
  std::string unknown_fields;

  // Out of line: every file that holds one would otherwise generate them again.
  Graph();
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();
  Function& AddFunction(std::string fn_name);  // Invalidates references to functions.
  Function& fn(FunctionId id) { return functions[id]; }
  const Function& fn(FunctionId id) const { return functions[id]; }
  const Entry* FindEntry(std::string_view entry_name) const;
  ConstId AddConst(Const constant);
};

// The user's name of a node: its own, else its first origin, else "Op#id".
std::string NodeLabel(const Node& node);
ValueId AddValue(Function* function, Type type, std::string name = {});
// Adds a value for the constant `constant`.
ValueId AddConstValue(Graph* graph, Function* function, Const constant);
// A plain constant holding a copy of `bytes`.
Const MakeConst(Type type, const void* bytes, uint64_t size, std::string name = {});
// The splat that ConstBytes expands if the constant itself is not expanded.
using ConstScratch = std::shared_ptr<const SplatBytes>;
// Readers of content want no more; a larger splat counts as absent.
inline constexpr uint64_t kMaxSplatRead = uint64_t{64} << 20;
// Payload of any non-string constant as contiguous bytes; expands a splat into *scratch if the
// constant has not done it. Null where the payload is not here, memory is short, or the splat takes
// more than `most` bytes.
const std::byte* ConstBytes(const Const& constant, ConstScratch* scratch,
                            uint64_t most = kMaxSplatRead);

}  // namespace ge
