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

Status Reader::ReadAttrValue(const pb::Attr& attr, Attr::Payload* out) {
  switch (attr.value_case()) {
    case pb::Attr::kI:
      *out = int64_t{attr.i()};
      return Status();
    case pb::Attr::kF:
      *out = attr.f();
      return Status();
    case pb::Attr::kS:
      *out = attr.s();
      return Status();
    case pb::Attr::kType: {
      Type t;
      GE_RETURN_IF_ERROR(ReadType(attr.type(), &t, 0));
      *out = std::move(t);
      return Status();
    }
    case pb::Attr::kDim: {
      Dim d;
      int budget = kMaxDimNodes;
      GE_RETURN_IF_ERROR(ReadDim(attr.dim(), &d, 0, &budget));
      *out = d;
      return Status();
    }
    case pb::Attr::kConstant:
      *out = ConstRef{attr.constant()};
      return CheckId("constant", attr.constant(), g_.consts.size() - 1, false);
    case pb::Attr::kFn:
      *out = FunctionRef{attr.fn()};
      return CheckId("function", attr.fn(), function_count(), false);
    case pb::Attr::kInts:
      *out = std::vector<int64_t>(attr.ints().v().begin(), attr.ints().v().end());
      return Count(attr.ints().v_size());
    case pb::Attr::kFloats:
      *out = std::vector<double>(attr.floats().v().begin(), attr.floats().v().end());
      return Count(attr.floats().v_size());
    case pb::Attr::kStrings:
      *out = std::vector<std::string>(attr.strings().v().begin(), attr.strings().v().end());
      return Count(attr.strings().v_size());
    case pb::Attr::kTypes: {
      std::vector<Type> types(attr.types().v_size());
      GE_RETURN_IF_ERROR(Count(types.size()));
      for (size_t i = 0; i < types.size(); ++i) {
        GE_RETURN_IF_ERROR(ReadType(attr.types().v(static_cast<int>(i)), &types[i], 0));
      }
      *out = std::move(types);
      return Status();
    }
    case pb::Attr::kRef:
      *out = AttrRef{attr.ref()};
      return Status();
    case pb::Attr::VALUE_NOT_SET:
      break;
  }
  return Invalid(fmt::format("attribute '{}' has no value", attr.name()));
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

Status Reader::ReadEffect(const pb::Effect& effect, Effect* out) {
  GE_RETURN_IF_ERROR(CheckEnum("the kind of an effect", effect.kind(), pb::EFFECT_STREAM));
  out->kind = static_cast<EffectKind>(effect.kind());
  out->object = effect.object();
  out->sequence = effect.sequence();
  if (out->kind != EffectKind::kState) return Status();
  return CheckId("state", effect.object(), g_.states.size() - 1, false);
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

Status Reader::ReadNode(const pb::Node& n, Function* function, Node* out) {
  node_ = n.name().empty() ? fmt::format("#{}", n.id()) : n.name();
  if (n.id() == 0 || n.id() > kMaxFileNodeId) {
    return Invalid(fmt::format("a node has id {}, wanted 1..{}", n.id(), kMaxFileNodeId));
  }
  out->id = n.id();
  function->next_node_id = std::max(function->next_node_id, n.id() + 1);
  GE_RETURN_IF_ERROR(CheckId("operator", n.op(), m_.ops_size(), false));
  const pb::Op& op = m_.ops(static_cast<int>(n.op()) - 1);
  out->domain = op.domain();
  out->op = op.name();
  out->name = n.name();
  const uint64_t values = function->values.size() - 1;
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

Status Reader::ReadValues(const pb::Function& function, Function* out) {
  GE_RETURN_IF_ERROR(Count(function.values_size()));
  out->values.resize(static_cast<size_t>(function.values_size()) + 1);
  for (int i = 0; i < function.values_size(); ++i) {
    const pb::Value& v = function.values(i);
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

Status Reader::ReadSignature(const pb::Function& function, Function* out) {
  for (uint32_t v : function.params()) {
    GE_RETURN_IF_ERROR(CheckId("value", v, function.values_size(), false));
    out->params.push_back(v);
  }
  for (uint32_t v : function.results()) {
    GE_RETURN_IF_ERROR(CheckId("value", v, function.values_size(), true));
    out->results.push_back(v);
  }
  out->attr_params.assign(function.attr_params().begin(), function.attr_params().end());
  for (const pb::Effect& e : function.effects()) {
    GE_RETURN_IF_ERROR(ReadEffect(e, &out->effects.emplace_back()));
  }
  GE_RETURN_IF_ERROR(
      CheckEnum("the inlining of the function", function.inlining(), pb::INLINE_ALWAYS));
  out->inlining = static_cast<Function::Inline>(function.inlining());
  out->recursive = function.recursive();
  GE_RETURN_IF_ERROR(CheckId("function", function.custom_jvp(), function_count(), true));
  GE_RETURN_IF_ERROR(CheckId("function", function.custom_vjp(), function_count(), true));
  out->custom_jvp = function.custom_jvp();
  out->custom_vjp = function.custom_vjp();
  GE_RETURN_IF_ERROR(CheckId("location", function.loc(), g_.locs.size() - 1, true));
  out->loc = function.loc();
  out->doc = function.doc();
  if (!function.has_derived()) return Status();
  const pb::Derived& d = function.derived();
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

Status Reader::ReadFunction(const pb::Function& function, Function* out) {
  if (function.id() != out->id) {
    return Invalid(
        fmt::format("function '{}' has id {}, wanted {}: functions are numbered by "
                    "their place in the file",
                    function.name(), function.id(), out->id));
  }
  function_ = function.name();
  out->overload = function.overload();
  out->unknown_fields = UnknownFields(function);
  GE_RETURN_IF_ERROR(ReadValues(function, out));
  GE_RETURN_IF_ERROR(ReadSignature(function, out));
  GE_RETURN_IF_ERROR(Count(function.nodes_size()));
  out->nodes.resize(function.nodes_size());
  for (int i = 0; i < function.nodes_size(); ++i) {
    GE_RETURN_IF_ERROR(ReadNode(function.nodes(i), out, &out->nodes[i]));
  }
  if (function.next_node_id() > kMaxFileNodeId + 1) {
    return Invalid(fmt::format("the next node id is {}, wanted at most {}", function.next_node_id(),
                               kMaxFileNodeId + 1));
  }
  out->next_node_id = std::max(out->next_node_id, function.next_node_id());
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
