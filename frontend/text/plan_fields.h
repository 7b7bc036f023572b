// The fields of each Plan struct with their names in the text: one list that the printer and the
// parser both walk, so that they cannot differ. Names, types and code operations stand outside of
// it: they have places of their own in a line. Internal to this folder.
// `v(name, field, default)` is called for each field; T may be const.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "ge/plan/plan.h"

namespace ge::text {

template <typename E>
struct EnumNames;  // `names`: by value of the enum
template <>
struct EnumNames<PlanLayout::Kind> {
  static constexpr std::array<std::string_view, 4> names = {"plain", "strided", "blocked",
                                                            "opaque"};
};
template <>
struct EnumNames<PlanValueKind> {
  static constexpr std::array<std::string_view, 7> names = {
      "input", "output", "constant", "state", "transient", "internal", "workspace"};
};
template <>
struct EnumNames<PlanArena::Use> {
  static constexpr std::array<std::string_view, 3> names = {"transient", "persistent", "state"};
};
template <>
struct EnumNames<PlanOp> {
  static constexpr std::array<std::string_view, 5> names = {"launch", "copy", "signal", "wait",
                                                            "commit"};
};

template <typename T, typename S>
concept Is = std::is_same_v<std::remove_const_t<T>, S>;

template <typename V, Is<Plan> T>
void Fields(V&& v, T& x, const Plan& d) {
  v("graph", x.graph_name, d.graph_name);
  v("entry", x.entry, d.entry);
  v("rank", x.rank, d.rank);
  v("world", x.world, d.world);
  v("groups", x.groups, d.groups);
  v("predicted_ns", x.predicted_ns, d.predicted_ns);
  v("method", x.place_method, d.place_method);
}
template <typename V, Is<PlanEngine> T>
void Fields(V&& v, T& x, const PlanEngine& d) {
  v("version", x.version, d.version);
  v("hash", x.plugin_hash, d.plugin_hash);
}
template <typename V, Is<PlanDevice> T>
void Fields(V&& v, T& x, const PlanDevice& d) {
  v("engine", x.engine, d.engine);
  v("engine_device", x.engine_device, d.engine_device);
  v("domain", x.domain, d.domain);
  v("async", x.async, d.async);
  v("max_streams", x.max_streams, d.max_streams);
  v("pinned", x.pinned, d.pinned);
}
template <typename V, Is<PlanDomain> T>
void Fields(V&& v, T& x, const PlanDomain& d) {
  v("engine", x.engine, d.engine);
  v("engine_device", x.engine_device, d.engine_device);
  v("align", x.align, d.align);
  v("flags", x.flags, d.flags);
}
template <typename V, Is<PlanLink> T>
void Fields(V&& v, T& x, const PlanLink& d) {
  v("from", x.from, d.from);
  v("to", x.to, d.to);
  v("engine", x.engine, d.engine);
  v("latency_ns", x.latency_ns, d.latency_ns);
  v("bytes_per_ns", x.bytes_per_ns, d.bytes_per_ns);
}
template <typename V, Is<PlanLayout> T>
void Fields(V&& v, T& x, const PlanLayout& d) {
  v("kind", x.kind, d.kind);
  v("perm", x.perm, d.perm);
  v("block_axis", x.block_axis, d.block_axis);
  v("block_size", x.block_size, d.block_size);
  v("tag", x.tag, d.tag);
  v("opaque_bytes", x.opaque_bytes, d.opaque_bytes);
}
template <typename V, Is<PlanConversion> T>
void Fields(V&& v, T& x, const PlanConversion& d) {
  v("device", x.device, d.device);
  v("from", x.from, d.from);
  v("to", x.to, d.to);
  v("cookie", x.cookie, d.cookie);
  v("setup_ns", x.setup_ns, d.setup_ns);
  v("ns_per_byte", x.ns_per_byte, d.ns_per_byte);
}
template <typename V, Is<PlanValue> T>
void Fields(V&& v, T& x, const PlanValue& d) {
  v("graph_value", x.graph_value, d.graph_value);
  v("constant", x.constant, d.constant);
  v("state", x.state, d.state);
  v("index", x.index, d.index);
  v("bytes", x.bytes, d.bytes);
  v("align", x.align, d.align);
  v("domain", x.domain, d.domain);
  v("layout", x.layout, d.layout);
  v("arena", x.arena, d.arena);
  v("offset", x.offset, d.offset);
  v("alias_of", x.alias_of, d.alias_of);
  v("segment", x.segment, d.segment);
  v("first_step", x.first_step, d.first_step);
  v("last_step", x.last_step, d.last_step);
  v("internal_alias", x.internal_alias, d.internal_alias);
}
template <typename V, Is<PlanOffer> T>
void Fields(V&& v, T& x, const PlanOffer& d) {
  v("nodes", x.nodes, d.nodes);
  v("cookie", x.cookie, d.cookie);
  v("choice", x.choice, d.choice);
  v("const_align", x.const_align, d.const_align);
  v("offer_index", x.offer_index, d.offer_index);
  v("rounds", x.rounds, d.rounds);
  v("setup_ns", x.setup_ns, d.setup_ns);
  v("marginal_ns", x.marginal_ns, d.marginal_ns);
  v("launch_ns", x.launch_ns, d.launch_ns);
  v("edge_saving_ns", x.edge_saving_ns, d.edge_saving_ns);
  v("layouts", x.layouts, d.layouts);
}
template <typename V, Is<PlanSegment> T>
void Fields(V&& v, T& x, const PlanSegment& d) {
  v("device", x.device, d.device);
  v("inputs", x.inputs, d.inputs);
  v("outputs", x.outputs, d.outputs);
  v("internals", x.internals, d.internals);
  v("workspace", x.workspace, d.workspace);
  v("constants", x.constants, d.constants);
  v("steps", x.n_step, d.n_step);
  v("may_alias", x.may_alias, d.may_alias);
  v("after", x.after, d.after);
  v("conversion", x.conversion, d.conversion);
  v("serial", x.serial, d.serial);
  v("infallible", x.infallible, d.infallible);
  v("appends", x.appends, d.appends);
  v("predicted_ns", x.predicted_ns, d.predicted_ns);
}
template <typename V, Is<Instruction> T>
void Fields(V&& v, T& x, const Instruction& d) {
  v("segment", x.segment, d.segment);
  v("src", x.src, d.src);
  v("dst", x.dst, d.dst);
  v("stream", x.stream, d.stream);
  v("engine", x.engine, d.engine);
  v("event", x.event, d.event);
  v("value", x.event_value, d.event_value);
  v("predicted_ns", x.predicted_ns, d.predicted_ns);
}
template <typename V, Is<PlanStream> T>
void Fields(V&& v, T& x, const PlanStream& d) {
  v("device", x.device, d.device);
}
template <typename V, Is<PlanEvent> T>
void Fields(V&& v, T& x, const PlanEvent& d) {
  v("engine", x.engine, d.engine);
}
template <typename V, Is<PlanArena> T>
void Fields(V&& v, T& x, const PlanArena& d) {
  v("use", x.use, d.use);
  v("domain", x.domain, d.domain);
  v("bytes", x.bytes, d.bytes);
}
template <typename V, Is<PlanFunction> T>
void Fields(V&& v, T& x, const PlanFunction& d) {
  v("inputs", x.inputs, d.inputs);
  v("outputs", x.outputs, d.outputs);
}
template <typename V, Is<Bid> T>
void Fields(V&& v, T& x, const Bid& d) {
  v("device", x.device, d.device);
  v("price_ns", x.price_ns, d.price_ns);
  v("source", x.source, d.source);
  v("pattern", x.pattern, d.pattern);
  v("declined", x.declined, d.declined);
  v("why", x.why, d.why);
}
template <typename V, Is<NodeReport> T>
void Fields(V&& v, T& x, const NodeReport& d) {
  v("op", x.op, d.op);
  v("chosen", x.chosen, d.chosen);
  v("runner_up", x.runner_up, d.runner_up);
  v("segment", x.segment, d.segment);
  v("decomposition", x.decomposition, d.decomposition);
}

}  // namespace ge::text
