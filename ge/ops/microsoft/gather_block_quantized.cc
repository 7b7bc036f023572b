#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/packed_codes.h"

namespace ge {
namespace {

constexpr DTypeSet kCodes = Bit(DType::kUint8) | Bit(DType::kInt4) | Bit(DType::kUint4);

// What a row of the table holds: its last axis in blocks, codes of bytes packed.
struct CodedRows {
  int64_t bits = 4, block = 0;
  bool packed = false;  // in uint8
  int64_t per_element() const { return packed ? 8 / bits : 1; }
};

Result<CodedRows> ReadCodedRows(const Node& node, DType data) {
  CodedRows rows{AttrInt(node, "bits"), AttrInt(node, "block_size"), data == DType::kUint8};
  if (rows.bits != 2 && rows.bits != 4 && rows.bits != 8) {
    return Bad(node, fmt::format("attribute 'bits' is {}, wanted 2, 4 or 8", rows.bits));
  }
  if (!rows.packed && rows.bits != 4) {
    return Bad(node, fmt::format("attribute 'bits' is {}, wanted 4, as input 'data' is {}",
                                 rows.bits, DTypeName(data)));
  }
  if (rows.block < 16 || (rows.block & (rows.block - 1)) != 0) {
    return Bad(node, fmt::format("attribute 'block_size' is {}, wanted a power of two from 16 on",
                                 rows.block));
  }
  return rows;
}

// Rows are gathered and their last axis is in blocks; other axes are not computed here.
Status WantAxes(const Node& node, int64_t rank) {
  for (const auto& [name, wanted] :
       {std::pair{"gather_axis", int64_t{0}}, std::pair{"quantize_axis", rank - 1}}) {
    const int64_t axis = AttrInt(node, name);
    const auto at = NormalizeAxis(axis, rank, fmt::format("attribute '{}'", name));
    if (!at.ok()) return Bad(node, at.status().message());
    if (*at != wanted) {
      return NotComputed(node, fmt::format("attribute '{}' is {}, which is not computed here; "
                                           "wanted {}",
                                           name, axis, wanted));
    }
  }
  return {};
}

// Scales, or zero points: the table's shape with so many in its last axis.
Status WantLike(InferContext& c, size_t i, const char* name, int64_t last) {
  std::vector<Dim> dims = c.input_type(0).dims;
  dims.back() = KnownDim(last);
  return WantShape(c, i, name, dims);
}

Status InferCodedRows(InferContext& c) {
  const Type &data = c.input_type(0), &indices = c.input_type(1);
  const DType dtype = c.input_type(2).dtype;
  GE_ASSIGN_OR_RETURN(const CodedRows rows, ReadCodedRows(c.node(), data.dtype));
  if (!data.ranked) {
    c.SetOutput(0, UnrankedTensor(dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(data, 2, "GatherBlockQuantized: input 'data'"));
  GE_RETURN_IF_ERROR(WantAxes(c.node(), static_cast<int64_t>(data.rank())));
  std::vector<Dim> row(data.dims.begin() + 1, data.dims.end());
  if (row.back().known()) {
    const int64_t k = row.back().value * rows.per_element();
    const int64_t blocks = (k + rows.block - 1) / rows.block;
    const int64_t zeros = rows.packed ? (blocks * rows.bits + 7) / 8 : blocks;
    GE_RETURN_IF_ERROR(WantLike(c, 2, "scales", blocks));
    if (HasInput(c, 3)) GE_RETURN_IF_ERROR(WantLike(c, 3, "zero_points", zeros));
    row.back() = KnownDim(k);
  } else if (rows.per_element() != 1) {
    row.back() = c.FreshDim("columns", false);
  }
  if (!indices.ranked) {
    c.SetOutput(0, UnrankedTensor(dtype));
    return {};
  }
  std::vector<Dim> dims = indices.dims;
  dims.insert(dims.end(), row.begin(), row.end());
  return SetTensor(c, 0, dtype, std::move(dims));
}

// Codes of the rows that were gathered, [rows, count], as numbers.
ValueId CodesOf(Steps* s, ValueId rows, const CodedRows& form, int64_t all, int64_t count,
                DType step) {
  const ValueId flat = s->Reshape(rows, {all, s->ShapeOf(rows).back()});
  return s->Cast(form.packed ? UnpackCodes(s, flat, form.bits, count) : flat, step);
}

// Beyond the table an index stands for zeros, which no other Gather here knows.
std::vector<ValueId> DecomposeCodedRows(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const auto form = ReadCodedRows(node, s.DTypeOf(s.In(0)));
  if (!form.ok()) return {};
  const Steps::Shape out = s.OutShape(0);
  const int64_t k = out.back(), blocks = (k + form->block - 1) / form->block;
  int64_t all = 1;
  for (size_t i = 0; i + 1 < out.size(); ++i) all *= out[i];
  const DType step = StepDType(s.OutDType(0)), index = s.DTypeOf(s.In(1));
  const auto size = static_cast<double>(s.Size(s.In(0), 0));
  const ValueId from = s.Pair("GreaterOrEqual", s.In(1), s.Scalar(index, -size), DType::kBool);
  const ValueId to = s.Pair("Less", s.In(1), s.Scalar(index, size), DType::kBool);
  const ValueId inside = s.Pair("And", from, to);
  const ValueId indices = s.Choose(inside, s.In(1), s.Scalar(index, 0));
  // Each block's codes beside its scale.
  const auto blocked = [&](ValueId v, int64_t columns) {
    const ValueId whole =
        columns == blocks * form->block
            ? v
            : s.Node1("Pad", {v, s.Ints({0, 0, 0, blocks * form->block - columns})}, s.DTypeOf(v),
                      {all, blocks * form->block});
    return s.Reshape(whole, {all, blocks, form->block});
  };
  // Rows of 4-bit elements are gathered as bytes, into which the constant is turned once.
  const auto rows_of = [&](ValueId table) {
    const DType dtype = s.DTypeOf(table);
    if (dtype == DType::kInt4) table = s.Cast(table, DType::kInt8);
    if (dtype == DType::kUint4) table = s.Cast(table, DType::kUint8);
    return s.Gather(table, indices);
  };
  const ValueId codes = CodesOf(&s, rows_of(s.In(0)), *form, all, k, step);
  ValueId zero = 0;
  if (s.Has(3)) {
    const ValueId zeros = CodesOf(&s, rows_of(s.In(3)), *form, all, blocks, step);
    zero = s.Reshape(zeros, {all, blocks, 1});
  } else if (form->packed) {
    zero = s.Scalar(step, static_cast<double>(int64_t{1} << (form->bits - 1)));
  }
  ValueId y = blocked(codes, k);
  if (zero != 0) y = s.Pair("Sub", y, zero);
  const ValueId scales = s.Cast(s.Gather(s.In(2), indices), step);
  y = s.Pair("Mul", y, s.Reshape(scales, {all, blocks, 1}));
  y = s.Slice(s.Reshape(y, {all, blocks * form->block}), 1, 0, k);
  Steps::Shape each = s.ShapeOf(s.In(1));
  each.resize(out.size(), 1);
  y = s.Choose(s.Reshape(inside, each), s.Reshape(y, out), s.Scalar(step, 0));
  return {s.Cast(y, s.OutDType(0))};
}

OpDef CodedRowsRecord() {
  OpDef op = MicrosoftRecord("GatherBlockQuantized", InferCodedRows, DecomposeCodedRows);
  const DTypeSet floats = Bit(DType::kFloat) | Bit(DType::kFloat16) | Bit(DType::kBfloat16);
  op.inputs = {{"data", kCodes, "T1"},
               {"indices", kIndex, "Tind"},
               {"scales", floats, "T2"},
               {"zero_points", kCodes, "T1", Arity::kOptional}};
  op.outputs = {{"output", floats, "T2"}};
  op.attrs = {{"bits", AttrKind::kInt, 4},
              {"block_size", AttrKind::kInt, 128},
              {"gather_axis", AttrKind::kInt, 0},
              {"quantize_axis", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// Rows of a table of codes of a few bits, each block of a row with a scale and a zero point: an
// embedding that stays as small as the model has it.
GE_OP(microsoft_gather_block_quantized) = CodedRowsRecord();

}  // namespace ge
