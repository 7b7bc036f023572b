#include <fmt/format.h>

#include "frontend/onnx/import_state.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace {

// ONNX's numbers of attribute types.
enum : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparse = 11,
  kSparses = 12,
  kType = 13,
  kTypes = 14,
};

const char* KindName(int32_t kind) {
  constexpr const char* kNames[] = {"undefined",      "float",   "int",    "string",
                                    "tensor",         "graph",   "floats", "ints",
                                    "strings",        "tensors", "graphs", "sparse tensor",
                                    "sparse tensors", "type",    "types"};
  return kind >= 0 && kind <= kTypes ? kNames[kind] : "unknown";
}

// The payload that is set. Writers of proto3 leave out zeros and empty lists, so none is legal; two
// are not. kUndefined when none is set.
Result<int32_t> SetKind(const wire::Attribute& a, const std::string& where) {
  int32_t found = kUndefined;
  auto see = [&](bool set, int32_t kind) {
    if (!set || found < 0) return;
    found = found == kUndefined ? kind : -1;
  };
  see(a.has_f(), kFloat);
  see(a.has_i(), kInt);
  see(a.has_s(), kString);
  see(a.has_t(), kTensor);
  see(a.has_g(), kGraph);
  see(a.floats_size() > 0, kFloats);
  see(a.ints_size() > 0, kInts);
  see(a.strings_size() > 0, kStrings);
  see(a.tensors_size() > 0, kTensors);
  see(a.graphs_size() > 0, kGraphs);
  see(a.has_sparse_tensor(), kSparse);
  see(a.sparse_tensors_size() > 0, kSparses);
  see(a.has_tp(), kType);
  see(a.type_protos_size() > 0, kTypes);
  if (found < 0) {
    return Status(Code::kInvalidGraph, fmt::format("{} has several payloads, wanted one", where));
  }
  return found;
}

Result<int32_t> AttributeKind(const wire::Attribute& a, const std::string& where) {
  GE_ASSIGN_OR_RETURN(int32_t set, SetKind(a, where));
  if (a.type() < 0 || a.type() > kTypes) {
    return Status(Code::kInvalidGraph,
                  fmt::format("{} has type {}, wanted 1 to {}", where, a.type(), int{kTypes}));
  }
  if (a.type() != kUndefined && set != kUndefined && a.type() != set) {
    return Status(Code::kInvalidGraph, fmt::format("{} says that it is {} but holds {}", where,
                                                   KindName(a.type()), KindName(set)));
  }
  int32_t kind = a.type() != kUndefined ? a.type() : set;
  if (kind == kUndefined) {
    return Status(Code::kInvalidGraph, fmt::format("{} has neither type nor payload", where));
  }
  return kind;
}

Result<Attr::Payload> TypesOf(ImportState* s, const wire::Attribute& a, const std::string& where) {
  std::vector<Type> types;
  int rank;
  for (const auto& t : a.type_protos()) {
    GE_ASSIGN_OR_RETURN(Type type, ImportType(s, t, DimNaming::kUse, where, &rank));
    types.push_back(std::move(type));
  }
  return Attr::Payload(std::move(types));
}

Result<Attr::Payload> PayloadOf(ImportState* s, const wire::Attribute& a, int32_t kind,
                                const std::string& where) {
  switch (kind) {
    case kFloat:
      return Attr::Payload(static_cast<double>(a.f()));
    case kInt:
      return Attr::Payload(static_cast<int64_t>(a.i()));
    case kString:
      return Attr::Payload(a.s());
    case kTensor: {
      GE_ASSIGN_OR_RETURN(Const c, ImportTensor(s, a.t(), where));
      return Attr::Payload(ConstRef{s->graph.AddConst(std::move(c))});
    }
    case kFloats:
      return Attr::Payload(std::vector<double>(a.floats().begin(), a.floats().end()));
    case kInts:
      return Attr::Payload(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case kStrings:
      return Attr::Payload(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case kType: {
      int rank;
      GE_ASSIGN_OR_RETURN(Type t, ImportType(s, a.tp(), DimNaming::kUse, where, &rank));
      return Attr::Payload(std::move(t));
    }
    case kTypes:
      return TypesOf(s, a, where);
    default:
      return Status(Code::kUnsupported,
                    fmt::format("{} holds {}, which is not supported", where, KindName(kind)));
  }
}

}  // namespace

Result<Attr> ImportAttr(ImportState* s, const wire::Attribute& a, const std::string& where) {
  if (!a.ref_attr_name().empty()) {
    return Status(Code::kInvalidGraph,
                  fmt::format("{} refers to the parameter '{}', which only a function's body may",
                              where, a.ref_attr_name()));
  }
  GE_ASSIGN_OR_RETURN(int32_t kind, AttributeKind(a, where));
  GE_ASSIGN_OR_RETURN(Attr::Payload value, PayloadOf(s, a, kind, where));
  return Attr{a.name(), std::move(value)};
}

}  // namespace ge
