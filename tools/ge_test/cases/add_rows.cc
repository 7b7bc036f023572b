#include "tools/ge_test/oracle/windows.h"

namespace ge::test {
namespace {

void AddRowsCase(CaseMaker& m) {
  Dims data = m.Shape(1, 3), updates = m.Shape(0, 2);
  data[0] = std::max<int64_t>(data[0], 1);
  const Dims places = updates;
  std::vector<int64_t> index(static_cast<size_t>(ProductOf(places)));
  const int64_t beyond = m.r.Chance(0.2) ? 2 : 0;
  for (int64_t& i : index) i = m.r.Int(-data[0] - beyond, data[0] - 1 + beyond);
  updates.insert(updates.end(), data.begin() + 1, data.end());
  m.c.typed = false;
  m.Add(m.Numbers(m.dtype(), data, -2, 2));
  m.Add(m.Ints(m.r.Chance(0.3) ? DType::kInt32 : DType::kInt64, places, index));
  m.Add(m.Numbers(m.dtype(), updates, -2, 2));
  m.c.terms = static_cast<int64_t>(index.size()) + 1;
}

bool PlainAddRows(const RandomCase& c, HostTensor* out) {
  const HostTensor &data = *c.inputs[0].tensor, &index = *c.inputs[1].tensor,
                   &updates = *c.inputs[2].tensor;
  if (out->dims != data.dims) return false;
  const int64_t rows = data.dims[0], row = data.count() / rows;
  std::vector<double> sums;
  for (int64_t i = 0; i < data.count(); ++i) sums.push_back(ElementAsDouble(data, i));
  for (int64_t k = 0; k < index.count(); ++k) {
    int64_t at = ElementAsInt(index, k);
    if (at < 0) at += rows;
    if (at < 0 || at >= rows) continue;
    for (int64_t i = 0; i < row; ++i) {
      sums[static_cast<size_t>(at * row + i)] += ElementAsDouble(updates, k * row + i);
    }
  }
  for (int64_t i = 0; i < data.count(); ++i) SetElement(out, i, sums[static_cast<size_t>(i)]);
  return true;
}

}  // namespace

GE_RANDOM_OP(add_rows) = {"ge.AddRows", AddRowsCase, 4e-6, Error::kOfSums, PlainAddRows};

}  // namespace ge::test
