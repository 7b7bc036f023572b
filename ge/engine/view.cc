#include "ge/engine/view.h"

#include <fmt/format.h>

#include "ge/ops/op.h"

namespace ge {
namespace {

ge_str Str(const std::string& text) { return {text.data(), text.size()}; }

}  // namespace

Result<std::unique_ptr<GraphView>> GraphView::Make(const Graph& graph, const Function& f) {
  return Make(graph, f, false);
}

Result<std::unique_ptr<GraphView>> GraphView::MakeWhole(const Graph& graph, const Function& f) {
  GE_ASSIGN_OR_RETURN(auto v, Make(graph, f, true));
  v->AddDims(graph.dims, f);
  return v;
}

Result<std::unique_ptr<GraphView>> GraphView::Make(const Graph& graph, const Function& f,
                                                   bool whole) {
  std::unique_ptr<GraphView> v(new GraphView);
  v->whole_ = whole;
  v->values_.reserve(f.values.size());
  for (ValueId id = 0; id < f.values.size(); ++id) {
    GE_RETURN_IF_ERROR(v->AddValueRecord(graph, f.values[id], id));
  }
  v->nodes_.reserve(f.nodes.size());
  for (const Node& node : f.nodes) GE_RETURN_IF_ERROR(v->AddNodeRecord(graph, node));
  v->AddUsers(f);
  for (ValueId p : f.params) v->values_[p].flags |= GE_VALUE_INPUT;
  for (ValueId r : f.results) v->values_[r].flags |= GE_VALUE_OUTPUT;
  ge_graph& g = v->graph_;
  g.h = GE_HDR(ge_graph, GE_TAG_GRAPH);
  g.node = v->nodes_.data();
  g.value = v->values_.data();
  g.n_node = static_cast<uint32_t>(v->nodes_.size());
  g.n_value = static_cast<uint32_t>(v->values_.size());
  g.node_stride = sizeof(ge_node);
  g.value_stride = sizeof(ge_value);
  g.in = f.params.data();
  g.n_in = static_cast<uint32_t>(f.params.size());
  g.out = f.results.data();
  g.n_out = static_cast<uint32_t>(f.results.size());
  return v;
}

Result<std::unique_ptr<GraphView>> GraphView::Make(const Graph& graph, const Function& f,
                                                   const DimTable& dims) {
  GE_ASSIGN_OR_RETURN(auto v, Make(graph, f));
  v->AddDims(dims, f);
  return v;
}

Status GraphView::Renew(const Graph& graph, const Function& f) {
  splats_.clear();
  for (ValueId id = 0; id < f.values.size(); ++id) {
    const Value& v = f.values[id];
    ge_value& r = values_[id];
    auto* dims = const_cast<int64_t*>(r.type.dims);  // ours, of dims_
    for (size_t i = 0; i < v.type.dims.size(); ++i) dims[i] = v.type.dims[i].value;
    if (!v.constant) continue;
    const Const& c = graph.consts[v.constant];
    if (c.type.dtype == DType::kString) continue;
    GE_ASSIGN_OR_RETURN(const Payload payload, PayloadOf(c));
    r.data = payload.data;
    r.data_bytes = payload.bytes;
  }
  return {};
}

void GraphView::AddUsers(const Function& function) {
  std::vector<uint32_t> next(function.values.size() + 1);  // by value: where its next user goes
  for (const Node& node : function.nodes) {
    for (const ValueId in : node.inputs) ++next[in + 1];
  }
  next[1] = 0;  // of what is absent
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  users_.resize(next.back());
  for (ValueId id = 1; id < function.values.size(); ++id) {
    values_[id].user = users_.data() + next[id];
    values_[id].n_user = next[id + 1] - next[id];
  }
  for (uint32_t i = 0; i < function.nodes.size(); ++i) {
    for (const ValueId in : function.nodes[i].inputs) {
      if (in) users_[next[in]++] = i;
    }
    for (const ValueId out : function.nodes[i].outputs) values_[out].producer = i;
  }
}

void GraphView::AddDims(const DimTable& table, const Function& function) {
  for (ValueId id = 1; id < function.values.size(); ++id) {
    const std::vector<Dim>& dims = function.values[id].type.dims;
    ge_dim* sizes = sizes_.Take(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) sizes[i] = AbiDim(dims[i], table, &names_);
    values_[id].dim = sizes;
  }
}

ge_dim AbiDim(Dim dim, const DimTable& table, std::deque<std::string>* names) {
  if (dim.known()) return {dim.value, dim.value, dim.value, 0, 0, {nullptr, 0}, 0};
  const DimTable::Range range = table.RangeOf(dim);
  ge_dim out{-1, range.lo, range.hi, dim.expr, 0, {nullptr, 0}, 0};
  const DimTable::Expr& e = table.expr(dim.expr);
  if (e.op == DimOp::kSymbol) {
    names->push_back(table.symbol(e.symbol).name);
    out.name = Str(names->back());
  }
  return out;
}

std::optional<Dim> DimFromAbi(const ge_dim& dim, const DimTable& table) {
  if (dim.id == 0) return dim.value >= 0 ? std::optional(KnownDim(dim.value)) : std::nullopt;
  return dim.id <= table.expr_count() ? std::optional(Dim{0, dim.id}) : std::nullopt;
}

Result<GraphView::Payload> GraphView::PayloadOf(const Const& constant) {
  if (constant.splat.empty()) return Payload{constant.data, constant.bytes};
  ConstScratch scratch;
  const std::byte* data = ConstBytes(constant, &scratch, whole_ ? kMaxSplatRead : UINT64_MAX);
  if (scratch) splats_.push_back(std::move(scratch));
  const auto bytes = static_cast<uint64_t>(ByteCount(constant.type).value_or(0));
  if (data || bytes == 0 || (whole_ && bytes > kMaxSplatRead)) return Payload{data, bytes};
  return Status(Code::kResourceExhausted,
                fmt::format("no memory for constant '{}' of {} bytes", constant.name, bytes));
}

Status GraphView::AddValueRecord(const Graph& graph, const Value& value, ValueId id) {
  ge_value r{};
  r.h = GE_HDR(ge_value, GE_TAG_VALUE);
  r.type.dtype = static_cast<int32_t>(value.type.dtype);
  r.type.bits = static_cast<uint32_t>(DTypeBits(value.type.dtype));
  r.type.rank = value.type.ranked ? static_cast<int32_t>(value.type.dims.size()) : -1;
  int64_t* dims = dims_.Take(value.type.dims.size());
  for (size_t i = 0; i < value.type.dims.size(); ++i) {
    dims[i] = value.type.dims[i].known() ? value.type.dims[i].value : -1;
  }
  r.type.dims = dims;
  r.producer = UINT32_MAX;
  r.id = id;
  r.name = Str(value.name);
  if (value.constant) {
    const Const& c = graph.consts[value.constant];
    r.flags |= GE_VALUE_CONSTANT;
    if (c.type.dtype != DType::kString) {
      GE_ASSIGN_OR_RETURN(const Payload payload, PayloadOf(c));
      r.data = payload.data;
      r.data_bytes = payload.bytes;
    }
  }
  values_.push_back(r);
  return {};
}

Status GraphView::AddNodeRecord(const Graph& graph, const Node& node) {
  ge_node r{};
  r.h = GE_HDR(ge_node, GE_TAG_NODE);
  r.domain = Str(node.domain);
  r.op = Str(node.op);
  r.name = Str(node.name);
  auto opset = graph.opsets.find(node.domain);
  r.version = opset == graph.opsets.end() ? 1 : static_cast<uint32_t>(opset->second);
  r.id = node.id;
  r.in = node.inputs.data();
  r.n_in = static_cast<uint32_t>(node.inputs.size());
  r.out = node.outputs.data();
  r.n_out = static_cast<uint32_t>(node.outputs.size());
  r.n_body = static_cast<uint32_t>(node.callees.size());
  ge_attr* attrs = attrs_.Take(node.attrs.size());
  r.attr = attrs;
  for (const Attr& a : node.attrs) {
    GE_ASSIGN_OR_RETURN(const bool seen, AddAttr(graph, node, a, attrs + r.n_attr));
    r.n_attr += seen;
  }
  if (whole_) AddLinks(node, &r);
  nodes_.push_back(r);
  return {};
}

void GraphView::AddLinks(const Node& node, ge_node* r) {
  if (!node.callees.empty()) {
    bodies_.emplace_back();
    strings_.emplace_back();
    for (const Callee& c : node.callees) {
      bodies_.back().push_back(c.fn);
      strings_.back().push_back(Str(c.role));
    }
    r->body = bodies_.back().data();
    r->body_role = strings_.back().data();
  }
  if (!node.effects.empty()) {
    effects_.emplace_back();
    for (const Effect& e : node.effects) effects_.back().push_back(AbiEffect(e));
    r->effect = effects_.back().data();
    r->n_effect = static_cast<uint32_t>(node.effects.size());
  }
  r->after = node.after.data();
  r->n_after = static_cast<uint32_t>(node.after.size());
}

ge_effect AbiEffect(const Effect& effect) {
  return {static_cast<uint32_t>(effect.kind), effect.object, effect.sequence, 0};
}

// False: it is none that plugins see.
Result<bool> GraphView::AddAttr(const Graph& graph, const Node& node, const Attr& attr,
                                ge_attr* out) {
  ge_attr a{};
  a.name = Str(attr.name);
  if (auto* i = std::get_if<int64_t>(&attr.value)) {
    a.kind = GE_ATTR_INT;
    a.i = *i;
  } else if (auto* f = std::get_if<double>(&attr.value)) {
    a.kind = GE_ATTR_FLOAT;
    a.f = *f;
  } else if (auto* s = std::get_if<std::string>(&attr.value)) {
    a.kind = GE_ATTR_STRING;
    a.s = Str(*s);
  } else if (auto* is = std::get_if<std::vector<int64_t>>(&attr.value)) {
    a.kind = GE_ATTR_INTS;
    a.ints = is->data();
    a.n = static_cast<uint32_t>(is->size());
  } else if (auto* fs = std::get_if<std::vector<double>>(&attr.value)) {
    a.kind = GE_ATTR_FLOATS;
    a.floats = fs->data();
    a.n = static_cast<uint32_t>(fs->size());
  } else if (auto* ss = std::get_if<std::vector<std::string>>(&attr.value)) {
    strings_.emplace_back();
    for (const std::string& one : *ss) strings_.back().push_back(Str(one));
    a.kind = GE_ATTR_STRINGS;
    a.strings = strings_.back().data();
    a.n = static_cast<uint32_t>(ss->size());
  } else if (auto* c = std::get_if<ConstRef>(&attr.value)) {
    const Const& k = graph.consts[c->id];
    a.kind = GE_ATTR_TENSOR;
    a.tensor_type.dtype = static_cast<int32_t>(k.type.dtype);
    a.tensor_type.bits = static_cast<uint32_t>(DTypeBits(k.type.dtype));
    a.tensor_type.rank = static_cast<int32_t>(k.type.dims.size());
    const std::vector<int64_t> sizes = k.type.static_dims();
    int64_t* dims = dims_.Take(sizes.size());
    std::copy(sizes.begin(), sizes.end(), dims);
    a.tensor_type.dims = dims;
    if (k.type.dtype != DType::kString) {
      GE_ASSIGN_OR_RETURN(const Payload payload, PayloadOf(k));
      a.tensor = payload.data;
      a.tensor_bytes = payload.bytes;
    }
  } else if (const auto* fn = std::get_if<FunctionRef>(&attr.value); fn && whole_) {
    a.kind = GE_ATTR_FUNCTION;
    a.i = fn->id;
  } else if (const auto* ref = std::get_if<AttrRef>(&attr.value); ref && whole_) {
    a.kind = GE_ATTR_PARAM;
    a.s = Str(ref->param);
  } else if (std::holds_alternative<AttrRef>(attr.value)) {
    return Status(Code::kInternal,
                  fmt::format("attribute '{}' still refers to a parameter of its function; it must "
                              "be inlined before engines are asked",
                              attr.name))
        .AtNode(NodeLabel(node));
  } else {
    return false;  // Types, dims and function references concern the host alone.
  }
  *out = a;
  return true;
}

}  // namespace ge
