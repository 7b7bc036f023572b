#include <fmt/format.h>

#include "frontend/proto/reader.h"

namespace ge::proto {

Status Reader::ReadDType(int32_t number, DType* out) const {
  if (number < 0 || number >= kDTypeCount) {
    return Invalid(
        fmt::format("element type number {} is unknown, wanted 0..{}", number, kDTypeCount - 1));
  }
  *out = static_cast<DType>(number);
  return Status();
}

Status Reader::ReadDimExpr(const pb::DimExpr& expr, Dim* out, int depth, int* budget) {
  GE_RETURN_IF_ERROR(CheckEnum("a dimension expression", expr.op(), pb::DIM_MAX));
  const bool chain = expr.op() == pb::DIM_ADD || expr.op() == pb::DIM_MUL;
  if (expr.op() == pb::DIM_OP_UNKNOWN || (chain ? expr.args_size() < 1 : expr.args_size() != 2)) {
    return Invalid(fmt::format("dimension expression number {} has {} arguments, wanted {}",
                               expr.op(), expr.args_size(), chain ? "one or more" : "two"));
  }
  Dim left;
  GE_RETURN_IF_ERROR(ReadDim(expr.args(0), &left, depth + 1, budget));
  for (int i = 1; i < expr.args_size(); ++i) {
    Dim right;
    GE_RETURN_IF_ERROR(ReadDim(expr.args(i), &right, depth + 1, budget));
    // The table keeps every partial sum in full, so that a long one costs its square.
    GE_RETURN_IF_ERROR(Count(1 + static_cast<uint64_t>(kMaxDimNodes - *budget) / 8));
    std::optional<Dim> r;
    DimTable& t = g_.dims;
    switch (expr.op()) {
      case pb::DIM_ADD:
        r = t.Add(left, right);
        break;
      case pb::DIM_SUB:
        r = t.Sub(left, right);
        break;
      case pb::DIM_MUL:
        r = t.Mul(left, right);
        break;
      case pb::DIM_FLOORDIV:
        r = t.FloorDiv(left, right);
        break;
      case pb::DIM_CEILDIV:
        r = t.CeilDiv(left, right);
        break;
      case pb::DIM_MOD:
        r = t.Mod(left, right);
        break;
      case pb::DIM_MIN:
        r = t.Min(left, right);
        break;
      case pb::DIM_MAX:
        r = t.Max(left, right);
        break;
      default:
        break;
    }
    if (!r) return Invalid("a dimension expression overflows or divides by zero");
    left = *r;
  }
  *out = left;
  return Status();
}

Status Reader::ReadDim(const pb::Dim& dim, Dim* out, int depth, int* budget) {
  if (depth > options_.max_depth || --*budget < 0) {
    return Status(Code::kLimitExceeded,
                  fmt::format("{}a dimension expression has more than {} parts or nests deeper "
                              "than {}",
                              Place(), kMaxDimNodes, options_.max_depth));
  }
  switch (dim.kind_case()) {
    case pb::Dim::kValue:
      *out = KnownDim(dim.value());
      return Status();
    case pb::Dim::kSymbol:
      GE_RETURN_IF_ERROR(CheckId("symbol", dim.symbol(), g_.dims.symbol_count(), false));
      *out = g_.dims.OfSymbol(dim.symbol());
      return Status();
    case pb::Dim::kExpr:
      return ReadDimExpr(dim.expr(), out, depth, budget);
    default:
      return Invalid("a dimension is neither a number, a symbol nor an expression");
  }
}

Status Reader::ReadShape(const pb::Shape& shape, std::vector<Dim>* out) {
  GE_RETURN_IF_ERROR(Count(shape.dims_size()));
  out->reserve(shape.dims_size());
  for (const pb::Dim& d : shape.dims()) {
    int budget = kMaxDimNodes;
    GE_RETURN_IF_ERROR(ReadDim(d, &out->emplace_back(), 0, &budget));
  }
  return Status();
}

Status Reader::ReadTensor(const pb::TensorType& type, Type* out) {
  out->kind = TypeKind::kTensor;
  GE_RETURN_IF_ERROR(ReadDType(type.dtype(), &out->dtype));
  out->ranked = type.has_shape();
  if (type.has_shape()) GE_RETURN_IF_ERROR(ReadShape(type.shape(), &out->dims));
  spread_ = spread_ || !type.was_sharding().empty();
  return Status();
}

Status Reader::ReadElem(const pb::Type& type, Type* out, int depth) {
  return ReadType(type, &out->elems.emplace_back(), depth + 1);
}

Status Reader::ReadTuple(const pb::TupleType& type, Type* out, int depth) {
  out->kind = TypeKind::kTuple;
  if (type.field_names_size() != 0 && type.field_names_size() != type.elems_size()) {
    return Invalid(
        fmt::format("a tuple type has {} elements and {} field names; wanted none or "
                    "one for each",
                    type.elems_size(), type.field_names_size()));
  }
  GE_RETURN_IF_ERROR(Count(type.elems_size()));
  for (const pb::Type& e : type.elems()) GE_RETURN_IF_ERROR(ReadElem(e, out, depth));
  out->field_names.assign(type.field_names().begin(), type.field_names().end());
  return Status();
}

Status Reader::ReadFunc(const pb::FuncType& type, Type* out, int depth) {
  out->kind = TypeKind::kFunc;
  GE_RETURN_IF_ERROR(Count(uint64_t{0} + type.params_size() + type.results_size()));
  for (const pb::Type& e : type.params()) GE_RETURN_IF_ERROR(ReadElem(e, out, depth));
  out->params = static_cast<uint32_t>(type.params_size());
  for (const pb::Type& e : type.results()) GE_RETURN_IF_ERROR(ReadElem(e, out, depth));
  for (uint32_t fn : type.candidates()) {
    GE_RETURN_IF_ERROR(CheckId("function", fn, function_count(), false));
    out->candidates.push_back(fn);
  }
  return Status();
}

Status Reader::ReadType(const pb::Type& type, Type* out, int depth) {
  if (depth > options_.max_depth) {
    return Status(Code::kLimitExceeded,
                  fmt::format("{}a type nests deeper than {}", Place(), options_.max_depth));
  }
  switch (type.kind_case()) {
    case pb::Type::kTensor:
      return ReadTensor(type.tensor(), out);
    case pb::Type::kSequence:
      out->kind = TypeKind::kSequence;
      return ReadElem(type.sequence(), out, depth);
    case pb::Type::kOptional:
      out->kind = TypeKind::kOptional;
      return ReadElem(type.optional(), out, depth);
    case pb::Type::kMap:
      out->kind = TypeKind::kMap;
      GE_RETURN_IF_ERROR(ReadDType(type.map().key(), &out->dtype));
      return ReadElem(type.map().value(), out, depth);
    case pb::Type::kTuple:
      return ReadTuple(type.tuple(), out, depth);
    case pb::Type::kFunc:
      return ReadFunc(type.func(), out, depth);
    case pb::Type::kPack:
      out->kind = TypeKind::kPack;
      GE_RETURN_IF_ERROR(CheckId("function", type.pack(), function_count(), false));
      out->fn = type.pack();
      return Status();
    case pb::Type::kSparse:
      out->kind = TypeKind::kSparse;
      GE_RETURN_IF_ERROR(ReadDType(type.sparse().index_dtype(), &out->dtype));
      out->ranked = type.sparse().has_dense_shape();
      GE_RETURN_IF_ERROR(ReadShape(type.sparse().dense_shape(), &out->dims));
      return ReadElem(type.sparse().values(), out, depth);
    case pb::Type::kRagged:
      out->kind = TypeKind::kRagged;
      GE_RETURN_IF_ERROR(ReadElem(type.ragged().values(), out, depth));
      return ReadElem(type.ragged().splits(), out, depth);
    case pb::Type::kToken:
      out->kind = TypeKind::kToken;
      return Status();
    case pb::Type::kZero:
      out->kind = TypeKind::kZero;
      return ReadElem(type.zero(), out, depth);
    case pb::Type::KIND_NOT_SET:
      if (UnknownFields(type).empty()) return Status();  // not inferred yet
      return Invalid("a type is of a kind that this version does not know; update GraphEngine");
  }
  return Status();
}

}  // namespace ge::proto
