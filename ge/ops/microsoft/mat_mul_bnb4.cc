#include <array>

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

constexpr int64_t kMostBnb4 = (int64_t{1} << 31) - 1;  // of N and K: their product stays exact

// What the codes of bitsandbytes stand for, in parts of the greatest of a block. FP4: a sign, two
// bits of exponent and one of mantissa, in twelfths. NF4: quantiles of the normal distribution
// (Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs", appendix E).
constexpr std::array<float, 16> kFp4Values = {
    0.0F,  0.0625F / 12,  8.0F / 12,  1.0F,  4.0F / 12,  6.0F / 12,  2.0F / 12,  3.0F / 12,
    -0.0F, -0.0625F / 12, -8.0F / 12, -1.0F, -4.0F / 12, -6.0F / 12, -2.0F / 12, -3.0F / 12};
constexpr std::array<float, 16> kNf4Values = {-1.0F,
                                              -0.6961928009986877F,
                                              -0.5250730514526367F,
                                              -0.39491748809814453F,
                                              -0.28444138169288635F,
                                              -0.18477343022823334F,
                                              -0.09105003625154495F,
                                              0.0F,
                                              0.07958029955625534F,
                                              0.16093020141124725F,
                                              0.24611230194568634F,
                                              0.33791524171829224F,
                                              0.44070982933044434F,
                                              0.5626170039176941F,
                                              0.7229568362236023F,
                                              1.0F};

// The weight: N rows of K codes, in blocks of `block` that go on from row to row.
struct Bnb4 {
  int64_t n = 0, k = 0, block = 0;
  int64_t codes = 0, blocks = 0;
  bool transposed = false;
};

Result<Bnb4> ReadBnb4(const Node& node) {
  Bnb4 b{AttrInt(node, "N"), AttrInt(node, "K"), AttrInt(node, "block_size")};
  for (const auto& [name, value] : {std::pair{"N", b.n}, std::pair{"K", b.k}}) {
    if (value < 1 || value > kMostBnb4) {
      return Bad(node, fmt::format("attribute '{}' is {}, wanted 1 to {}", name, value, kMostBnb4));
    }
  }
  if (b.block < 16 || b.block > 256 || (b.block & (b.block - 1)) != 0) {
    return Bad(node,
               fmt::format("attribute 'block_size' is {}, wanted 16, 32, 64, 128 or 256", b.block));
  }
  const int64_t kind = AttrInt(node, "quant_type");
  if (kind != 0 && kind != 1) {
    return Bad(node,
               fmt::format("attribute 'quant_type' is {}, wanted 0 for FP4 or 1 for NF4", kind));
  }
  GE_RETURN_IF_ERROR(WantFlag(node, "transB"));
  GE_RETURN_IF_ERROR(WantFlag(node, "training_mode"));
  b.codes = b.n * b.k;
  b.blocks = (b.codes + b.block - 1) / b.block;
  b.transposed = AttrInt(node, "transB") != 0;
  return b;
}

Status InferBnb4(InferContext& c) {
  const Node& node = c.node();
  GE_ASSIGN_OR_RETURN(const Bnb4 b, ReadBnb4(node));
  const Type& a = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRank(a, 1, "MatMulBnb4: input 'A'"));
  const int64_t inner = b.transposed ? b.k : b.n;
  if (a.ranked && a.dims.back().known() && a.dims.back().value != inner) {
    return Bad(node, fmt::format("input 'A' has shape {}, wanted {} in its last axis, as attribute "
                                 "'{}' says",
                                 Show(c.dims(), a.dims), inner, b.transposed ? "K" : "N"));
  }
  GE_RETURN_IF_ERROR(WantShape(c, 1, "B", {{KnownDim((b.codes + 1) / 2)}}));
  GE_RETURN_IF_ERROR(WantShape(c, 2, "absmax", {{KnownDim(b.blocks)}}));
  if (!a.ranked) {
    c.SetOutput(0, UnrankedTensor(a.dtype));
    return {};
  }
  std::vector<Dim> dims = a.dims;
  dims.back() = KnownDim(b.transposed ? b.n : b.k);
  return SetTensor(c, 0, a.dtype, std::move(dims));
}

// The weight [N, K] in the dtype of the steps. The first code of a byte is its high one.
ValueId Bnb4Weight(Steps* s, const Bnb4& b, const std::array<float, 16>& values, DType step) {
  const int64_t bytes = (b.codes + 1) / 2;
  const ValueId high =
      s->Map("BitShift", {s->In(1), s->Byte(4)}, {{"direction", std::string("RIGHT")}});
  const ValueId low = s->Pair("BitwiseAnd", s->In(1), s->Byte(15));
  const ValueId pairs = s->Concat({s->Reshape(high, {bytes, 1}), s->Reshape(low, {bytes, 1})}, 1);
  const ValueId codes =
      s->Cast(s->Slice(s->Reshape(pairs, {2 * bytes}), 0, 0, b.codes), DType::kInt32);
  const ValueId parts = s->Gather(s->Floats({16}, values.data()), codes);
  const ValueId scale = s->Reshape(s->Cast(s->In(2), step), {b.blocks, 1});
  const ValueId spread =
      s->Node1("Expand", {scale, s->Ints({b.blocks, b.block})}, step, {b.blocks, b.block});
  const ValueId scales = s->Slice(s->Reshape(spread, {b.blocks * b.block}), 0, 0, b.codes);
  return s->Reshape(s->Pair("Mul", s->Cast(parts, step), scales), {b.n, b.k});
}

std::vector<ValueId> DecomposeBnb4(Transaction& t, FunctionId fn, const Node& node) {
  const auto b = ReadBnb4(node);
  if (!b.ok() || !Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0)), step = StepDType(wanted);
  const auto& values = AttrInt(node, "quant_type") == 0 ? kFp4Values : kNf4Values;
  const ValueId weight = Bnb4Weight(&s, *b, values, step);
  return {s.Cast(s.RowsBy(s.Cast(s.In(0), step), weight, b->transposed), wanted)};
}

OpDef Bnb4Record() {
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  OpDef op = MicrosoftRecord("MatMulBnb4", InferBnb4, DecomposeBnb4);
  op.keeps_codes = true;
  op.inputs = {{"A", kReal, "T1"}, {"B", Bit(DType::kUint8), "T2"}, {"absmax", kReal, "T1"}};
  op.outputs = {{"Y", kReal, "T1"}};
  op.attrs = {{"K", AttrKind::kInt, true},          {"N", AttrKind::kInt, true},
              {"block_size", AttrKind::kInt, true}, {"quant_type", AttrKind::kInt, true},
              {"training_mode", AttrKind::kInt, 0}, {"transB", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// A times a weight of 4 bits as bitsandbytes packs them: codes of a table, and the greatest element
// of each block.
GE_OP(microsoft_mat_mul_bnb4) = Bnb4Record();

}  // namespace ge
