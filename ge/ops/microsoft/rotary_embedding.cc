#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status CheckRotaryMsAttrs(const Node& n) {
  GE_RETURN_IF_ERROR(RefuseAttr(n, "is_packed_batching", 0));
  GE_RETURN_IF_ERROR(WantFlag(n, "interleaved"));
  const double scale = AttrFloat(n, "scale");
  if (scale != 1) {
    return NotComputed(n, fmt::format("attribute 'scale' is {}, which is not computed here; wanted "
                                      "1 (scale the caches)",
                                      scale));
  }
  const int64_t turned = AttrInt(n, "rotary_embedding_dim"), heads = AttrInt(n, "num_heads");
  if (turned < 0 || turned % 2 != 0 || heads < 0) {
    return Bad(n, fmt::format("attributes 'rotary_embedding_dim' and 'num_heads' are {} and {}, "
                              "wanted an even number and one that is not negative",
                              turned, heads));
  }
  if (turned > 0 && heads == 0) {
    return Bad(n, fmt::format("attribute 'rotary_embedding_dim' is {} without 'num_heads', wanted "
                              "both",
                              turned));
  }
  return {};
}

// The size of a head: of rank 4 the last axis, of rank 3 by num_heads or, when all of a head is
// turned, twice a row of the caches.
Result<Dim> RotaryMsHead(InferContext& c) {
  const Type &x = c.input_type(0), &cache = c.input_type(2);
  const int64_t heads = AttrInt(c.node(), "num_heads");
  if (x.rank() == 4) return x.dims[3];
  Dim size = c.FreshDim("head", false);
  if (heads > 0) {
    GE_ASSIGN_OR_RETURN(size, Checked(c.node(), c.dims().FloorDiv(x.dims[2], KnownDim(heads)),
                                      "the size of a head"));
  } else if (cache.ranked && cache.rank() == 2) {
    GE_ASSIGN_OR_RETURN(
        size, Checked(c.node(), c.dims().Mul(cache.dims[1], KnownDim(2)), "the size of a head"));
  }
  const Dim all = x.dims[2];
  const bool whole = !all.known() || !size.known() ||
                     (size.value > 0 && all.value % size.value == 0 &&
                      (heads == 0 || all.value == heads * size.value));
  if (whole) return size;
  return Bad(c.node(), fmt::format("input 'input' has hidden size {}, wanted a multiple of the "
                                   "size of a head, {}, and of 'num_heads'",
                                   all.value, size.value));
}

Status InferRotaryMs(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckRotaryMsAttrs(n));
  GE_RETURN_IF_ERROR(InferSame(c));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "input", 3, 4));
  GE_RETURN_IF_ERROR(WantRankOf(c, 1, "position_ids", 1, 2));
  GE_RETURN_IF_ERROR(WantRankOf(c, 2, "cos_cache", 2, 2));
  const Type& x = c.input_type(0);
  if (!x.ranked) return {};
  GE_ASSIGN_OR_RETURN(const Dim size, RotaryMsHead(c));
  const int64_t turned = AttrInt(n, "rotary_embedding_dim");
  if (turned > 0 && size.known() && turned > size.value) {
    return Bad(n, fmt::format("attribute 'rotary_embedding_dim' is {}, wanted at most the size of "
                              "a head, {}",
                              turned, size.value));
  }
  Dim half = KnownDim(turned / 2);
  if (turned == 0) {
    GE_ASSIGN_OR_RETURN(half, Checked(n, c.dims().FloorDiv(size, KnownDim(2)), "half a head"));
  }
  const Type& cache = c.input_type(2);
  const Dim places = cache.ranked ? cache.dims[0] : c.FreshDim("positions", false);
  GE_RETURN_IF_ERROR(WantShape(c, 2, "cos_cache", {{places, half}}));
  GE_RETURN_IF_ERROR(WantShape(c, 3, "sin_cache", {{places, half}}));
  const Type& ids = c.input_type(1);
  if (ids.ranked && ids.rank() == 1) return WantShape(c, 1, "position_ids", {{KnownDim(1)}});
  return WantShape(c, 1, "position_ids", {{x.dims[0], x.dims[x.rank() - 2]}});
}

// One position is that of the first token of every sample.
std::vector<ValueId> DecomposeRotaryMs(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Steps::Shape x = s.OutShape(0);
  const int64_t batch = x[0], steps = x[x.size() - 2];
  ValueId ids = s.In(1);
  if (s.Rank(ids) == 1) {
    Steps::Shape counting;
    for (int64_t i = 0; i < batch * steps; ++i) counting.push_back(i % steps);
    ids = s.Pair("Add", s.Reshape(s.Ints(counting), {batch, steps}), ids);
  }
  int64_t heads = AttrInt(node, "num_heads");
  if (heads == 0 && x.size() == 3) heads = x[2] / (2 * s.Size(s.In(2), 1));
  std::vector<Attr> attrs = {{"interleaved", AttrInt(node, "interleaved")},
                             {"rotary_embedding_dim", AttrInt(node, "rotary_embedding_dim")}};
  if (x.size() == 3) attrs.push_back({"num_heads", heads});
  return {s.Map("RotaryEmbedding", {s.In(0), s.In(2), s.In(3), ids}, std::move(attrs))};
}

OpDef RotaryMsRecord() {
  OpDef op = MicrosoftRecord("RotaryEmbedding", InferRotaryMs, DecomposeRotaryMs);
  // As ONNX's own, which the node becomes.
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  op.inputs = {{"input", kReal, "T"},
               {"position_ids", Bit(DType::kInt64), "M"},
               {"cos_cache", kReal, "T"},
               {"sin_cache", kReal, "T"}};
  op.outputs = {{"output", kReal, "T"}};
  op.attrs = {{"interleaved", AttrKind::kInt, 0},
              {"is_packed_batching", AttrKind::kInt, 0},
              {"num_heads", AttrKind::kInt, 0},
              {"rotary_embedding_dim", AttrKind::kInt, 0},
              {"scale", AttrKind::kFloat, 1.0f}};
  return op;
}

}  // namespace

// Turns pairs of elements of each head by angles that depend on the token's position.
GE_OP(microsoft_rotary_embedding) = RotaryMsRecord();

}  // namespace ge
