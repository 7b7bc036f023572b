#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/packed_codes.h"

namespace ge {
namespace {

constexpr int64_t kMostFeatures = int64_t{1} << 40;  // of N and K, so that their sums stay exact

// What the attributes say of the weight: N rows of K codes in blocks of `block`.
struct NBits {
  int64_t n = 0, k = 0, bits = 0, block = 0;
  int64_t blocks = 0, bytes = 0;  // of a row, and of a block
  int64_t zero_bytes = 0;         // of a row's zero points when they are codes too
};

Result<NBits> ReadNBits(const Node& node) {
  NBits b{AttrInt(node, "N"), AttrInt(node, "K"), AttrInt(node, "bits"),
          AttrInt(node, "block_size")};
  if (b.bits != 2 && b.bits != 4 && b.bits != 8) {
    return NotComputed(node, fmt::format("attribute 'bits' is {}, which is not computed here; "
                                         "wanted 2, 4 or 8",
                                         b.bits));
  }
  for (const auto& [name, value] : {std::pair{"N", b.n}, std::pair{"K", b.k}}) {
    if (value < 1 || value > kMostFeatures) {
      return Bad(node,
                 fmt::format("attribute '{}' is {}, wanted 1 to {}", name, value, kMostFeatures));
    }
  }
  if (b.block < 16 || b.block > kMostFeatures || (b.block & (b.block - 1)) != 0) {
    return Bad(node, fmt::format("attribute 'block_size' is {}, wanted a power of two from 16 on",
                                 b.block));
  }
  b.blocks = (b.k + b.block - 1) / b.block;
  b.bytes = b.block * b.bits / 8;
  b.zero_bytes = (b.blocks * b.bits + 7) / 8;
  return b;
}

// A tensor of rows x columns numbers, as such or as one vector.
Status WantGridOrVector(InferContext& c, size_t i, const char* name, int64_t rows,
                        int64_t columns) {
  const Type& t = c.input_type(i);
  const auto count = ElementCount(t);
  if (!t.ranked || (t.rank() < 2 && (!count || *count == rows * columns))) return {};
  return WantShape(c, i, name, {{KnownDim(rows), KnownDim(columns)}});
}

Status InferNBits(InferContext& c) {
  const Node& node = c.node();
  GE_ASSIGN_OR_RETURN(const NBits b, ReadNBits(node));
  GE_RETURN_IF_ERROR(RefuseInput(c, 4, "g_idx"));
  GE_RETURN_IF_ERROR(RefuseAttr(node, "weight_prepacked", 0));
  // accuracy_level says how coarse the steps may be; these are as fine as A.
  const Type& a = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRank(a, 1, "MatMulNBits: input 'A'"));
  if (a.ranked && a.dims.back().known() && a.dims.back().value != b.k) {
    return Bad(node, fmt::format("input 'A' has shape {}, wanted {} in its last axis, as attribute "
                                 "'K' says",
                                 Show(c.dims(), a.dims), b.k));
  }
  GE_RETURN_IF_ERROR(
      WantShape(c, 1, "B", {{KnownDim(b.n), KnownDim(b.blocks), KnownDim(b.bytes)}}));
  GE_RETURN_IF_ERROR(WantGridOrVector(c, 2, "scales", b.n, b.blocks));
  if (HasInput(c, 3)) {
    const bool codes = c.input_type(3).dtype == DType::kUint8;
    const int64_t columns = codes ? b.zero_bytes : b.blocks;
    GE_RETURN_IF_ERROR(WantGridOrVector(c, 3, "zero_points", b.n, columns));
  }
  GE_RETURN_IF_ERROR(WantVector(c, 5, "bias", KnownDim(b.n)));
  if (!a.ranked) {
    c.SetOutput(0, UnrankedTensor(a.dtype));
    return {};
  }
  std::vector<Dim> dims = a.dims;
  dims.back() = KnownDim(b.n);
  return SetTensor(c, 0, a.dtype, std::move(dims));
}

// The weight [N, K] in the dtype of the steps. A zero point that is absent is half the codes.
ValueId NBitsWeight(Steps* s, const NBits& b, DType step) {
  const int64_t padded = b.blocks * b.block;
  const ValueId codes =
      UnpackCodes(s, s->Reshape(s->In(1), {b.n, b.blocks * b.bytes}), b.bits, padded);
  const auto by_block = [&](ValueId v) { return s->Reshape(v, {b.n, b.blocks, 1}); };
  ValueId zero = 0;
  if (!s->Has(3)) {
    zero = s->Scalar(step, static_cast<double>(int64_t{1} << (b.bits - 1)));
  } else if (s->DTypeOf(s->In(3)) == DType::kUint8) {
    const ValueId bytes = s->Reshape(s->In(3), {b.n, b.zero_bytes});
    zero = by_block(s->Cast(UnpackCodes(s, bytes, b.bits, b.blocks), step));
  } else {
    zero = by_block(s->Cast(s->In(3), step));
  }
  const ValueId blocked = s->Reshape(s->Cast(codes, step), {b.n, b.blocks, b.block});
  const ValueId moved = s->Pair("Sub", blocked, zero);
  const ValueId scaled = s->Pair("Mul", moved, by_block(s->Cast(s->In(2), step)));
  return s->Slice(s->Reshape(scaled, {b.n, padded}), 1, 0, b.k);
}

std::vector<ValueId> DecomposeNBits(Transaction& t, FunctionId fn, const Node& node) {
  const auto b = ReadNBits(node);
  if (!b.ok() || !Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0)), step = StepDType(wanted);
  const ValueId bias = s.Has(5) ? s.Cast(s.In(5), step) : 0;
  const ValueId weight = NBitsWeight(&s, *b, step);
  return {s.Cast(s.RowsBy(s.Cast(s.In(0), step), weight, true, 1, bias), wanted)};
}

OpDef NBitsRecord() {
  OpDef op = MicrosoftRecord("MatMulNBits", InferNBits, DecomposeNBits);
  const Arity opt = Arity::kOptional;
  op.keeps_codes = true;
  op.inputs = {{"A", kFloats, "T1"},
               {"B", Bit(DType::kUint8), "T2"},
               {"scales", kFloats, "T1"},
               {"zero_points", kFloats | Bit(DType::kUint8), "T3", opt},
               {"g_idx", Bit(DType::kInt32), "T4", opt},
               {"bias", kFloats, "T1", opt}};
  op.outputs = {{"Y", kFloats, "T1"}};
  op.attrs = {{"K", AttrKind::kInt, true},           {"N", AttrKind::kInt, true},
              {"accuracy_level", AttrKind::kInt, 0}, {"bits", AttrKind::kInt, 4},
              {"block_size", AttrKind::kInt, true},  {"weight_prepacked", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// A times a weight whose rows are packed codes of a few bits, with a scale and a zero point a
// block.
GE_OP(microsoft_mat_mul_n_bits) = NBitsRecord();

}  // namespace ge
