#include <fmt/format.h>

#include "frontend/onnx/attribute_type.h"
#include "frontend/onnx/import_state.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace {

const char* KindName(int32_t kind) {
  constexpr const char* kNames[] = {"undefined",      "float",   "int",    "string",
                                    "tensor",         "graph",   "floats", "ints",
                                    "strings",        "tensors", "graphs", "sparse tensor",
                                    "sparse tensors", "type",    "types"};
  return kind >= 0 && kind <= kTypesAttr ? kNames[kind] : "unknown";
}

// The payload that is set. Writers of proto3 leave out zeros and empty lists, so none is legal; two
// are not. kUndefinedAttr when none is set.
Result<int32_t> SetKind(const wire::Attribute& a, const std::string& where) {
  int32_t found = kUndefinedAttr;
  auto see = [&](bool set, int32_t kind) {
    if (!set || found < 0) return;
    found = found == kUndefinedAttr ? kind : -1;
  };
  see(a.has_f(), kFloatAttr);
  see(a.has_i(), kIntAttr);
  see(a.has_s(), kStringAttr);
  see(a.has_t(), kTensorAttr);
  see(a.has_g(), kGraphAttr);
  see(a.floats_size() > 0, kFloatsAttr);
  see(a.ints_size() > 0, kIntsAttr);
  see(a.strings_size() > 0, kStringsAttr);
  see(a.tensors_size() > 0, kTensorsAttr);
  see(a.graphs_size() > 0, kGraphsAttr);
  see(a.has_sparse_tensor(), kSparseAttr);
  see(a.sparse_tensors_size() > 0, kSparsesAttr);
  see(a.has_tp(), kTypeAttr);
  see(a.type_protos_size() > 0, kTypesAttr);
  if (found < 0) {
    return Status(Code::kInvalidGraph, fmt::format("{} has several payloads, wanted one", where));
  }
  return found;
}

Result<int32_t> AttributeKind(const wire::Attribute& a, const std::string& where) {
  GE_ASSIGN_OR_RETURN(int32_t set, SetKind(a, where));
  if (a.type() < 0 || a.type() > kTypesAttr) {
    return Status(Code::kInvalidGraph,
                  fmt::format("{} has type {}, wanted 1 to {}", where, a.type(), int{kTypesAttr}));
  }
  if (a.type() != kUndefinedAttr && set != kUndefinedAttr && a.type() != set) {
    return Status(Code::kInvalidGraph, fmt::format("{} says that it is {} but holds {}", where,
                                                   KindName(a.type()), KindName(set)));
  }
  int32_t kind = a.type() != kUndefinedAttr ? a.type() : set;
  if (kind == kUndefinedAttr) {
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
    case kFloatAttr:
      return Attr::Payload(static_cast<double>(a.f()));
    case kIntAttr:
      return Attr::Payload(static_cast<int64_t>(a.i()));
    case kStringAttr:
      return Attr::Payload(a.s());
    case kTensorAttr: {
      GE_ASSIGN_OR_RETURN(const ConstId c, ImportTensorOnce(s, a.t(), where));
      return Attr::Payload(ConstRef{c});
    }
    case kFloatsAttr:
      return Attr::Payload(std::vector<double>(a.floats().begin(), a.floats().end()));
    case kIntsAttr:
      return Attr::Payload(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case kStringsAttr:
      return Attr::Payload(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case kTypeAttr: {
      int rank;
      GE_ASSIGN_OR_RETURN(Type t, ImportType(s, a.tp(), DimNaming::kUse, where, &rank));
      return Attr::Payload(std::move(t));
    }
    case kTypesAttr:
      return TypesOf(s, a, where);
    default:
      return Status(Code::kUnsupported,
                    fmt::format("{} holds {}, which is not supported", where, KindName(kind)));
  }
}

}  // namespace

Result<Attr> ImportAttr(ImportState* state, const wire::Attribute& a, const std::string& where) {
  if (!a.ref_attr_name().empty()) {
    return Status(Code::kInvalidGraph,
                  fmt::format("{} refers to the parameter '{}', which only a function's body may",
                              where, a.ref_attr_name()));
  }
  GE_ASSIGN_OR_RETURN(int32_t kind, AttributeKind(a, where));
  GE_ASSIGN_OR_RETURN(Attr::Payload value, PayloadOf(state, a, kind, where));
  return Attr{a.name(), std::move(value)};
}

}  // namespace ge
