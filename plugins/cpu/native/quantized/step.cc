#include "plugins/cpu/native/quantized/step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "plugins/cpu/native/quantized/scratch.h"
#include "plugins/units/quantized/integer_conv.h"

namespace ge_engines::cpu::native {

namespace {

// What a loop is given behind its weights, in the order of Placed.
constexpr std::array<size_t, 6> kFactors = {QuantIn::kXZero,  QuantIn::kXScale, QuantIn::kWScale,
                                            QuantIn::kYScale, QuantIn::kYZero,  QuantIn::kBias};
// Whether weights are int8 without a zero point, or uint8 with zero points of 128.
bool IsSymmetric(const Unit& u, const Parser& p) {
  const bool is_signed = IsSigned(p, u.in[QuantIn::kW]);
  const uint32_t zero = u.in[QuantIn::kWZero];
  if (zero == 0) return is_signed;
  const auto* codes = static_cast<const uint8_t*>(p.value(zero).data);
  return std::all_of(codes, codes + Product(p.dims(zero)),
                     [&](uint8_t code) { return code == (is_signed ? 0 : 128); });
}

// Whether scales, zero points and biases of the finish are all constant.
bool IsSettled(NativeBuilder* b, const Unit& u) {
  return std::all_of(kFactors.begin(), kFactors.end(),
                     [&](size_t k) { return u.in[k] == 0 || b->parser().constant(u.in[k]); });
}

}  // namespace

bool IsSigned(const Parser& parser, uint32_t value) { return parser.dtype(value) == GE_I8; }

std::vector<int32_t> Widened(const void* codes, int64_t n, bool is_signed) {
  std::vector<int32_t> wide;
  const auto* data = static_cast<const uint8_t*>(codes);
  for (int64_t i = 0; i < n; ++i) {
    wide.push_back(is_signed ? static_cast<int8_t>(data[i]) : data[i]);
  }
  return wide;
}

QuantResult ResultOf(const Unit& unit, const Parser& parser, const QuantizedRange& range) {
  QuantResult r;
  r.range = range;
  r.x_signed = IsSigned(parser, unit.in[QuantIn::kX]);
  r.y_signed = IsSigned(parser, unit.out[0]);
  r.x_zero = unit.in[QuantIn::kXZero] != 0;
  r.codes = unit.in[QuantIn::kYScale] != 0;
  if (r.codes) r.w_scales = Product(parser.dims(unit.in[QuantIn::kWScale]));
  const uint32_t bias = unit.in[QuantIn::kBias];
  r.biases = bias != 0 ? Product(parser.dims(bias)) : 0;
  r.bias_floats = bias != 0 && parser.dtype(bias) == GE_F32;
  r.y_zero = unit.in[QuantIn::kYZero] != 0;
  return r;
}

bool UsesDot4(const Unit& unit, const Parser& parser, const Machine& machine) {
  if (Dot4KernelsOf(machine.isa) == nullptr) return false;
  const uint32_t zero = unit.in[QuantIn::kWZero];
  // Zero points are of the kind that the weights are, but for some operators' absent ones.
  if (zero != 0 && IsSigned(parser, zero) != IsSigned(parser, unit.in[QuantIn::kW])) return false;
  const auto* conv = As<IntegerConvSpec>(unit);
  return conv == nullptr || Dot4Plan::Suits(conv->conv, IsSymmetric(unit, parser));
}

void AddQuantized(NativeBuilder* builder, const Unit& unit, const std::string& label,
                  const BufferRef& x, const Layout& y, BufferRef weights, uint64_t scratch,
                  std::unique_ptr<Kernel> kernel, const std::optional<BufferRef>& last) {
  std::vector<BufferRef> reads = {x, weights};
  for (size_t k : kFactors) {
    reads.push_back(unit.in[k] != 0 ? builder->GetDense(unit.in[k]).place : x);
  }
  reads.push_back(builder->NewInternal(0, scratch));
  if (last) reads.push_back(*last);
  builder->AddInLayout(unit, label, y, std::move(kernel), std::move(reads));
}

void EmitDot4(NativeBuilder* builder, const Unit& unit, Dot4Plan plan, const Layout& x,
              const Layout& y) {
  plan.settled = IsSettled(builder, unit);
  const bool w_signed = IsSigned(builder->parser(), unit.in[QuantIn::kW]);
  Ids values = {unit.in[QuantIn::kW]};
  const uint32_t zero = unit.in[QuantIn::kWZero];
  if (!IsSymmetric(unit, builder->parser()))
    plan.w_zeros = zero != 0 ? Product(builder->parser().dims(zero)) : 1;
  if (plan.w_zeros > 0 && zero != 0) values.push_back(zero);
  const size_t first = values.size();
  std::vector<std::pair<size_t, uint64_t>> factors;  // place and bytes, in the order of values
  for (size_t i = 0; i < kFactors.size(); ++i) {
    const uint32_t v = unit.in[kFactors[i]];
    if (!plan.settled || v == 0) continue;
    values.push_back(v);
    factors.emplace_back(kXZero + i, static_cast<uint64_t>(Product(builder->parser().dims(v)) *
                                                           builder->parser().size(v)));
  }
  const std::string key =
      plan.PackKey() + (w_signed ? " signed" : "") + (first > 1 ? " with zeros" : "");
  const BufferRef weights = builder->Pack(
      values, key, plan.weight_bytes(),
      [plan, w_signed, first, factors](const void* const* from, void* to) {
        const uint8_t none = 0;  // unsigned weights without a zero point
        const auto* zeros = static_cast<const uint8_t*>(from[first - 1]);
        plan.Pack(static_cast<const uint8_t*>(from[0]), w_signed, first > 1 ? zeros : &none, to);
        if (!plan.settled) return;
        std::vector<std::vector<double>> aligned(factors.size());
        const void* inputs[kScratch] = {};
        for (size_t i = 0; i < factors.size(); ++i) {
          aligned[i].resize(factors[i].second / sizeof(double) + 1);
          std::memcpy(aligned[i].data(), from[first + i], factors[i].second);
          inputs[factors[i].first] = aligned[i].data();
        }
        plan.Settle(inputs, to);
      });
  const uint32_t v = unit.in[QuantIn::kX];
  // Constants come in plain order.
  const Rep codes = builder->parser().constant(v) && !x.dense()
                        ? builder->Convert(0, builder->GetDense(v), x, nullptr)
                        : builder->Get(v, x);
  AddQuantized(builder, unit, "dot4", codes.place, y, weights, plan.scratch_bytes(),
               Dot4Loop(*Dot4KernelsOf(builder->machine().isa), plan));
}

double IntegerRate(const Machine& machine) { return ByIsa(machine, 50, 31, 12) * machine.compute; }

double Dot4Ns(const Unit& unit, const Dot4Plan& plan, const Parser& parser,
              const Machine& machine) {
  const auto pixels = static_cast<double>(plan.batch * plan.pixels());
  const auto columns = static_cast<double>(plan.groups_columns());
  const double copy = plan.copies ? static_cast<double>(plan.batch * plan.image_bytes()) * 0.05 : 0;
  const double weights = BytesOf(parser, unit.in[QuantIn::kW]) / (25 * machine.stream[2]);
  const bool one = Dot4KernelsOf(machine.isa) == &kDot4KernelsAvx512;  // instruction for four
  if (plan.depthwise) {
    const auto taps = static_cast<double>(plan.taps());
    return pixels * columns * (one ? 0.23 + 0.02 * taps : 0.35 + 0.05 * taps) / machine.compute;
  }
  const double vectors = std::ceil(static_cast<double>(plan.out) / kDot4Lanes) * kDot4Lanes;
  const double codes = pixels * static_cast<double>(plan.groups) * vectors;
  const auto depth = static_cast<double>(plan.taps() * plan.in);
  const double code = one ? depth / 220 + 0.22 : depth / 58 + 0.55;
  return std::max((codes * code + copy) / machine.compute, weights);
}

}  // namespace ge_engines::cpu::native
