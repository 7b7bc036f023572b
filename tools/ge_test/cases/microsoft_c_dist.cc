#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// Large ones have too many differences to be written out one by one.
void CDistCase(CaseMaker& m) {
  const int64_t rows = m.r.Chance(0.05) ? 0 : m.Size(6, 300),
                others = m.r.Chance(0.05) ? 0 : m.Size(6, 300), columns = m.Size(9, 70);
  m.Add(Signal(m, {rows, columns}));
  m.AddWeight(Signal(m, {others, columns}));
  if (m.r.Chance(0.7)) {
    m.Set("metric", std::string(m.r.Chance(0.7) ? "euclidean" : "sqeuclidean"));
  }
  m.c.terms = columns;
}

bool PlainCDist(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
  if (out->dims != Dims{a.dims[0], b.dims[0]}) return false;
  const Attr* metric = FindAttr(c, "metric");
  const bool root = metric != nullptr && std::get<std::string>(metric->value) == "euclidean";
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < a.dims[1]; ++k) {
      const double d = ElementAsDouble(a, i / b.dims[0] * a.dims[1] + k) -
                       ElementAsDouble(b, i % b.dims[0] * a.dims[1] + k);
      sum += d * d;
    }
    SetElement(out, i, root ? std::sqrt(sum) : sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_c_dist) = {"com.microsoft.CDist", CDistCase, 4e-6, Error::kOfTerms,
                                  PlainCDist};

}  // namespace ge::test
