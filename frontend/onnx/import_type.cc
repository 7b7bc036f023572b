#include <fmt/format.h>

#include "frontend/onnx/import_state.h"
#include "ge/base/text/utf8.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace {

// A name for a dim that has none: an identifier, so that it reads well in expressions.
std::string SymbolName(std::string_view param) {
  std::string name;
  for (char c : param) {
    bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += word ? c : '_';
  }
  if (name[0] >= '0' && name[0] <= '9') name = 'd' + name;
  for (std::string_view reserved : {"floordiv", "ceildiv", "mod", "min", "max"}) {
    if (name == reserved) name += "_";
  }
  return name;
}

SymbolId NewSymbol(ImportState* s, const std::string& name, const std::string& where, int axis) {
  DimTable& dims = s->graph.dims;
  SymbolId id;
  if (dims.FindSymbol(name) == 0) {
    Symbol symbol;
    symbol.name = name;
    id = dims.AddSymbol(symbol);
  } else {
    id = dims.FreshSymbol(name);
  }
  dims.symbol(id).origin = fmt::format("{} axis {}", where, axis);
  return id;
}

Result<DType> ImportDType(int32_t number, const std::string& where) {
  DType t = static_cast<DType>(number);
  if (number <= 0 || number >= kDTypeCount || !IsKnown(t)) {
    return Status(Code::kInvalidGraph, fmt::format("{} has element type {}, wanted 1 to {}", where,
                                                   number, kDTypeCount - 1));
  }
  return t;
}

// A name stands for one symbol in the whole model.
std::optional<Dim> NamedDim(ImportState* s, const std::string& param, DimNaming naming,
                            const std::string& origin, int axis) {
  auto found = s->symbols.find(param);
  if (found != s->symbols.end()) return s->graph.dims.OfSymbol(found->second);
  if (naming == DimNaming::kUse) return std::nullopt;
  SymbolId id = NewSymbol(s, param, origin, axis);
  s->symbols[param] = id;
  return s->graph.dims.OfSymbol(id);
}

Result<Type> ImportTensorType(ImportState* s, const wire::Type_TensorLike& t, DimNaming naming,
                              const std::string& where, int* rank) {
  GE_ASSIGN_OR_RETURN(DType dtype, ImportDType(t.elem_type(), where));
  if (!t.has_shape()) return UnrankedTensor(dtype);
  int n = t.shape().dim_size();
  if (static_cast<uint32_t>(n) > s->options.max_rank) {
    return Status(Code::kLimitExceeded, fmt::format("{} has rank {}, more than the limit of {}",
                                                    where, n, s->options.max_rank));
  }
  *rank = n;
  std::vector<Dim> dims;
  // "input 'x'" -> "x": what the symbol names in refusals of a feed.
  size_t quote = where.find('\'');
  std::string origin =
      quote == std::string::npos ? where : where.substr(quote + 1, where.rfind('\'') - quote - 1);
  for (int i = 0; i < n; ++i) {
    const auto& d = t.shape().dim(i);
    bool unnamed = d.has_dim_param() ? d.dim_param().empty() || d.dim_param() == "?"
                                     : !d.has_dim_value() || d.dim_value() == -1;
    if (unnamed) {
      if (naming == DimNaming::kUse) return UnrankedTensor(dtype);
      SymbolId id = NewSymbol(s, SymbolName(fmt::format("{}_{}", origin, i)), origin, i);
      dims.push_back(s->graph.dims.OfSymbol(id));
    } else if (d.has_dim_param()) {
      GE_RETURN_IF_ERROR(CheckName(*s, fmt::format("dim {} of {}", i, where), d.dim_param()));
      auto named = NamedDim(s, d.dim_param(), naming, origin, i);
      if (!named) return UnrankedTensor(dtype);
      dims.push_back(*named);
    } else if (d.dim_value() < 0) {
      return Status(Code::kInvalidGraph,
                    fmt::format("dim {} of {} is {}, wanted 0 or more, or a name for a size that "
                                "varies",
                                i, where, d.dim_value()));
    } else {
      dims.push_back(KnownDim(d.dim_value()));
    }
  }
  return TensorType(dtype, std::move(dims));
}

constexpr int kMostNested = 64;  // types in types, as in our own formats

Result<Type> ImportNested(ImportState* s, const wire::Type& type, DimNaming naming,
                          const std::string& where, int* rank, int depth);

Result<Type> Wrap(ImportState* s, TypeKind kind, const wire::Type& elem, const std::string& where,
                  int depth) {
  int rank = -1;
  GE_ASSIGN_OR_RETURN(Type inner, ImportNested(s, elem, DimNaming::kUse, where, &rank, depth + 1));
  Type t;
  t.kind = kind;
  t.elems.push_back(std::move(inner));
  return t;
}

Result<Type> ImportNested(ImportState* state, const wire::Type& type, DimNaming naming,
                          const std::string& where, int* rank, int depth) {
  if (depth > kMostNested) {
    return Status(Code::kLimitExceeded,
                  fmt::format("{} has a type that nests deeper than {}", where, kMostNested));
  }
  *rank = -1;
  switch (type.value_case()) {
    case wire::Type::kTensorType:
      return ImportTensorType(state, type.tensor_type(), naming, where, rank);
    case wire::Type::kSequenceType:
      return Wrap(state, TypeKind::kSequence, type.sequence_type().elem_type(), where, depth);
    case wire::Type::kOptionalType:
      return Wrap(state, TypeKind::kOptional, type.optional_type().elem_type(), where, depth);
    case wire::Type::kMapType: {
      GE_ASSIGN_OR_RETURN(DType key, ImportDType(type.map_type().key_type(), where));
      GE_ASSIGN_OR_RETURN(Type t,
                          Wrap(state, TypeKind::kMap, type.map_type().value_type(), where, depth));
      t.dtype = key;
      return t;
    }
    case wire::Type::kSparseTensorType:
      return Status(
          Code::kUnsupported,
          fmt::format("{} is a sparse tensor, which is not supported yet; make it dense", where));
    case wire::Type::kOpaqueType:
      return Status(Code::kUnsupported,
                    fmt::format("{} has the opaque type '{}', wanted a tensor, sequence, map or "
                                "optional",
                                where, type.opaque_type().name()));
    case wire::Type::VALUE_NOT_SET:
      break;
  }
  return Type{};
}

}  // namespace

Status CheckName(const ImportState& state, std::string_view what, const std::string& name) {
  if (name.size() > state.options.max_name_bytes) {
    return Status(Code::kLimitExceeded,
                  fmt::format("the name of {} has {} bytes, more than the limit of {}", what,
                              name.size(), state.options.max_name_bytes));
  }
  if (name.find('\0') != std::string::npos || !IsUtf8(name)) {
    return Status(Code::kInvalidGraph,
                  fmt::format("the name of {} is no UTF-8 text without NUL; rename it", what));
  }
  return {};
}

Result<Type> ImportType(ImportState* state, const wire::Type& type, DimNaming naming,
                        const std::string& where, int* rank) {
  return ImportNested(state, type, naming, where, rank, 0);
}

}  // namespace ge
