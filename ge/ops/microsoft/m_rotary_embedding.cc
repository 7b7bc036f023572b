#include <numeric>

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status CheckMRotaryAttrs(const Node& n) {
  for (const char* flag : {"interleaved", "is_packed_batching", "mrope_layout"}) {
    GE_RETURN_IF_ERROR(WantFlag(n, flag));
  }
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "scale"));
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
  const std::vector<int64_t>& sections = AttrInts(n, "mrope_section");
  constexpr int64_t kMost = int64_t{1} << 31;
  const bool sane =
      sections.size() == 3 &&
      std::all_of(sections.begin(), sections.end(), [](int64_t v) { return v >= 0 && v < kMost; });
  if (sane) return {};
  return Bad(n, fmt::format("attribute 'mrope_section' is [{}], wanted 3 numbers that are not "
                            "negative",
                            fmt::join(sections, ",")));
}

// Of rank 4 the last axis of the input, of rank 3 its share of it.
Result<Dim> MRotaryHead(InferContext& c) {
  const Type& x = c.input_type(0);
  if (x.rank() == 4) return x.dims[3];
  const int64_t heads = AttrInt(c.node(), "num_heads");
  if (heads == 0) {
    return Bad(c.node(), "attribute 'num_heads' is 0, wanted at least 1 for an input of rank 3");
  }
  if (x.dims[2].known() && x.dims[2].value % heads != 0) {
    return Bad(c.node(), fmt::format("input 'input' has hidden size {}, wanted a multiple of "
                                     "'num_heads', {}",
                                     x.dims[2].value, heads));
  }
  return Checked(c.node(), c.dims().FloorDiv(x.dims[2], KnownDim(heads)), "the size of a head");
}

// Half of what is turned of a head: the sum of the sections.
Result<int64_t> MRotaryHalf(InferContext& c) {
  const Node& n = c.node();
  GE_ASSIGN_OR_RETURN(const Dim size, MRotaryHead(c));
  const int64_t given = AttrInt(n, "rotary_embedding_dim");
  if (given > 0 && size.known() && given > size.value) {
    return Bad(n, fmt::format("attribute 'rotary_embedding_dim' is {}, wanted at most the size of "
                              "a head, {}",
                              given, size.value));
  }
  const std::vector<int64_t>& sections = AttrInts(n, "mrope_section");
  const int64_t half = std::accumulate(sections.begin(), sections.end(), int64_t{0});
  const Dim turned = given > 0 ? KnownDim(given) : size;
  if (!turned.known() || turned.value == 2 * half) return half;
  return Bad(n,
             fmt::format("attribute 'mrope_section' is [{}], wanted numbers whose sum is half of "
                         "the {} elements of a head that are turned",
                         fmt::join(sections, ","), turned.value));
}

Status InferMRotary(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckMRotaryAttrs(n));
  GE_RETURN_IF_ERROR(InferSame(c));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "input", 3, 4));
  const Type& x = c.input_type(0);
  if (!x.ranked) return {};
  GE_ASSIGN_OR_RETURN(const int64_t half, MRotaryHalf(c));
  const Dim steps = x.dims[x.rank() - 2];
  GE_RETURN_IF_ERROR(WantShape(c, 1, "position_ids", {{KnownDim(3), x.dims[0], steps}}));
  const Type& cache = c.input_type(2);
  const bool told = cache.ranked && cache.rank() == 2;
  const Dim places = told ? cache.dims[0] : c.FreshDim("positions", false);
  GE_RETURN_IF_ERROR(WantShape(c, 2, "cos_cache", {{places, KnownDim(half)}}));
  GE_RETURN_IF_ERROR(WantShape(c, 3, "sin_cache", {{places, KnownDim(half)}}));
  const bool longer = steps.known() && places.known() && steps.value > places.value;
  if (!longer || AttrInt(n, "is_packed_batching") != 0) return {};
  return Bad(n, fmt::format("input 'input' has {} tokens, wanted at most the {} rows of "
                            "'cos_cache', or is_packed_batching 1",
                            steps.value, places.value));
}

// For each column of the caches which of the three positions it is taken at.
Steps::Shape MRotaryStreams(const Node& node) {
  const std::vector<int64_t>& sections = AttrInts(node, "mrope_section");
  Steps::Shape streams;
  if (AttrInt(node, "mrope_layout") == 0) {
    for (int64_t i = 0; i < 3; ++i) {
      streams.insert(streams.end(), static_cast<size_t>(sections[static_cast<size_t>(i)]), i);
    }
    return streams;
  }
  // Every third column from 1 on is the height's and from 2 on the width's, as far as these reach.
  streams.resize(
      static_cast<size_t>(std::accumulate(sections.begin(), sections.end(), int64_t{0})));
  for (size_t i = 1; i < streams.size(); ++i) {
    const size_t stream = i % 3;
    const bool reached = static_cast<int64_t>(i) < 3 * sections[stream];
    streams[i] = reached ? static_cast<int64_t>(stream) : 0;
  }
  return streams;
}

// Columns of a matrix.
ValueId MRotaryColumns(Steps* s, ValueId x, const Steps::Shape& which, int64_t axis) {
  Steps::Shape shape = s->ShapeOf(x);
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(which.size());
  return s->Node1("Gather", {x, s->Ints(which)}, s->DTypeOf(x), shape, {{"axis", axis}});
}

// A cache's row for each token [batch, steps, half]: of each position its own columns, which are
// then brought into their order.
ValueId MRotaryRows(Steps* s, ValueId cache, const Steps::Shape& streams, double scale) {
  const Steps::Shape ids = s->ShapeOf(s->In(1));
  const Steps::Shape tokens = {ids[1], ids[2]};
  Steps::Shape order(streams.size());
  std::vector<ValueId> parts;
  int64_t at = 0;
  for (int64_t i = 0; i < 3; ++i) {
    Steps::Shape columns;
    for (size_t k = 0; k < streams.size(); ++k) {
      if (streams[k] != i) continue;
      order[k] = at++;
      columns.push_back(static_cast<int64_t>(k));
    }
    if (columns.empty()) continue;
    const ValueId places = s->Reshape(s->Slice(s->In(1), 0, i, i + 1), tokens);
    parts.push_back(s->Gather(MRotaryColumns(s, cache, columns, 1), places));
  }
  const ValueId rows = parts.size() == 1 ? parts[0] : s->Concat(parts, 2);
  const bool ordered = std::is_sorted(order.begin(), order.end());
  const ValueId all = ordered ? rows : MRotaryColumns(s, rows, order, 2);
  if (scale == 1) return all;
  const DType dtype = s->DTypeOf(all);
  return s->Cast(s->Times(s->Cast(all, DType::kFloat), scale), dtype);
}

std::vector<ValueId> DecomposeMRotary(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  const Steps::Shape streams = MRotaryStreams(node);
  if (streams.empty()) return {};
  Steps s(t, fn, node);
  const double scale = AttrFloat(node, "scale");
  std::vector<Attr> attrs = {{"interleaved", AttrInt(node, "interleaved")},
                             {"rotary_embedding_dim", AttrInt(node, "rotary_embedding_dim")}};
  if (s.Rank(s.In(0)) == 3) attrs.push_back({"num_heads", AttrInt(node, "num_heads")});
  return {s.Map(
      "RotaryEmbedding",
      {s.In(0), MRotaryRows(&s, s.In(2), streams, scale), MRotaryRows(&s, s.In(3), streams, scale)},
      std::move(attrs))};
}

OpDef MRotaryRecord() {
  OpDef op = MicrosoftRecord("MRotaryEmbedding", InferMRotary, DecomposeMRotary);
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  op.inputs = {{"input", kReal, "T"},
               {"position_ids", Bit(DType::kInt64), "M"},
               {"cos_cache", kReal, "T"},
               {"sin_cache", kReal, "T"}};
  op.outputs = {{"output", kReal, "T"}};
  op.attrs = {{"interleaved", AttrKind::kInt, 0},  {"is_packed_batching", AttrKind::kInt, 0},
              {"mrope_layout", AttrKind::kInt, 0}, {"mrope_section", AttrKind::kInts, true},
              {"num_heads", AttrKind::kInt, 0},    {"rotary_embedding_dim", AttrKind::kInt, 0},
              {"scale", AttrKind::kFloat, 1.0f}};
  return op;
}

}  // namespace

// RotaryEmbedding of tokens that have three positions: in time, height and width.
GE_OP(microsoft_m_rotary_embedding) = MRotaryRecord();

}  // namespace ge
