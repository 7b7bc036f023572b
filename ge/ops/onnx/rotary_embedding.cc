#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesRotary = kFloats & ~Bit(DType::kDouble);

// Batch, length and size of a head of X; x is ranked.
struct RotarySizes {
  Dim batch, steps, size;
};

Result<RotarySizes> ReadRotary(InferContext& c) {
  const Type& x = c.input_type(0);
  const Node& n = c.node();
  if (x.rank() != 3 && x.rank() != 4) {
    return Bad(n,
               fmt::format("input 'X' has shape {}, wanted rank 3 or 4", Show(c.dims(), x.dims)));
  }
  if (x.rank() == 4) return RotarySizes{x.dims[0], x.dims[2], x.dims[3]};
  const int64_t heads = AttrInt(n, "num_heads");
  if (heads < 1) {
    return Bad(n, fmt::format("attribute 'num_heads' is {}, wanted at least 1 beside an 'X' of "
                              "rank 3",
                              HasAttr(n, "num_heads") ? std::to_string(heads) : "absent"));
  }
  if (x.dims[2].known() && x.dims[2].value % heads != 0) {
    return Bad(n, fmt::format("input 'X' has hidden size {}, wanted a multiple of attribute "
                              "'num_heads', {}",
                              x.dims[2].value, heads));
  }
  GE_ASSIGN_OR_RETURN(const Dim size, Checked(n, c.dims().FloorDiv(x.dims[2], KnownDim(heads)),
                                              "the size of a head"));
  return RotarySizes{x.dims[0], x.dims[1], size};
}

// How many elements of a head are turned, halved: what a row of the caches has.
Result<Dim> HalfRotary(InferContext& c, const RotarySizes& s) {
  const Node& n = c.node();
  const int64_t given = AttrInt(n, "rotary_embedding_dim");
  const bool fits = given >= 0 && given % 2 == 0 && (!s.size.known() || given <= s.size.value);
  if (!fits) {
    return Bad(n, fmt::format("attribute 'rotary_embedding_dim' is {}, wanted an even number up "
                              "to the size of a head, {}",
                              given, c.dims().ToString(s.size)));
  }
  if (given != 0) return KnownDim(given / 2);
  if (s.size.known() && s.size.value % 2 != 0) {
    return Bad(n, fmt::format("a head has {} elements, wanted an even number: they are turned in "
                              "pairs",
                              s.size.value));
  }
  return Checked(n, c.dims().FloorDiv(s.size, KnownDim(2)), "half the size of a head");
}

Status InferRotary(InferContext& c) {
  GE_RETURN_IF_ERROR(InferSame(c));
  if (!c.input_type(0).ranked) return {};
  GE_ASSIGN_OR_RETURN(const RotarySizes s, ReadRotary(c));
  GE_ASSIGN_OR_RETURN(const Dim half, HalfRotary(c, s));
  const bool has_ids = c.input_count() > 3 && c.has_input(3);
  std::vector<Dim> wanted = {s.batch, s.steps, half};
  if (has_ids) {
    const Type& cache = c.input_type(c.input_type(1).ranked ? 1 : 2);
    const bool told = cache.ranked && cache.rank() == 2;
    wanted = {told ? cache.dims[0] : c.FreshDim("positions", false), half};
  }
  GE_RETURN_IF_ERROR(WantShape(c, 1, "cos_cache", wanted));
  GE_RETURN_IF_ERROR(WantShape(c, 2, "sin_cache", wanted));
  const Dim ids[] = {s.batch, s.steps};
  return has_ids ? WantShape(c, 3, "position_ids", ids) : Status();
}

OpDef RotaryRecord() {
  OpDef op{"", "RotaryEmbedding", 23, {}, {}, {}, InferRotary, PerOutput<3>};
  op.inputs = {{"X", kTypesRotary, "T"},
               {"cos_cache", kTypesRotary, "T"},
               {"sin_cache", kTypesRotary, "T"},
               {"position_ids", Bit(DType::kInt64), "M", Arity::kOptional}};
  op.outputs = {{"Y", kTypesRotary, "T"}};
  op.attrs = {{"interleaved", AttrKind::kInt, 0},
              {"num_heads", AttrKind::kInt},
              {"rotary_embedding_dim", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// Turns pairs of elements of each head by angles that depend on the token's position.
GE_OP(rotary_embedding) = RotaryRecord();

}  // namespace ge
