// Writer: the parts of WriteProto, one method a message. Internal to this folder: it shows the
// generated protobuf classes. The Graph must outlive it. Used by one thread, once.
#pragma once

#include <google/protobuf/arena.h>

#include <map>
#include <string>
#include <utility>

#include "frontend/proto/unknown_fields.h"
#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/wire/graph.pb.h"

namespace ge::proto {

namespace pb = ::graphengine::wire;

class Writer {
 public:
  explicit Writer(const Graph& graph) : g_(graph) {}
  Result<std::string> Run();

 private:
  // write.cc
  Status WriteTables();
  Status WriteStatesAndEntries();
  Status WriteFunctions();
  Status WriteConstSkeleton(const Const& constant, pb::Const* out);
  Status AppendConsts(std::string* out);
  uint32_t OpIndex(const std::string& domain, const std::string& name);
  uint32_t FileIndex(const std::string& file);

  // write_function.cc
  Status WriteFunction(const Function& function, pb::Function* out);
  void WriteSignature(const Function& function, pb::Function* out);
  Status WriteNode(const Node& n, pb::Node* out);
  Status WriteAttr(const Attr& attr, pb::Attr* out);
  static void WriteEffect(const Effect& effect, pb::Effect* out);

  // write_function.cc; `make` answers the message to fill and is not called for an unknown type
  template <typename Make>
  Status WriteType(const Type& type, Make make, int depth) {
    if (type.kind == TypeKind::kUnknown) return Status();
    return FillType(type, make(), depth);
  }
  Status FillType(const Type& type, pb::Type* out, int depth);
  Status FillElem(const Type& type, size_t index, pb::Type* out, int depth);
  Status WriteShape(const Type& type, pb::Shape* out);
  Status WriteDim(const Dim& dim, pb::Dim* out, int depth, int* budget);

  const Graph& g_;
  google::protobuf::Arena arena_;
  pb::Module& m_ = *google::protobuf::Arena::CreateMessage<pb::Module>(&arena_);
  std::map<std::pair<std::string, std::string>, uint32_t> ops_;
  std::map<std::string, uint32_t> files_;
};

}  // namespace ge::proto
