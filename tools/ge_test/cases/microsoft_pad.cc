#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void PadMsCase(CaseMaker& m) {
  Dims dims = m.Shape(1, 3, false), pads;
  for (int64_t& d : dims) d = std::max<int64_t>(d, 3);  // pads reflect up to two
  for (size_t i = 0; i < 2 * dims.size(); ++i) pads.push_back(m.r.Int(0, 2));
  const auto count = static_cast<int64_t>(pads.size());
  m.Add(Signal(m, dims));
  m.AddConstant(m.Ints(DType::kInt64, {count}, pads));
  const std::string mode = m.r.Pick(std::vector<std::string>{"constant", "reflect", "edge"});
  if (mode == "constant" && m.r.Chance(0.5)) m.Add(Signal(m, m.r.Chance(0.5) ? Dims{} : Dims{1}));
  if (mode != "constant" || m.r.Chance(0.5)) m.Set("mode", mode);
}

bool PlainPadMs(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims pads = Values(*c.inputs[1].tensor);
  const Attr* a = FindAttr(c, "mode");
  const std::string mode = a != nullptr ? std::get<std::string>(a->value) : "constant";
  Dims wanted = x.dims;
  for (size_t d = 0; d < wanted.size(); ++d) wanted[d] += pads[d] + pads[d + wanted.size()];
  if (out->dims != wanted) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from = at.at;
    bool inside = true;
    for (size_t d = 0; d < from.size(); ++d) {
      const int64_t most = x.dims[d] - 1;
      int64_t k = from[d] - pads[d];
      inside = inside && k >= 0 && k <= most;
      if (mode == "reflect") k = k < 0 ? -k : k > most ? 2 * most - k : k;
      from[d] = std::clamp<int64_t>(k, 0, most);
    }
    if (inside || mode != "constant") {
      Copy(x, Flat(x.dims, from), out, i);
    } else {
      SetElement(out, i, ElementOr(Maybe(c, 2), 0, 0));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_pad) = {"com.microsoft.Pad", PadMsCase, 0, Error::kOfElement, PlainPadMs};

}  // namespace ge::test
