// GraphExporter: functions of a Graph -> the nested graphs of one ONNX model. Internal to
// frontend/onnx. Names become unique in the whole model, since a body may not hide an
// outer name. The caller appends main-graph constants without a second copy. Used by one
// thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/wire/onnx.pb.h"

namespace ge {

namespace wire = ::graphengine::onnx_wire;

class GraphExporter {
 public:
  explicit GraphExporter(const Graph& graph);

  Status ExportMain(const Function& function, wire::Graph* out);

  // By domain, after ExportMain: the content of opset_import.
  const std::map<std::string, int64_t>& opsets() const { return opsets_; }
  struct Initializer {
    std::string name;
    const Const* payload;
  };
  // The main graph's, in the order of first use.
  const std::vector<Initializer>& initializers() const { return initializers_; }

 private:
  // One function on its way into one graph. Several scopes write into one graph where a call is
  // inlined.
  struct Scope {
    const Function* f = nullptr;
    wire::Graph* out = nullptr;
    std::vector<std::string> names;  // by value; "" = not named yet
    std::vector<bool> own;           // by value: made by a node of `out`
    std::string prefix;              // of node names: the enclosing calls
    bool main = false;
  };

  Status Nodes(Scope* scope);
  Status AddNode(Scope* scope, const Node& n);
  Status AddAttr(const Node& n, const Attr& attr, wire::Node* to);
  Status AddBody(Scope* scope, const Node& n, const Callee& callee, wire::Node* to);
  Status AddCall(Scope* scope, const Node& n);
  Status AddResults(Scope* scope, bool keep_names);
  void AddIdentity(Scope* scope, const std::string& from, const std::string& to);
  std::string Unique(const std::string& wish);
  // The name of a value; writes a constant into the graph at its first use.
  Result<std::string> NameOf(Scope* scope, ValueId given);
  void AddInfo(const Scope& scope, ValueId value, const std::string& name, wire::ValueInfo* to);

  const Graph& g_;
  int64_t source_opset_ = 0;  // of the original model; 0 = not known
  std::map<std::string, int64_t> opsets_;
  std::vector<Initializer> initializers_;
  std::set<std::string> taken_;
  std::vector<FunctionId> path_;  // functions being written now
};

// dtype, dims and payload; `with_payload` false leaves the bytes out.
Status ExportTensor(const Const& constant, const std::string& name, bool with_payload,
                    wire::Tensor* out);
// False when ONNX has no such type, or the type is not known.
bool ExportType(const Type& type, const DimTable& dims, wire::Type* out);

}  // namespace ge
