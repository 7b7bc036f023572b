#include "passes/parallel/collectives.h"

#include <string>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_pass.h"
#include "passes/kit/refusal.h"

namespace ge::parallel {
namespace {

using passes::Attrs;
using passes::Fn;
using passes::Refusal;
using passes::Val;

constexpr char kDomain[] = "comm";
constexpr uint32_t kGroup = 1;  // the one effect object of all collectives

// How many ranks take part. Throws a Refusal.
int64_t SharesOf(const ge_node& n) {
  const Mesh mesh = Mesh::Of(std::string(plugin::AttrString(n, "mesh")));
  const std::string axis(plugin::AttrString(n, "axes"));
  const auto found = mesh.Find(axis);
  if (found) return mesh.axes()[*found].size;
  throw Refusal{GE_INVALID_ARGUMENT,
                "axes is '" + axis + "', wanted one of the mesh '" + mesh.Text() + "'"};
}

template <typename Body>
ge_rc Guarded(ge_err* err, Body body) {
  try {
    return body();
  } catch (const Refusal& r) {
    return ge_fail(err, r.rc, r.text.c_str());
  } catch (const std::bad_alloc&) {
    return ge_fail(err, GE_OUT_OF_MEMORY, "there is no memory for a collective");
  }
}

void WantSum(const ge_node& n) {
  const std::string reduction(plugin::AttrString(n, "reduction"));
  if (reduction == "sum") return;
  throw Refusal{GE_UNIMPLEMENTED, "reduction is '" + reduction + "', wanted sum"};
}

ge_rc InferAllReduce(const ge_infer* c, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *c->graph->node;
    (void)SharesOf(n);
    WantSum(n);
    for (uint32_t i = 0; i < n.n_in && i < n.n_out; ++i) {
      if (const ge_rc rc = ge_infer_like(c, i, i); rc != GE_OK) return rc;
    }
    if (n.n_in == n.n_out) return GE_OK;
    throw Refusal{GE_INVALID_ARGUMENT, "it has " + std::to_string(n.n_in) + " inputs and " +
                                           std::to_string(n.n_out) +
                                           " outputs, wanted as many of both"};
  });
}

ge_rc InferAllGather(const ge_infer* c, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *c->graph->node;
    (void)SharesOf(n);
    const ge_value& x = *ge_input(c->graph, 0);
    const int64_t dim = plugin::AttrInt(n, "dim"), size = plugin::AttrInt(n, "size");
    if (x.type.rank < 0) return c->output(c->host, 0, x.type.dtype, -1, nullptr);
    if (dim < 0 || dim >= x.type.rank || size < 0) {
      throw Refusal{GE_INVALID_ARGUMENT, "dim is " + std::to_string(dim) + " and size " +
                                             std::to_string(size) + ", wanted a dim of the " +
                                             std::to_string(x.type.rank) + " and its whole size"};
    }
    std::vector<ge_dim> dims(x.dim, x.dim + x.type.rank);
    dims[static_cast<size_t>(dim)] = {};
    dims[static_cast<size_t>(dim)].value = size;
    return c->output(c->host, 0, x.type.dtype, x.type.rank, dims.data());
  });
}

// With nobody to speak to. Else an engine runs it.
ge_rc Decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *b->graph->node;
    if (SharesOf(n) > 1) {
      throw Refusal{GE_UNIMPLEMENTED, "ranks of a mesh meet in it, which an engine has to run"};
    }
    for (uint32_t i = 0; i < n.n_in; ++i) out[i] = ge_build(b, "Identity", n.in[i], 0, 0);
    return GE_OK;
  });
}

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

ge_op_def Record(const char* name) {
  ge_op_def d{};
  d.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF);
  d.domain = ge_text(kDomain);
  d.name = ge_text(name);
  d.version = 1;
  d.n_input = d.n_output = 1;
  d.decompose = Decompose;
  return d;
}

ge_effect EffectOf(const Along& along) { return {GE_EFFECT_COLLECTIVE, kGroup, along.sequence, 0}; }

std::vector<Val> AddCollective(Fn& fn, const char* op, const std::vector<Val>& in, Attrs attrs,
                               const Along& along) {
  attrs.Text("mesh", along.mesh.Text()).Text("axes", along.mesh.axes()[along.axis].name);
  const ge_effect effect = EffectOf(along);
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.effect = &effect;
  links.n_effect = 1;
  return fn.Node(kDomain, op, in, attrs, static_cast<uint32_t>(in.size()), &links);
}

}  // namespace

ge_op_def AllReduceOp() {
  static const ge_port x = Port("X", "", GE_PORT_VARIADIC), y = Port("Y", "", GE_PORT_VARIADIC);
  static const ge_attr_def attrs[] = {Required("mesh", GE_ATTR_STRING),
                                      Required("axes", GE_ATTR_STRING),
                                      Required("reduction", GE_ATTR_STRING)};
  ge_op_def d = Record("AllReduce");
  d.input = &x;
  d.output = &y;
  d.attr = attrs;
  d.n_attr = 3;
  d.infer = InferAllReduce;
  return d;
}

ge_op_def AllGatherOp() {
  static const ge_port x = Port("X", "T", 0), y = Port("Y", "T", 0);
  static const ge_attr_def attrs[] = {Required("mesh", GE_ATTR_STRING),
                                      Required("axes", GE_ATTR_STRING),
                                      Required("dim", GE_ATTR_INT), Required("size", GE_ATTR_INT)};
  ge_op_def d = Record("AllGather");
  d.input = &x;
  d.output = &y;
  d.attr = attrs;
  d.n_attr = 4;
  d.infer = InferAllGather;
  return d;
}

std::vector<Val> AllReduce(Fn& fn, const std::vector<Val>& terms, const Along& along) {
  return AddCollective(fn, "AllReduce", terms, Attrs().Text("reduction", "sum"), along);
}

Val AllGather(Fn& fn, Val share, int64_t dim, int64_t size, const Along& along) {
  return AddCollective(fn, "AllGather", {share}, Attrs().Int("dim", dim).Int("size", size),
                       along)[0];
}

}  // namespace ge::parallel
