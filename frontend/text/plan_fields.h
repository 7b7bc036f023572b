// The fields of each Plan struct with their names in the text: one list walked by both the printer
// and the parser, so they cannot differ. Names, types and code operations are not in it: they have
// places of their own in a line. Internal to this folder. `v(name, field, default)` is called for
// each field; T may be const.
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
void Fields(V&& value, T& x, const Plan& plan) {
  value("graph", x.graph_name, plan.graph_name);
  value("entry", x.entry, plan.entry);
  value("rank", x.rank, plan.rank);
  value("world", x.world, plan.world);
  value("groups", x.groups, plan.groups);
  value("predicted_ns", x.predicted_ns, plan.predicted_ns);
  value("method", x.place_method, plan.place_method);
}
template <typename V, Is<PlanEngine> T>
void Fields(V&& value, T& x, const PlanEngine& plan) {
  value("version", x.version, plan.version);
  value("hash", x.plugin_hash, plan.plugin_hash);
}
template <typename V, Is<PlanDevice> T>
void Fields(V&& value, T& x, const PlanDevice& plan) {
  value("engine", x.engine, plan.engine);
  value("engine_device", x.engine_device, plan.engine_device);
  value("domain", x.domain, plan.domain);
  value("async", x.async, plan.async);
  value("max_streams", x.max_streams, plan.max_streams);
  value("pinned", x.pinned, plan.pinned);
}
template <typename V, Is<PlanDomain> T>
void Fields(V&& value, T& x, const PlanDomain& plan) {
  value("engine", x.engine, plan.engine);
  value("engine_device", x.engine_device, plan.engine_device);
  value("align", x.align, plan.align);
  value("flags", x.flags, plan.flags);
}
template <typename V, Is<PlanLink> T>
void Fields(V&& value, T& x, const PlanLink& plan) {
  value("from", x.from, plan.from);
  value("to", x.to, plan.to);
  value("engine", x.engine, plan.engine);
  value("latency_ns", x.latency_ns, plan.latency_ns);
  value("bytes_per_ns", x.bytes_per_ns, plan.bytes_per_ns);
  value("staging_bytes_per_ns", x.staging_bytes_per_ns, plan.staging_bytes_per_ns);
}
template <typename V, Is<PlanLayout> T>
void Fields(V&& value, T& x, const PlanLayout& plan) {
  value("kind", x.kind, plan.kind);
  value("perm", x.perm, plan.perm);
  value("block_axis", x.block_axis, plan.block_axis);
  value("block_size", x.block_size, plan.block_size);
  value("tag", x.tag, plan.tag);
  value("opaque_bytes", x.opaque_bytes, plan.opaque_bytes);
}
template <typename V, Is<PlanConversion> T>
void Fields(V&& value, T& x, const PlanConversion& plan) {
  value("device", x.device, plan.device);
  value("from", x.from, plan.from);
  value("to", x.to, plan.to);
  value("cookie", x.cookie, plan.cookie);
  value("setup_ns", x.setup_ns, plan.setup_ns);
  value("ns_per_byte", x.ns_per_byte, plan.ns_per_byte);
}
template <typename V, Is<PlanValue> T>
void Fields(V&& value, T& x, const PlanValue& plan) {
  value("graph_value", x.graph_value, plan.graph_value);
  value("constant", x.constant, plan.constant);
  value("state", x.state, plan.state);
  value("index", x.index, plan.index);
  value("bytes", x.bytes, plan.bytes);
  value("align", x.align, plan.align);
  value("domain", x.domain, plan.domain);
  value("layout", x.layout, plan.layout);
  value("arena", x.arena, plan.arena);
  value("offset", x.offset, plan.offset);
  value("alias_of", x.alias_of, plan.alias_of);
  value("segment", x.segment, plan.segment);
  value("first_step", x.first_step, plan.first_step);
  value("last_step", x.last_step, plan.last_step);
  value("internal_alias", x.internal_alias, plan.internal_alias);
}
template <typename V, Is<PlanOffer> T>
void Fields(V&& value, T& x, const PlanOffer& plan) {
  value("nodes", x.nodes, plan.nodes);
  value("cookie", x.cookie, plan.cookie);
  value("choice", x.choice, plan.choice);
  value("const_align", x.const_align, plan.const_align);
  value("offer_index", x.offer_index, plan.offer_index);
  value("rounds", x.rounds, plan.rounds);
  value("setup_ns", x.setup_ns, plan.setup_ns);
  value("marginal_ns", x.marginal_ns, plan.marginal_ns);
  value("launch_ns", x.launch_ns, plan.launch_ns);
  value("edge_saving_ns", x.edge_saving_ns, plan.edge_saving_ns);
  value("layouts", x.layouts, plan.layouts);
}
template <typename V, Is<PlanSegment> T>
void Fields(V&& value, T& x, const PlanSegment& plan) {
  value("device", x.device, plan.device);
  value("inputs", x.inputs, plan.inputs);
  value("outputs", x.outputs, plan.outputs);
  value("internals", x.internals, plan.internals);
  value("workspace", x.workspace, plan.workspace);
  value("constants", x.constants, plan.constants);
  value("steps", x.n_step, plan.n_step);
  value("may_alias", x.may_alias, plan.may_alias);
  value("after", x.after, plan.after);
  value("conversion", x.conversion, plan.conversion);
  value("serial", x.serial, plan.serial);
  value("infallible", x.infallible, plan.infallible);
  value("capturable", x.capturable, plan.capturable);
  value("appends", x.appends, plan.appends);
  value("predicted_ns", x.predicted_ns, plan.predicted_ns);
}
template <typename V, Is<Instruction> T>
void Fields(V&& value, T& x, const Instruction& plan) {
  value("segment", x.segment, plan.segment);
  value("src", x.src, plan.src);
  value("dst", x.dst, plan.dst);
  value("stream", x.stream, plan.stream);
  value("engine", x.engine, plan.engine);
  value("event", x.event, plan.event);
  value("value", x.event_value, plan.event_value);
  value("predicted_ns", x.predicted_ns, plan.predicted_ns);
}
template <typename V, Is<PlanStream> T>
void Fields(V&& value, T& x, const PlanStream& plan) {
  value("device", x.device, plan.device);
}
template <typename V, Is<PlanEvent> T>
void Fields(V&& value, T& x, const PlanEvent& plan) {
  value("engine", x.engine, plan.engine);
}
template <typename V, Is<PlanArena> T>
void Fields(V&& value, T& x, const PlanArena& plan) {
  value("use", x.use, plan.use);
  value("domain", x.domain, plan.domain);
  value("bytes", x.bytes, plan.bytes);
}
template <typename V, Is<PlanFunction> T>
void Fields(V&& value, T& x, const PlanFunction& plan) {
  value("inputs", x.inputs, plan.inputs);
  value("outputs", x.outputs, plan.outputs);
}
template <typename V, Is<Bid> T>
void Fields(V&& value, T& x, const Bid& plan) {
  value("device", x.device, plan.device);
  value("price_ns", x.price_ns, plan.price_ns);
  value("analytic_ns", x.analytic_ns, plan.analytic_ns);
  value("measured_ns", x.measured_ns, plan.measured_ns);
  value("inside_ns", x.inside_ns, plan.inside_ns);
  value("factor", x.factor, plan.factor);
  value("rounds", x.rounds, plan.rounds);
  value("source", x.source, plan.source);
  value("pattern", x.pattern, plan.pattern);
  value("declined", x.declined, plan.declined);
  value("why", x.why, plan.why);
}
template <typename V, Is<NodeReport> T>
void Fields(V&& value, T& x, const NodeReport& plan) {
  value("op", x.op, plan.op);
  value("chosen", x.chosen, plan.chosen);
  value("runner_up", x.runner_up, plan.runner_up);
  value("segment", x.segment, plan.segment);
  value("decomposition", x.decomposition, plan.decomposition);
}

}  // namespace ge::text
