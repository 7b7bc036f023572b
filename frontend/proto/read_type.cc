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

Status Reader::ReadDimExpr(const pb::DimExpr& e, Dim* out, int depth, int* budget) {
  GE_RETURN_IF_ERROR(CheckEnum("a dimension expression", e.op(), pb::DIM_MAX));
  const bool chain = e.op() == pb::DIM_ADD || e.op() == pb::DIM_MUL;
  if (e.op() == pb::DIM_OP_UNKNOWN || (chain ? e.args_size() < 1 : e.args_size() != 2)) {
    return Invalid(fmt::format("dimension expression number {} has {} arguments, wanted {}", e.op(),
                               e.args_size(), chain ? "one or more" : "two"));
  }
  Dim left;
  GE_RETURN_IF_ERROR(ReadDim(e.args(0), &left, depth + 1, budget));
  for (int i = 1; i < e.args_size(); ++i) {
    Dim right;
    GE_RETURN_IF_ERROR(ReadDim(e.args(i), &right, depth + 1, budget));
    // The table keeps every partial sum in full, so that a long one costs its square.
    GE_RETURN_IF_ERROR(Count(1 + static_cast<uint64_t>(kMaxDimNodes - *budget) / 8));
    std::optional<Dim> r;
    DimTable& t = g_.dims;
    switch (e.op()) {
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

Status Reader::ReadDim(const pb::Dim& d, Dim* out, int depth, int* budget) {
  if (depth > options_.max_depth || --*budget < 0) {
    return Status(Code::kLimitExceeded,
                  fmt::format("{}a dimension expression has more than {} parts or nests deeper "
                              "than {}",
                              Place(), kMaxDimNodes, options_.max_depth));
  }
  switch (d.kind_case()) {
    case pb::Dim::kValue:
      *out = KnownDim(d.value());
      return Status();
    case pb::Dim::kSymbol:
      GE_RETURN_IF_ERROR(CheckId("symbol", d.symbol(), g_.dims.symbol_count(), false));
      *out = g_.dims.OfSymbol(d.symbol());
      return Status();
    case pb::Dim::kExpr:
      return ReadDimExpr(d.expr(), out, depth, budget);
    default:
      return Invalid("a dimension is neither a number, a symbol nor an expression");
  }
}

Status Reader::ReadShape(const pb::Shape& s, std::vector<Dim>* out) {
  GE_RETURN_IF_ERROR(Count(s.dims_size()));
  out->reserve(s.dims_size());
  for (const pb::Dim& d : s.dims()) {
    int budget = kMaxDimNodes;
    GE_RETURN_IF_ERROR(ReadDim(d, &out->emplace_back(), 0, &budget));
  }
  return Status();
}

Status Reader::ReadTensor(const pb::TensorType& t, Type* out) {
  out->kind = TypeKind::kTensor;
  GE_RETURN_IF_ERROR(ReadDType(t.dtype(), &out->dtype));
  out->ranked = t.has_shape();
  if (t.has_shape()) GE_RETURN_IF_ERROR(ReadShape(t.shape(), &out->dims));
  if (!t.has_sharding()) return Status();
  GE_RETURN_IF_ERROR(CheckEnum("a sharding", t.sharding().kind(), pb::SHARDING_PARTIAL));
  out->sharding.kind = static_cast<Sharding::Kind>(t.sharding().kind());
  out->sharding.axes.assign(t.sharding().axes().begin(), t.sharding().axes().end());
  return Status();
}

Status Reader::ReadElem(const pb::Type& t, Type* out, int depth) {
  return ReadType(t, &out->elems.emplace_back(), depth + 1);
}

Status Reader::ReadTuple(const pb::TupleType& t, Type* out, int depth) {
  out->kind = TypeKind::kTuple;
  if (t.field_names_size() != 0 && t.field_names_size() != t.elems_size()) {
    return Invalid(
        fmt::format("a tuple type has {} elements and {} field names; wanted none or "
                    "one for each",
                    t.elems_size(), t.field_names_size()));
  }
  GE_RETURN_IF_ERROR(Count(t.elems_size()));
  for (const pb::Type& e : t.elems()) GE_RETURN_IF_ERROR(ReadElem(e, out, depth));
  out->field_names.assign(t.field_names().begin(), t.field_names().end());
  return Status();
}

Status Reader::ReadFunc(const pb::FuncType& t, Type* out, int depth) {
  out->kind = TypeKind::kFunc;
  GE_RETURN_IF_ERROR(Count(uint64_t{0} + t.params_size() + t.results_size()));
  for (const pb::Type& e : t.params()) GE_RETURN_IF_ERROR(ReadElem(e, out, depth));
  out->params = static_cast<uint32_t>(t.params_size());
  for (const pb::Type& e : t.results()) GE_RETURN_IF_ERROR(ReadElem(e, out, depth));
  for (uint32_t fn : t.candidates()) {
    GE_RETURN_IF_ERROR(CheckId("function", fn, function_count(), false));
    out->candidates.push_back(fn);
  }
  return Status();
}

Status Reader::ReadType(const pb::Type& t, Type* out, int depth) {
  if (depth > options_.max_depth) {
    return Status(Code::kLimitExceeded,
                  fmt::format("{}a type nests deeper than {}", Place(), options_.max_depth));
  }
  switch (t.kind_case()) {
    case pb::Type::kTensor:
      return ReadTensor(t.tensor(), out);
    case pb::Type::kSequence:
      out->kind = TypeKind::kSequence;
      return ReadElem(t.sequence(), out, depth);
    case pb::Type::kOptional:
      out->kind = TypeKind::kOptional;
      return ReadElem(t.optional(), out, depth);
    case pb::Type::kMap:
      out->kind = TypeKind::kMap;
      GE_RETURN_IF_ERROR(ReadDType(t.map().key(), &out->dtype));
      return ReadElem(t.map().value(), out, depth);
    case pb::Type::kTuple:
      return ReadTuple(t.tuple(), out, depth);
    case pb::Type::kFunc:
      return ReadFunc(t.func(), out, depth);
    case pb::Type::kPack:
      out->kind = TypeKind::kPack;
      GE_RETURN_IF_ERROR(CheckId("function", t.pack(), function_count(), false));
      out->fn = t.pack();
      return Status();
    case pb::Type::kSparse:
      out->kind = TypeKind::kSparse;
      GE_RETURN_IF_ERROR(ReadDType(t.sparse().index_dtype(), &out->dtype));
      out->ranked = t.sparse().has_dense_shape();
      GE_RETURN_IF_ERROR(ReadShape(t.sparse().dense_shape(), &out->dims));
      return ReadElem(t.sparse().values(), out, depth);
    case pb::Type::kRagged:
      out->kind = TypeKind::kRagged;
      GE_RETURN_IF_ERROR(ReadElem(t.ragged().values(), out, depth));
      return ReadElem(t.ragged().splits(), out, depth);
    case pb::Type::kToken:
      out->kind = TypeKind::kToken;
      return Status();
    case pb::Type::kZero:
      out->kind = TypeKind::kZero;
      return ReadElem(t.zero(), out, depth);
    case pb::Type::KIND_NOT_SET:
      if (UnknownFields(t).empty()) return Status();  // not inferred yet
      return Invalid("a type is of a kind that this version does not know; update GraphEngine");
  }
  return Status();
}

}  // namespace ge::proto
