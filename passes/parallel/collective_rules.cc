#include "passes/parallel/collective_rules.h"

#include <new>
#include <string>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "passes/kit/fn.h"
#include "passes/kit/refusal.h"
#include "passes/parallel/mesh.h"

namespace ge::parallel {
namespace {

using passes::Attrs;
using passes::Refusal;

std::string TextAttr(const ge_node& n, const char* name) {
  return std::string(plugin::AttrString(n, name));
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

struct Group {
  int64_t shares = 1, share = 0;  // how many ranks, and which of them this is
};

// Throws a Refusal.
Group GroupOf(const ge_node& n) {
  const Mesh mesh = Mesh::Of(TextAttr(n, "mesh"));
  const std::vector<uint32_t> axes = mesh.Read(TextAttr(n, "axes"));
  const int64_t rank = plugin::AttrInt(n, "rank");
  if (rank >= 0 && rank < mesh.ranks()) return {mesh.Shares(axes), mesh.Share(rank, axes)};
  throw Refusal{GE_INVALID_ARGUMENT, "rank is " + std::to_string(rank) + ", wanted 0 to " +
                                         std::to_string(mesh.ranks() - 1) + " of the mesh '" +
                                         mesh.Text() + "'"};
}

std::string ReductionOf(const ge_node& n) {
  const std::string reduction = TextAttr(n, "reduction");
  if (reduction == "sum" || reduction == "max" || reduction == "min") return reduction;
  throw Refusal{GE_INVALID_ARGUMENT, "reduction is '" + reduction + "', wanted sum, max or min"};
}

// A dim of the input that an attribute names.
size_t DimOf(const ge_infer* c, const char* name) {
  const int64_t dim = plugin::AttrInt(*c->graph->node, name);
  const int32_t rank = ge_input(c->graph, 0)->type.rank;
  if (dim >= 0 && dim < rank) return static_cast<size_t>(dim);
  throw Refusal{GE_INVALID_ARGUMENT, std::string(name) + " is " + std::to_string(dim) +
                                         ", wanted one of the " + std::to_string(rank) +
                                         " dims of the input"};
}

ge_dim Number(int64_t n) {
  ge_dim d{};
  d.value = n;
  return d;
}

// This rank's share of a dim, as ShareOf says, maybe of a size that is not known.
ge_rc ShareOfDim(const ge_infer* c, const Group& group, ge_dim* dim) {
  if (dim->value >= 0) {
    *dim = Number(ShareOf(dim->value, group.shares, group.share).size);
    return GE_OK;
  }
  const ge_dim shares = Number(group.shares), share = Number(group.share);
  ge_dim each{}, first{}, left{};
  ge_rc rc = c->dim(c->host, GE_DIM_CEIL_DIV, dim, &shares, &each);
  if (rc == GE_OK) rc = c->dim(c->host, GE_DIM_MUL, &each, &share, &first);
  if (rc == GE_OK) rc = c->dim(c->host, GE_DIM_MIN, dim, &first, &first);
  if (rc == GE_OK) rc = c->dim(c->host, GE_DIM_SUB, dim, &first, &left);
  return rc == GE_OK ? c->dim(c->host, GE_DIM_MIN, &each, &left, dim) : rc;
}

// From a share to the whole of `size`.
void GatherDim(const ge_node& n, const Group& group, const char* name, ge_dim* dim) {
  const int64_t size = plugin::AttrInt(n, "size");
  const int64_t share = size < 0 ? -1 : ShareOf(size, group.shares, group.share).size;
  if (size < 0 || (dim->value >= 0 && dim->value != share)) {
    const std::string wanted = share < 0 ? "" : std::to_string(share) + " elements, ";
    throw Refusal{GE_INVALID_ARGUMENT, std::string(name) + " has " + std::to_string(dim->value) +
                                           " elements and size is " + std::to_string(size) +
                                           ", wanted " + wanted + "share " +
                                           std::to_string(group.share) + " of " +
                                           std::to_string(group.shares) + " of the whole size"};
  }
  *dim = Number(size);
}

std::vector<ge_dim> DimsOfInput(const ge_infer* c) {
  const ge_value& x = *ge_input(c->graph, 0);
  return {x.dim, x.dim + x.type.rank};
}

ge_rc Answer(const ge_infer* c, const std::vector<ge_dim>& dims) {
  return c->output(c->host, 0, ge_input(c->graph, 0)->type.dtype, static_cast<int32_t>(dims.size()),
                   dims.data());
}

// Types where the rank is known; else so is that of the output not.
template <typename Body>
ge_rc Typed(const ge_infer* c, ge_err* err, Body body) {
  return Guarded(err, [&]() -> ge_rc {
    const Group group = GroupOf(*c->graph->node);
    const ge_value& x = *ge_input(c->graph, 0);
    if (x.type.rank < 0) return c->output(c->host, 0, x.type.dtype, -1, nullptr);
    return body(group);
  });
}

// ---- nodes of gradients

void AddAttrs(const ge_node& n, Attrs* attrs) {
  for (const char* name : {"mesh", "axes", "rank"}) attrs->Add(*ge_find_attr(&n, name));
}

// A collective of the same group; as many outputs as inputs.
std::vector<uint32_t> Put(const ge_builder* b, const char* op, const std::vector<uint32_t>& in,
                          Attrs attrs) {
  AddAttrs(*b->graph->node, &attrs);
  const std::vector<ge_attr> abi = attrs.Abi();
  ge_new_node n{};
  n.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  n.domain = ge_text(kDomain);
  n.op = ge_text(op);
  n.in = in.data();
  n.n_in = n.n_out = static_cast<uint32_t>(in.size());
  n.attr = abi.data();
  n.n_attr = static_cast<uint32_t>(abi.size());
  std::vector<uint32_t> out(in.size());
  b->node(b->host, &n, out.data());
  return out;
}

std::vector<uint32_t> SumOf(const ge_builder* b, const std::vector<uint32_t>& terms) {
  return Put(b, "AllReduce", terms, Attrs().Text("reduction", "sum"));
}

uint32_t CastTo(const ge_builder* b, uint32_t x, int32_t dtype) {
  ge_attr to{};
  to.name = ge_text("to");
  to.kind = GE_ATTR_INT;
  to.i = dtype;
  ge_new_node n{};
  n.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  n.op = ge_text("Cast");
  n.in = &x;
  n.n_in = n.n_out = 1;
  n.attr = &to;
  n.n_attr = 1;
  uint32_t out = 0;
  b->node(b->host, &n, &out);
  return out;
}

// The gradient goes to the ranks that have the extreme, in equal parts. All three of whole size.
uint32_t ToExtremes(const ge_builder* b, uint32_t x, uint32_t extreme, uint32_t grad) {
  const int32_t dtype = b->value(b->host, x)->type.dtype;
  const uint32_t mine = CastTo(b, ge_build(b, "Equal", x, extreme, 0), dtype);
  const uint32_t ranks = SumOf(b, {mine})[0];
  return ge_build(b, "Mul", mine, ge_build(b, "Div", grad, ranks, 0), 0);
}

uint32_t GatherAs(const ge_builder* b, uint32_t share, int64_t dim, uint32_t like) {
  const ge_value& whole = *b->value(b->host, like);
  const int64_t size = whole.type.rank > dim ? whole.type.dims[dim] : -1;
  if (size < 0) throw Refusal{GE_UNIMPLEMENTED, "the whole size is not known"};
  return Put(b, "AllGather", {share}, Attrs().Int("dim", dim).Int("size", size))[0];
}

}  // namespace

ge_rc InferAllReduce(const ge_infer* c, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *c->graph->node;
    (void)GroupOf(n);
    (void)ReductionOf(n);
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
  return Typed(c, err, [&](const Group& group) {
    std::vector<ge_dim> dims = DimsOfInput(c);
    GatherDim(*c->graph->node, group, "dim", &dims[DimOf(c, "dim")]);
    return Answer(c, dims);
  });
}

ge_rc InferReduceScatter(const ge_infer* c, ge_err* err) {
  return Typed(c, err, [&](const Group& group) {
    (void)ReductionOf(*c->graph->node);
    std::vector<ge_dim> dims = DimsOfInput(c);
    const ge_rc rc = ShareOfDim(c, group, &dims[DimOf(c, "dim")]);
    return rc == GE_OK ? Answer(c, dims) : rc;
  });
}

ge_rc InferAllToAll(const ge_infer* c, ge_err* err) {
  return Typed(c, err, [&](const Group& group) {
    std::vector<ge_dim> dims = DimsOfInput(c);
    const size_t gather = DimOf(c, "gather_dim"), split = DimOf(c, "split_dim");
    if (gather == split) {
      throw Refusal{GE_INVALID_ARGUMENT, "gather_dim and split_dim are both " +
                                             std::to_string(split) + ", wanted two dims"};
    }
    GatherDim(*c->graph->node, group, "gather_dim", &dims[gather]);
    const ge_rc rc = ShareOfDim(c, group, &dims[split]);
    return rc == GE_OK ? Answer(c, dims) : rc;
  });
}

ge_rc DecomposeAlone(const ge_builder* b, uint32_t* out, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *b->graph->node;
    if (GroupOf(n).shares > 1) {
      throw Refusal{GE_UNIMPLEMENTED, "ranks of a mesh meet in it, which an engine has to run"};
    }
    for (uint32_t i = 0; i < n.n_in; ++i) out[i] = ge_build(b, "Identity", n.in[i], 0, 0);
    return GE_OK;
  });
}

ge_rc GradAllReduce(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *b->graph->node;
    std::vector<uint32_t> given, at;
    for (uint32_t i = 0; i < n.n_out; ++i) {
      if (out_grad[i] == 0) continue;
      given.push_back(out_grad[i]);
      at.push_back(i);
    }
    if (given.empty()) return GE_OK;
    const std::vector<uint32_t> sums = SumOf(b, given);
    const bool sum = ReductionOf(n) == "sum";
    for (size_t k = 0; k < at.size(); ++k) {
      in_grad[at[k]] = sum ? sums[k] : ToExtremes(b, n.in[at[k]], n.out[at[k]], sums[k]);
    }
    return GE_OK;
  });
}

ge_rc GradAllGather(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    if (out_grad[0] == 0) return GE_OK;
    const int64_t dim = plugin::AttrInt(*b->graph->node, "dim");
    const Attrs attrs = Attrs().Int("dim", dim).Text("reduction", "sum");
    in_grad[0] = Put(b, "ReduceScatter", {out_grad[0]}, attrs)[0];
    return GE_OK;
  });
}

ge_rc GradReduceScatter(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad,
                        ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *b->graph->node;
    if (out_grad[0] == 0) return GE_OK;
    const int64_t dim = plugin::AttrInt(n, "dim");
    in_grad[0] = GatherAs(b, out_grad[0], dim, n.in[0]);
    if (ReductionOf(n) == "sum") return GE_OK;
    in_grad[0] = ToExtremes(b, n.in[0], GatherAs(b, n.out[0], dim, n.in[0]), in_grad[0]);
    return GE_OK;
  });
}

ge_rc GradAllToAll(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err) {
  return Guarded(err, [&]() -> ge_rc {
    const ge_node& n = *b->graph->node;
    if (out_grad[0] == 0) return GE_OK;
    const int64_t gather = plugin::AttrInt(n, "gather_dim"),
                  split = plugin::AttrInt(n, "split_dim");
    const ge_value& x = *b->value(b->host, n.in[0]);
    const int64_t size = x.type.rank > split ? x.type.dims[split] : -1;
    if (size < 0) throw Refusal{GE_UNIMPLEMENTED, "the whole size is not known"};
    const Attrs attrs = Attrs().Int("gather_dim", split).Int("size", size).Int("split_dim", gather);
    in_grad[0] = Put(b, "AllToAll", {out_grad[0]}, attrs)[0];
    return GE_OK;
  });
}

}  // namespace ge::parallel
