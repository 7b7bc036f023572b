// ImportState: shared by the parts of the ONNX importer while one model is read. Internal to
// frontend/onnx. Lives on the stack of one import; used by one thread.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/onnx/import.h"
#include "frontend/onnx/weight_scanner.h"
#include "ge/base/mapped_file.h"
#include "ge/ir/graph.h"

namespace graphengine::onnx_wire {
class Attribute;
class Model;
class Tensor;
class Type;
}  // namespace graphengine::onnx_wire

namespace ge {

namespace wire = ::graphengine::onnx_wire;

// Versions of the two domains whose nodes are upgraded; 0: the domain is not imported.
struct OpsetPair {
  int64_t onnx = 0, ml = 0;
  bool operator==(const OpsetPair&) const = default;
};

struct ImportState {
  const ImportOptions& options;
  ImportStats* stats;  // never null
  Graph graph;
  std::span<const std::byte> bytes;   // the whole model
  std::shared_ptr<const void> owner;  // keeps `bytes` alive
  bool mapped = false;                // `bytes` is a mapped file
  std::vector<WeightPayload> payloads;
  std::map<std::string, std::shared_ptr<const MappedFile>> external_files;
  int64_t ir_version = 0, opset = 0;
  std::map<std::string, SymbolId, std::less<>> symbols;  // by dim_param
  uint64_t nodes = 0;
  uint64_t skeleton_bytes = 0;
  uint64_t call_nodes = 0, call_bytes = 0;  // written out by calls of local functions
  // By the tensor's message: nodes of a function called often share its constants.
  std::unordered_map<const void*, ConstId> const_of;
  OpsetPair opsets() const;  // the model's own
  // Opsets of nodes out of functions that import others than the model.
  std::map<std::pair<FunctionId, NodeId>, OpsetPair> node_opsets;
  // Ranks declared by the file for values whose type could not be kept whole.
  std::map<std::pair<FunctionId, ValueId>, int> declared_ranks;
};

// Checks that models of this opset of ai.onnx can be upgraded.
Status CheckOnnxOpset(int64_t opset);
// The same for ai.onnx.ml.
Status CheckMlOpset(int64_t opset);

// Names are UTF-8 without NUL and not too long. `what` says whose name it is.
Status CheckName(const ImportState& state, std::string_view what, const std::string& name);

// How the unknown dims of a declared type are read.
enum class DimNaming {
  kDefine,  // an entry's parameter: names make symbols, unnamed dims make fresh ones
  kUse,     // elsewhere: names of known symbols; else the type loses its shape, *rank keeps it
};
// `where` is "input 'x'". *rank is -1 when none is declared.
Result<Type> ImportType(ImportState* state, const wire::Type& type, DimNaming naming,
                        const std::string& where, int* rank);

// `where` is "initializer 'w'" or "attribute 'value' of node 'n'".
Result<Const> ImportTensor(ImportState* state, const wire::Tensor& tensor,
                           const std::string& where);

// The constant of a tensor, imported once for all its uses.
Result<ConstId> ImportTensorOnce(ImportState* state, const wire::Tensor& tensor,
                                 const std::string& where);

// Every attribute but graphs.
Result<Attr> ImportAttr(ImportState* state, const wire::Attribute& attribute,
                        const std::string& where);

}  // namespace ge
