#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

#include "frontend/proto/reader.h"

namespace ge::proto {
namespace {

// The bytes of `a` as one more `attrs` field of a wire.Node.
std::string AsNodeField(const pb::Attr& a) {
  std::string out;
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.WriteTag(pb::Node::kAttrsFieldNumber << 3 | 2);
    const std::string body = a.SerializeAsString();
    coded.WriteVarint32(static_cast<uint32_t>(body.size()));
    coded.WriteString(body);
  }
  return out;
}

}  // namespace

Status Reader::ReadAttrValue(const pb::Attr& a, Attr::Payload* out) {
  switch (a.value_case()) {
    case pb::Attr::kI:
      *out = int64_t{a.i()};
      return Status();
    case pb::Attr::kF:
      *out = a.f();
      return Status();
    case pb::Attr::kS:
      *out = a.s();
      return Status();
    case pb::Attr::kType: {
      Type t;
      GE_RETURN_IF_ERROR(ReadType(a.type(), &t, 0));
      *out = std::move(t);
      return Status();
    }
    case pb::Attr::kDim: {
      Dim d;
      int budget = kMaxDimNodes;
      GE_RETURN_IF_ERROR(ReadDim(a.dim(), &d, 0, &budget));
      *out = d;
      return Status();
    }
    case pb::Attr::kConstant:
      *out = ConstRef{a.constant()};
      return CheckId("constant", a.constant(), g_.consts.size() - 1, false);
    case pb::Attr::kFn:
      *out = FunctionRef{a.fn()};
      return CheckId("function", a.fn(), function_count(), false);
    case pb::Attr::kInts:
      *out = std::vector<int64_t>(a.ints().v().begin(), a.ints().v().end());
      return Count(a.ints().v_size());
    case pb::Attr::kFloats:
      *out = std::vector<double>(a.floats().v().begin(), a.floats().v().end());
      return Count(a.floats().v_size());
    case pb::Attr::kStrings:
      *out = std::vector<std::string>(a.strings().v().begin(), a.strings().v().end());
      return Count(a.strings().v_size());
    case pb::Attr::kTypes: {
      std::vector<Type> types(a.types().v_size());
      GE_RETURN_IF_ERROR(Count(types.size()));
      for (size_t i = 0; i < types.size(); ++i) {
        GE_RETURN_IF_ERROR(ReadType(a.types().v(static_cast<int>(i)), &types[i], 0));
      }
      *out = std::move(types);
      return Status();
    }
    case pb::Attr::kRef:
      *out = AttrRef{a.ref()};
      return Status();
    case pb::Attr::VALUE_NOT_SET:
      break;
  }
  return Invalid(fmt::format("attribute '{}' has no value", a.name()));
}

Status Reader::ReadAttr(const pb::Attr& a, Node* out) {
  // An attribute of a kind that came later is carried along as it is.
  if (a.value_case() == pb::Attr::VALUE_NOT_SET && !UnknownFields(a).empty()) {
    out->unknown_fields += AsNodeField(a);
    return Status();
  }
  Attr attr;
  attr.name = a.name();
  GE_RETURN_IF_ERROR(ReadAttrValue(a, &attr.value));
  out->attrs.push_back(std::move(attr));
  return Status();
}

Status Reader::ReadEffect(const pb::Effect& e, Effect* out) {
  GE_RETURN_IF_ERROR(CheckEnum("the kind of an effect", e.kind(), pb::EFFECT_STREAM));
  out->kind = static_cast<EffectKind>(e.kind());
  out->object = e.object();
  out->sequence = e.sequence();
  if (out->kind != EffectKind::kState) return Status();
  return CheckId("state", e.object(), g_.states.size() - 1, false);
}

Status Reader::ReadNodeLists(const pb::Node& n, Node* out) {
  GE_RETURN_IF_ERROR(
      Count(uint64_t{0} + n.attrs_size() + n.callees_size() + n.effects_size() + n.origin_size()));
  for (const pb::Attr& a : n.attrs()) GE_RETURN_IF_ERROR(ReadAttr(a, out));
  for (const pb::Callee& c : n.callees()) {
    GE_RETURN_IF_ERROR(CheckId("function", c.fn(), function_count(), false));
    out->callees.push_back(Callee{c.role(), c.fn()});
  }
  for (const pb::Effect& e : n.effects()) {
    GE_RETURN_IF_ERROR(ReadEffect(e, &out->effects.emplace_back()));
  }
  out->after.assign(n.after().begin(), n.after().end());
  for (const pb::Origin& o : n.origin()) {
    GE_RETURN_IF_ERROR(Count(o.from_nodes_size()));
    out->origin.push_back(Origin{o.pass(), {o.from_nodes().begin(), o.from_nodes().end()}});
  }
  return Status();
}

Status Reader::ReadNode(const pb::Node& n, Function* f, Node* out) {
  node_ = n.name().empty() ? fmt::format("#{}", n.id()) : n.name();
  if (n.id() == 0 || n.id() > kMaxFileNodeId) {
    return Invalid(fmt::format("a node has id {}, wanted 1..{}", n.id(), kMaxFileNodeId));
  }
  out->id = n.id();
  f->next_node_id = std::max(f->next_node_id, n.id() + 1);
  GE_RETURN_IF_ERROR(CheckId("operator", n.op(), m_.ops_size(), false));
  const pb::Op& op = m_.ops(static_cast<int>(n.op()) - 1);
  out->domain = op.domain();
  out->op = op.name();
  out->name = n.name();
  const uint64_t values = f->values.size() - 1;
  for (uint32_t v : n.inputs()) GE_RETURN_IF_ERROR(CheckId("value", v, values, true));
  for (uint32_t v : n.outputs()) GE_RETURN_IF_ERROR(CheckId("value", v, values, true));
  out->inputs.assign(n.inputs().begin(), n.inputs().end());
  out->outputs.assign(n.outputs().begin(), n.outputs().end());
  GE_RETURN_IF_ERROR(CheckId("location", n.loc(), g_.locs.size() - 1, true));
  out->loc = n.loc();
  out->unknown_fields = UnknownFields(n);
  GE_RETURN_IF_ERROR(ReadNodeLists(n, out));
  if (n.has_hints()) {
    const pb::Hints& h = n.hints();
    GE_RETURN_IF_ERROR(CheckEnum("the remat hint", static_cast<int>(h.remat()), 2));
    out->hints.remat_name = h.remat_name();
    out->hints.remat = static_cast<uint8_t>(h.remat());
    out->hints.no_cse_group = h.no_cse_group();
    out->hints.stage = h.stage();
    out->hints.engine_pin = h.engine_pin();
    out->hints.priority = h.priority();
  }
  node_.clear();
  return Status();
}

Status Reader::ReadValues(const pb::Function& f, Function* out) {
  GE_RETURN_IF_ERROR(Count(f.values_size()));
  out->values.resize(static_cast<size_t>(f.values_size()) + 1);
  for (int i = 0; i < f.values_size(); ++i) {
    const pb::Value& v = f.values(i);
    Value& value = out->values[static_cast<size_t>(i) + 1];
    node_ = v.name();
    value.name = v.name();
    if (v.has_type()) GE_RETURN_IF_ERROR(ReadType(v.type(), &value.type, 0));
    GE_RETURN_IF_ERROR(CheckId("constant", v.constant(), g_.consts.size() - 1, true));
    value.constant = v.constant();
    GE_RETURN_IF_ERROR(CheckId("location", v.loc(), g_.locs.size() - 1, true));
    value.loc = v.loc();
    value.unknown_fields = UnknownFields(v);
  }
  node_.clear();
  return Status();
}

Status Reader::ReadSignature(const pb::Function& f, Function* out) {
  for (uint32_t v : f.params()) {
    GE_RETURN_IF_ERROR(CheckId("value", v, f.values_size(), false));
    out->params.push_back(v);
  }
  for (uint32_t v : f.results()) {
    GE_RETURN_IF_ERROR(CheckId("value", v, f.values_size(), true));
    out->results.push_back(v);
  }
  out->attr_params.assign(f.attr_params().begin(), f.attr_params().end());
  for (const pb::Effect& e : f.effects()) {
    GE_RETURN_IF_ERROR(ReadEffect(e, &out->effects.emplace_back()));
  }
  GE_RETURN_IF_ERROR(CheckEnum("the inlining of the function", f.inlining(), pb::INLINE_ALWAYS));
  out->inlining = static_cast<Function::Inline>(f.inlining());
  out->recursive = f.recursive();
  GE_RETURN_IF_ERROR(CheckId("function", f.custom_jvp(), function_count(), true));
  GE_RETURN_IF_ERROR(CheckId("function", f.custom_vjp(), function_count(), true));
  out->custom_jvp = f.custom_jvp();
  out->custom_vjp = f.custom_vjp();
  GE_RETURN_IF_ERROR(CheckId("location", f.loc(), g_.locs.size() - 1, true));
  out->loc = f.loc();
  out->doc = f.doc();
  if (!f.has_derived()) return Status();
  const pb::Derived& d = f.derived();
  GE_RETURN_IF_ERROR(CheckId("function", d.of(), function_count(), true));
  out->derived.kind = d.kind();
  out->derived.of = d.of();
  out->derived.active_in.assign(d.active_in().begin(), d.active_in().end());
  out->derived.active_out.assign(d.active_out().begin(), d.active_out().end());
  out->derived.policy = d.policy();
  out->derived.pass = d.pass();
  out->derived.pass_version = d.pass_version();
  return Status();
}

Status Reader::ReadFunction(const pb::Function& f, Function* out) {
  if (f.id() != out->id) {
    return Invalid(
        fmt::format("function '{}' has id {}, wanted {}: functions are numbered by "
                    "their place in the file",
                    f.name(), f.id(), out->id));
  }
  function_ = f.name();
  out->overload = f.overload();
  out->unknown_fields = UnknownFields(f);
  GE_RETURN_IF_ERROR(ReadValues(f, out));
  GE_RETURN_IF_ERROR(ReadSignature(f, out));
  GE_RETURN_IF_ERROR(Count(f.nodes_size()));
  out->nodes.resize(f.nodes_size());
  for (int i = 0; i < f.nodes_size(); ++i) {
    GE_RETURN_IF_ERROR(ReadNode(f.nodes(i), out, &out->nodes[i]));
  }
  if (f.next_node_id() > kMaxFileNodeId + 1) {
    return Invalid(fmt::format("the next node id is {}, wanted at most {}", f.next_node_id(),
                               kMaxFileNodeId + 1));
  }
  out->next_node_id = std::max(out->next_node_id, f.next_node_id());
  function_.clear();
  return Status();
}

Status Reader::ReadFunctions() {
  GE_RETURN_IF_ERROR(Count(m_.functions_size()));
  g_.functions.reserve(static_cast<size_t>(m_.functions_size()) + 1);
  for (const pb::Function& f : m_.functions()) {
    GE_RETURN_IF_ERROR(ReadFunction(f, &g_.AddFunction(f.name())));
  }
  return Status();
}

}  // namespace ge::proto
