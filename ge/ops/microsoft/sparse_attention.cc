#include "ge/ops/microsoft/grouped_heads.h"

namespace ge {
namespace {

// exp of it is 0 even beside kUnseenScore: what lies behind a query never counts, and where a
// layout hides all keys before it they count alike, as in ONNX Runtime.
constexpr double kBehind = -3e38;

Status CheckSparseLayouts(InferContext& c) {
  const Node& n = c.node();
  const int64_t heads = AttrInt(n, "num_heads"), block = AttrInt(n, "sparse_block_size");
  if (block < 1) {
    return Bad(n, fmt::format("attribute 'sparse_block_size' is {}, wanted at least 1", block));
  }
  GE_RETURN_IF_ERROR(WantRankOf(c, 5, "block_row_indices", 2, 2));
  GE_RETURN_IF_ERROR(WantRankOf(c, 6, "block_col_indices", 2, 2));
  const Type &rows = c.input_type(5), &columns = c.input_type(6);
  if (!rows.ranked) return {};
  const Dim layouts = rows.dims[0];
  const bool shared = !layouts.known() || (layouts.value > 0 && heads % layouts.value == 0);
  if (!shared || (rows.dims[1].known() && rows.dims[1].value < 2)) {
    return Bad(n,
               fmt::format("input 'block_row_indices' has shape {}, wanted [layouts, blocks + 1] "
                           "where layouts divide 'num_heads', {}",
                           Show(c.dims(), rows.dims), heads));
  }
  if (!columns.ranked) return {};
  return WantShape(c, 6, "block_col_indices", {{layouts, columns.dims[1]}});
}

Status InferSparseAttention(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckGroupedAttrs(n));
  GE_RETURN_IF_ERROR(CheckSparseLayouts(c));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "query", 3, 3));
  GE_RETURN_IF_ERROR(WantRankOf(c, 3, "past_key", 4, 4));
  GE_RETURN_IF_ERROR(WantOne(c, 7, "total_sequence_length"));
  const Type &q = c.input_type(0), &past = c.input_type(3);
  if (!q.ranked) {
    c.SetOutput(0, UnrankedTensor(q.dtype));
    SetAs(c, 1, 3, q.dtype);
    SetAs(c, 2, 4, q.dtype);
    return {};
  }
  const Dim batch = q.dims[0], steps = q.dims[1];
  GE_ASSIGN_OR_RETURN(const Dim size, GroupedHeadSize(c));
  GE_RETURN_IF_ERROR(CheckRotaryCaches(c, size, 9));
  GE_RETURN_IF_ERROR(WantShape(c, 8, "key_total_sequence_lengths", {{batch}}));
  const Dim rows = past.ranked ? past.dims[2] : c.FreshDim("cache", false);
  const Dim cache[] = {batch, KnownDim(AttrInt(n, "kv_num_heads")), rows, size};
  GE_RETURN_IF_ERROR(WantShape(c, 3, "past_key", cache));
  GE_RETURN_IF_ERROR(WantShape(c, 4, "past_value", cache));
  if (rows.known() && steps.known() && steps.value > rows.value) {
    return Bad(n,
               fmt::format("input 'query' has {} steps, wanted at most {}, the rows of 'past_key'",
                           steps.value, rows.value));
  }
  GE_ASSIGN_OR_RETURN(const Dim hidden,
                      Checked(n, c.dims().Mul(KnownDim(AttrInt(n, "num_heads")), size),
                              "the hidden size of the output"));
  GE_RETURN_IF_ERROR(SetTensor(c, 0, q.dtype, {batch, steps, hidden}));
  for (size_t o = 1; o < 3; ++o) {
    GE_RETURN_IF_ERROR(SetTensor(c, o, q.dtype, {cache[0], cache[1], cache[2], cache[3]}));
  }
  return {};
}

// Which blocks of keys a block of queries sees, 0 or 1: [layouts, blocks, blocks]. An entry of the
// columns belongs to the row whose begin and end it lies between.
ValueId SparseBlocks(Steps* s) {
  const Steps::Shape rows = s->ShapeOf(s->In(5)), columns = s->ShapeOf(s->In(6));
  const int64_t layouts = rows[0], blocks = rows[1] - 1, entries = columns[1];
  const ValueId entry = s->Counting({1, 1, entries}, 0, entries);
  const auto bound = [&](int64_t begin) {
    return s->Reshape(s->Slice(s->In(5), 1, begin, begin + blocks), {layouts, blocks, 1});
  };
  const ValueId of_row = s->Pair("And", s->Pair("GreaterOrEqual", entry, bound(0), DType::kBool),
                                 s->Pair("Less", entry, bound(1), DType::kBool));
  const ValueId of_column = s->Pair("Equal", s->Reshape(s->In(6), {layouts, entries, 1}),
                                    s->Counting({1, 1, blocks}, 0, blocks), DType::kBool);
  return s->MatMul(s->Cast(of_row, DType::kFloat), s->Cast(of_column, DType::kFloat));
}

// The same for each head, query and key: bool[B,heads,S,rows].
ValueId SparseSeen(Steps* s, const Node& node, const Grouped& g, ValueId places) {
  const ValueId blocks = SparseBlocks(s);
  const Steps::Shape shape = s->ShapeOf(blocks);
  const int64_t layouts = shape[0], last = shape[1] - 1, size = AttrInt(node, "sparse_block_size");
  Steps::Shape layout, block;
  for (int64_t h = 0; h < g.heads; ++h) layout.push_back(h % layouts);
  for (int64_t t = 0; t < g.rows; ++t) block.push_back(std::min(t / size, last));
  const ValueId mine = s->Node1("Gather", {blocks, s->Ints(block)}, DType::kFloat,
                                {layouts, shape[1], g.rows}, {{"axis", int64_t{2}}});
  const ValueId heads = s->Node1("Gather", {mine, s->Ints(layout)}, DType::kFloat,
                                 {g.heads, shape[1], g.rows}, {{"axis", int64_t{0}}});
  const ValueId row = s->Pair("Div", places, s->Int32s({}, {size}));
  const ValueId wide = s->Node1("Gather", {heads, row}, DType::kFloat,
                                {g.heads, g.batch, g.steps, g.rows}, {{"axis", int64_t{1}}});
  return s->Pair("Greater", s->Transpose(wide, {1, 0, 2, 3}), s->Scalar(DType::kFloat, 0),
                 DType::kBool);
}

std::vector<ValueId> DecomposeSparseAttention(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Steps::Shape x = s.ShapeOf(s.In(0));
  Grouped g{x[0], x[1], AttrInt(node, "num_heads", 1), AttrInt(node, "kv_num_heads", 1)};
  g.size = s.OutShape(0)[2] / g.heads;
  g.past = g.rows = s.Size(s.In(3), 2);
  if (g.size == 0 || g.steps == 0 || g.batch == 0 || s.Size(s.In(6), 1) == 0) return {};
  g.step = StepDType(s.DTypeOf(s.In(0)));
  g.length = s.In(8);
  const ValueId older = s.Pair("Sub", g.length, s.Int32s({}, {g.steps}));
  g.older = s.Node1("Max", {older, s.Int32s({1}, {0})}, DType::kInt32, {g.batch});
  const ValueId places = GroupedPlaces(&s, g);
  GroupedHeads h = AddGroupedHeads(&s, g);
  if (AttrInt(node, "do_rotary") != 0) {
    h.q = GroupedTurned(&s, node, g, h.q, places, 9);
    h.k = GroupedTurned(&s, node, g, h.k, places, 9);
  }
  h.k = GroupedCache(&s, g, s.In(3), h.k);
  h.v = GroupedCache(&s, g, s.In(4), h.v);
  const ValueId own = s.Cast(places, DType::kInt32);
  const ValueId before = s.Pair("LessOrEqual", s.Counting({1, 1, 1, g.rows}, 0, g.rows),
                                s.Reshape(own, {g.batch, 1, g.steps, 1}), DType::kBool);
  const ValueId seen = s.Pair("And", SparseSeen(&s, node, g, own), before);
  const ValueId fill = s.Choose(before, s.Scalar(g.step, kUnseenScore), s.Scalar(g.step, kBehind));
  const ValueId scores = s.Choose(seen, GroupedScores(&s, node, g, h.q, h.k), fill);
  const ValueId shares = s.Map("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const DType wanted = s.OutDType(0);
  return {s.Cast(GroupedValues(&s, g, shares, h.v), wanted), s.Cast(h.k, wanted),
          s.Cast(h.v, wanted)};
}

OpDef SparseAttentionRecord() {
  OpDef op = MicrosoftRecord("SparseAttention", InferSparseAttention, DecomposeSparseAttention);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble), kWhole = Bit(DType::kInt32);
  op.inputs = {{"query", kReal, "T"},
               {"key", kReal, "T", opt},
               {"value", kReal, "T", opt},
               {"past_key", kReal, "T"},
               {"past_value", kReal, "T"},
               {"block_row_indices", kWhole, "M"},
               {"block_col_indices", kWhole, "M"},
               {"total_sequence_length", kWhole, "M"},
               {"key_total_sequence_lengths", kWhole, "M"},
               {"cos_cache", kReal, "T", opt},
               {"sin_cache", kReal, "T", opt}};
  op.outputs = {{"output", kReal, "T"}, {"present_key", kReal, "T"}, {"present_value", kReal, "T"}};
  const AttrKind kInt = AttrKind::kInt;
  op.attrs = {{"num_heads", kInt, true},
              {"kv_num_heads", kInt, true},
              {"do_rotary", kInt, 0},
              {"rotary_interleaved", kInt, 0},
              {"scale", AttrKind::kFloat, 0.0f},
              {"sparse_block_size", kInt, true}};
  return op;
}

}  // namespace

// Causal attention over a cache in which a layout of blocks, one or several in turn for the heads,
// says which keys a query sees.
GE_OP(microsoft_sparse_attention) = SparseAttentionRecord();

}  // namespace ge
