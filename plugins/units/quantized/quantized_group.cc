#include "plugins/units/quantized/quantized_group.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/movement/concat.h"
#include "plugins/units/movement/reshape.h"
#include "plugins/units/parser.h"
#include "plugins/units/quantized/inputs.h"
#include "plugins/units/quantized/integer_conv.h"
#include "plugins/units/quantized/integer_matmul.h"
#include "plugins/units/quantized/quantize_linear.h"
#include "plugins/units/quantized/quantized_elementwise.h"
#include "plugins/units/quantized/quantized_pool.h"
#include "plugins/units/reduce/reduce.h"

namespace ge_engines {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// A bias of int32 is one of sums when its scale is theirs but for rounding.
constexpr float kSameScale = 1e-5f;

// A DequantizeLinear inside a group.
struct Floats {
  uint32_t node = kNone, codes = 0, scale = 0, zero = 0;
};

// What a group is made of while it is looked for.
struct Group {
  const Parser& g;
  Unit* u;
  uint32_t quantize = kNone, main = kNone;
  QuantizedRange range;
  QuantizedScale y;

  const ge_node& node(uint32_t i) const { return g.node(i); }
  bool Is(uint32_t i, const char* op) const { return i != kNone && gp::IsOp(node(i), op); }
  bool Alone(uint32_t v) const {  // one node reads it, once, and nobody else
    return g.value(v).n_user == 1 && (g.value(v).flags & GE_VALUE_OUTPUT) == 0;
  }
  uint32_t ProducerOf(uint32_t v) const { return v == 0 ? kNone : g.value(v).producer; }
};

template <class T>
T ElementAt(const Parser& g, uint32_t v, int64_t i) {
  T x;
  std::memcpy(&x, static_cast<const char*>(g.value(v).data) + i * int64_t{sizeof(T)}, sizeof(T));
  return x;
}

int32_t Int8At(const Parser& g, uint32_t v) {
  return g.dtype(v) == GE_I8 ? ElementAt<int8_t>(g, v, 0) : ElementAt<uint8_t>(g, v, 0);
}

bool IsOne(const Parser& g, uint32_t v) { return Product(g.dims(v)) == 1; }

// Scale and zero point, one each, of quantized values; nullopt: other kinds.
std::optional<QuantizedScale> ScaleOf(const Parser& g, int32_t codes, uint32_t scale,
                                      uint32_t zero) {
  if (!IsInt8(codes) || !g.constant(scale) || g.dtype(scale) != GE_F32 || !IsOne(g, scale)) {
    return std::nullopt;
  }
  QuantizedScale s{ElementAt<float>(g, scale, 0), 0, codes == GE_I8};
  if (!(s.scale > 0) || !std::isfinite(s.scale)) return std::nullopt;
  if (zero == 0) return s;
  if (!g.constant(zero) || g.dtype(zero) != codes || !IsOne(g, zero)) return std::nullopt;
  s.zero = Int8At(g, zero);
  return s;
}

// v as dequantized floats that this group alone reads.
std::optional<Floats> Dequantized(const Group& p, uint32_t v) {
  const uint32_t at = p.ProducerOf(v);
  if (!p.Is(at, "DequantizeLinear") || !p.Alone(v) || p.g.dtype(v) != GE_F32) return std::nullopt;
  const ge_node& n = p.node(at);
  if (n.n_in < 2 || gp::AttrInt(n, "block_size") != 0) return std::nullopt;
  return Floats{at, n.in[0], n.in[1], n.n_in > 2 ? n.in[2] : 0};
}

std::optional<QuantizedScale> ScaleOf(const Group& p, const Floats& f) {
  return ScaleOf(p.g, p.g.dtype(f.codes), f.scale, f.zero);
}

// What QuantizeLinear makes of one float.
int32_t Quantized(const QuantizedScale& s, float v) {
  const float least = s.is_signed ? -128 : 0, most = s.is_signed ? 127 : 255;
  const float q = std::nearbyint(v / s.scale) + static_cast<float>(s.zero);
  return static_cast<int32_t>(std::min(std::max(q, least), most));
}

// Turns Relu and Clip before QuantizeLinear into bounds of its result: rounding keeps order.
bool Narrow(Group* p, uint32_t node) {
  if (p->Is(node, "Relu")) {
    p->range.least = std::max(p->range.least, p->y.zero);
    return true;
  }
  Unit clip;
  Why why;
  if (!p->Is(node, "Clip") || !p->g.Parse(node, &clip, &why)) return false;
  for (const PostOp& post : clip.post_ops) {
    if (post.fn != Fn::kClip || !(post.a <= post.b)) return false;
    const int32_t low = Quantized(p->y, post.a), high = Quantized(p->y, post.b);
    p->range.least = std::max(p->range.least, low);
    p->range.most = std::min(p->range.most, high);
  }
  return p->range.least <= p->range.most;
}

// From QuantizeLinear back to the operator. What is passed is among the unit's nodes.
bool FindMain(Group* p) {
  const ge_node& q = p->node(p->quantize);
  if (q.n_in < 2 || gp::AttrInt(q, "block_size") != 0) return false;
  const int64_t precision = gp::AttrInt(q, "precision");
  if (precision != 0 && precision != GE_F32) return false;
  const auto y = ScaleOf(p->g, p->g.dtype(q.out[0]), q.in[1], q.n_in > 2 ? q.in[2] : 0);
  if (!y || p->g.dtype(q.in[0]) != GE_F32) return false;
  p->y = *y;
  p->u->nodes = {p->quantize};
  p->u->out = {q.out[0]};
  p->u->dims = p->g.dims(q.out[0]);
  uint32_t v = q.in[0];
  for (;;) {
    const uint32_t at = p->ProducerOf(v);
    if (at == kNone || !p->Alone(v)) return false;
    const bool bounds = p->Is(at, "Relu") || p->Is(at, "Clip");
    // Bounds of a dequantized input, not of an operator's result: Relu or Clip is the operator.
    if (!bounds || p->Is(p->ProducerOf(p->node(at).in[0]), "DequantizeLinear")) {
      p->main = p->u->root = at;
      p->u->nodes.push_back(at);
      for (uint32_t k = 1; k < p->node(at).n_out; ++k) {
        if (p->node(at).out[k] != 0) return false;
      }
      return true;
    }
    if (!Narrow(p, at)) return false;
    p->u->nodes.push_back(at);
    v = p->node(at).in[0];
  }
}

void Take(Group* p, const Floats& f) { p->u->nodes.push_back(f.node); }

// ---- products

// The scale of weights: one, or one for each index of `axis`. The zero point likewise, constant.
bool IsWeight(const Group& p, const Floats& w, size_t axis) {
  const Dims d = p.g.dims(w.codes);
  if (!p.g.constant(w.codes) || !IsInt8(p.g.dtype(w.codes)) || axis >= d.size()) return false;
  for (uint32_t v : {w.scale, w.zero}) {
    if (v == 0) continue;
    if (!p.g.constant(v) || (!IsOne(p.g, v) && p.g.dims(v) != Dims{d[axis]})) return false;
  }
  if (p.g.dtype(w.scale) != GE_F32 || (w.zero != 0 && p.g.dtype(w.zero) != p.g.dtype(w.codes))) {
    return false;
  }
  if (IsOne(p.g, w.scale)) return true;
  int64_t at = gp::AttrInt(p.node(w.node), "axis");
  if (at < 0) at += static_cast<int64_t>(d.size());
  return d.size() == 1 || at == static_cast<int64_t>(axis);
}

// A bias of the sums, one a channel: int32 at the sums' scale, or float32.
bool TakeBias(Group* p, uint32_t v, const Floats& x, const Floats& w, int64_t channels) {
  p->u->in[QuantIn::kBias] = v;
  if (v == 0) return true;
  if (Product(p->g.dims(v)) != channels || p->g.dims(v).size() != 1) return false;
  if (p->g.constant(v)) return p->g.dtype(v) == GE_F32;
  const auto b = Dequantized(*p, v);
  if (!b || !p->g.constant(b->codes) || p->g.dtype(b->codes) != GE_I32) return false;
  if (b->zero != 0) {
    if (!p->g.constant(b->zero) || p->g.dtype(b->zero) != GE_I32) return false;
    for (int64_t i = 0; i < Product(p->g.dims(b->zero)); ++i) {
      if (ElementAt<int32_t>(p->g, b->zero, i) != 0) return false;
    }
  }
  if (!p->g.constant(b->scale) || p->g.dtype(b->scale) != GE_F32) return false;
  const int64_t scales = Product(p->g.dims(b->scale)), others = Product(p->g.dims(w.scale));
  if (scales != 1 && scales != channels) return false;
  for (int64_t i = 0; i < std::max(scales, others); ++i) {
    const float sums =
        ElementAt<float>(p->g, x.scale, 0) * ElementAt<float>(p->g, w.scale, others == 1 ? 0 : i);
    const float own = ElementAt<float>(p->g, b->scale, scales == 1 ? 0 : i);
    if (!(std::fabs(own - sums) <= kSameScale * sums)) return false;
  }
  p->u->in[QuantIn::kBias] = b->codes;
  Take(p, *b);
  return true;
}

// What products of 8-bit integers read; `axis` of the weights is the result's channels.
bool TakeProduct(Group* p, size_t axis, int64_t channels) {
  const ge_node& n = p->node(p->main);
  const auto x = Dequantized(*p, n.in[0]), w = Dequantized(*p, n.in[1]);
  if (!x || !w || x->node == w->node || !ScaleOf(*p, *x) || !IsWeight(*p, *w, axis)) return false;
  const ge_node& q = p->node(p->quantize);
  p->u->in.assign(QuantIn::kCount, 0);
  p->u->in[QuantIn::kX] = x->codes;
  p->u->in[QuantIn::kW] = w->codes;
  p->u->in[QuantIn::kXZero] = x->zero;
  p->u->in[QuantIn::kWZero] = w->zero;
  p->u->in[QuantIn::kXScale] = x->scale;
  p->u->in[QuantIn::kWScale] = w->scale;
  p->u->in[QuantIn::kYScale] = q.in[1];
  p->u->in[QuantIn::kYZero] = q.n_in > 2 ? q.in[2] : 0;
  Take(p, *x);
  Take(p, *w);
  return TakeBias(p, n.n_in > 2 ? n.in[2] : 0, *x, *w, channels);
}

bool GroupOfConv(Group* p) {
  Unit conv;
  Why why;
  if (!p->g.Parse(p->main, &conv, &why)) return false;
  const auto* c = As<ConvSpec>(conv);
  if (c == nullptr || c->transposed || c->src.size() > 4) return false;
  const int64_t out = c->dst[1];
  if (Product(c->weights) / out > kMaxInt8Depth) return false;
  p->u->spec = IntegerConvSpec{*c, p->range};
  return TakeProduct(p, 0, out);
}

bool GroupOfProduct(Group* p) {
  const ge_node& n = p->node(p->main);
  const Dims a = p->g.dims(n.in[0]), b = p->g.dims(n.in[1]);
  bool transposed = false;
  if (p->Is(p->main, "Gemm")) {
    transposed = gp::AttrInt(n, "transB") != 0;
    if (gp::AttrInt(n, "transA") != 0 || gp::AttrFloat(n, "alpha") != 1) return false;
    if (n.n_in > 2 && n.in[2] != 0 && gp::AttrFloat(n, "beta") != 1) return false;
  }
  if (a.size() < 2 || b.size() != 2 || a.back() != b[transposed ? 1 : 0]) return false;
  if (a.back() > kMaxInt8Depth) return false;
  p->u->spec = IntegerProductSpec{.transposed = transposed, .range = p->range};
  return TakeProduct(p, transposed ? 0 : 1, b[transposed ? 0 : 1]);
}

// ---- elementwise, pools, joins

// The operator's quantized inputs, each with its scale.
bool TakeInputs(Group* p, uint32_t count, std::vector<QuantizedScale>* scales) {
  const ge_node& n = p->node(p->main);
  for (uint32_t i = 0; i < count; ++i) {
    const auto x = n.in[i] != 0 ? Dequantized(*p, n.in[i]) : std::nullopt;
    const auto scale = x ? ScaleOf(*p, *x) : std::nullopt;
    if (!scale || p->g.constant(x->codes)) return false;
    Take(p, *x);
    p->u->in.push_back(x->codes);
    scales->push_back(*scale);
  }
  return true;
}

// One element for each image and channel of `dims`.
bool IsOfChannels(const Dims& d, const Dims& dims) {
  return dims.size() > 2 && d.size() == dims.size() && d[0] == dims[0] && d[1] == dims[1] &&
         Product(d) == d[0] * d[1];
}

// A quantized x and a constant, broadcast along all axes but one: [outer][middle][inner].
bool GroupOfConstant(Group* p, uint32_t constant) {
  const ge_node& n = p->node(p->main);
  const uint32_t v = n.in[constant];
  const auto x = Dequantized(*p, n.in[1 - constant]);
  const auto scale = x ? ScaleOf(*p, *x) : std::nullopt;
  if (!scale || p->g.constant(x->codes) || p->g.dtype(v) != GE_F32) return false;
  const Dims& y = p->u->dims;
  const Dims b = p->g.dims(v);
  if (p->g.dims(x->codes) != y || b.size() > y.size() || IsOne(p->g, v)) return false;
  QuantizedConstantSpec spec;
  const size_t missing = y.size() - b.size();
  for (size_t k = 0; k < y.size(); ++k) {
    const int64_t own = k < missing ? 1 : b[k - missing];
    if (own != 1 && (own != y[k] || spec.middle != 1)) return false;
    if (own != 1) {
      spec.middle = own;
    } else {
      (spec.middle == 1 ? spec.outer : spec.inner) *= y[k];
    }
  }
  const bool first = constant == 0;
  spec.fn = p->Is(p->main, "Add")   ? Fn::kAdd
            : p->Is(p->main, "Mul") ? Fn::kMul
            : p->Is(p->main, "Div") ? Fn::kDiv
            : first                 ? Fn::kRSub
                                    : Fn::kSub;
  if (spec.fn == Fn::kDiv && first) return false;
  spec.x = *scale;
  spec.y = p->y;
  spec.range = p->range;
  Take(p, *x);
  p->u->in = {x->codes, v};
  p->u->spec = spec;
  return true;
}

bool GroupOfPair(Group* p) {
  const ge_node& n = p->node(p->main);
  if (n.n_in != 2 || n.in[0] == 0 || n.in[1] == 0) return false;
  for (uint32_t k : {0u, 1u}) {
    if (p->g.constant(n.in[k])) return GroupOfConstant(p, k);
  }
  if (p->Is(p->main, "Div")) return false;
  const Fn fn = p->Is(p->main, "Add") ? Fn::kAdd : p->Is(p->main, "Sub") ? Fn::kSub : Fn::kMul;
  std::vector<QuantizedScale> s;
  if (!TakeInputs(p, 2, &s)) return false;
  Ids& in = p->u->in;
  if (p->g.dims(in[0]) != p->u->dims && fn != Fn::kSub) {
    std::swap(in[0], in[1]);
    std::swap(s[0], s[1]);
  }
  const Dims b = p->g.dims(in[1]);
  const bool channels = b != p->u->dims;
  if (p->g.dims(in[0]) != p->u->dims || (channels && !IsOfChannels(b, p->u->dims))) return false;
  p->u->spec = QuantizedPairSpec{fn, channels, s[0], s[1], p->y, p->range};
  return true;
}

bool GroupOfMap(Group* p) {
  Unit one;
  Why why;
  std::vector<QuantizedScale> s;
  if (!p->g.Parse(p->main, &one, &why) || !Is<PointwiseSpec>(one)) return false;
  if (UnaryPostOps(one) != one.post_ops.size() || one.dims != p->u->dims) return false;
  if (one.in[0] != p->node(p->main).in[0] || !TakeInputs(p, 1, &s)) return false;
  p->u->post_ops = one.post_ops;
  p->u->spec = QuantizedMapSpec{s[0], p->y, p->range};
  return true;
}

bool Unbounded(const Group& p) { return p.range.least == INT32_MIN && p.range.most == INT32_MAX; }

bool GroupOfPool(Group* p) {
  Unit one;
  Why why;
  std::vector<QuantizedScale> s;
  if (!p->g.Parse(p->main, &one, &why) || !TakeInputs(p, 1, &s)) return false;
  const auto* pool = As<PoolSpec>(one);
  if (pool == nullptr || !pool->max || !(s[0] == p->y) || !Unbounded(*p)) return false;
  if (pool->src.size() != 4) return false;
  p->u->spec = QuantizedPoolSpec{*pool};
  return true;
}

bool GroupOfMean(Group* p) {
  Unit one;
  Why why;
  std::vector<QuantizedScale> s;
  if (!p->g.Parse(p->main, &one, &why) || !TakeInputs(p, 1, &s)) return false;
  const auto* r = As<ReduceSpec>(one);
  const Dims x = p->g.dims(p->u->in[0]);
  if (r == nullptr || r->reduce != Reduce::kMean || x.size() < 3) return false;
  Dims axes = r->axes;
  std::sort(axes.begin(), axes.end());
  Dims wanted;
  for (size_t k = 2; k < x.size(); ++k) wanted.push_back(static_cast<int64_t>(k));
  if (axes != wanted) return false;
  p->u->spec = QuantizedMeanSpec{s[0], p->y, p->range};
  return true;
}

bool GroupOfConcat(Group* p) {
  Unit one;
  Why why;
  QuantizedConcatSpec spec;
  if (!p->g.Parse(p->main, &one, &why) || !Is<ConcatSpec>(one) || !Unbounded(*p)) return false;
  if (!TakeInputs(p, p->node(p->main).n_in, &spec.x)) return false;
  spec.axis = As<ConcatSpec>(one)->axis;
  spec.y = p->y;
  p->u->spec = std::move(spec);
  return true;
}

// The same quantized values in other dims.
bool GroupOfView(Group* p) {
  Unit one;
  Why why;
  std::vector<QuantizedScale> s;
  if (!p->g.Parse(p->main, &one, &why) || !Is<ViewSpec>(one) || !TakeInputs(p, 1, &s)) return false;
  if (!(s[0] == p->y) || !Unbounded(*p)) return false;
  p->u->spec = ViewSpec{};
  return true;
}

}  // namespace

bool QuantizedGroup(const Parser& parser, uint32_t quantize, Unit* unit) {
  struct Known {
    const char* op;
    bool (*make)(Group*);
  };
  static constexpr Known kKnown[] = {
      {"Conv", GroupOfConv},       {"Gemm", GroupOfProduct},  {"MatMul", GroupOfProduct},
      {"Add", GroupOfPair},        {"Sub", GroupOfPair},      {"Mul", GroupOfPair},
      {"Div", GroupOfPair},        {"MaxPool", GroupOfPool},  {"GlobalAveragePool", GroupOfMean},
      {"ReduceMean", GroupOfMean}, {"Concat", GroupOfConcat}, {"Reshape", GroupOfView},
      {"Flatten", GroupOfView},    {"Squeeze", GroupOfView},  {"Unsqueeze", GroupOfView},
      {"Identity", GroupOfView},   {"Relu", GroupOfMap},      {"Clip", GroupOfMap},
      {"LeakyRelu", GroupOfMap},   {"Sigmoid", GroupOfMap},   {"Tanh", GroupOfMap},
      {"HardSigmoid", GroupOfMap}, {"HardSwish", GroupOfMap}, {"Gelu", GroupOfMap},
      {"Elu", GroupOfMap},
  };
  *unit = {};
  Group p{parser, unit, quantize, kNone, {}, {}};
  if (!FindMain(&p)) return false;
  const std::string_view domain = gp::View(parser.node(p.main).domain);
  if (!domain.empty() && domain != "ai.onnx") return false;
  for (const Known& k : kKnown) {
    if (!p.Is(p.main, k.op)) continue;
    if (!k.make(&p)) return false;
    std::sort(unit->nodes.begin(), unit->nodes.end());
    return true;
  }
  return false;
}

bool JoinsQuantizedGroup(const Unit& unit, const Parser& parser) {
  if (Is<DequantizeSpec>(unit)) return parser.dtype(unit.in[0]) == GE_I32;
  if (!Is<ConvSpec, ProductSpec>(unit) || unit.in.size() < 2 || unit.in[1] == 0) return false;
  const uint32_t at = parser.value(unit.in[1]).producer;
  return at != kNone && gp::IsOp(parser.node(at), "DequantizeLinear") &&
         parser.constant(parser.node(at).in[0]);
}

}  // namespace ge_engines
