#include "passes/parallel/collectives.h"

#include <string>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_pass.h"
#include "passes/kit/refusal.h"
#include "passes/parallel/collective_rules.h"

namespace ge::parallel {
namespace {

using passes::Attrs;
using passes::Fn;
using passes::Val;

constexpr uint32_t kGroup = 1;  // the one effect object of all collectives

ge_port Port(const char* name, const char* type, uint32_t flags) {
  ge_port p{};
  p.name = ge_text(name);
  p.type_var = ge_text(type);
  p.flags = flags;
  p.min_count = 1;
  return p;
}

ge_attr_def Required(const char* name, uint32_t kind) {
  ge_attr_def a{};
  a.value.name = ge_text(name);
  a.value.kind = kind;
  a.flags = GE_ATTR_REQUIRED;
  return a;
}

// The group's three, then the operator's own.
template <uint32_t kAttrs>
ge_op_def Record(const char* name, const ge_attr_def (&attrs)[kAttrs]) {
  static const ge_port x = Port("X", "T", 0), y = Port("Y", "T", 0);
  ge_op_def d{};
  d.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF);
  d.domain = ge_text(kDomain);
  d.name = ge_text(name);
  d.version = 1;
  d.input = &x;
  d.output = &y;
  d.n_input = d.n_output = 1;
  d.attr = attrs;
  d.n_attr = kAttrs;
  d.decompose = DecomposeAlone;
  return d;
}

#define GE_OF_GROUP \
  Required("mesh", GE_ATTR_STRING), Required("axes", GE_ATTR_STRING), Required("rank", GE_ATTR_INT)

ge_op_def AllReduceOp() {
  static const ge_port x = Port("X", "", GE_PORT_VARIADIC), y = Port("Y", "", GE_PORT_VARIADIC);
  static const ge_attr_def attrs[] = {GE_OF_GROUP, Required("reduction", GE_ATTR_STRING)};
  ge_op_def d = Record("AllReduce", attrs);
  d.input = &x;
  d.output = &y;
  d.infer = InferAllReduce;
  d.grad = GradAllReduce;
  return d;
}

ge_op_def AllGatherOp() {
  static const ge_attr_def attrs[] = {GE_OF_GROUP, Required("dim", GE_ATTR_INT),
                                      Required("size", GE_ATTR_INT)};
  ge_op_def d = Record("AllGather", attrs);
  d.infer = InferAllGather;
  d.grad = GradAllGather;
  return d;
}

ge_op_def ReduceScatterOp() {
  static const ge_attr_def attrs[] = {GE_OF_GROUP, Required("dim", GE_ATTR_INT),
                                      Required("reduction", GE_ATTR_STRING)};
  ge_op_def d = Record("ReduceScatter", attrs);
  d.infer = InferReduceScatter;
  d.grad = GradReduceScatter;
  return d;
}

ge_op_def AllToAllOp() {
  static const ge_attr_def attrs[] = {GE_OF_GROUP, Required("gather_dim", GE_ATTR_INT),
                                      Required("size", GE_ATTR_INT),
                                      Required("split_dim", GE_ATTR_INT)};
  ge_op_def d = Record("AllToAll", attrs);
  d.infer = InferAllToAll;
  d.grad = GradAllToAll;
  return d;
}

#undef GE_OF_GROUP

const char* TextOf(Reduction reduction) {
  return reduction == Reduction::kMax ? "max" : reduction == Reduction::kMin ? "min" : "sum";
}

std::vector<Val> AddCollective(Fn& fn, const char* op, const std::vector<Val>& in, Attrs attrs,
                               const Along& along) {
  attrs.Text("mesh", along.mesh.Text())
      .Text("axes", along.mesh.Names(along.axes))
      .Int("rank", along.rank);
  const ge_effect effect = {GE_EFFECT_COLLECTIVE, kGroup, along.sequence, 0};
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.effect = &effect;
  links.n_effect = 1;
  return fn.Node(kDomain, op, in, attrs, static_cast<uint32_t>(in.size()), &links);
}

}  // namespace

const ge_op_def* CollectiveOps() {
  static const ge_op_def ops[kCollectives] = {AllReduceOp(), AllGatherOp(), ReduceScatterOp(),
                                              AllToAllOp()};
  return ops;
}

std::vector<Val> AllReduce(Fn& fn, const std::vector<Val>& terms, Reduction reduction,
                           const Along& along) {
  return AddCollective(fn, "AllReduce", terms, Attrs().Text("reduction", TextOf(reduction)), along);
}

Val AllGather(Fn& fn, Val share, int64_t dim, int64_t size, const Along& along) {
  return AddCollective(fn, "AllGather", {share}, Attrs().Int("dim", dim).Int("size", size),
                       along)[0];
}

Val ReduceScatter(Fn& fn, Val term, int64_t dim, Reduction reduction, const Along& along) {
  const Attrs attrs = Attrs().Int("dim", dim).Text("reduction", TextOf(reduction));
  return AddCollective(fn, "ReduceScatter", {term}, attrs, along)[0];
}

Val AllToAll(Fn& fn, Val share, int64_t gather_dim, int64_t size, int64_t split_dim,
             const Along& along) {
  const Attrs attrs =
      Attrs().Int("gather_dim", gather_dim).Int("size", size).Int("split_dim", split_dim);
  return AddCollective(fn, "AllToAll", {share}, attrs, along)[0];
}

}  // namespace ge::parallel
