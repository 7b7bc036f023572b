#include <fmt/format.h>

#include "frontend/proto/reader.h"
#include "frontend/proto/writer.h"
#include "ge/ops/defaults.h"

namespace ge::proto {
namespace {

constexpr int kMaxDepth = 64;  // of types and dimension expressions, as ReadOptions::max_depth

Status TooDeep(const char* what) {
  return Status(
      Code::kLimitExceeded,
      fmt::format("{} has more than {} parts or nests deeper than {}, so the reader would "
                  "refuse it",
                  what, kMaxDimNodes, kMaxDepth));
}

template <typename List>
void AddAll(const List& from, google::protobuf::RepeatedField<uint32_t>* to) {
  to->Reserve(static_cast<int>(from.size()));
  for (const uint32_t id : from) to->Add(id);
}

pb::DimOp DimOpOf(DimOp op) {
  switch (op) {
    case DimOp::kMul:
      return pb::DIM_MUL;
    case DimOp::kFloorDiv:
      return pb::DIM_FLOORDIV;
    case DimOp::kCeilDiv:
      return pb::DIM_CEILDIV;
    case DimOp::kMod:
      return pb::DIM_MOD;
    case DimOp::kMin:
      return pb::DIM_MIN;
    case DimOp::kMax:
      return pb::DIM_MAX;
    default:
      return pb::DIM_OP_UNKNOWN;
  }
}

}  // namespace

Status Writer::WriteDim(const Dim& dim, pb::Dim* out, int depth, int* budget) {
  if (depth > kMaxDepth || --*budget < 0) return TooDeep("a dimension expression");
  if (dim.known()) {
    out->set_value(dim.value);
    return Status();
  }
  const DimTable::Expr& e = g_.dims.expr(dim.expr);
  if (e.op == DimOp::kSymbol) {
    out->set_symbol(e.symbol);
    return Status();
  }
  pb::DimExpr* expr = out->mutable_expr();
  if (e.op != DimOp::kSum) {
    expr->set_op(DimOpOf(e.op));
    GE_RETURN_IF_ERROR(WriteDim(e.a, expr->add_args(), depth + 1, budget));
    return WriteDim(e.b, expr->add_args(), depth + 1, budget);
  }
  expr->set_op(pb::DIM_ADD);
  for (const DimTable::Term& term : e.terms) {
    pb::Dim* arg = expr->add_args();
    if (term.coefficient != 1) {
      pb::DimExpr* product = arg->mutable_expr();
      product->set_op(pb::DIM_MUL);
      product->add_args()->set_value(term.coefficient);
      arg = product->add_args();
    }
    GE_RETURN_IF_ERROR(WriteDim(Dim{0, term.atom}, arg, depth + 2, budget));
  }
  if (e.constant != 0 || e.terms.empty()) expr->add_args()->set_value(e.constant);
  return Status();
}

Status Writer::WriteShape(const Type& type, pb::Shape* out) {
  for (const Dim& d : type.dims) {
    int budget = kMaxDimNodes;
    GE_RETURN_IF_ERROR(WriteDim(d, out->add_dims(), 0, &budget));
  }
  return Status();
}

Status Writer::FillElem(const Type& type, size_t index, pb::Type* out, int depth) {
  if (index >= type.elems.size()) {
    return Status(Code::kInvalidGraph,
                  fmt::format("a type of kind {} has {} element types, wanted {} or more",
                              static_cast<int>(type.kind), type.elems.size(), index + 1));
  }
  return FillType(type.elems[index], out, depth + 1);
}

Status Writer::FillType(const Type& type, pb::Type* out, int depth) {
  if (depth > kMaxDepth) return TooDeep("a type");
  switch (type.kind) {
    case TypeKind::kUnknown:
      return Status();
    case TypeKind::kTensor: {
      pb::TensorType* tensor = out->mutable_tensor();
      tensor->set_dtype(static_cast<int32_t>(type.dtype));
      if (type.ranked) GE_RETURN_IF_ERROR(WriteShape(type, tensor->mutable_shape()));
      return Status();
    }
    case TypeKind::kSequence:
      return FillElem(type, 0, out->mutable_sequence(), depth);
    case TypeKind::kOptional:
      return FillElem(type, 0, out->mutable_optional(), depth);
    case TypeKind::kMap:
      out->mutable_map()->set_key(static_cast<int32_t>(type.dtype));
      return FillElem(type, 0, out->mutable_map()->mutable_value(), depth);
    case TypeKind::kTuple:
      out->mutable_tuple();
      for (size_t i = 0; i < type.elems.size(); ++i) {
        GE_RETURN_IF_ERROR(FillElem(type, i, out->mutable_tuple()->add_elems(), depth));
      }
      for (const std::string& n : type.field_names) out->mutable_tuple()->add_field_names(n);
      return Status();
    case TypeKind::kFunc:
      out->mutable_func();
      for (size_t i = 0; i < type.elems.size(); ++i) {
        pb::FuncType* func = out->mutable_func();
        GE_RETURN_IF_ERROR(
            FillElem(type, i, i < type.params ? func->add_params() : func->add_results(), depth));
      }
      AddAll(type.candidates, out->mutable_func()->mutable_candidates());
      return Status();
    case TypeKind::kPack:
      out->set_pack(type.fn);
      return Status();
    case TypeKind::kSparse:
      out->mutable_sparse()->set_index_dtype(static_cast<int32_t>(type.dtype));
      if (type.ranked)
        GE_RETURN_IF_ERROR(WriteShape(type, out->mutable_sparse()->mutable_dense_shape()));
      return FillElem(type, 0, out->mutable_sparse()->mutable_values(), depth);
    case TypeKind::kRagged:
      GE_RETURN_IF_ERROR(FillElem(type, 0, out->mutable_ragged()->mutable_values(), depth));
      return FillElem(type, 1, out->mutable_ragged()->mutable_splits(), depth);
    case TypeKind::kToken:
      out->set_token(true);
      return Status();
    case TypeKind::kZero:
      return FillElem(type, 0, out->mutable_zero(), depth);
  }
  return Status(Code::kInternal, "a type has an unknown kind");
}

void Writer::WriteEffect(const Effect& effect, pb::Effect* out) {
  out->set_kind(static_cast<pb::EffectKind>(effect.kind));
  out->set_object(effect.object);
  out->set_sequence(effect.sequence);
}

Status Writer::WriteAttr(const Attr& attr, pb::Attr* out) {
  out->set_name(attr.name);
  const Attr::Payload& v = attr.value;
  if (const auto* i = std::get_if<int64_t>(&v)) out->set_i(*i);
  if (const auto* f = std::get_if<double>(&v)) out->set_f(*f);
  if (const auto* s = std::get_if<std::string>(&v)) out->set_s(*s);
  if (const auto* t = std::get_if<Type>(&v)) return FillType(*t, out->mutable_type(), 0);
  if (const auto* d = std::get_if<Dim>(&v)) {
    int budget = kMaxDimNodes;
    return WriteDim(*d, out->mutable_dim(), 0, &budget);
  }
  if (const auto* c = std::get_if<ConstRef>(&v)) out->set_constant(c->id);
  if (const auto* f = std::get_if<FunctionRef>(&v)) out->set_fn(f->id);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&v)) {
    out->mutable_ints()->mutable_v()->Add(list->begin(), list->end());
  }
  if (const auto* list = std::get_if<std::vector<double>>(&v)) {
    out->mutable_floats()->mutable_v()->Add(list->begin(), list->end());
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&v)) {
    out->mutable_strings();
    for (const std::string& s : *list) out->mutable_strings()->add_v(s);
  }
  if (const auto* list = std::get_if<std::vector<Type>>(&v)) {
    out->mutable_types();
    for (const Type& t : *list) {
      GE_RETURN_IF_ERROR(FillType(t, out->mutable_types()->add_v(), 0));
    }
  }
  if (const auto* ref = std::get_if<AttrRef>(&v)) out->set_ref(ref->param);
  return Status();
}

Status Writer::WriteNode(const Node& n, pb::Node* out) {
  out->set_id(n.id);
  out->set_op(OpIndex(n.domain, n.op));
  out->set_name(n.name);
  AddAll(n.inputs, out->mutable_inputs());
  AddAll(n.outputs, out->mutable_outputs());
  for (const Attr* a : StatedAttrs(n)) {
    const Status s = WriteAttr(*a, out->add_attrs());
    if (!s.ok()) return Status(s).AtNode(NodeLabel(n));
  }
  for (const Callee& c : n.callees) {
    pb::Callee* callee = out->add_callees();
    callee->set_role(c.role);
    callee->set_fn(c.fn);
  }
  for (const Effect& e : n.effects) WriteEffect(e, out->add_effects());
  AddAll(n.after, out->mutable_after());
  out->set_loc(n.loc);
  for (const Origin& o : n.origin) {
    pb::Origin* origin = out->add_origin();
    origin->set_pass(o.pass);
    for (const std::string& from : o.from_nodes) origin->add_from_nodes(from);
  }
  if (!n.hints.empty()) {
    pb::Hints* h = out->mutable_hints();
    h->set_remat_name(n.hints.remat_name);
    h->set_remat(n.hints.remat);
    h->set_no_cse_group(n.hints.no_cse_group);
    h->set_stage(n.hints.stage);
    h->set_engine_pin(n.hints.engine_pin);
    h->set_priority(n.hints.priority);
  }
  SetUnknownFields(n.unknown_fields, out);
  return Status();
}

void Writer::WriteSignature(const Function& function, pb::Function* out) {
  AddAll(function.params, out->mutable_params());
  AddAll(function.results, out->mutable_results());
  for (const std::string& p : function.attr_params) out->add_attr_params(p);
  for (const Effect& e : function.effects) WriteEffect(e, out->add_effects());
  const Function::Derived& d = function.derived;
  if (!d.kind.empty() || d.of != 0) {
    pb::Derived* derived = out->mutable_derived();
    derived->set_kind(d.kind);
    derived->set_of(d.of);
    for (const bool b : d.active_in) derived->add_active_in(b);
    for (const bool b : d.active_out) derived->add_active_out(b);
    derived->set_policy(d.policy);
    derived->set_pass(d.pass);
    derived->set_pass_version(d.pass_version);
  }
  out->set_custom_jvp(function.custom_jvp);
  out->set_custom_vjp(function.custom_vjp);
  out->set_inlining(static_cast<pb::Inline>(function.inlining));
  out->set_recursive(function.recursive);
  out->set_loc(function.loc);
  out->set_doc(function.doc);
  out->set_next_node_id(function.next_node_id);
}

Status Writer::WriteFunction(const Function& function, pb::Function* out) {
  out->set_id(function.id);
  out->set_name(function.name);
  out->set_overload(function.overload);
  for (size_t i = 1; i < function.values.size(); ++i) {
    const Value& v = function.values[i];
    pb::Value* value = out->add_values();
    value->set_name(v.name);
    GE_RETURN_IF_ERROR(WriteType(
        v.type, [&] { return value->mutable_type(); }, 0));
    value->set_constant(v.constant);
    value->set_loc(v.loc);
    SetUnknownFields(v.unknown_fields, value);
  }
  WriteSignature(function, out);
  for (const Node& n : function.nodes) GE_RETURN_IF_ERROR(WriteNode(n, out->add_nodes()));
  SetUnknownFields(function.unknown_fields, out);
  return Status();
}

}  // namespace ge::proto
