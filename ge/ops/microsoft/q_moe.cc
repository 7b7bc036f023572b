#include "ge/ops/microsoft/experts.h"
#include "ge/ops/microsoft/packed_codes.h"

namespace ge {
namespace {

constexpr ExpertPorts kQMoePorts = {{2, 5, 8}, {4, 7, 10}};
constexpr size_t kQMoeScales[] = {3, 6, 9}, kQMoeZeros[] = {11, 12, 13};

// How one of the three weights is kept: rows of K codes in blocks of `block`; 0 = a row is one.
struct QMoeCodes {
  int64_t bits = 0, block = 0;
};

Result<QMoeCodes> ReadQMoeCodes(const Node& n, size_t which) {
  const char* own[] = {"fc1_expert_weight_bits", "fc2_expert_weight_bits",
                       "fc3_expert_weight_bits"};
  const bool has = HasAttr(n, own[which]);
  const char* name = has ? own[which] : "expert_weight_bits";
  QMoeCodes q{has ? AttrInt(n, name, 0) : AttrInt(n, name), AttrInt(n, "block_size", 0)};
  if (q.bits != 2 && q.bits != 4 && q.bits != 8) {
    return NotComputed(n, fmt::format("attribute '{}' is {}, which is not computed here; wanted 2, "
                                      "4 or 8",
                                      name, q.bits));
  }
  if (q.block != 0 && (q.block < 16 || (q.block & (q.block - 1)) != 0)) {
    return Bad(n, fmt::format("attribute 'block_size' is {}, wanted a power of two from 16 on, or "
                              "0 (a row is a block)",
                              q.block));
  }
  return q;
}

Status CheckQMoeKind(InferContext& c) {
  const Node& n = c.node();
  const std::string_view kind = AttrString(n, "quant_type");
  if (kind != "int") {
    return NotComputed(n, fmt::format("attribute 'quant_type' is '{:.64}', which is not computed "
                                      "here; wanted 'int'",
                                      kind));
  }
  const int64_t packed = AttrInt(n, "weights_prepacked");
  if (packed == 1) {
    return NotComputed(n,
                       "attribute 'weights_prepacked' is 1, an order of one engine, which is not "
                       "computed here; wanted 0");
  }
  if (packed != 0 && packed != -1) {
    return Bad(n,
               fmt::format("attribute 'weights_prepacked' is {}, wanted 0, or -1 for 0", packed));
  }
  const std::pair<size_t, const char*> inputs[] = {
      {15, "fc1_global_scale"}, {16, "fc2_global_scale"},    {17, "fc1_act_scale"},
      {18, "fc2_act_scale"},    {19, "fc1_act_block_scale"}, {20, "fc2_act_block_scale"}};
  for (const auto& [i, name] : inputs) GE_RETURN_IF_ERROR(RefuseInput(c, i, name));
  return {};
}

// Bytes of so many codes, the last filled up.
Result<Dim> QMoeBytes(InferContext& c, Dim codes, int64_t bits) {
  const auto all = c.dims().Mul(codes, KnownDim(bits));
  if (!all) return Bad(c.node(), "the bytes of a row of codes overflow");
  return Checked(c.node(), c.dims().CeilDiv(*all, KnownDim(8)), "the bytes of a row of codes");
}

// A weight of N rows of K codes for each expert, with its scales and zero points.
Status CheckQMoeWeight(InferContext& c, size_t which, Dim experts, Dim n, Dim k) {
  const size_t port = kQMoePorts.weights[which];
  if (!HasInput(c, port)) return {};
  GE_ASSIGN_OR_RETURN(const QMoeCodes q, ReadQMoeCodes(c.node(), which));
  const std::string fc = fmt::format("fc{}", which + 1);
  if (k.known() && k.value * q.bits % 8 != 0) {
    return Bad(c.node(),
               fmt::format("rows of '{}_experts_weights' have {} codes of {} bits, wanted "
                           "whole bytes",
                           fc, k.value, q.bits));
  }
  GE_ASSIGN_OR_RETURN(const Dim bytes, QMoeBytes(c, k, q.bits));
  GE_RETURN_IF_ERROR(WantShape(c, port, fc + "_experts_weights", {{experts, n, bytes}}));
  if (!HasInput(c, kQMoeScales[which])) {
    return Bad(c.node(), fmt::format("input '{0}_scales' is absent, wanted it beside "
                                     "'{0}_experts_weights'",
                                     fc));
  }
  std::vector<Dim> scales = {experts, n}, zeros = {experts};
  if (q.block > 0) {
    GE_ASSIGN_OR_RETURN(const Dim blocks, Checked(c.node(), c.dims().CeilDiv(k, KnownDim(q.block)),
                                                  "blocks of a row"));
    scales.push_back(blocks);
    zeros.push_back(n);
  }
  GE_ASSIGN_OR_RETURN(const Dim packed, QMoeBytes(c, scales.back(), q.bits));
  zeros.push_back(packed);
  GE_RETURN_IF_ERROR(WantShape(c, kQMoeScales[which], fc + "_scales", scales));
  if (!HasInput(c, kQMoeZeros[which])) return {};
  return WantShape(c, kQMoeZeros[which], fc + "_zero_points", zeros);
}

Status InferQMoe(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckQMoeKind(c));
  GE_ASSIGN_OR_RETURN(const QMoeCodes second, ReadQMoeCodes(c.node(), 1));
  const Type& w = c.input_type(5);
  GE_RETURN_IF_ERROR(WantRankOf(c, 5, "fc2_experts_weights", 3, 3));
  Dim inter = c.FreshDim("inter", false);
  if (w.ranked) {
    GE_ASSIGN_OR_RETURN(inter, Checked(c.node(), c.dims().Mul(w.dims[2], KnownDim(8 / second.bits)),
                                       "the codes of a row"));
  }
  GE_ASSIGN_OR_RETURN(const ExpertDims d, CheckExperts(c, kQMoePorts, inter));
  GE_RETURN_IF_ERROR(CheckQMoeWeight(c, 0, d.experts, d.wide, d.hidden));
  GE_RETURN_IF_ERROR(CheckQMoeWeight(c, 1, d.experts, d.hidden, d.inter));
  GE_RETURN_IF_ERROR(CheckQMoeWeight(c, 2, d.experts, d.inter, d.hidden));
  if (HasInput(c, 14)) {
    GE_RETURN_IF_ERROR(WantShape(c, 14, "router_weights", {{d.tokens, d.experts}}));
  }
  return InferSame(c);
}

// The groups' weights as numbers, [G,N,K]. A zero point that is absent is half the codes.
ValueId QMoeWeight(Steps* s, const Experts& e, const QMoeCodes& q, size_t which, int64_t k) {
  if (!s->Has(kQMoePorts.weights[which])) return 0;
  const ValueId bytes = OfGroups(s, e, s->In(kQMoePorts.weights[which]));
  const int64_t n = s->Size(bytes, 1), g = e.groups();
  const int64_t block = q.block > 0 ? q.block : k, blocks = (k + block - 1) / block;
  const bool whole = k % block == 0;
  const Steps::Shape rows = {g, n, k}, blocked = {g, n, blocks, block};
  // What a block has one of, for each of its codes.
  const auto spread = [&](ValueId v) {
    v = s->Reshape(v, {g, n, blocks, 1});
    if (whole) return v;
    v = s->Node1("Expand", {v, s->Ints(blocked)}, e.step, blocked);
    return s->Slice(s->Reshape(v, {g, n, blocks * block}), 2, 0, k);
  };
  const auto unpacked = [&](ValueId v, int64_t count) {
    const Steps::Shape x = s->ShapeOf(v);
    int64_t lines = 1;
    for (size_t i = 0; i + 1 < x.size(); ++i) lines *= x[i];
    return s->Cast(UnpackCodes(s, s->Reshape(v, {lines, x.back()}), q.bits, count), e.step);
  };
  const ValueId codes = s->Reshape(unpacked(bytes, k), whole ? blocked : rows);
  ValueId zero = s->Scalar(e.step, static_cast<double>(int64_t{1} << (q.bits - 1)));
  if (s->Has(kQMoeZeros[which])) {
    const ValueId mine = OfGroups(s, e, s->In(kQMoeZeros[which]));
    zero = spread(unpacked(mine, q.block > 0 ? blocks : n));
  }
  const ValueId scale = spread(s->Cast(OfGroups(s, e, s->In(kQMoeScales[which])), e.step));
  return s->Reshape(s->Pair("Mul", s->Pair("Sub", codes, zero), scale), rows);
}

// Without weights of its own for the sum the router's picks are weighed against each other.
ValueId QMoeShares(Steps* s, const Experts& e, const Node& node, ValueId scores) {
  if (!s->Has(14)) return s->Map("Softmax", {AtPicks(s, e, scores)}, {{"axis", int64_t{1}}});
  const ValueId shares = AtPicks(s, e, s->Cast(s->In(14), e.step));
  return AttrInt(node, "normalize_routing_weights") != 0 ? AddSumOne(s, shares) : shares;
}

std::vector<ValueId> DecomposeQMoe(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  QMoeCodes q[3];
  for (size_t i = 0; i < 3; ++i) {
    const auto read = ReadQMoeCodes(node, i);
    if (read.ok()) {
      q[i] = *read;
    } else if (s.Has(kQMoePorts.weights[i])) {
      return {};
    }
  }
  const Steps::Shape router = s.ShapeOf(s.In(1)), second = s.ShapeOf(s.In(5));
  Experts e{router[0],          router[1],         second[1], second[2] * 8 / q[1].bits,
            s.Size(s.In(2), 1), AttrInt(node, "k")};
  if (e.tokens == 0 || e.hidden == 0 || e.inter == 0) return {};
  const ValueId scores = s.Cast(s.In(1), e.step);
  e.picks = AddPicks(&s, scores, e.experts, e.k);
  e.shares = QMoeShares(&s, e, node, scores);
  const int64_t inner[] = {e.hidden, e.inter, e.hidden};
  std::vector<ValueId> weights;
  for (size_t i = 0; i < 3; ++i) weights.push_back(QMoeWeight(&s, e, q[i], i, inner[i]));
  return {AddExperts(&s, e, node, kQMoePorts, weights)};
}

std::vector<Port> QMoePorts() {
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble), kCodes = Bit(DType::kUint8),
                     kF32 = Bit(DType::kFloat);
  return {{"input", kReal, "T"},
          {"router_probs", kReal, "T"},
          {"fc1_experts_weights", kCodes, "T1"},
          {"fc1_scales", kReal, "T2", opt},
          {"fc1_experts_bias", kReal, "T", opt},
          {"fc2_experts_weights", kCodes, "T1"},
          {"fc2_scales", kReal, "T2", opt},
          {"fc2_experts_bias", kReal, "T", opt},
          {"fc3_experts_weights", kCodes, "T1", opt},
          {"fc3_scales", kReal, "T2", opt},
          {"fc3_experts_bias", kReal, "T", opt},
          {"fc1_zero_points", kCodes, "T1", opt},
          {"fc2_zero_points", kCodes, "T1", opt},
          {"fc3_zero_points", kCodes, "T1", opt},
          {"router_weights", kReal, "T", opt},
          {"fc1_global_scale", kF32, "T4", opt},
          {"fc2_global_scale", kF32, "T4", opt},
          {"fc1_act_scale", kF32, "T4", opt},
          {"fc2_act_scale", kF32, "T4", opt},
          {"fc1_act_block_scale", kReal, "T2", opt},
          {"fc2_act_block_scale", kReal, "T2", opt}};
}

OpDef QMoeRecord() {
  OpDef op = MicrosoftRecord("QMoE", InferQMoe, DecomposeQMoe);
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  op.keeps_codes = true;
  op.inputs = QMoePorts();
  op.outputs = {{"output", kReal, "T"}};
  op.attrs = ExpertAttrs();
  const AttrKind kInt = AttrKind::kInt;
  for (AttrDef a :
       {AttrDef{"accuracy_level", kInt, 0}, AttrDef{"block_size", kInt},
        AttrDef{"expert_weight_bits", kInt, 4}, AttrDef{"fc1_expert_weight_bits", kInt},
        AttrDef{"fc2_expert_weight_bits", kInt}, AttrDef{"fc3_expert_weight_bits", kInt},
        AttrDef{"quant_type", AttrKind::kString, "int"}, AttrDef{"weights_prepacked", kInt, -1}}) {
    op.attrs.push_back(std::move(a));
  }
  return op;
}

}  // namespace

// A mixture of experts whose weights are packed codes of a few bits, with a scale and a zero point
// a row, or a block of one.
GE_OP(microsoft_q_moe) = QMoeRecord();

}  // namespace ge
