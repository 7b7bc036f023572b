// Reader: the parts of ReadProto, one method a message. Internal to this folder: it shows the
// generated protobuf classes, hidden from all other folders. Used by one thread, once.
#pragma once

#include <string>
#include <vector>

#include "frontend/proto/module_scanner.h"
#include "frontend/proto/proto.h"
#include "frontend/proto/unknown_fields.h"
#include "ge/wire/graph.pb.h"

namespace ge::proto {

namespace pb = ::graphengine::wire;

inline constexpr uint32_t kMagic = 0x52494547;  // "GEIR" in the file's order
inline constexpr int64_t kIrVersion = 1;

// Refuses an expression of more nodes; four times the most that a DimTable keeps as one expression.
inline constexpr int kMaxDimNodes = 2048;

class Reader {
 public:
  Reader(const pb::Module& module, const ReadOptions& options) : m_(module), options_(options) {}

  Status Run(const std::vector<ConstPiece>& consts);
  Graph TakeGraph() { return std::move(g_); }

 private:
  // read.cc: the module's tables
  Status ReadVersion();
  Status ReadSymbols();
  Status ReadLocs();
  Status ReadConsts(const std::vector<ConstPiece>& consts);
  Status ReadConst(const ConstPiece& piece, uint32_t index);
  Status ReadPayload(const pb::Const& constant, const ConstPiece& piece, Const* out);
  Status ReadStates();
  Status ReadEntries();

  // read_function.cc
  Status ReadFunctions();
  Status ReadFunction(const pb::Function& function, Function* out);
  Status ReadSignature(const pb::Function& function, Function* out);
  Status ReadValues(const pb::Function& function, Function* out);
  Status ReadNode(const pb::Node& n, Function* function, Node* out);
  Status ReadNodeLists(const pb::Node& n, Node* out);
  Status ReadAttr(const pb::Attr& a, Node* out);
  Status ReadAttrValue(const pb::Attr& attr, Attr::Payload* out);
  Status ReadEffect(const pb::Effect& effect, Effect* out);

  // read_type.cc
  Status ReadType(const pb::Type& type, Type* out, int depth);
  Status ReadTensor(const pb::TensorType& type, Type* out);
  Status ReadElem(const pb::Type& type, Type* out, int depth);
  Status ReadTuple(const pb::TupleType& type, Type* out, int depth);
  Status ReadFunc(const pb::FuncType& type, Type* out, int depth);
  Status ReadShape(const pb::Shape& shape, std::vector<Dim>* out);
  Status ReadDim(const pb::Dim& dim, Dim* out, int depth, int* budget);
  Status ReadDimExpr(const pb::DimExpr& expr, Dim* out, int depth, int* budget);
  Status ReadDType(int32_t number, DType* out) const;

  // `id` must name an element of a table of `size` elements (ids 1..size; 0 when `optional`).
  Status CheckId(const char* what, uint64_t id, uint64_t size, bool optional) const;
  Status CheckEnum(const char* what, int found, int greatest) const;
  Status Count(uint64_t items);
  // The file, function and node being read, for messages.
  std::string Place() const;
  Status Invalid(const std::string& text) const;

  uint32_t function_count() const { return static_cast<uint32_t>(m_.functions_size()); }

  const pb::Module& m_;
  const ReadOptions& options_;
  Graph g_;
  uint64_t items_ = 0;
  bool spread_ = false;  // a type says how it is spread over a mesh
  std::string function_, node_;
};

}  // namespace ge::proto
