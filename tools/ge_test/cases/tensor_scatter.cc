#include "tools/ge_test/random/indices.h"

namespace ge::test {
namespace {

void TensorScatterCase(CaseMaker& m) {
  const Dims dims = m.Shape(2, 4, false);
  const bool named = dims.size() == 2 || m.r.Chance(0.6);
  const int64_t axis = named ? m.r.Int(1, Rank(dims) - 1) : Rank(dims) - 2;
  const int64_t room = dims[static_cast<size_t>(axis)];
  Dims part = dims;
  int64_t& length = part[static_cast<size_t>(axis)];
  length = m.r.Int(0, room);
  m.Add(Anything(m, dims));
  m.Add(Anything(m, part));
  const bool circular = m.r.Chance(0.4);
  if (m.r.Chance(0.8)) {
    const auto most = static_cast<double>(circular ? 3 * room : room - length);
    m.Add(m.Numbers(DType::kInt64, {dims[0]}, 0, most));
  }
  if (named) m.Set("axis", m.Axis(axis, Rank(dims)));
  if (circular || m.r.Chance(0.3)) m.Set("mode", std::string(circular ? "circular" : "linear"));
}

bool PlainTensorScatter(const RandomCase& c, HostTensor* out) {
  const HostTensor &past = *c.inputs[0].tensor, &update = *c.inputs[1].tensor;
  if (past.dims != out->dims) return false;
  int64_t axis = IntOr(c, "axis", -2);
  if (axis < 0) axis += Rank(past.dims);
  const auto d = static_cast<size_t>(axis);
  for (int64_t i = 0, n = past.count(); i < n; ++i) Copy(past, i, out, i);
  Index at(update.dims);
  for (int64_t i = 0, n = update.count(); i < n; ++i, at.Next()) {
    Dims to = at.at;
    to[d] = (to[d] + (Maybe(c, 2) ? ElementAsInt(*Maybe(c, 2), to[0]) : 0)) % past.dims[d];
    Copy(update, i, out, Flat(past.dims, to));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(tensor_scatter) = {"TensorScatter", TensorScatterCase, 0, Error::kOfElement,
                                PlainTensorScatter};

}  // namespace ge::test
