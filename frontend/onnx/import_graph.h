// GraphImporter: one ONNX graph with its bodies -> closed functions of state->graph.
// Internal to frontend/onnx. Operators keep the meaning of the model's own opset; the upgrade comes
// after it. Used by one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontend/onnx/import_state.h"

namespace google::protobuf {
template <typename Element>
class RepeatedPtrField;
}  // namespace google::protobuf

namespace graphengine::onnx_wire {
class Graph;
class LocalFunction;
class Node;
class ValueInfo;
}  // namespace graphengine::onnx_wire

namespace ge {

class GraphImporter {
 public:
  explicit GraphImporter(ImportState* state) : s_(state) {}

  // A function defined by the model; `function` outlives this. Its calls are
  // inlined.
  Status AddLocalFunction(const wire::LocalFunction& function);
  Result<FunctionId> ImportMain(const wire::Graph& graph);

 private:
  struct Declared {
    ValueId value = 0;
    std::string by;         // "node 'Conv_1'", "an input": for refusals
    bool captured = false;  // from an enclosing graph
  };
  using NodeList = google::protobuf::RepeatedPtrField<wire::Node>;
  struct Scope;
  // A call of a local function being inlined.
  struct CallSite {
    const wire::LocalFunction* function = nullptr;
    const wire::Node* node = nullptr;
    std::string label;
    const Scope* caller = nullptr;
  };
  // The names of one graph, or of one call of a local function. Keys point into the wire message.
  struct Scope {
    Scope* parent = nullptr;
    FunctionId fn = 0;
    uint32_t depth = 0;              // bodies round it
    OpsetPair opsets;                // of its nodes
    const CallSite* call = nullptr;  // of a called function's own scope, not of bodies in it
    std::unordered_map<std::string_view, Declared> names;
    std::unordered_map<std::string_view, const wire::ValueInfo*> infos;
    std::vector<std::string_view> captures;  // in the order of first use
    std::set<std::string> made_names;        // of values that the import adds
  };
  struct Body {
    std::string role;
    Scope scope;
  };

  Status ImportGraph(const wire::Graph& graph, const std::string& name, Scope* scope);
  Status CollectInfos(const wire::Graph& graph, Scope* scope);
  Status AddInitializers(const wire::Graph& graph, Scope* scope);
  Status AddInputs(const wire::Graph& graph, Scope* scope);
  Status AddInput(const wire::ValueInfo& input, Scope* scope);
  Status FindDefaults(const wire::Graph& graph);
  Status KeepWords(const wire::Graph& graph);
  // The caller gives this initializer of the main graph.
  bool IsGiven(std::string_view initializer) const;
  Status DeclareNodeOutputs(const NodeList& nodes, Scope* scope);
  Status AddNodes(const NodeList& nodes, Scope* scope);
  Status AddResults(const wire::Graph& graph, Scope* scope);
  void AddCopyOfResult(const std::string& name, Scope* scope);

  Status AddNode(const wire::Node& n, int index, Scope* scope);
  // The name, or with a number where a node of the function has it already. index: the node's.
  std::string NameOfNode(FunctionId fn, std::string name, int index);
  Status CheckOperator(const wire::Node& n, const std::string& label);
  Status AddAttributes(const wire::Node& n, const std::string& label, Scope* scope, Node* node,
                       std::vector<Body>* bodies);
  Status CloseBodies(std::vector<Body>* bodies, Scope* scope, Node* node);
  Status AddConstantNode(const wire::Node& n, const std::string& label, Scope* scope);
  // The constant of a Constant node, imported once for all calls of its function.
  Result<ConstId> ConstantOf(const wire::Node& n, const std::string& label, const Scope& scope);
  Result<Const> ReadConstant(const wire::Attribute& attribute, std::string_view name,
                             const std::string& where);
  // The value of a constant in the scope's function; one for all calls.
  ValueId ConstValue(const Scope& scope, ConstId id, const std::string& name);

  // Calls of local functions: import_function.cc.
  const wire::LocalFunction* LocalFunctionOf(const wire::Node& n) const;  // null when it is none
  Status AddCall(const wire::Node& n, const std::string& label, Scope* scope);
  Status CheckCall(const wire::LocalFunction& function, const wire::Node& n,
                   const std::string& label);
  // The opsets of the function's nodes; domains that it alone imports become the graph's.
  Result<OpsetPair> OpsetsOf(const wire::LocalFunction& function);
  Status HandResultsOut(const CallSite& call, Scope* inner, Scope* outer);
  // The attribute given by the enclosing call, under its own name, for one that refers to a
  // parameter; null when the call gives none and there is no default: then the node does not have
  // it either.
  Result<const wire::Attribute*> Given(const Scope& scope, const wire::Attribute& attr,
                                       const std::string& where) const;
  // Counts nodes written by a call against the limits.
  Status CountWritten(const Scope& scope, const Node& node);
  Status CountCallNode();

  Status Declare(Scope* scope, std::string_view name, ValueId value, std::string by);
  // The value of `name` in scope; captures it from an enclosing graph. 0 when nobody makes it.
  ValueId Resolve(Scope* scope, std::string_view name);
  // Input `i` of the node; 0 when it is omitted.
  Result<ValueId> InputOf(const wire::Node& n, int i, const std::string& label, Scope* scope);
  Result<ValueId> TypedValue(Scope* scope, const std::string& name);
  Function& Fn(const Scope& scope) { return s_->graph.fn(scope.fn); }
  std::string UniqueFunctionName(const std::string& name);

  ImportState* s_;
  // By domain, name and overload.
  std::map<std::tuple<std::string, std::string, std::string>, const wire::LocalFunction*>
      local_functions_;
  std::vector<const wire::LocalFunction*> calls_;                   // being inlined
  std::map<std::pair<FunctionId, ConstId>, ValueId> const_values_;  // of calls
  std::map<std::string, int> function_names_;  // and the next number for one more of that name
  // Hashes of nodes' names with their function: names may be long, and many.
  std::unordered_set<uint64_t> node_names_;
  // By a name's hash and a number that was tried for it: a later number to try.
  std::unordered_map<uint64_t, int> node_numbers_;
};

}  // namespace ge
