// Steps of integer convolutions and products. Used by one thread; throws.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/quantized/dot4.h"
#include "plugins/cpu/native/quantized/integer_product.h"
#include "plugins/units/quantized/inputs.h"

namespace ge_engines::cpu::native {

bool IsSigned(const Parser& parser, uint32_t value);  // int8

// n int8 or uint8 as int32.
std::vector<int32_t> Widened(const void* codes, int64_t n, bool is_signed);

// The finish of the sums.
QuantResult ResultOf(const Unit& unit, const Parser& parser, const QuantizedRange& range);

// Whether dot4.h computes this product or convolution on this machine; weights are symmetric.
bool UsesDot4(const Unit& unit, const Parser& parser, const Machine& machine);

// Weights of an IntegerProductPlan or IntegerConvPlan, less their zero points.
template <class Plan>
BufferRef PackQuantized(NativeBuilder* builder, const Unit& unit, const Plan& plan) {
  const uint32_t w = unit.in[QuantIn::kW], zero = unit.in[QuantIn::kWZero];
  const bool w_signed = IsSigned(builder->parser(), w),
             zero_signed = zero != 0 && IsSigned(builder->parser(), zero);
  const int64_t n_zero = zero != 0 ? Product(builder->parser().dims(zero)) : 0;
  Ids values = {w};
  if (zero != 0) values.push_back(zero);
  const std::string key =
      plan.PackKey() + " less " + ToText({n_zero, w_signed ? 1 : 0, zero_signed ? 1 : 0});
  return builder->Pack(values, key, plan.weight_bytes(), [=](const void* const* from, void* to) {
    const std::vector<int32_t> zeros =
        n_zero > 0 ? Widened(from[1], n_zero, zero_signed) : std::vector<int32_t>{0};
    plan.Pack(static_cast<const uint8_t*>(from[0]), w_signed, zeros, to);
  });
}

// Adds a step; x and the result have the given layouts. `last`: a buffer behind scratch.
void AddQuantized(NativeBuilder* builder, const Unit& unit, const std::string& label,
                  const BufferRef& x, const Layout& y, BufferRef weights, uint64_t scratch,
                  std::unique_ptr<Kernel> kernel, const std::optional<BufferRef>& last = {});

// Emits the unit by dot4.h.
void EmitDot4(NativeBuilder* builder, const Unit& unit, Dot4Plan plan, const Layout& x,
              const Layout& y);

// Multiply-adds a ns for products of 16-bit integers: 51 measured where AVX2's peak is 121
// operations. Prices without a prior are 0.75 of it, as everywhere in native.
double IntegerRate(const Machine& machine);

// Price for dot4.h: windows by whole vectors of columns, depth-wise ones by 64 channels, each
// result scaled, the padding copy (476 multiply-adds a ns, 0.11 ns a quantized value and 0.17 a
// depth-wise one of nine taps where AVX-512's peak is 242; without a prior it asks 1.4 times that).
// AVX2, processor time beside others where floats reach 47 multiply-adds a ns: 61, 0.5 and 0.73.
// The kernels are faster since (70, 0.25 and 0.65), and the price stays: Winograd asks 1.4 times
// its time beside them, and if only they ask less resnet18 takes 26 ms in place of 23 (0040).
double Dot4Ns(const Unit& unit, const Dot4Plan& plan, const Parser& parser, const Machine& machine);

}  // namespace ge_engines::cpu::native
