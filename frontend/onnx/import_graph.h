// GraphImporter: one ONNX graph with its bodies -> closed functions of state->graph.
// Internal to frontend/onnx. Operators keep the meaning of the model's own opset; the upgrade comes
// after it. Used by one thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/onnx/import_state.h"

namespace graphengine::onnx_wire {
class Graph;
class Node;
class ValueInfo;
}  // namespace graphengine::onnx_wire

namespace ge {

class GraphImporter {
 public:
  // `local_functions` holds (domain, name) of the functions that the model itself defines.
  GraphImporter(ImportState* state, std::set<std::pair<std::string, std::string>> local_functions)
      : s_(state), local_functions_(std::move(local_functions)) {}

  Result<FunctionId> ImportMain(const wire::Graph& graph);

 private:
  struct Declared {
    ValueId value = 0;
    std::string by;         // "node 'Conv_1'", "an input": for refusals
    bool captured = false;  // from an enclosing graph
  };
  // The names of one graph. Keys point into the wire message.
  struct Scope {
    Scope* parent = nullptr;
    FunctionId fn = 0;
    std::unordered_map<std::string_view, Declared> names;
    std::unordered_map<std::string_view, const wire::ValueInfo*> infos;
    std::vector<std::string_view> captures;  // in the order of first use
  };
  struct Body {
    std::string role;
    Scope scope;
  };

  Status ImportGraph(const wire::Graph& g, const std::string& name, Scope* scope);
  Status CollectInfos(const wire::Graph& g, Scope* scope);
  Status AddInitializers(const wire::Graph& g, Scope* scope);
  Status AddInputs(const wire::Graph& g, Scope* scope);
  Status DeclareNodeOutputs(const wire::Graph& g, Scope* scope);
  Status AddResults(const wire::Graph& g, Scope* scope);

  Status AddNode(const wire::Node& n, int index, Scope* scope);
  Status CheckOperator(const wire::Node& n, const std::string& label);
  Status AddAttributes(const wire::Node& n, const std::string& label, Scope* scope, Node* node,
                       std::vector<Body>* bodies);
  Status CloseBodies(std::vector<Body>* bodies, Scope* scope, Node* node);
  Status AddConstantNode(const wire::Node& n, const std::string& label, Scope* scope);
  Result<Const> ConstantOf(const wire::Node& n, const std::string& label);

  Status Declare(Scope* scope, std::string_view name, ValueId value, std::string by);
  // The value of `name` in scope; captures it from an enclosing graph. 0 when nobody makes it.
  ValueId Resolve(Scope* scope, std::string_view name);
  Result<ValueId> TypedValue(Scope* scope, const std::string& name);
  Function& Fn(const Scope& scope) { return s_->graph.fn(scope.fn); }
  std::string UniqueFunctionName(const std::string& name);

  ImportState* s_;
  std::set<std::pair<std::string, std::string>> local_functions_;
  std::set<std::string> function_names_;
};

}  // namespace ge
