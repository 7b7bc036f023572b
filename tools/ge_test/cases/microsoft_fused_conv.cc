#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void FusedConvCase(CaseMaker& m) {
  const int64_t group = m.r.Int(1, 2), in = group * m.Size(3, 48), out = group * m.Size(3, 48);
  const int64_t n = m.r.Int(1, 2), h = 4 + m.Size(4, 36), w = 4 + m.Size(4, 36);
  m.c.terms = m.large ? in * 9 : 1;
  m.Add(Signal(m, {n, in, h, w}));
  m.Add(Signal(m, {out, in / group, 3, 3}));
  AddMaybe(m, m.r.Chance(0.6) ? Signal(m, {out}) : nullptr);
  if (m.r.Chance(0.4)) m.Set("kernel_shape", Dims{3, 3});
  if (m.r.Chance(0.3)) m.Set("strides", Dims{m.r.Int(1, 2), 2});
  if (m.r.Chance(0.3)) m.Set("dilations", Dims{2, m.r.Int(1, 2)});
  if (m.r.Chance(0.3)) {
    m.Set("auto_pad", m.r.Pick(std::vector<std::string>{"SAME_UPPER", "SAME_LOWER", "VALID"}));
  } else {
    m.Set("pads", Dims{1, 1, 1, 1});
  }
  if (m.r.Chance(0.4)) m.Add(Signal(m, Cat({n, out}, PlainWindows(m.c, {h, w}, {3, 3}).out)));
  if (group != 1) m.Set("group", group);
  using Params = std::vector<double>;
  static const std::vector<std::pair<std::string, Params>> kKinds = {
      {"Relu", {}},           {"Tanh", {}},          {"Sigmoid", {}},
      {"HardSwish", {}},      {"LeakyRelu", {0.25}}, {"HardSigmoid", {0.5, 0.25}},
      {"Clip", {-0.5, 0.75}}, {"Elu", {0.5}}};
  if (m.r.Chance(0.2)) return;
  const auto& [name, params] = m.r.Pick(kKinds);
  m.Set("activation", name);
  if (!params.empty()) m.Set("activation_params", params);
}

double FusedActivation(const std::string& name, const std::vector<double>& p, double v) {
  if (name == "Relu") return std::max(v, 0.0);
  if (name == "Tanh") return std::tanh(v);
  if (name == "Sigmoid") return 1 / (1 + std::exp(-v));
  if (name == "HardSwish") return v * std::min(std::max(v / 6 + 0.5, 0.0), 1.0);
  if (name == "LeakyRelu") return v < 0 ? p[0] * v : v;
  if (name == "HardSigmoid") return std::min(std::max(p[0] * v + p[1], 0.0), 1.0);
  if (name == "Clip") return std::min(std::max(v, p[0]), p[1]);
  if (name == "Elu") return v < 0 ? p[0] * std::expm1(v) : v;
  return v;
}

bool PlainFusedConv(const RandomCase& c, HostTensor* out) {
  const HostTensor* more = Maybe(c, 3);
  const Attr* params = FindAttr(c, "activation_params");
  const auto p =
      params != nullptr ? std::get<std::vector<double>>(params->value) : std::vector<double>();
  return PlainConvolution(c, out, [&](double sum, int64_t i) {
    if (more != nullptr) sum += ElementAsDouble(*more, i);
    return FusedActivation(TextOr(c, "activation", ""), p, sum);
  });
}

}  // namespace

GE_RANDOM_OP(microsoft_fused_conv) = {"com.microsoft.FusedConv", FusedConvCase, 8e-6,
                                      Error::kOfInputs, PlainFusedConv};

}  // namespace ge::test
