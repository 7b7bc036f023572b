#include "ge/engine/pass/model_picture.h"

#include <algorithm>

namespace ge {

ge_str ModelPicture::Keep(const std::string& text) {
  texts_.push_back(text);
  return {texts_.back().data(), texts_.back().size()};
}

ModelPicture::ModelPicture(const Graph& graph) {
  functions_.reserve(graph.functions.size());
  functions_.emplace_back();
  for (FunctionId fn = 1; fn < graph.functions.size(); ++fn) AddFunction(graph.fn(fn));
  states_.reserve(graph.states.size());
  states_.emplace_back();
  for (StateId s = 1; s < graph.states.size(); ++s) AddState(graph, graph.states[s]);
  for (const Entry& e : graph.entries) {
    entries_.push_back(
        {GE_HDR(ge_entry, GE_TAG_ENTRY), Keep(e.name), e.fn, static_cast<uint32_t>(e.role)});
  }
  model_.h = GE_HDR(ge_model, GE_TAG_MODEL);
  model_.fn = functions_.data();
  model_.n_fn = static_cast<uint32_t>(functions_.size());
  model_.state = states_.data();
  model_.n_state = static_cast<uint32_t>(states_.size());
  model_.entry = entries_.data();
  model_.n_entry = static_cast<uint32_t>(entries_.size());
  model_.fn_stride = sizeof(ge_function);
  model_.state_stride = sizeof(ge_state);
  model_.entry_stride = sizeof(ge_entry);
}

void ModelPicture::AddFunction(const Function& function) {
  ge_function r{};
  r.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  r.name = Keep(function.name);
  r.overload = Keep(function.overload);
  lists_.emplace_back();
  for (const std::string& a : function.attr_params) lists_.back().push_back(Keep(a));
  r.attr_param = lists_.back().data();
  r.n_attr_param = static_cast<uint32_t>(function.attr_params.size());
  effects_.emplace_back();
  for (const Effect& e : function.effects) effects_.back().push_back(AbiEffect(e));
  r.effect = effects_.back().data();
  r.n_effect = static_cast<uint32_t>(function.effects.size());
  if (function.recursive) r.flags |= GE_FUNCTION_RECURSIVE;
  if (function.inlining == Function::Inline::kNever) r.flags |= GE_FUNCTION_INLINE_NEVER;
  if (function.inlining == Function::Inline::kAlways) r.flags |= GE_FUNCTION_INLINE_ALWAYS;
  r.derived_of = function.derived.of;
  r.derived_kind = Keep(function.derived.kind);
  r.custom_jvp = function.custom_jvp;
  r.custom_vjp = function.custom_vjp;
  functions_.push_back(r);
}

void ModelPicture::AddState(const Graph& graph, const State& state) {
  ge_state r{};
  r.h = GE_HDR(ge_state, GE_TAG_STATE);
  r.name = Keep(state.name);
  dims_.emplace_back();
  for (const Dim& d : state.type.dims) dims_.back().push_back(d.known() ? d.value : -1);
  r.type.dtype = static_cast<int32_t>(state.type.dtype);
  r.type.bits = static_cast<uint32_t>(DTypeBits(state.type.dtype));
  r.type.rank = state.type.ranked ? static_cast<int32_t>(state.type.dims.size()) : -1;
  r.type.dims = dims_.back().data();
  const Const& init = graph.consts[state.init];
  if (state.init) {
    r.data = init.data;
    r.data_bytes = init.data ? init.bytes : 0;
    texts_.emplace_back(reinterpret_cast<const char*>(init.splat.data()), init.splat.size());
    if (!init.splat.empty()) r.fill = texts_.back().data();
  }
  r.kind = static_cast<uint32_t>(state.kind);
  r.flags = state.trainable ? GE_STATE_TRAINABLE : 0;
  r.init_fn = state.init_fn;
  states_.push_back(r);
}

// A constant that a node Constant wrote: passes see it without a name, and so tell it from weights.
static bool IsLiteral(const Graph& graph, const Value& v) {
  return v.constant != 0 && graph.consts[v.constant].name.empty();
}

Result<std::unique_ptr<FunctionPicture>> FunctionPicture::Make(const Graph& graph,
                                                               const Function& function) {
  auto picture = std::make_unique<FunctionPicture>();
  picture->function_ = function;
  // Until edits are committed an erased node is an empty one.
  std::erase_if(picture->function_.nodes, [](const Node& n) { return n.id == 0; });
  for (Value& v : picture->function_.values) {
    if (IsLiteral(graph, v)) v.name.clear();
  }
  GE_ASSIGN_OR_RETURN(picture->view_, GraphView::MakeWhole(graph, picture->function_));
  return picture;
}

void ValuePicture::Set(const Graph& graph, const Function& function, ValueId given) {
  const Value& value = function.value(given);
  dims.clear();
  sizes.clear();
  names.clear();
  name.clear();
  if (!IsLiteral(graph, value)) name = value.name;
  for (const Dim& d : value.type.dims) {
    dims.push_back(d.known() ? d.value : -1);
    sizes.push_back(AbiDim(d, graph.dims, &names));
  }
  record = {};
  record.h = GE_HDR(ge_value, GE_TAG_VALUE);
  record.type.dtype = static_cast<int32_t>(value.type.dtype);
  record.type.bits = static_cast<uint32_t>(DTypeBits(value.type.dtype));
  record.type.rank = value.type.ranked ? static_cast<int32_t>(dims.size()) : -1;
  record.type.dims = dims.data();
  record.dim = sizes.data();
  record.producer = UINT32_MAX;
  record.id = given;
  record.name = {name.data(), name.size()};
  if (!value.constant) return;
  const Const& c = graph.consts[value.constant];
  record.flags = GE_VALUE_CONSTANT;
  record.data = c.data;
  record.data_bytes = c.data ? c.bytes : 0;
}

}  // namespace ge
