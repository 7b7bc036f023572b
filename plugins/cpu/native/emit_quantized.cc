// Works on 8-bit codes as steps of a program.
#include "plugins/cpu/native/emit.h"
#include "plugins/cpu/native/integer_product.h"
#include "plugins/cpu/native/quantize.h"

namespace ge_native {
namespace {

bool IsSigned(const Parser& p, uint32_t v) { return p.dtype(v) == GE_I8; }

std::vector<int32_t> Widened(const void* codes, int64_t n, bool is_signed) {
  std::vector<int32_t> wide;
  const auto* data = static_cast<const uint8_t*>(codes);
  for (int64_t i = 0; i < n; ++i) {
    wide.push_back(is_signed ? static_cast<int8_t>(data[i]) : data[i]);
  }
  return wide;
}

QuantResult ResultOf(const Unit& u, const Parser& p) {
  QuantResult r;
  r.x_signed = IsSigned(p, u.in[QuantIn::kX]);
  r.y_signed = IsSigned(p, u.out[0]);
  r.x_zero = u.in[QuantIn::kXZero] != 0;
  r.codes = u.in[QuantIn::kYScale] != 0;
  if (r.codes) r.w_scales = Product(p.dims(u.in[QuantIn::kWScale]));
  r.bias = u.in[QuantIn::kBias] != 0;
  return r;
}

}  // namespace

template <class Plan>
Place NativeBuilder::PackCodes(const Unit& u, const Plan& plan) {
  const uint32_t w = u.in[QuantIn::kW], zero = u.in[QuantIn::kWZero];
  const bool w_signed = IsSigned(p_, w), zero_signed = zero != 0 && IsSigned(p_, zero);
  const int64_t n_zero = zero != 0 ? Product(p_.dims(zero)) : 0;
  std::vector<uint32_t> values = {w};
  if (zero != 0) values.push_back(zero);
  const std::string key =
      plan.PackKey() + " less " + ToText({n_zero, w_signed ? 1 : 0, zero_signed ? 1 : 0});
  return Pack(values, key, plan.weight_bytes(), [=](const void* const* from, void* to) {
    const std::vector<int32_t> zeros =
        n_zero > 0 ? Widened(from[1], n_zero, zero_signed) : std::vector<int32_t>{0};
    plan.Pack(static_cast<const uint8_t*>(from[0]), w_signed, zeros, to);
  });
}

void NativeBuilder::AddQuantized(const Unit& u, const std::string& label, Place weights,
                                 uint64_t scratch, std::unique_ptr<Work> work) {
  const Place x = GetDense(u.in[QuantIn::kX]).place;
  std::vector<Place> reads = {x, weights};
  for (size_t k : {QuantIn::kXZero, QuantIn::kXScale, QuantIn::kWScale, QuantIn::kYScale,
                   QuantIn::kYZero, QuantIn::kBias}) {
    reads.push_back(u.in[k] != 0 ? GetDense(u.in[k]).place : x);
  }
  reads.push_back(NewInternal(0, scratch));
  AddPlain(u, label, std::move(work), std::move(reads));
}

void NativeBuilder::EmitSpec(const Unit& u, const IntegerConvSpec& spec) {
  const IntegerConvPlan plan(simd_, spec.conv, machine_.threads, ResultOf(u, p_));
  AddQuantized(u, "integer conv", PackCodes(u, plan), plan.scratch_bytes(),
               IntegerConvLoop(simd_, plan));
}

void NativeBuilder::EmitSpec(const Unit& u, const IntegerProductSpec&) {
  const Dims b = p_.dims(u.in[QuantIn::kW]);
  const IntegerProductPlan plan(simd_, Product(u.dims) / b[1], b[1], b[0], ResultOf(u, p_));
  AddQuantized(u, "integer product", PackCodes(u, plan), plan.scratch_bytes(),
               IntegerProductLoop(simd_, plan));
}

void NativeBuilder::EmitSpec(const Unit& u, const QuantizeSpec& spec) {
  const Place x = GetDense(u.in[0]).place;
  if (u.in.size() > 1) {
    const bool zero = u.in[2] != 0;
    AddPlain(u, "quantize", QuantizeLoop(simd_, spec.grid, IsSigned(p_, u.out[0]), zero),
             {x, GetDense(u.in[1]).place, zero ? GetDense(u.in[2]).place : x});
    return;
  }
  std::vector<Place> places = {NewResult(u.out[0], Plain(u.out[0])).place, x};
  AddRep(u.out[0], {Plain(u.out[0]), places[0]});
  for (size_t k : {1u, 2u}) {
    if (u.out[k] == 0) {
      places.push_back(x);
      continue;
    }
    const Rep y = NewResult(u.out[k], Plain(u.out[k]));
    AddRep(u.out[k], y);
    places.push_back(y.place);
  }
  AddStep("dynamic quantize " + ToText(u.dims),
          DynamicQuantizeLoop(simd_, Product(u.dims), u.out[1] != 0, u.out[2] != 0),
          std::move(places));
}

void NativeBuilder::EmitSpec(const Unit& u, const DequantizeSpec& spec) {
  const Place x = GetDense(u.in[0]).place;
  const bool zero = u.in[2] != 0;
  AddPlain(u, "dequantize", DequantizeLoop(simd_, spec.grid, IsSigned(p_, u.in[0]), zero),
           {x, GetDense(u.in[1]).place, zero ? GetDense(u.in[2]).place : x});
}

}  // namespace ge_native
