#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void CodedRowsCase(CaseMaker& m) {
  const DType type = m.r.Pick(
      std::vector<DType>{DType::kUint8, DType::kUint8, DType::kUint8, DType::kInt4, DType::kUint4});
  const int64_t bits = type == DType::kUint8 ? m.r.Pick(std::vector<int64_t>{4, 8, 2}) : 4,
                per_byte = type == DType::kUint8 ? 8 / bits : 1;
  const int64_t block = m.r.Chance(0.7) ? 16 : 32, bytes = m.Size(20, 300);
  const int64_t k = bytes * per_byte, blocks = (k + block - 1) / block;
  Dims rows = {m.Size(6, 100)};
  if (m.r.Chance(0.3)) rows.push_back(m.r.Int(1, 3));
  m.AddConstant(Codes(m, type, Cat(rows, {bytes})));
  // Some beyond the table, for which there are zeros.
  m.Add(m.Numbers(m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32, m.Shape(0, 2, false),
                  static_cast<double>(-rows[0] - 1), static_cast<double>(rows[0])));
  m.AddConstant(
      m.Numbers(m.r.Chance(0.7) ? DType::kFloat : DType::kFloat16, Cat(rows, {blocks}), 0.01, 0.1));
  if (m.r.Chance(0.5)) {
    const int64_t zeros = type == DType::kUint8 ? (blocks * bits + 7) / 8 : blocks;
    m.AddConstant(Codes(m, type, Cat(rows, {zeros})));
  }
  m.Set("block_size", block);
  m.Set("quantize_axis", m.r.Chance(0.5) ? int64_t{-1} : static_cast<int64_t>(rows.size()));
  if (bits != 4 || m.r.Chance(0.5)) m.Set("bits", bits);
}

// Number i of row r, whose columns are `columns` elements.
int64_t CodeOfRow(const HostTensor& t, int64_t columns, int64_t r, int64_t i, int64_t bits) {
  if (t.dtype != DType::kUint8) return ElementAsInt(t, r * columns + i);
  const int64_t byte = ElementAsInt(t, r * columns + i * bits / 8);
  return byte >> (i * bits % 8) & ((1 << bits) - 1);
}

bool PlainCodedRows(const RandomCase& c, HostTensor* out) {
  const HostTensor &data = *Maybe(c, 0), &indices = *Maybe(c, 1), &scales = *Maybe(c, 2);
  const HostTensor* zeros = Maybe(c, 3);
  const int64_t bits = IntOr(c, "bits", 4), block = IntOr(c, "block_size", 128),
                k = out->dims.back(), blocks = scales.dims.back(), size = data.dims[0];
  const int64_t inner = data.dims.size() == 3 ? data.dims[1] : 1;  // rows of one index
  if (out->count() != indices.count() * inner * k) return false;
  for (int64_t i = 0, all = out->count(); i < all; ++i) {
    int64_t index = ElementAsInt(indices, i / k / inner);
    if (index < 0) index += size;
    if (index < 0 || index >= size) {
      SetElement(out, i, 0);
      continue;
    }
    const int64_t row = index * inner + i / k % inner, column = i % k, at = column / block;
    int64_t zero = data.dtype == DType::kUint8 ? int64_t{1} << (bits - 1) : 0;
    if (zeros != nullptr) zero = CodeOfRow(*zeros, zeros->dims.back(), row, at, bits);
    const int64_t code = CodeOfRow(data, data.dims.back(), row, column, bits);
    SetElement(out, i,
               static_cast<double>(code - zero) * ElementAsDouble(scales, row * blocks + at));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_gather_block_quantized) = {
    "com.microsoft.GatherBlockQuantized", CodedRowsCase, 1e-6, Error::kOfElement, PlainCodedRows};

}  // namespace ge::test
