#include "tools/ge_test/oracle/channels_last.h"
#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void QLinearConvMsCase(CaseMaker& m) {
  static const std::vector<DType> kByte = {DType::kInt8, DType::kUint8};
  const auto [x, w] = MakeByteConv(m);
  const bool last = m.r.Chance(0.6);
  const DType weight = m.r.Pick(kByte), to = m.r.Pick(kByte);
  const Dims one = m.r.Chance(0.5) ? Dims{} : Dims{1};
  const Dims filters = m.r.Chance(0.5) ? one : Dims{w[0]};
  m.Add(Codes(m, m.dtype(), last ? ChannelsLastOf(x) : x));
  m.Add(Scales(m, DType::kFloat, one));
  m.Add(Codes(m, m.dtype(), one));
  m.AddWeight(Codes(m, weight, w));
  m.AddWeight(Scales(m, DType::kFloat, filters));
  m.AddWeight(Codes(m, weight, filters));
  m.Add(m.Numbers(DType::kFloat, one, 50, 5000));  // sums are of some ten thousands
  m.Add(Codes(m, to, one));
  if (m.r.Chance(0.5)) m.AddWeight(m.Numbers(DType::kInt32, {w[0]}, -20000, 20000));
  if (last || m.r.Chance(0.3)) m.Set("channels_last", int64_t{last});
  m.c.typed = false;
}

bool PlainQLinearConvMs(const RandomCase& c, HostTensor* out) {
  const auto in = [&](size_t i) -> const HostTensor& { return *c.inputs[i].tensor; };
  const bool last = IntOr(c, "channels_last", 0) != 0;
  const HostTensor first = last ? WithChannelsFirst(in(0)) : HostTensor();
  const HostTensor& x = last ? first : in(0);
  if (out->dtype != in(7).dtype || out->dims.size() != x.dims.size()) return false;
  const Dims dims = last ? ChannelsFirstOf(out->dims) : out->dims;
  if (dims[0] != x.dims[0] || dims[1] != in(3).dims[0]) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const Dims place = last ? ChannelsFirstOf(at.at) : at.at;
    double sum = PlainConvSum(c, x, in(3), &in(2), &in(5), dims, place);
    if (Maybe(c, 8) != nullptr) sum += ElementAsDouble(in(8), place[1]);
    const double scale = ElementAsDouble(in(1), 0) * ElementOr(&in(4), place[1], 1);
    SetQuantized(out, i, sum * (scale / ElementAsDouble(in(6), 0)), ElementAsDouble(in(7), 0));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_conv) = {"com.microsoft.QLinearConv", QLinearConvMsCase, 0,
                                         Error::kOfElement, PlainQLinearConvMs};

}  // namespace ge::test
